/**
 * Tools that a model calls by a name, or with argument names, it learned elsewhere. One table says what each may mean;
 * whether it is run under the right name is decided by what is offered and by whether the arguments fit. [FALL-*]
 */

/** Names as others call it -> ours. Compared without case, separators and prefixes. */
const table: Readonly<Record<string, readonly string[]>> = {
  shell_execute: [
    ...["bash", "sh", "zsh", "shell", "shell_exec", "shell_command", "terminal", "console", "command", "cmd"],
    ...["run", "run_command", "run_shell", "run_bash", "run_terminal_cmd", "run_in_terminal", "run_shell_command"],
    ...[
      "exec",
      "exec_command",
      "execute",
      "execute_command",
      "execute_bash",
      "execute_shell",
      "bash_execute",
      "local_shell",
    ],
  ],
  python_execute: [
    ...["python", "python3", "python_exec", "run_python", "execute_python", "ipython", "code_interpreter"],
    ...["python_interpreter", "run_code", "execute_code"],
  ],
  skill_execute: ["skill", "skill_exec", "run_skill", "use_skill", "execute_skill"],
  file_read: [
    ...["read", "read_file", "file_view", "view", "view_file", "open", "open_file", "get_file", "get_file_contents"],
    ...["cat", "show_file", "fetch_file"],
  ],
  file_write: [
    ...[
      "write",
      "write_file",
      "create",
      "create_file",
      "save_file",
      "new_file",
      "put_file",
      "write_to_file",
      "file_create",
    ],
  ],
  file_edit: [
    ...["edit", "edit_file", "str_replace", "str_replace_editor", "str_replace_based_edit_tool", "replace"],
    ...["replace_in_file", "search_replace", "string_replace", "update_file", "modify_file", "file_update"],
  ],
  list_directory: [
    ...[
      "ls",
      "list",
      "list_dir",
      "list_files",
      "list_folder",
      "dir",
      "read_dir",
      "read_directory",
      "directory_tree",
      "tree",
    ],
  ],
  search_files: [
    ...["grep", "rg", "ripgrep", "search", "grep_search", "search_code", "code_search", "search_file_content"],
    ...["find_in_files", "find", "glob", "find_files", "file_search"],
  ],
  git_status: ["status"],
  git_diff: ["diff", "show_diff"],
  git_log: ["log", "git_history"],
  git_blame: ["blame"],
  git_add: ["stage", "git_stage"],
  git_commit: ["commit"],
  memory_search: ["memory", "recall", "search_memory", "memory_recall", "remember", "retrieve_memory"],
  web_search: ["search_web", "google", "google_search", "internet_search", "browser_search", "websearch", "search"],
  request_research: ["research", "task", "ask_research", "start_research", "dispatch_agent", "agent"],
  validate_plan: ["check_plan", "plan_validate"],
  submit_plan: ["plan", "final_plan", "exit_plan_mode", "submit", "write_plan"],
  finish: ["done", "complete", "task_complete", "attempt_completion", "final_answer", "submit", "end", "exit"],
  give_up: ["fail", "abort", "cannot_complete", "giveup"],
  tell_user: ["say", "message", "notify_user", "send_message", "respond"],
  answer: ["respond", "reply", "final_answer", "final"],
};

/** Argument names as others call them -> ours. */
const argumentTable: Readonly<Record<string, readonly string[]>> = {
  command: ["cmd", "script", "bash_command", "shell_command", "input", "code"],
  code: ["script", "source", "python", "program", "command", "input"],
  path: [
    "file_path",
    "filepath",
    "filename",
    "file_name",
    "file",
    "target_file",
    "dir",
    "directory",
    "folder",
    "dir_path",
  ],
  content: ["contents", "text", "file_text", "data", "new_content", "body"],
  old_text: ["old_string", "old_str", "old", "search", "find", "target"],
  new_text: ["new_string", "new_str", "new", "replace", "replacement"],
  pattern: ["query", "regex", "regexp", "search", "term"],
  query: ["pattern", "q", "search", "term", "question", "text"],
  task: ["question", "prompt", "query", "description"],
  text: ["message", "answer", "content", "response"],
  message: ["text", "content", "msg"],
};

/** `functions.Bash`, `mcp__host__run-command`, `ReadFile` -> `bash`, `run_command`, `read_file`. */
function plain(name: string): string {
  const last =
    name
      .trim()
      .split(/[./:]|__/)
      .at(-1) ?? "";
  return last
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/[\s-]+/g, "_")
    .toLowerCase()
    .replace(/_tool$/, "");
}

