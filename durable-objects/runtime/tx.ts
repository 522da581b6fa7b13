/**
 * The hands of one transaction of a scope's runtime: its rows, its clock, and the records that every change
 * leaves. Whoever changes something says so here, in the same commit. [INV-05]
 */
import type { ModelRole } from "../../src/agents/models.ts";
import { derivedId } from "../../src/domain/ids.ts";
import {
  build,
  type ErrorCode,
  joinTaint,
  type Message,
  type MessageInput,
  type StatusPayload,
  type Surface,
} from "../../src/domain/message.ts";
import type { Policy } from "../../src/domain/policy.ts";
import type { QueueFacts } from "../../src/domain/queue.ts";
import type { AuditView } from "../../src/domain/record-view.ts";
import { isFinal } from "../../src/domain/task.ts";
import type { AuditLog } from "../audit-log.ts";
import type { DurableQueue } from "../durable-queue.ts";
import type { EventLog, EventType } from "../event-log.ts";
import type { Letters } from "../letters.ts";
import type { Outbox } from "../outbox.ts";
import type { People } from "../people.ts";
import type { TelemetryLog } from "../telemetry-log.ts";
import { remainingFor } from "./accounts.ts";
import type { AskLog } from "./ask-log.ts";
import { askAgent } from "./asking.ts";
import type { Checkpoints } from "./checkpoints.ts";
import type { Directory } from "./directory.ts";
import type { GithubRows } from "./github-rows.ts";
import { mark, showEnd, shownTypes } from "./github-sync.ts";
import type { HeardLetters } from "./heard.ts";
import type { HookRows } from "./hooks-rows.ts";
import { takeBack, takeBackAsked } from "./lives.ts";
import type { MemoryRows } from "./memory-rows.ts";
import { leaveOpen } from "./open-calls.ts";
import { passPhases } from "./phases.ts";
import { cancelResearch } from "./research.ts";
import type { ApprovalRow, AttemptRow, ScopeRows, TaskRow } from "./rows.ts";
import { voidRungs } from "./rungs.ts";
import type { StandingRows } from "./standing.ts";
import type { Tokens } from "./token-rows.ts";
import type { WebhookRows } from "./webhooks-rows.ts";
import { whereIs } from "./where.ts";

export interface ScopeStores {
  readonly rows: ScopeRows;
  readonly people: People;
  readonly tokens: Tokens;
  readonly standing: StandingRows;
  readonly asks: AskLog;
  readonly queue: DurableQueue;
  readonly outbox: Outbox;
  readonly letters: Letters;
  readonly heard: HeardLetters;
  readonly memory: MemoryRows;
  readonly audit: AuditLog;
  readonly telemetry: TelemetryLog;
  readonly checkpoints: Checkpoints;
  readonly events: EventLog;
  readonly github: GithubRows;
  readonly directory: Directory;
  readonly webhooks: WebhookRows;
  readonly hooks: HookRows;
}
export interface ScopeIdentity {
  readonly scope_id: string;
  readonly policy: Policy;
  readonly policy_hash: string;
  /** Whether the role has a model; without the planner's the ladder's rungs that need one are passed over. */
  readonly has_mind: (role: ModelRole) => boolean;
  /** The deployment's own switch for the preset PERMISSIVE. */
  readonly permissive_allowed: boolean;
}

export function isOver(attempt: AttemptRow): boolean {
  return ["done", "failed", "crashed", "cancelled"].includes(attempt.state);
}

export class Tx {
  readonly stores: ScopeStores;
  readonly scope: ScopeIdentity;
  readonly now: number;
  /** The same moment, as it is written. */
  readonly at: string;
  constructor(stores: ScopeStores, scope: ScopeIdentity, now: number) {
    this.stores = stores;
    this.scope = scope;
    this.now = now;
    this.at = new Date(now).toISOString();
  }
  get rows(): ScopeRows {
    return this.stores.rows;
  }

