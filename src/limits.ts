/**
 * Every default of the product, with those of what thinks out of `limits-minds.ts` and of what joins others out of
 * `limits-github.ts`. Units stand last in each name.
 */
import { githubLimits } from "./limits-github.ts";
import { mindLimits } from "./limits-minds.ts";

export const limits = {
  ...mindLimits,
  ...githubLimits,

  lease_ms: 300_000,
  heartbeat_extend_ms: 120_000,
  max_deliveries: 5,
  backoff_first_ms: 1_000,
  backoff_max_ms: 300_000,
  backoff_jitter: 0.25,
  processed_retention_ms: 30 * 86_400_000,
  /** Rows that one statement of a queue's upkeep touches at most: expiries, dead rows put back, rows that became ready. */
  queue_batch: 100,
  processed_forgotten_per_tick: 1_000,
  /** Messages that one batch of enqueues, leases or acks holds at most, and the bytes it brings into memory. */
  batch_messages: 1_000,
  batch_bytes: 8 * 1024 * 1024,
  /** An unchanged queue is measured at most this often. */
  depth_sample_ms: 10_000,
  outbox_first_retry_ms: 5_000,
  outbox_max_retry_ms: 300_000,
  outbox_dead_after_ms: 7 * 86_400_000,
  outbox_batch: 50,
  /** A draining queue's senders ask again after this long. */
  outbox_put_off_ms: 30_000,
  /** Largest message, as canonical JSON. Past `message_inline_bytes` its body lies in the blobs while it travels. */
  message_bytes: 1024 * 1024,
  message_inline_bytes: 96 * 1024,
  /** Big bodies put, and left ones deleted, at one flush; how long a flush waits for them; how long a left one stays. */
  spill_batch: 10,
  spill_wait_ms: 1_000,
  blob_grace_ms: 60_000,
  /** What one call to the platform's queue carries, with room under its 100 messages and 256 KB. */
  queue_send_messages: 100,
  queue_send_bytes: 240 * 1024,
  /** A delivery that takes longer is given back to the platform's queue, so that it holds up no other. */
  deliver_timeout_ms: 60_000,

  spawn_timeout_ms: 60_000,
  stop_timeout_ms: 60_000,
  force_stop_ms: 5_000,
  agent_heartbeat_ms: 10_000,
  missed_heartbeats: 3,
  /** A runtime asks so many agents at once, and waits so long for each. */
  agents_asked_at_once: 8,
  agent_answer_ms: 10_000,
  /** How long the sandbox of a call that was left open is tried to be asked, before nobody can say. */
  look_up_ms: 600_000,
  /** How often one that is about to be destroyed is asked. */
  look_up_tries: 2,
  /** An entry waits so long for what must leave; a flush that takes longer than the second is not waited for any more. */
  flush_wait_ms: 30_000,
  flush_stuck_ms: 120_000,
  /** Behind by more than this, an object's alarm was lost or is stuck. */
  overdue_ms: 60_000,
  /** The minute's sweep: scopes read from D1 at once, asked at once, how long one may take, how long all may. */
  sweep_page: 100,
  sweep_at_once: 16,
  sweep_scope_ms: 20_000,
  sweep_ms: 45_000,
  idle_poll_first_ms: 1_000,
  idle_poll_max_ms: 30_000,

  max_attempts: 3,
  max_uncounted_attempts: 5,
  attempt_minutes: 30,
  setup_timeout_ms: 10 * 60_000,
  check_timeout_ms: 120_000,
  step_timeout_ms: 10 * 60_000,

  scope_slots: 8,
  deployment_slots: 16,
  scope_ptys: 16,
  verifier_runs: 4,
  proxy_runs: 4,
  planner_runs: 4,
  crew_runs: 1,

  /** A policy as JSON. Its changes that one record lists, and the recorded calls that one replay reads, with their arguments. */
  policy_bytes: 128 * 1024,
  /** Globs of all its rules and gates: each file that a call names is held against each. */
  policy_globs: 500,
  policy_changes_shown: 50,
  replay_calls: 500,
  replay_bytes: 4 * 1024 * 1024,
  replay_argument_bytes: 2 * 1024,
  /** One tool call: its arguments, the files they name, and the length of its id and of its tool's name. */
  call_arguments_bytes: 1024 * 1024,
  call_paths: 100,
  /** Different words of a call that a gate on paths compares; it holds a call that has more. */
  gate_words: 500,
  /** Words of gates times characters of a text: beyond it the words are looked for in one pass. */
  /** The beginning and the end of what a call printed, each, as gates after a step read it; and how much of it at most. */
  said_bytes: 16 * 1024,
  said_characters: 40 * 1024,
  gate_word_by_word: 100 * 1024 * 1024,
  call_name_chars: 200,
  /** As long as Linux takes one; a longer path leads nowhere. */
  path_chars: 4_096,
  asks_per_task: 50,
  asks_per_minute: 20,
  denied_again_ms: 60_000,
  ask_minute_ms: 60_000,
  /** A decision is prepared anew so often when others decided meanwhile; cards one alarm ends; when one that failed is tried again. */
  decide_tries: 4,
  expiries_at_once: 100,
  expiry_retry_ms: 60_000,
  /** Keys in one SIGNING_KEYS, which a deployment keeps as a secret of at most 5 KB; bytes of a published set. */
  signing_keys: 20,
  key_set_bytes: 64 * 1024,
  /** What `token verify` reads at most, and how long it waits for public keys. */
  token_file_bytes: 4 * 1024 * 1024,
  token_file_tokens: 1_000,
  token_keys_wait_ms: 30_000,
  /** How long others may keep the public keys before they ask again. */
  public_keys_kept_s: 300,
  token_ttl_ms: 30 * 86_400_000,
  /** Standing approvals in force in a scope, times one may be used, how far ahead one may end. */
  standing_active: 100,
  standing_uses: 1_000,
  standing_ahead_ms: 366 * 86_400_000,
  /** What a day's budget counts; plans looked at in one flush, how often one is tried and after what waits; notes kept of it. */
  standing_day_ms: 86_400_000,
  standing_batch: 20,
  standing_tries: 8,
  standing_retry_ms: 5_000,
  standing_notes: 5,
  standing_uses_shown: 20,

  /** Origins of a task's taint, and gates' remarks, that are kept and shown; and how much of a held text its card shows. */
  taint_sources: 50,
  gate_notes: 50,
  gate_shown_characters: 16_000,

  request_body_bytes: 1024 * 1024,
  plan_bytes: 256 * 1024,
  /** The same plan as it stands in a message: what is escaped there takes more room. */
  plan_json_bytes: 768 * 1024,
  plan_items: 100,
  plan_steps: 64,
  patch_bytes: 10 * 1024 * 1024,
  output_chunk_bytes: 64 * 1024,
  output_attempt_bytes: 8 * 1024 * 1024,
  output_event_bytes: 4 * 1024,
  output_events_per_second: 4,
  check_output_bytes: 16 * 1024,

  events_kept: 1_000_000,
  events_retention_ms: 30 * 86_400_000,
  /** What only its work needed is forgotten so long after a task's end, of so many tasks at once. */
  ended_kept_ms: 30 * 86_400_000,
  /** Where it is shown on GitHub: as long as a wish's claim. A pull request stays open, an App suspended, for long. */
  ended_thread_kept_ms: 2 * 365 * 86_400_000,
  ended_forgotten: 100,
  /** Dead letters one call sends again, and how many pages it looks through for them. */
  requeue_most: 100,
  requeue_pages: 10,
  /** Calls the command line makes for `requeue --all`. */
  requeue_rounds: 1_000,
  leases_shown: 100,
  /** Chains' ends are signed this often while they grow; after a task's end sooner, but not more often than the second. */
  checkpoint_ms: 300_000,
  checkpoint_soon_ms: 60_000,
  checkpoint_settle_ms: 5_000,
  /** Records D1 did not confirm are sent again after the first, doubling to the second. */
  records_first_retry_ms: 10_000,
  records_max_retry_ms: 300_000,
  records_audit_bytes: 48 * 1024,
  records_telemetry_bytes: 32 * 1024,
  records_checkpoints: 5,
  /** Longest wait for an agent's word on its records. */
  records_answer_ms: 10_000,
  /** Rows of D1 read at once, verified in one call, exported in one answer. */
  records_page: 1_000,
  verify_rows: 100_000,
  verify_checkpoints: 50_000,
  export_page: 2_000,
  export_rows: 1_900_000,
  telemetry_retention_ms: 30 * 86_400_000,
  telemetry_pruned: 10_000,
  page_default: 50,
  page_max: 200,
  idempotency_ttl_ms: 86_400_000,
  ticket_ttl_ms: 30_000,
  sign_in_ticket_ttl_ms: 15 * 60_000,
  session_ttl_ms: 12 * 3_600_000,

  sandbox_memory_mb: 4096,
  sandbox_processes: 512,
  sandbox_file_mb: 2048,
  sandbox_disk_mb: 8192,
  wait_poll_ms: 20_000,
  /** Containers: how long one may take to come up and how often it is asked, how long it stays when nobody asks for it. */
  container_start_ms: 60_000,
  container_poll_ms: 200,
  /** One question to one that is coming up; its end; all of one operation of git in it, more than its host takes. */
  container_ask_ms: 10_000,
  container_end_ms: 30_000,
  container_git_ms: 20 * 60_000,
  /** A call until its answer has ended: one that works through all files, any other, and `wait` beside what it asks for. */
  container_files_ms: 10 * 60_000,
  container_call_ms: 60_000,
  /** What brings git a bundle, which the object holds whole, once; and what a container's git answers. */
  container_bundle_body_bytes: 64 * 1024 * 1024,
  container_short_answer_bytes: 1024 * 1024,
  container_idle_ms: 30 * 60_000,
  container_git_idle_ms: 2 * 60_000,
  /** Memory of the host in a container beside the sandbox's own, and all of one that is for git alone. */
  container_host_mb: 512,
  container_git_mb: 2048,
  /** Sandboxes in containers that a deployment may have at once. */
  container_sandboxes: 256,
} as const;
