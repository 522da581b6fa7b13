/**
 * Who watches the walks: from the answers alone and from tokens read with its own eyes it says what may never be. What
 * ran, ran under one unexpired token for exactly its bytes; a card is decided once; losers hear of the winner. [WALK-1]
 */
import type { ApprovalRow } from "../../../durable-objects/runtime/rows.ts";
import { itemSubject } from "../../../durable-objects/runtime/tokens.ts";
import type { AttemptRef, ToolCall } from "../../../src/agents/bus.ts";
import type { ApprovalView, Decision } from "../../../src/domain/approval-view.ts";
import type { Refusal, Result } from "../../../src/domain/refusal.ts";
import { contentHash } from "../../../src/domain/token.ts";
import type { Caller } from "../../../src/domain/view.ts";
import { type HeldScope, scopeId } from "../../fakes/held-scope.ts";

export class Violation extends Error {}
export function violated(what: string): never {
  throw new Violation(what);
}

interface Said {
  readonly scope: string;
  readonly task: string;
  readonly approval_id: string;
  readonly content_hash: string;
  readonly subject: Record<string, string>;
  readonly nonce: string;
  readonly exp: number;
  readonly approvers?: readonly { readonly by: string; readonly proof: string }[];
}

/** The person, as the walks name them: the part before `#`. */
const person = (subject: string): string => subject.split("#")[0] ?? subject;
const creator = "sue";
const proofRank = ["token", "session"];

export class Witness {
  readonly #held: HeldScope;
  readonly counts: Record<string, number> = {};
  /** Cards as they ended. */
  readonly #ended = new Map<string, string>();
  readonly #won = new Map<string, string>();
  /** Items as they were when their plan was approved. */
  readonly #items = new Map<string, string>();
  readonly #ran = new Set<string>();
  readonly #nonces = new Map<string, string>();
  readonly #spent = new Set<string>();
  constructor(held: HeldScope) {
    this.#held = held;
  }
  count(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
  }

  /** One decision from the moment it is sent to its answer. */
  async decided(by: Caller, id: string, decision: Decision): Promise<void> {
    const before = this.#card(id);
    const answer: Result<ApprovalView> = await this.#held.decide(by, id, decision);
    const after = this.#card(id);
    if (!answer.ok) return this.#refused(by, before, after, answer.refusal);
    if (before.status !== "pending") violated(`${id} was ${before.status}, and ${by.subject} decided it all the same`);
    if (by.role === "viewer") violated(`a viewer decided ${id}`);
    const { status } = answer.value;
    this.count(status === "pending" ? "first yes" : decision.decision);
    if (status === "pending") return;
    if (this.#won.has(id)) violated(`${id} was decided twice: ${this.#won.get(id)} and ${by.subject}`);
    this.#won.set(id, by.subject);
    if (status === "approved") this.#approved(after);
  }
  #refused(by: Caller, before: ApprovalRow, after: ApprovalRow, refusal: Refusal): void {
    this.count(`refused: ${refusal.code}`);
    const late = before.status !== "pending" && by.role !== "viewer";
    if (late && refusal.code !== "already_resolved")
      violated(`who came second to ${after.id} was told ${refusal.code}`);
    if (refusal.code !== "already_resolved") return;
    if (after.status === "pending") violated(`${after.id} is pending, and ${by.subject} was told it is over`);
    const told = JSON.stringify([refusal.extra?.status, refusal.extra?.winner]);
    if (told !== JSON.stringify([after.status, after.winner])) violated(`${after.id}: the loser was told ${told}`);
  }
  #approved(card: ApprovalRow): void {
    const rules = this.#held.scope.policies.inForce().policy.approvals;
    const needed = rules.two_approvers.includes(card.kind) ? 2 : 1;
    const proof = proofRank.indexOf(rules.proof.kinds[card.kind] ?? "token");
    const who = card.decisions
      .filter((made) => made.decision === "approve" && made.content_hash === card.content_hash)
      .filter((made) => rules.own_task === "allow" || person(made.by) !== creator)
      .filter((made) => proofRank.indexOf(made.proof) >= proof);
    const people = new Set(who.map((made) => person(made.by)));
    if (people.size < needed) violated(`${card.id} took ${needed} people and has ${[...people].join(" and ")}`);
    if (card.expires_at !== null && (card.resolved_at ?? "") >= card.expires_at)
      violated(`${card.id} was approved after its time`);
    if (contentHash(card.card) !== card.content_hash) violated(`${card.id} was approved with other content`);
    for (const { jws } of this.#held.scope.stores.tokens.ofApproval(card.id)) {
      const said = this.#read(jws);
      const named = new Set((said.approvers ?? []).map(({ by }) => person(by)));
      if (named.size < needed) violated(`a token of ${card.id} names ${named.size} approvers`);
      if (said.content_hash !== card.content_hash || said.approval_id !== card.id)
        violated(`a token of ${card.id} is about something else`);
      if (this.#nonces.has(said.nonce)) violated(`a nonce of ${card.id} was used before`);
      this.#nonces.set(said.nonce, card.id);
    }
    this.#issued(card);
    const task = this.#held.rows.tasks.get(card.task_id);
    const plan = card.plan_id === null ? null : this.#held.rows.plans.get(card.plan_id);
    if (card.kind !== "plan" || task === null || plan === null) return;
    for (const item of this.#held.rows.items.ofTask(task.id))
      if (item.plan_id === plan.id) this.#items.set(item.id, JSON.stringify(itemSubject(scopeId, task, plan, item)));
  }

  /** A yes that nothing came of would keep everybody waiting for ever. */
  #issued(card: ApprovalRow): void {
    const items = this.#held.rows.items.ofTask(card.task_id).filter((item) => item.plan_id === card.plan_id);
    const made = this.#held.scope.stores.tokens.ofApproval(card.id).length;
    // One more attempt stands on the item's old token where it still holds, or on one of its own.
    if (card.kind === "escalation" && made <= 1) return;
    const due = card.kind === "plan" ? items.length : card.kind === "tool_call" ? 1 : 0;
    if (made !== due) violated(`${card.id} was approved, and ${made} of ${due} tokens never came to be`);
  }

