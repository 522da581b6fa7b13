/** What thinking costs, and whether it may go on: each call of a model on record before it is made, charged once after. [CHG-*] */
import type { MayThink, Payer, Thought, ThoughtRef } from "../../src/agents/mind-bus.ts";
import { usage as usageShape } from "../../src/agents/models.ts";
import { actorOf } from "../../src/domain/audit.ts";
import { charge, grown, leftOf, mayCall } from "../../src/domain/budget.ts";
import { isFinal } from "../../src/domain/task.ts";
import { limits } from "../../src/limits.ts";
import { accountOf, keptBack, storedAccount } from "./accounts.ts";
import { askForBudget } from "./budgets.ts";
import type { ThoughtRow } from "./mind-rows.ts";
import type { Tx } from "./tx.ts";

export function mayThink(tx: Tx, ref: ThoughtRef): MayThink {
  const stale = (reason: string): MayThink => ({ answer: "stale", reason });
  const { payer } = ref;
  const task = tx.rows.tasks.get(payer.task_id);
  if (task === null) return stale("no such task");
  if (isFinal(task.status)) return stale(`the task is ${task.status}`);
  const attempt = payer.kind === "attempt" ? tx.rows.attempts.get(payer.attempt_id) : null;
  const why = payer.kind === "attempt" ? whyNotIts(ref, payer, attempt) : null;
  if (why !== null) return stale(why);
  const account = accountOf(tx.rows, task, payer);
  if (account === null) return stale("nothing pays for it any more");
  const known = tx.rows.thoughts.get(ref.thought_id);
  if (known !== null && (known.run_id !== ref.run_id || known.task_id !== task.id))
    return stale("another run asked under this id");
  if (known !== null && known.state !== "open") return stale("this call of the model has ended");

  // Of a run, and of an item, only one call is open: whoever asks anew has lost the one before.
  const own = (row: ThoughtRow) =>
    row.run_id === ref.run_id || (payer.kind === "attempt" && row.account === account.row.id);
  const lost = (row: ThoughtRow) => own(row) || isLost(row, tx.now);
  for (const row of tx.rows.thoughts.withStatus("open"))
    if (row.id !== ref.thought_id && lost(row)) chargeLost(tx, row);

  const paying = accountOf(tx.rows, task, payer) ?? account;
  const { row, limit } = paying;
  const left = leftOf(limit, row.spent);
  const go = (): MayThink => ({ answer: "go", tokens_left: Math.max(0, left.tokens), usd_left: left.usd });
  if (known !== null) return go();
  const no = (reason: string): MayThink => ({ answer: "refused", error_code: "budget_exceeded", reason });
  if (row.closed) return no("the budget is used up, and no more was granted");
  const reserved = keptBack(tx.rows, ({ account }) => account === row.id);
  const may = mayCall(limit, row.spent, reserved);
  if (may !== "go") {
    // What happened can be said without a model: nobody is asked for money for that.
    if (payer.kind === "task" && payer.why === "proxy" && task.routed) return no("the budget is used up");
    if (may === "taken") return { answer: "wait", reason: "calls under way may use up what is left of the budget" };
    askForBudget(tx, task, paying, attempt);
    return { answer: "wait", reason: "the budget is used up: a person is asked for more" };
  }
  const thought = tx.rows.thoughts.put({
    id: ref.thought_id,
    task_id: task.id,
    run_id: ref.run_id,
    account: row.id,
    attempt_id: attempt?.id ?? null,
    why: payer.kind === "attempt" ? "attempt" : payer.why,
    role: ref.role,
    agent: ref.agent,
    prompt: ref.prompt,
    reserve_tokens: ref.reserve_tokens,
    reserve_usd: ref.reserve_usd ?? null,
    phase_id: tx.rows.phases.ofTask(task.id).findLast(({ outcome }) => outcome === "open")?.id ?? null,
    state: "open",
    model: null,
    usage: null,
    usd: null,
    failure: null,
    at: tx.at,
    ended_at: null,
  });
  tx.audit("effect", task, { actor: actorOf(ref.agent), decision: "intent", details: aboutThought(thought) });
  return go();
}

