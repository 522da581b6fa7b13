/**
 * Cards, tasks and lists as text. Whatever came from outside passes `visible` on its way, and a value that
 * stands on one line cannot make a second. [CLI-1] [CLI-8]
 */
import type { ApprovalView, Card } from "../domain/approval-view.ts";
import { givenWords } from "../domain/asked-budget.ts";
import type { TaskSummary, TaskView } from "../domain/view.ts";
import { visible, visibleLine } from "../domain/visible.ts";
import { countOf } from "./counts.ts";
import { linkWords, needsLines } from "./show-needs.ts";

function lines(...parts: readonly (string | null | readonly (string | null)[])[]): string {
  return parts
    .flat()
    .filter((part) => part !== null)
    .join("\n");
}

function field(name: string, value: string | null): string | null {
  return value === null || value === "" ? null : `${name.padEnd(12)}${visibleLine(value)}`;
}

function list(name: string, values: readonly string[], none: string | null = null): string | null {
  return values.length === 0 ? field(name, none) : field(name, values.join(", "));
}

/** One argv as a person would type it: a word with anything but plain letters in it is quoted. */
export function typed(argv: readonly string[]): string {
  return argv.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(" ");
}

function indent(text: string, by: string): string {
  return visible(text)
    .trimEnd()
    .split("\n")
    .map((line) => by + line)
    .join("\n");
}

/** The whole question, as it is bound: nothing that the hash covers and a person would want to know is left out. */
export function approvalText(approval: ApprovalView): string {
  const { card } = approval;
  return lines(
    `${card.kind.replace("_", " ").toUpperCase()}  ${visibleLine(card.title)}`,
    field("", card.why),
    ...goalLines(approval),
    field("approval", approval.id),
    field("task", approval.task_id),
    field("status", approval.status),
    field("asked by", `${card.requested_by}, rule ${approval.rule}, ${approval.requested_at}`),
    ...needsLines(approval).map(([name, words]) => field(name, words)),
    ...boundsOf(card),
    ...card.items.flatMap(itemLines),
    ...toolLines(card),
    ...card.facts.map((fact) => `  - ${visibleLine(fact)}`),
    ...(approval.standing_notes ?? []).map(({ name, why }) =>
      field("standing", `${name} does not speak for it: ${why}`),
    ),
    field("policy", card.policy_hash),
    field("hash", approval.content_hash),
    ...approval.decisions.map((made) =>
      field(
        "decision",
        `${made.decision} by ${made.by}${linkWords(made)} at ${made.at}${made.comment === null ? "" : `: ${made.comment}`}`,
      ),
    ),
  );
}

/** Every model that works at the plan is told it. */
function goalLines({ card, task_id }: ApprovalView): (string | null)[] {
  if (card.goal !== undefined) return ["goal", indent(card.goal, "    | ")];
  return [
    card.kind === "plan"
      ? field("goal", `not on this card, which is an older one: see countersign task show ${task_id} --json`)
      : null,
  ];
}

function boundsOf(card: Card): (string | null)[] {
  const { environment, budget } = card;
  return [
    field("repository", card.repo),
    field("commit", card.base_commit),
    field("publishes", card.publishes),
    field("rests on", `words of ${card.taint} (the least trusted author of what was read for it)`),
    ...(card.taint_sources ?? []).map((one) => field("", `${one.taint}: ${one.source}, ${one.at}`)),
    ...askedLines(card),
    budget === null ? null : field("budget", card.kind === "plan" ? planBudgetText(budget) : budgetText(budget)),
    ...(environment === null
      ? []
      : [
          list("setup", environment.setup.map(typed)),
          list("setup hosts", environment.hosts),
          list("cache", environment.cache),
        ]),
    field("plan", card.plan_hash),
  ];
}

/** Who asked outside of the scope, and what their words hold that nobody sees there. */
function askedLines({ asked_by, hidden = [] }: Card): (string | null)[] {
  if (asked_by === undefined) return [];
  const at = asked_by.where === null ? "" : `, at ${asked_by.where}`;
  return [field("wished by", `${asked_by.by}${at}`), ...hidden.map((part) => field("hidden", part))];
}

function budgetText(budget: NonNullable<Card["budget"]>): string {
  const parts = [
    budget.tokens === null ? null : countOf(budget.tokens, "token"),
    budget.usd === null ? null : `${budget.usd} USD`,
    budget.minutes === null ? null : countOf(budget.minutes, "minute"),
  ].filter((part) => part !== null);
  return parts.join(", ");
}

/** In a plan no dollars are no limit in dollars, and no tokens leave it to what the task was given. */
function planBudgetText(budget: NonNullable<Card["budget"]>): string {
  const { tokens, usd, minutes } = budget;
  const money = usd === null || usd === 0 ? "no limit in dollars" : `${usd} USD`;
  const parts = tokens === null || tokens === 0 ? ["no tokens of its own"] : [countOf(tokens, "token"), money];
  return [...parts, ...(minutes === null ? [] : [countOf(minutes, "minute")])].join(", ");
}