  audit(
    event_type: AuditView["event_type"],
    about: { trace_id: string; message_id?: string | null },
    said: { actor?: AuditView["actor"]; decision: string; reason?: string | null; details?: Record<string, unknown> },
  ): void {
    const { scope_id } = this.scope;
    this.stores.audit.append(
      {
        object: `${scope_id}/runtime`,
        event_type,
        trace_id: about.trace_id,
        message_id: about.message_id ?? null,
        scope_id,
        actor: said.actor ?? "runtime",
        decision: said.decision,
        reason: said.reason ?? null,
        details: said.details ?? {},
      },
      this.now,
    );
  }

  event(
    type: EventType,
    task: Pick<TaskRow, "id" | "trace_id"> | null,
    fields: { actor?: string; surfaces?: readonly Surface[]; detail?: string | null } & Record<string, unknown> = {},
  ): void {
    const { actor = "runtime", surfaces = ["activity"], detail = null, ...rest } = fields;
    this.stores.events.append(
      type,
      {
        ...rest,
        scope_id: this.scope.scope_id,
        task_id: task?.id ?? null,
        trace_id: task?.trace_id ?? null,
        actor,
        surfaces: [...surfaces],
        detail,
      },
      this.now,
    );
    if (task !== null && shownTypes.has(type)) mark(this, task.id);
  }

  facts(facts: QueueFacts): void {
    this.stores.letters.noteFacts(facts);
    const { scope_id } = this.scope;
    const object = `${scope_id}/runtime`;
    const events = facts.audit.map((event) => ({ ...event, object, scope_id, decision: event.decision ?? "" }));
    this.stores.audit.appendAll(events, this.now);
    this.stores.telemetry.append(object, facts.telemetry, this.now);
  }

  /** A message of the runtime's about a task; `cause` and `index` make its id. */
  message(
    task: TaskRow,
    cause: string,
    fields: Pick<MessageInput, "message_kind" | "recipient" | "content"> & Partial<MessageInput>,
  ): Message {
    // The task may have read more since the caller took its copy.
    const taint = joinTaint(task.taint, this.rows.tasks.get(task.id)?.taint ?? "owner");
    return build({
      sender: "runtime",
      task_id: task.id,
      ...fields,
      message_id: derivedId(cause, fields.message_kind, 0),
      trace_id: task.trace_id,
      scope_id: this.scope.scope_id,
      taint,
      created_at: this.at,
    });
  }
  send(message: Message): void {
    this.stores.outbox.put(message, this.now);
  }

  /** Tells the proxy where execution stands. */
  status(
    task: TaskRow,
    status: StatusPayload["status"],
    said: { detail: string; attempt: AttemptRow | null; error_code?: ErrorCode | null; retryable?: boolean },
  ): void {
    const error_code = said.error_code ?? null;
    const attempt_number = said.attempt?.number ?? 0;
    const left = remainingFor(this.rows, task, said.attempt);
    const payload = {
      status,
      detail: said.detail,
      attempt_number,
      budget_remaining_tokens: left.tokens,
      budget_remaining_usd: left.usd,
      version: task.version,
    };
    this.send(
      this.message(task, `${task.id}.${task.version}.${said.attempt?.id ?? ""}`, {
        message_kind: "execution_status",
        recipient: "proxy",
        content: said.detail,
        payload,
        work_item_id: said.attempt?.work_item_id ?? null,
        attempt_number,
        error_code,
        retryable: error_code === null ? null : (said.retryable ?? false),
        origin_agent: error_code === null ? null : "runtime",
        urgency: error_code === null ? "informational" : "needs_attention",
      }),
    );
  }

  /** Writes the task back with its status and phase derived anew. Every change of a task ends here. */
  touch(task: TaskRow): TaskRow {
    const { rows } = this;
    const { phase, ...waits } = whereIs(rows, task);
    passPhases(this, task, phase, isFinal(waits.status) && waits.status !== "done");
    if (task.asked !== null) mark(this, task.id);
    return rows.tasks.put({ ...task, ...waits, phase, version: task.version + 1, updated_at: this.at });
  }

