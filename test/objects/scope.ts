/**
 * A scope of its own for each test, and the ways to look at it: its doors as the Worker calls them, and its stores
 * as they stand in its objects.
 */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect } from "vitest";
import { AuditLog } from "../../durable-objects/audit-log.ts";
import { DurableQueue } from "../../durable-objects/durable-queue.ts";
import { EventLog } from "../../durable-objects/event-log.ts";
import { Outbox } from "../../durable-objects/outbox.ts";
import { agentOf, type RemoteAgent, type RemoteRuntime, runtimeOf } from "../../durable-objects/remote.ts";
import { openRows, type ScopeRows, type TaskRow } from "../../durable-objects/runtime/rows.ts";
import { durableSql, type Sql } from "../../durable-objects/sql.ts";
import { type ApprovalView, approvalView } from "../../src/domain/approval-view.ts";
import { verifyChain } from "../../src/domain/audit.ts";
import type { AuditView, EventView } from "../../src/domain/record-view.ts";
import type { Refusal, Result } from "../../src/domain/refusal.ts";
import type { Caller, CallerRole, TaskView } from "../../src/domain/view.ts";
import type { RuntimeDoor } from "../../src/http/doors.ts";

export type Runtime = RuntimeDoor & RemoteRuntime;
export interface Scope {
  readonly id: string;
  readonly runtime: Runtime;
  readonly admin: Caller;
  readonly stub: DurableObjectStub;
}

let made = 0;
const run = Array.from(crypto.getRandomValues(new Uint8Array(10)), (byte) => "abcdefghijklmnop"[byte & 15]).join("");

export function newScopeId(): string {
  made++;
  return `${run}${String(made).padStart(6, "0")}`;
}
export function unmade(id = newScopeId()): Scope {
  const admin: Caller = { scope_id: id, subject: "ada", role: "admin", via: "token", credential_id: `${id}-token` };
  return {
    id,
    admin,
    // New each time: a stub does not outlive the object it was made for.
    get runtime() {
      // The object implements the door, as `remote.ts` says of the rest.
      return runtimeOf(env, id) as Runtime;
    },
    get stub() {
      return env.RUNTIME.getByName(`${id}/runtime`);
    },
  };
}
export async function makeScope(): Promise<Scope> {
  const scope = unmade();
  must(
    await scope.runtime.initScope({
      scope_id: scope.id,
      name: "test",
      token_id: scope.admin.credential_id,
      token_hash: `hash of ${scope.id}`,
    }),
  );
  return scope;
}
export function as(scope: Scope, subject: string, role: CallerRole): Caller {
  return { ...scope.admin, subject, role };
}

export function must<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(`refused: ${result.refusal.code}: ${result.refusal.detail}`);
  return result.value;
}
export function refusalOf(result: Result<unknown>): Refusal {
  if (result.ok) throw new Error("it was not refused");
  return result.refusal;
}

export interface Stores {
  readonly sql: Sql;
  readonly rows: ScopeRows;
  readonly queue: DurableQueue;
  readonly outbox: Outbox;
  readonly audit: AuditLog;
  readonly events: EventLog;
}
function storesOf(state: DurableObjectState): Stores {
  const sql = durableSql(state);
  return {
    sql,
    rows: openRows(sql),
    queue: new DurableQueue(sql),
    outbox: new Outbox(sql),
    audit: new AuditLog(sql),
    events: new EventLog(sql),
  };
}
/** Calls the object itself: what it throws reaches the test and nobody else. */
export function inObject<O, T>(stub: DurableObjectStub, call: (object: O) => Promise<T>): Promise<T> {
  // The stub's own class, which the plugin's types cannot name without every nested type of its methods.
  return runInDurableObject(stub, (object) => call(object as unknown as O));
}
/** What the call threw, in words; empty when it threw nothing. */
export async function thrownBy(call: () => Promise<unknown>): Promise<string> {
  try {
    await call();
    return "";
  } catch (error) {
    return String(error);
  }
}
/** Reads, or tampers with, what the runtime has stored. */
export function inRuntime<T>(scope: Scope, look: (stores: Stores) => T): Promise<T> {
  return runInDurableObject(scope.stub, (_object, state) => look(storesOf(state)));
}
export function agentStub(scope: Scope, name: string): DurableObjectStub {
  return env.AGENT.getByName(`${scope.id}/${name}`);
}
export function agent(scope: Scope, name: string): RemoteAgent {
  return agentOf(env, scope.id, name);
}
export function inAgent<T>(scope: Scope, name: string, look: (stores: Stores) => T): Promise<T> {
  return runInDurableObject(agentStub(scope, name), (_object, state) => look(storesOf(state)));
}
/** Agents that take messages in and begin nothing, so that a test speaks in their place. */
export async function hold(scope: Scope, ...names: string[]): Promise<void> {
  for (const name of names) {
    await agent(scope, name).start(scope.id, name);
    await setAgentState(scope, name, "paused");
  }
}
export function setAgentState(scope: Scope, name: string, state: string): Promise<void> {
  return inAgent(scope, name, ({ sql }) =>
    sql.run(
      "UPDATE self SET doc = json_set(doc, '$.state', ?, '$.activity', ?)",
      state,
      state === "active" ? "ready" : null,
    ),
  );
}