function whyNotIts(
  ref: ThoughtRef,
  payer: Extract<Payer, { kind: "attempt" }>,
  attempt: { task_id: string; state: string; entry: number; agent: string | null } | null,
): string | null {
  if (attempt === null || attempt.task_id !== payer.task_id) return "no such attempt";
  if (attempt.state !== "running") return `the attempt is ${attempt.state}`;
  if (attempt.entry !== payer.entry || attempt.agent !== ref.agent) return "the attempt has gone on without it";
  return null;
}

/** Charged once: what was charged, if only as estimated, stays as it is. A task that is over pays what it owes. */
export function thought(tx: Tx, task_id: string, done: Thought): void {
  const row = tx.rows.thoughts.get(done.thought_id);
  if (row?.task_id !== task_id) {
    tx.audit("effect", { trace_id: "scope" }, late(done, "nobody asked for this call of a model"));
    return;
  }
  if (row.state === "charged") return;
  if (row.state === "estimated") {
    const task = tx.rows.tasks.get(task_id);
    tx.audit("effect", task ?? { trace_id: "scope" }, late(done, "it was charged as estimated before"));
    return;
  }
  const { model, failure } = done;
  settle(tx, { ...row, state: "charged", model, ...soundCost(row, done), failure });
}
/** What cannot have been its cost is charged as the most it may have been, and never stored: it could not be read again. */
function soundCost(row: ThoughtRow, { usage, usd }: Thought): Pick<ThoughtRow, "usage" | "usd"> {
  const read = usageShape.safeParse(usage);
  const price = usd !== null && Number.isFinite(usd) && usd >= 0 ? usd : null;
  return read.success ? { usage: read.data, usd: price } : mostOf(row);
}
function mostOf({ reserve_tokens, reserve_usd }: ThoughtRow): Pick<ThoughtRow, "usage" | "usd"> {
  const usage = { input_tokens: reserve_tokens, output_tokens: 0, cached_tokens: 0, estimated: true };
  return { usage, usd: reserve_usd };
}
function late({ thought_id, model, usage, usd }: Thought, reason: string) {
  const details = { effect: "model_call", thought_id, model, ...usage, usd };
  return { decision: "stale_result", reason, details } as const;
}

function isLost(row: ThoughtRow, now: number): boolean {
  return Date.parse(row.at) + limits.thought_lost_ms <= now;
}
/** Calls that nobody will tell the end of: their agents may be gone with their tasks. */
export function chargeForgotten(tx: Tx): void {
  for (const row of tx.rows.thoughts.withStatus("open")) if (isLost(row, tx.now)) chargeLost(tx, row);
}
export function nextForgotten(open: readonly ThoughtRow[]): number | null {
  return open.reduce<number | null>((first, { at }) => {
    const lost = Date.parse(at) + limits.thought_lost_ms;
    return first === null ? lost : Math.min(first, lost);
  }, null);
}

/** The most it may have cost: nobody knows how much of it was answered. */
function chargeLost(tx: Tx, row: ThoughtRow): void {
  settle(tx, { ...row, state: "estimated", ...mostOf(row), failure: "nobody told how it ended" });
}
function settle(tx: Tx, ended: ThoughtRow): void {
  const row = tx.rows.thoughts.put({ ...ended, ended_at: tx.at });
  const task = tx.rows.tasks.get(row.task_id);
  if (task === null || row.usage === null) return;
  const before = storedAccount(tx.rows, row.account, row.task_id);
  const cost = { ...row.usage, usd: row.usd };
  tx.rows.accounts.put({ ...before, spent: charge(before.spent, cost) });
  const phase = row.phase_id === null ? null : tx.rows.phases.get(row.phase_id);
  const tokens = row.usage.input_tokens + row.usage.output_tokens;
  if (phase !== null) tx.rows.phases.put({ ...phase, tokens: grown(phase.tokens, tokens) });
  const { model, usage, usd, failure } = row;
  tx.audit("effect", task, {
    actor: actorOf(row.agent),
    decision: row.state === "charged" ? "outcome" : "estimated",
    reason: failure,
    details: { ...aboutThought(row), model, ...usage, usd },
  });
}
function aboutThought({ id, attempt_id, why, role, prompt, account, reserve_tokens }: ThoughtRow) {
  return { effect: "model_call", thought_id: id, attempt_id, why, role, prompt, account, reserve_tokens };
}