  /** Ends a task: cards superseded, tokens void, what still runs called off. */
  finish(
    task: TaskRow,
    status: "done" | "denied" | "failed" | "cancelled",
    said: { reason: string | null; error_code?: ErrorCode | null; actor?: string },
  ): TaskRow {
    const { rows } = this;
    const what = status === "cancelled" ? "cancel" : "supersede";
    for (const card of rows.approvals.ofTask(task.id))
      if (card.status === "pending") this.supersede(card, `the task is ${status}`, { by: said.actor, what });
    voidRungs(this, task);
    for (const item of rows.items.ofTask(task.id)) {
      const grant =
        item.grant === null || status === "done"
          ? item.grant
          : { ...item.grant, life: "void" as const, void_reason: `the task is ${status}` };
      rows.items.put({
        ...item,
        grant,
        outcome: item.outcome === "open" && status !== "done" ? "blocked" : item.outcome,
      });
    }
    for (const attempt of rows.attempts.ofTask(task.id))
      if (!isOver(attempt)) this.callOff(attempt, `the task is ${status}`);
    cancelResearch(this, task.id, `the task is ${status}`);
    // Whoever thinks for it otherwise hears of it when it next asks: a call in flight would hold its place till then.
    for (const open of rows.thoughts.withStatus("open"))
      if (open.task_id === task.id && open.attempt_id === null) this.kill(task.id, open.agent, open.run_id);
    if (task.publishing !== null && status !== "done") this.kill(task.id, "verifier", task.publishing.verification_id);
    const ended = this.touch({
      ...task,
      status,
      publishing: null,
      ended_at: this.at,
      reason: said.reason,
      error_code: said.error_code ?? null,
    });
    const type = status === "done" ? ("task_complete" as const) : (`task_${status}` as const);
    this.event(type, task, {
      actor: said.actor ?? "runtime",
      surfaces: ["stream", "activity"],
      detail: said.reason,
      branch: ended.branch,
    });
    this.stores.checkpoints.want(this.now);
    this.audit("transition", task, { decision: `task_${status}`, reason: said.reason, details: { task_id: task.id } });
    if (task.asked !== null) showEnd(this, task.id);
    return ended;
  }

  supersede(card: ApprovalRow, reason: string, how: Parameters<typeof takeBack>[3] = {}): void {
    takeBack(this, card, reason, how);
  }

  /**
   * Ends an attempt that nobody wants any more, wherever it is; its agent is told until it answers. A request
   * still waiting in the queue is dropped when somebody comes to claim it.
   */
  callOff(attempt: AttemptRow, reason: string): void {
    const { rows, stores } = this;
    if (attempt.lease !== null) {
      const acked = stores.queue.ack(attempt.lease, this.now);
      if (acked.ok) this.facts(acked.value);
    }
    if (attempt.agent !== null && attempt.state === "running") this.kill(attempt.task_id, attempt.agent, attempt.id);
    leaveOpen(this, attempt);
    takeBackAsked(this, attempt, reason);
    for (const verification of rows.verifications.ofTask(attempt.task_id))
      if (verification.attempt_id === attempt.id && verification.state === "open") {
        rows.verifications.put({ ...verification, state: "void" });
        this.kill(attempt.task_id, "verifier", verification.id);
      }
    for (const call of rows.calls.ofTask(attempt.task_id))
      if (call.attempt_id === attempt.id && (call.state === "waiting" || call.state === "allowed"))
        rows.calls.put({ ...call, state: "void" });
    rows.attempts.put({ ...attempt, state: "cancelled", lease: null, ended_at: this.at, detail: reason });
  }
  kill(task_id: string, agent: string, owner: string, calls: readonly string[] = []): void {
    askAgent(this, { task_id, agent, owner, what: "call_off", calls });
  }
  revive(task_id: string, agent: string, message_id: string): void {
    askAgent(this, { task_id, agent, owner: message_id, what: "revive", calls: [] });
  }
}