/** Of the tools that are offered, those the name may mean, best first. The name itself is not one of them. */
export function alternativesTo(name: string, offered: readonly string[]): readonly string[] {
  const asked = plain(name);
  const same = offered.filter(
    (tool) => plain(tool) === asked || tool.replaceAll("_", "") === asked.replaceAll("_", ""),
  );
  if (same.length > 0) return same;
  const squeezed = asked.replaceAll("_", "");
  return offered.filter((tool) =>
    (Object.hasOwn(table, tool) ? (table[tool] ?? []) : []).some((other) => other.replaceAll("_", "") === squeezed),
  );
}

const argumentNames: ReadonlySet<string> = new Set(
  Object.entries(argumentTable).flatMap(([own, others]) => [own, ...others]),
);

/** The arguments with the names the tool takes where others were written. Null when that changes nothing. */
export function renamedArguments(args: unknown, takes: readonly string[]): Record<string, unknown> | null {
  if (typeof args !== "object" || args === null || Array.isArray(args)) return null;
  const given = new Map(Object.entries(args));
  let changed = false;
  for (const key of takes) {
    if (given.has(key) || !Object.hasOwn(argumentTable, key)) continue;
    const other = (argumentTable[key] ?? []).find((name) => given.has(name) && !takes.includes(name));
    if (other === undefined) continue;
    given.set(key, given.get(other));
    given.delete(other);
    changed = true;
  }
  return changed ? Object.fromEntries(given) : null;
}

/** What stands between the tags when a model, or a program it ran, says that a tool failed it. */
export interface ToolUseError {
  /** The tool it names, where one can be read. */
  readonly tool: string | null;
  readonly message: string;
  readonly raw: string;
}
const maxErrors = 8;
const maxRaw = 2_000;

/** What follows `tool` in a sentence and is no name: `No such tool available: Bash`. */
const noName =
  /^(?:available|was|is|are|not|does|did|has|can|cannot|could|to|for|with|in|of|and|or|the|an?|named?|called|calls?|results?|errors?|input|use|found|failed|unknown|exists?|you|your|it|its|that|this|which|because|execution|parameters?|arguments?|requested|request|name|here|there|by|from|at|on)$/i;
const name = "([A-Za-z][\\w.-]{0,99})";
/** Where a name stands, the likeliest first: behind `tool`, behind the colon or quote that follows it, in quotes. */
const behindTool = new RegExp(`\\b(?:tool|named?|called)\\s*:?\\s*["'\`]?${name}`, "gi");
const quoted = [
  new RegExp(`\\btool\\b[^"'\`\\n:]{0,40}[:"'\`]\\s*["'\`]?${name}`, "gi"),
  new RegExp(`["'\`]${name}["'\`]`, "g"),
];
/** Only here any word may be the tool's name. */
const saysNoTool =
  /\b(?:no such|no|unknown|unrecognized|nonexistent) tool\b|\bnot an? (?:known |valid )?tool\b|\btool\b.{0,120}\b(?:not (?:found|exist|available|known|offered|supported|recognized)|doesn't exist|unknown|unavailable|unrecognized)\b/i;
/** Here what stands in quotes is an argument, or a text. */
const ofArguments = /\b(?:param(?:eter)?s?|arguments?|propert(?:y|ies)|fields?|strings?|inputs?|values?|options?)\b/i;
function toolIn(inner: string, offered: readonly string[]): string | null {
  const known = (word: string) =>
    offered.includes(word) || (!argumentNames.has(word) && alternativesTo(word, offered).length > 0);
  for (const sentence of inner.split(/\n|[.;!?]\s/)) {
    const none = saysNoTool.test(sentence);
    const places = none || !ofArguments.test(sentence) ? [behindTool, ...quoted] : [behindTool];
    const words = places.flatMap((place) => [...sentence.matchAll(place)].map(([, word = ""]) => word));
    const found = words.find((word) => !noName.test(word) && (none || known(word)));
    if (found !== undefined) return found;
  }
  return null;
}

/** `offered` tells a tool's name from other words, where the sentence alone does not. */
export function toolUseErrors(text: string, offered: readonly string[] = []): readonly ToolUseError[] {
  const found: ToolUseError[] = [];
  const open = "<tool_use_error>";
  const close = "</tool_use_error>";
  for (let from = text.indexOf(open); from >= 0 && found.length < maxErrors; from = text.indexOf(open, from + 1)) {
    const end = text.indexOf(close, from);
    const inner = text.slice(from + open.length, end < 0 ? from + maxRaw : Math.min(end, from + maxRaw)).trim();
    const tool = toolIn(inner, offered);
    found.push({ tool, message: inner.toWellFormed(), raw: `${open}${inner}${end < 0 ? "" : close}`.toWellFormed() });
  }
  return found;
}