function itemLines(item: Card["items"][number]): (string | null)[] {
  const inner = (text: string | null) => (text === null ? null : `  ${text}`);
  const kept = item.protect.filter((glob) => !glob.startsWith("!"));
  const excepted = item.protect.flatMap((glob) => (glob.startsWith("!") ? [glob.slice(1)] : []));
  return [
    "",
    `item ${visibleLine(item.id)}: ${visibleLine(item.title)}`,
    inner(field("runner", `${item.runner}, at most ${countOf(item.max_attempts, "attempt")}`)),
    inner(item.preset === undefined ? null : field("preset", item.preset)),
    inner(list("after", item.depends_on)),
    inner(list("tools", item.grants.tools, "none")),
    inner(list("may change", item.grants.paths, "nothing")),
    inner(list("commands", item.grants.commands)),
    inner(list("hosts", item.grants.hosts, "no network")),
    inner(list("secrets", item.grants.secrets)),
    inner(list("protected", kept)),
    inner(kept.length === 0 ? null : field("", "(holds over what it may change)")),
    inner(list("but not", excepted)),
    inner(item.verify.length === 0 ? field("checked by", "nothing") : list("checked by", checksOf(item))),
    inner(field("item hash", item.item_hash)),
    ...thinkingLines(item).map(inner),
    ...item.steps.flatMap((step, index) => [`  step ${index + 1}`, indent(step, "    | ")]),
    ...(item.section === undefined ? [] : ["  its model is told", indent(item.section, "    | ")]),
  ];
}

function checksOf({ verify, verify_timeouts_s = [] }: Card["items"][number]): string[] {
  return verify.map((argv, index) => {
    const most = verify_timeouts_s[index];
    return most === undefined ? typed(argv) : `${typed(argv)} (at most ${most} s)`;
  });
}

/** Absent for items that run steps, and on cards of before it was kept. */
function thinkingLines({ skills, on_stuck, budget, touches = [] }: Card["items"][number]): (string | null)[] {
  if (budget === undefined) return [];
  const { usd } = budget;
  const own = [budgetText({ ...budget, usd: usd === 0 ? null : usd }), usd === 0 ? "no limit in dollars" : ""]
    .filter((part) => part !== "")
    .join(", ");
  return [
    field("may spend", own === "" ? "its share of the plan's budget" : own),
    list("is given", touches),
    list("skills", skills ?? []),
    field("when stuck", on_stuck?.replace("_", " ") ?? null),
  ];
}

function toolLines(card: Card): (string | null)[] {
  if (card.tool === null) return [];
  return [
    "",
    field("tool", card.tool.name),
    "arguments",
    indent(card.tool.arguments, "    | "),
    field("workspace", card.tool.workspace_tree),
  ];
}

export function taskText(task: TaskView): string {
  return lines(
    visibleLine(task.title),
    field("task", task.id),
    field(
      "status",
      task.waiting_on === null ? task.status : `${task.status} on a person: ${task.waiting_on.replace("_", " ")}`,
    ),
    field("phase", task.phase),
    field("repository", `${task.repo.url} at ${task.repo.ref}`),
    field("base", task.base_commit),
    field(
      "plan",
      task.plan === null
        ? null
        : `version ${task.plan.version}, ${task.plan.status.replace("_", " ")}, ${task.plan.plan_hash}`,
    ),
    field("branch", task.branch),
    field("commit", task.commit),
    field("error", task.error_code),
    field("reason", task.reason),
    field("budget", task.budget === undefined ? null : givenWords(task.budget)),
    field("spent", spentInWords(task)),
    field("research", researchInWords(task)),
    ...(task.rungs ?? []).map((rung) => field("rung", rungInWords(rung))),
    ...(task.gate_notes ?? []).map((note) => field("remark", `${note.gate}: ${note.reason}`)),
    ...task.items.map(
      (item) =>
        `  ${visibleLine(item.item_id)}: ${item.outcome}, ${item.attempts_used} of ${countOf(item.max_attempts, "attempt")}, ${visibleLine(item.title)}`,
    ),
    ...task.attempts.flatMap(attemptLines),
    ...task.pending_approvals.map((id) => `waits for you: countersign approvals show ${visibleLine(id)}`),
  );
}

function spentInWords({ spent }: TaskView): string | null {
  if (spent === undefined || spent.calls === 0) return null;
  const money = spent.usd === null ? "price unknown" : `$${spent.usd.toFixed(4)}`;
  const about = spent.estimated ? ", partly estimated" : "";
  const left = `${spent.remaining_tokens} tokens left`;
  return `${spent.input_tokens} tokens in, ${spent.output_tokens} out, ${money}${about}; ${left}`;
}
function researchInWords({ research }: TaskView): string | null {
  if (research === undefined) return null;
  const words = {
    answered: "answered",
    open: "open",
    timed_out: "too late",
    cancelled: "not wanted any more",
  } as const;
  const keys = ["answered", "open", "timed_out", "cancelled"] as const;
  return keys.flatMap((key) => (research[key] === 0 ? [] : [`${research[key]} ${words[key]}`])).join(", ");
}
function rungInWords({ work_item_id, attempt_number, to, why, state }: NonNullable<TaskView["rungs"]>[number]): string {
  return `${work_item_id} after attempt ${attempt_number}: ${to}${state === "taken" ? "" : ` (${state})`}, ${why}`;
}

function attemptLines(attempt: TaskView["attempts"][number]): string[] {
  const why = attempt.detail === null ? "" : `: ${visibleLine(attempt.detail)}`;
  return [
    `  attempt ${attempt.number} of ${visibleLine(attempt.work_item_id)}: ${attempt.state}${why}`,
    ...(attempt.recoveries ?? []).map(
      ({ reason, action, detail }) => `    stuck: ${reason}, ${action.replace("_", " ")}: ${visibleLine(detail)}`,
    ),
    ...attempt.verifications.map((made) => `    verified: ${made.verdict}, ${visibleLine(made.detail)}`),
  ];
}

export function taskRow(task: TaskSummary): string {
  return `${task.id}  ${task.status.padEnd(9)}  ${task.created_at}  ${visibleLine(task.title)}`;
}
export function approvalRow(approval: ApprovalView): string {
  return `${approval.id}  ${approval.status.padEnd(10)}  ${approval.kind.padEnd(11)}  ${approval.requested_at}  ${visibleLine(approval.card.title)}`;
}
