/** Every default of what thinks: its planning and asking, models, what it is told, remembers and uses. Part of `limits.ts`. */
export const mindLimits = {
  consult_timeout_ms: 90_000,
  plan_timeout_ms: 30 * 60_000,
  max_replan_depth: 2,
  /** How often a task's stuck work is parted into smaller items, each time by a plan that a person approves. */
  decompose_depth: 2,
  /** What a planner is told of each failure, and what it may say to one. */
  failure_chars: 2_000,
  guidance_chars: 8_000,
  /** What a task may spend before it has a plan, when nobody said otherwise. */
  task_tokens: 500_000,
  task_usd: 5,
  /** A call of a model that nobody has told the end of by then is lost, and charged as estimated. */
  thought_lost_ms: 15 * 60_000,
  max_plan_versions: 4,
  max_plan_errors: 3,
  /** Questions a planner has under way at once, asks in all for one plan, and how long each is waited for. */
  research_in_flight: 3,
  research_rounds: 5,
  research_timeout_ms: 120_000,
  research_tokens: 2_000,
  research_task_chars: 4_000,
  /** Steps a planner has left once its time is up, to hand in what it has. */
  planner_last_steps: 4,
  /** Model calls of one run: of a wish's routing, of a status in words, of a plan, of guidance. */
  proxy_steps: 12,
  proxy_status_steps: 3,
  planner_steps: 60,
  consult_steps: 6,
  proxy_output_tokens: 2_000,
  planner_output_tokens: 16_000,
  planner_context_tokens: 48_000,
  proxy_context_tokens: 8_000,
  /** A status is said in the template's words when no model has worded it in this time. */
  status_words_ms: 30_000,
  /** Tasks of the scope that the proxy is told of, and how much of each title. */
  history_tasks: 20,
  history_title_chars: 120,
  /** Memories that a run is told of at its start, and by a search that names no number. */
  recalled: 8,
  web_found: 5,
  /** Interim words of one task, and how long each may be. */
  interim_words: 20,
  interim_chars: 2_000,

  /** One call of a model; its answer's text and calls; how long a provider may send us away; models one role lists. */
  model_timeout_ms: 5 * 60_000,
  model_answer_bytes: 512 * 1024,
  model_answer_calls: 64,
  /** Bytes of an answer as they come, whatever is in them, and of a refusal; more tokens than that no call is believed to cost. */
  model_wire_bytes: 16 * 1024 * 1024,
  model_refusal_bytes: 256 * 1024,
  call_tokens: 100_000_000,
  model_retry_after_max_ms: 15 * 60_000,
  models_per_role: 8,
  /** A provider's own words in a failure. */
  model_failure_chars: 300,

  /** What an agent is told at first, all pieces together; the least of a piece that is worth telling. */
  context_tokens: 16_000,
  context_least_tokens: 64,
  /** Of a repository: each file of rules and each skill that is read, how many skills, and how long their descriptions are. */
  project_rules_bytes: 16 * 1024,
  skill_bytes: 16 * 1024,
  project_skills: 50,
  skill_description_chars: 500,
  /** What a scope remembers at most, each entry's title and text, and what one search reads and gives. */
  memory_entries: 10_000,
  memory_title_chars: 200,
  memory_text_bytes: 8 * 1024,
  memory_words: 16,
  memory_found: 20,
  memory_excerpt_words: 48,
  memory_insights_at_once: 20,

  /** Tools of an agent: a command's time when it names none, and of what it printed the first and the last bytes. */
  tool_timeout_ms: 120_000,
  tool_head_bytes: 4 * 1024,
  tool_tail_bytes: 12 * 1024,
  /** A command or a script as one argument of a process; a file that is written or edited, as it stands in a message. */
  tool_command_bytes: 100_000,
  tool_file_bytes: 384 * 1024,
  /** What one look at a file shows. */
  tool_read_lines: 400,
  tool_read_chars: 32 * 1024,
  tool_line_chars: 500,
  tool_entries: 400,
  tool_matches: 200,
  tool_log_entries: 50,
  tool_skill_arguments: 50,
  web_search_ms: 15_000,
  web_answer_bytes: 1024 * 1024,
  web_query_chars: 400,

  /** Failures of one model call in a row, with the waits between them; the longest wait a provider may ask for. */
  model_failures: 8,
  model_wait_first_ms: 1_000,
  model_wait_max_ms: 60_000,
  model_wait_asked_ms: 600_000,
  /** Calls in a row whose outcome nobody was left to note, because the object died. */
  model_calls_lost: 8,
  /** How often the runtime is told what a call has cost before the step is given up, and asked whether there is budget. */
  thought_tries: 3,
  budget_look_ms: 5_000,
  /** What an item's model is told stands on its card whole: a section may be no longer. */
  card_section_chars: 32_000,
  /** Answers in a row that cannot be used: the first is sent back. */
  model_repairs: 1,
  /** Of one answer: calls that are run, bytes of all their arguments, characters of its words. */
  answer_calls: 16,
  answer_argument_bytes: 1024 * 1024,
  answer_chars: 128 * 1024,
  /** A result as a model sees it; more than any tool of ours says, so that only others' are cut here. */
  tool_result_bytes: 40 * 1024,
  /** Over the first the oldest results are left out, down to the second; that many of the latest always stay. */
  loop_context_tokens: 100_000,
  loop_context_after_cut_tokens: 60_000,
  loop_results_kept: 2,
  /** What of a loop's own words goes to a log, a line. */
  loop_line_chars: 2_000,
  /** A loop that does not get on: the same call with the same result so often in a row. */
  identical_calls: 3,
  /** Calls in a row that had all brought the same before, in whatever order they come. */
  calls_without_new: 12,
  /** One check that fails in the same way so often is no progress, whatever was done in between. */
  same_failures: 6,
  /** Of so many of the latest calls it is known what came of them; longer circles end with the steps. */
  calls_remembered: 128,
  stalled_ms: 600_000,
  /** Runs whose calls one object of a role remembers, as long as it lives. */
  runs_remembered: 1_000,
  /** Runs that wait for notes without holding a place, and notes that are kept for one. */
  waiting_runs: 64,
  run_notes: 100,

  /** Model calls of one attempt, and what one of them may answer. */
  executor_steps: 100,
  executor_output_tokens: 16_000,
  /** What an executor is told at first: memories, files the item names, how much of each; an item with less is none. */
  brief_query_chars: 500,
  brief_memories: 8,
  brief_files: 12,
  brief_file_bytes: 16 * 1024,
  brief_item_tokens: 2_000,
  /** What it says when it is done, and right before a call that a person decides. */
  summary_chars: 4_000,
  insights_told: 10,
  insight_chars: 1_000,
  /** Failed calls of an attempt that its result tells, the latest; and how much of each. */
  tool_errors_told: 8,
  tool_error_chars: 200,
  tool_error_raw_chars: 500,
  card_words_chars: 600,
  /** Questions of planners that are looked up at once in a scope, besides its attempts. */
  research_slots: 2,
  research_steps: 20,
  research_output_tokens: 4_000,
} as const;
