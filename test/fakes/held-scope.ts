/**
 * A scope's runtime over node:sqlite, with a clock of its own and nobody at work: a test speaks for people and agents,
 * through the same doors and functions as the object. Reopened, it is what a restart leaves.
 */
import { generateKeyPairSync, type KeyObject, sign, verify } from "node:crypto";
import { authorize, settle } from "../../durable-objects/runtime/calls.ts";
import { DecisionDoor } from "../../durable-objects/runtime/doors-decisions.ts";
import { TaskDoor } from "../../durable-objects/runtime/doors-tasks.ts";
import { begin, claim } from "../../durable-objects/runtime/entries.ts";
import { Mailroom } from "../../durable-objects/runtime/mailroom.ts";
import type { ScopeRows } from "../../durable-objects/runtime/rows.ts";
import { type Minds, Scope } from "../../durable-objects/runtime/scope.ts";
import { Signatures } from "../../durable-objects/runtime/signatures.ts";
import type { Signer } from "../../durable-objects/runtime/tokens.ts";
import type { AttemptRef, Authorization, Entry, ToolCall } from "../../src/agents/bus.ts";
import type { ApprovalView, Decision } from "../../src/domain/approval-view.ts";
import { build, type Message, type MessageInput } from "../../src/domain/message.ts";
import type { Policy } from "../../src/domain/policy.ts";
import type { ApprovalRules } from "../../src/domain/policy-approvals.ts";
import type { Result } from "../../src/domain/refusal.ts";
import { executionOrder } from "../../src/domain/result.ts";
import type { Caller, CallerRole } from "../../src/domain/view.ts";
import { type NodeSql, nodeSql } from "./node-sql.ts";

export const scopeId = "approvalwalks000";
export const repo = "file:///repos/sample";
export const base = "b".repeat(40);

/** Ed25519 without waiting: the same bytes as the deployment's, several keys, one of which signs. */
export class Keys implements Signer {
  readonly pairs = new Map<string, { privateKey: KeyObject; publicKey: KeyObject }>();
  kid = "";
  /** What happens before each signature and each check of one. */
  hop: () => Promise<void> = async () => {};
  #made = 0;
  /** A name is never given to another key, so what was found out about a signature stays true. */
  readonly #checked = new Map<string, boolean>();
  constructor() {
    this.rotate();
  }
  rotate(): void {
    this.kid = `key-${++this.#made}`;
    this.pairs.set(this.kid, generateKeyPairSync("ed25519"));
  }
  async sign(text: string): Promise<Uint8Array> {
    await this.hop();
    return sign(null, Buffer.from(text), this.#pair(this.kid).privateKey);
  }
  async verify(kid: string, text: string, signature: Uint8Array): Promise<boolean> {
    await this.hop();
    return this.isGood(kid, text, signature);
  }
  isGood(kid: string, text: string, signature: Uint8Array): boolean {
    if (!this.pairs.has(kid)) return false;
    const asked = `${kid} ${text} ${Buffer.from(signature).toString("hex")}`;
    const known = this.#checked.get(asked);
    if (known !== undefined) return known;
    const good = verify(null, Buffer.from(text), this.#pair(kid).publicKey, signature);
    this.#checked.set(asked, good);
    return good;
  }
  #pair(kid: string) {
    const pair = this.pairs.get(kid);
    if (pair === undefined) throw new Error(`there is no key ${kid}`);
    return pair;
  }
}

export function must<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(`refused: ${result.refusal.code}: ${result.refusal.detail}`);
  return result.value;
}
export function missing(what: string): never {
  throw new Error(`there is no ${what}`);
}
export function callerOf(subject: string, role: CallerRole = "approver", via: Caller["via"] = "token"): Caller {
  return { scope_id: scopeId, subject, role, via, credential_id: `credential of ${subject}` };
}
export function planOf(items: readonly string[]): string {
  const ids = items.map((item) => /id: *([\w-]+)/.exec(item)?.[1] ?? missing("id"));
  const sections = ids.map((id) => `## ${id}\n\`\`\`sh\necho ${id}\n\`\`\`\n`);
  return `---\ntitle: A plan\ngoal: A goal\nitems:\n${items.map((item) => `  - { ${item} }\n`).join("")}---\n${sections.join("\n")}`;
}
/** Its one step is outside what it grants, so that it asks. */
export const askingPlan = planOf(["id: a, runner: steps, verify: none, max_attempts: 2, allow: { paths: ['src/**'] }"]);
export const grantedPlan = askingPlan.replace("allow: {", "allow: { tools: [shell_execute],");