  /** A call was answered with `run`, and ran. */
  ran(ref: AttemptRef, call: ToolCall, granted: boolean): void {
    const { rows } = this.#held;
    const id = `${ref.attempt_id}/${call.call_id}`;
    const bytes = `${id} ${call.tool} ${call.arguments}`;
    // Asked again before it is settled it is answered the same: the sandbox starts one process for a call. Other bytes
    // under its name, after its row was changed, must stand on a yes of their own.
    if (this.#ran.has(bytes)) return this.count("run again");
    this.#ran.add(bytes);
    const row = rows.calls.get(id);
    const attempt = rows.attempts.get(ref.attempt_id);
    const task = attempt === null ? null : rows.tasks.get(attempt.task_id);
    const item = attempt === null ? null : rows.items.get(attempt.work_item_id);
    if (row === null || task === null || item === null) return violated(`${id} ran and nothing is on record`);
    if (task.status !== "active" && task.status !== "waiting") violated(`${id} ran for a task that is ${task.status}`);
    this.#holds(
      item.grant,
      task.id,
      item.id,
      (said) => JSON.stringify(said.subject) === this.#sorted(this.#items.get(item.id)),
    );
    const setting = this.#held.scope.policies.inForce().policy.tools[call.tool];
    if (setting === "deny") violated(`${id} ran, which the policy denies`);
    if (granted || setting === "auto_approve") return this.count("ran by plan or policy");
    const wanted = { arguments: call.arguments, attempt_id: ref.attempt_id, call_id: call.call_id, tool: call.tool };
    const subject = JSON.stringify({ ...wanted, type: "call", workspace_tree: call.tree ?? "" });
    this.#holds(row.grant, task.id, id, (said) => JSON.stringify(said.subject) === subject);
    const [token, ...more] = this.#held.scope.stores.tokens
      .ofApproval(row.grant?.approval_id ?? "")
      .filter((each) => each.subject === id);
    if (token === undefined || more.length > 0 || token.spent_at === null)
      violated(`${id} ran and ${more.length + (token ? 1 : 0)} tokens were spent`);
    if (this.#spent.has(token.jws)) violated(`the token of ${id} was spent before`);
    this.#spent.add(token.jws);
    this.count("ran by a person's yes");
  }
  #sorted(text: string | undefined): string {
    const subject: Record<string, string> = JSON.parse(text ?? "{}");
    return JSON.stringify(Object.fromEntries(Object.entries(subject).toSorted(([a], [b]) => (a < b ? -1 : 1))));
  }
  #holds(
    grant: { jws: string; approval_id: string } | null,
    task_id: string,
    what: string,
    isAbout: (said: Said) => boolean,
  ): void {
    if (grant === null) return violated(`${what} ran without a token`);
    const said = this.#read(grant.jws);
    if (said.scope !== scopeId || said.task !== task_id || !isAbout(said))
      violated(`${what} ran under a token for something else`);
    if (this.#held.now >= said.exp * 1000) violated(`${what} ran under a token that has expired`);
    if (this.#nonces.get(said.nonce) !== said.approval_id)
      violated(`${what} ran under a token that no approval issued`);
    const card = this.#card(said.approval_id);
    if (card.status !== "approved" || !this.#won.has(card.id)) violated(`${what} ran, and its card is ${card.status}`);
  }

  /** What must hold after every step: what has ended stays as it ended. */
  look(task_id: string): void {
    // Read past the rows' own schema: every step looks, and this is nobody's input.
    const ended = this.#held.sql.all<{ doc: string }>(
      "SELECT doc FROM approvals WHERE task_id = ? AND status <> 'pending'",
      task_id,
    );
    for (const { doc } of ended) {
      const card: ApprovalRow = JSON.parse(doc);
      const now = JSON.stringify([card.status, card.winner, card.decisions, card.resolved_at]);
      const before = this.#ended.get(card.id);
      if (before !== undefined && before !== now) violated(`${card.id} had ended, and is another: ${before} ${now}`);
      if (before === undefined) this.count(`card ${card.status}`);
      this.#ended.set(card.id, now);
      if (card.winner === null) violated(`${card.id} is ${card.status}, and nobody says why`);
    }
  }
  #read(jws: string): Said {
    const [head = "", body = "", tail = ""] = jws.split(".");
    const text = (part: string) => Buffer.from(part, "base64url");
    const { kid } = JSON.parse(text(head).toString());
    if (!this.#held.keys.isGood(kid, `${head}.${body}`, text(tail)))
      violated(`a token's signature is not good: ${kid}`);
    return JSON.parse(text(body).toString());
  }
  #card(id: string): ApprovalRow {
    return this.#held.rows.approvals.get(id) ?? violated(`card ${id} is gone`);
  }
}