export async function task(scope: Scope, id: string): Promise<TaskView> {
  return must(await scope.runtime.task(scope.admin, id));
}
export function taskRow(scope: Scope, id: string): Promise<TaskRow> {
  return inRuntime(scope, ({ rows }) => rows.tasks.get(id) ?? missing(`task ${id}`));
}
export async function pending(scope: Scope, task_id: string): Promise<ApprovalView[]> {
  const { items } = must(await scope.runtime.approvals(scope.admin, { limit: 200, cursor: null, status: "pending" }));
  // As every client reads them: a field more than the view has would be refused.
  return approvalView
    .array()
    .parse(items)
    .filter((card) => card.task_id === task_id);
}
export async function onlyCard(scope: Scope, task_id: string): Promise<ApprovalView> {
  const cards = await pending(scope, task_id);
  expect(cards).toHaveLength(1);
  return cards[0] ?? missing("card");
}
export function approve(
  scope: Scope,
  card: ApprovalView,
  more: { by?: Caller; comment?: string } = {},
): Promise<Result<ApprovalView>> {
  const { by = scope.admin, comment = null } = more;
  return scope.runtime.decide(by, card.id, { decision: "approve", content_hash: card.content_hash, comment });
}
export function deny(scope: Scope, card: ApprovalView, comment: string, stop = false): Promise<Result<ApprovalView>> {
  return scope.runtime.decide(scope.admin, card.id, {
    decision: "deny",
    content_hash: card.content_hash,
    comment,
    stop,
  });
}

export async function audit(scope: Scope): Promise<AuditView[]> {
  return inRuntime(scope, (stores) => stores.audit.after(0, 10_000));
}
/** The audit's decisions of one type, oldest first. */
export async function decisions(scope: Scope, event_type: AuditView["event_type"]): Promise<(string | null)[]> {
  return (await audit(scope)).filter((link) => link.event_type === event_type).map((link) => link.decision);
}
export async function events(scope: Scope): Promise<EventView[]> {
  return inRuntime(scope, (stores) => stores.events.after(0, 10_000).events);
}

/** What must hold in any scope at any time: chains that verify, numbers without gaps, each change of a task on record. */
export async function expectSound(
  scope: Scope,
  agents: readonly string[] = ["proxy", "planner", "verifier"],
): Promise<void> {
  const links = await audit(scope);
  expect(verifyChain(links)).toMatchObject({ ok: true });
  for (const name of agents)
    expect(verifyChain(await inAgent(scope, name, (stores) => stores.audit.after(0, 10_000)))).toMatchObject({
      ok: true,
    });
  const feed = await events(scope);
  expect(feed.map((event) => event.seq)).toEqual(feed.map((_, at) => at + 1));
  const { tasks, attempts } = await inRuntime(scope, ({ rows }) => ({
    tasks: rows.tasks.all(),
    attempts: rows.attempts.all(),
  }));
  const said = (decision: string, key: string, id: string) =>
    links.filter((link) => link.event_type === "transition" && link.decision === decision && link.details[key] === id)
      .length;
  for (const each of tasks) {
    expect(said("task_created", "task_id", each.id)).toBe(1);
    if (each.ended_at !== null) expect(said(`task_${each.status}`, "task_id", each.id)).toBe(1);
  }
  for (const each of attempts)
    if (each.started_at !== null) expect(said("attempt_started", "attempt_id", each.id)).toBe(1);
}

/** Looks until `ready` gives something; the test's own limit is the only clock. */
export async function until<T>(ready: () => Promise<T | null | undefined | false>): Promise<T> {
  for (;;) {
    const seen = await ready();
    if (seen !== null && seen !== undefined && seen !== false) return seen;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
export function missing(what: string): never {
  throw new Error(`there is no ${what}`);
}