export interface Held {
  readonly ref: AttemptRef;
  readonly message: Message;
}

export class HeldScope {
  readonly sql: NodeSql;
  readonly keys = new Keys();
  now = Date.parse("2026-03-01T12:00:00.000Z");
  scope: Scope;
  signatures: Signatures;
  decisions: DecisionDoor;
  tasks: TaskDoor;
  mailroom: Mailroom;
  readonly #clock = Date.now;
  #messages = 0;
  #agents = 0;
  readonly #has_mind: Minds;
  constructor(has_mind: Minds = () => false) {
    this.#has_mind = has_mind;
    this.sql = nodeSql();
    Date.now = () => this.now;
    const made = this.#open();
    must(made.scope.init({ scope_id: scopeId, name: "test", token_id: "first-token", token_hash: "x" }));
    ({ scope: this.scope, signatures: this.signatures, decisions: this.decisions } = made);
    ({ tasks: this.tasks, mailroom: this.mailroom } = made);
  }
  /** What an eviction leaves: the rows, and nothing that was in memory. */
  reopen(): void {
    const made = this.#open();
    ({ scope: this.scope, signatures: this.signatures, decisions: this.decisions } = made);
    ({ tasks: this.tasks, mailroom: this.mailroom } = made);
  }
  #open() {
    const scope = new Scope(this.sql, this.#has_mind);
    const after = async () => {};
    const signatures = new Signatures(scope.stores.rows, {
      signer: () => this.keys,
      policyHash: () => scope.policies.inForce().view.policy_hash,
    });
    const decisions = new DecisionDoor(scope, signatures, after);
    return {
      scope,
      signatures,
      decisions,
      tasks: new TaskDoor(scope, after),
      mailroom: new Mailroom(scope, signatures, after),
    };
  }
  close(): void {
    Date.now = this.#clock;
    this.sql.close();
  }
  get rows(): ScopeRows {
    return this.scope.stores.rows;
  }

  /** A new version of the policy, as an admin would store it. */
  edit(change: (policy: Policy) => Policy): void {
    const { policy } = this.scope.policies.inForce();
    this.sql.transaction(() =>
      this.scope.policies.add(change(policy), { changed_by: "admin", reason: null }, this.now),
    );
  }
  demand(approvals: Partial<ApprovalRules>): void {
    this.edit((policy) => ({ ...policy, approvals: { ...policy.approvals, ...approvals } }));
  }

  /** A task whose plan waits in review. */
  async planned(plan = askingPlan, by: Caller = callerOf("sue#sub001", "submitter")): Promise<string> {
    const input = { title: "A task", description: "", labels: [], repo: { url: repo, ref: "HEAD" }, plan };
    const { body } = must(await this.tasks.createTask(by, { ...input, register_repo: true }, null));
    await this.replan(body.id, plan);
    return body.id;
  }
  async replan(task_id: string, plan: string): Promise<void> {
    const fields = { plan_markdown: plan, payload: { base_commit: base }, attempt_number: null, work_item_id: null };
    await this.mailroom.observe(
      this.message(task_id, { message_kind: "plan_result", sender: "planner", recipient: "proxy", ...fields }),
    );
  }
  message(
    task_id: string,
    fields: Pick<MessageInput, "message_kind" | "sender" | "recipient"> & Partial<MessageInput>,
  ): Message {
    const task = this.rows.tasks.get(task_id) ?? missing("task");
    this.#messages++;
    const { attempt_number, ...rest } = fields;
    return build({
      message_id: `${task_id}-${String(this.#messages).padStart(8, "0")}`,
      content: "said by a test",
      ...{ trace_id: task.trace_id, scope_id: scopeId, task_id, taint: task.taint },
      created_at: new Date(this.now).toISOString(),
      ...rest,
      ...(typeof attempt_number === "number" ? { attempt_number } : {}),
    });
  }

  cards(task_id: string): ApprovalView[] {
    const of = this.rows.approvals.ofTask(task_id);
    return of.filter(({ status }) => status === "pending").map((row) => ({ ...row, needs: missingNeeds }));
  }
  card(task_id: string): ApprovalView {
    const [card, ...more] = this.cards(task_id);
    if (card === undefined || more.length > 0) throw new Error(`${more.length + (card ? 1 : 0)} cards wait, not one`);
    return card;
  }
  view(id: string): Promise<ApprovalView> {
    return this.decisions.approval(callerOf("viewer", "viewer"), id).then(must);
  }
  decide(by: Caller, id: string, decision: Decision): Promise<Result<ApprovalView>> {
    return this.decisions.decide(by, id, decision);
  }
  approve(by: Caller, card: Pick<ApprovalView, "id" | "content_hash">, comment: string | null = null) {
    return this.decide(by, card.id, { decision: "approve", content_hash: card.content_hash, comment });
  }
  deny(by: Caller, card: Pick<ApprovalView, "id" | "content_hash">, comment = "no", stop = false) {
    return this.decide(by, card.id, { decision: "deny", content_hash: card.content_hash, comment, stop });
  }

  /** By a new agent each time, unless one is named: whoever asks again is given the lease they have. */
  claim(agent = `crew-${++this.#agents}`): Held | null {
    let ids = 0;
    const lease_id = () => `lease-${this.now}-${this.#messages++}-${ids++}`;
    const lease = this.scope.commit((tx) => claim(tx, agent, lease_id));
    if (lease === null) return null;
    const { attempt_id, entry } = executionOrder.parse(lease.message.payload);
    return {
      message: lease.message,
      ref: { attempt_id, entry, agent, lease_id: lease.lease_id, epoch: lease.epoch },
    };
  }
  async begin({ ref }: Held): Promise<Entry> {
    const verified = await this.signatures.ofAttempt(ref);
    return this.scope.commit((tx) => begin(tx, ref, verified));
  }
  async begun(): Promise<Held> {
    const held = this.claim() ?? missing("request to claim");
    const entry = await this.begin(held);
    if (entry.answer !== "go") throw new Error(`begin answered ${entry.answer}: ${entry.reason}`);
    return held;
  }
  async authorize({ ref }: Held, call: ToolCall): Promise<Authorization> {
    const verified = await this.signatures.ofAttempt(ref);
    return this.scope.commit((tx) => authorize(tx, ref, call, verified));
  }
  settle({ ref }: Held, call_id: string): void {
    const outcome = { state: "exited", exit_code: 0, signal: null, duration_ms: 1 } as const;
    this.scope.commit((tx) => settle(tx, ref, call_id, outcome));
  }
  /** The attempt stops to wait for a person about this call. */
  async suspend({ ref, message }: Held, call: ToolCall, tree: string, more: object = {}): Promise<void> {
    const { call_id, tool, arguments: asked, step } = call;
    const suspension = { call_id, tool, arguments: asked, step, patch_key: "kept.patch", tree, ...more };
    await this.#result({ ref, message }, { end: "suspended", success: false, suspension });
  }
  async fail(held: Held, retryable = false): Promise<void> {
    await this.#result(held, { end: "finished", success: false, suspension: null }, "tool_failure", retryable);
  }
  async #result(
    { ref, message }: Held,
    how: Record<string, unknown>,
    error_code: "tool_failure" | null = null,
    retryable = false,
  ): Promise<void> {
    const { agent, ...at } = ref;
    const base = { task_id: message.task_id, ...at, output: "", events: [], tool_errors: [], duration_ms: 1 };
    const errors = error_code === null ? {} : { error_code, retryable, origin_agent: agent };
    const { work_item_id, attempt_number } = message;
    const said = this.message(message.task_id ?? "", {
      ...{ message_kind: "execution_result", sender: agent, recipient: "runtime_queue" },
      payload: { ...base, exit_code: null, patch: null, ...how },
      ...{ work_item_id, attempt_number, ...errors },
    });
    await this.mailroom.deliver(said);
  }
}
/** Rows do not know what the policy demands: `view` does. */
const missingNeeds: ApprovalView["needs"] = { approvers: 1, proof: "token", not_by: null, revisions_left: 3 };

export function shell(command: string, call_id = "step-1", tree: string | null = null): ToolCall {
  return { call_id, step: 0, tool: "shell_execute", arguments: JSON.stringify({ command }), tree };
}
