/**
 * A task whose agents are held: the test speaks in their place, message by message, so that every order of things
 * can be tried without a sandbox.
 */

import type { Lease } from "../../durable-objects/durable-queue.ts";
import type { AttemptRow, VerificationRow } from "../../durable-objects/runtime/rows.ts";
import type { AttemptRef } from "../../src/agents/bus.ts";
import type { ApprovalView } from "../../src/domain/approval-view.ts";
import { canonicalJson } from "../../src/domain/canonical.ts";
import type { PatchFile } from "../../src/domain/evidence.ts";
import { derivedId } from "../../src/domain/ids.ts";
import { build, type Message, type MessageInput } from "../../src/domain/message.ts";
import { type ExecutionResult, executionOrder, type VerificationResult } from "../../src/domain/result.ts";
import { approve, hold, inRuntime, makeScope, missing, must, onlyCard, type Scope } from "./scope.ts";

export const base = "b".repeat(40);
export const repo = "file:///repos/sample";
export const oneItem = planOf([
  "id: a, runner: steps, verify: none, max_attempts: 2, allow: { tools: [shell_execute], paths: ['src/**'] }",
]);

/** A plan with one item a line; each has one step, `echo <id>`, unless `steps` says otherwise. */
export function planOf(items: readonly string[], steps: Readonly<Record<string, readonly string[]>> = {}): string {
  const ids = items.map((item) => /id: *([\w-]+)/.exec(item)?.[1] ?? missing("id"));
  const section = (id: string) =>
    `## ${id}\n${(steps[id] ?? [`echo ${id}`]).map((step) => `\`\`\`sh\n${step}\n\`\`\`\n`).join("\n")}`;
  return `---\ntitle: A plan\ngoal: A goal\nitems:\n${items.map((item) => `  - { ${item} }\n`).join("")}---\n${ids.map(section).join("\n")}`;
}

export interface Driven {
  readonly scope: Scope;
  readonly task_id: string;
  readonly card: ApprovalView;
}
export async function heldScope(): Promise<Scope> {
  const scope = await makeScope();
  await hold(scope, "proxy", "planner", "verifier", "crew-1", "crew-2", "crew-3");
  return scope;
}
export async function asked(scope: Scope, more: { plan?: string; key?: string; title?: string } = {}) {
  const { plan = oneItem, title = "A task", key } = more;
  const input = { title, description: "", labels: [], repo: { url: repo, ref: "HEAD" }, plan, register_repo: true };
  const idempotency = key === undefined ? null : { route: "POST /api/tasks", key, body_hash: `${title} ${plan}` };
  return scope.runtime.createTask(scope.admin, input, idempotency);
}
/** A task whose plan waits in review. */
export async function planned(plan: string = oneItem, scope?: Scope): Promise<Driven> {
  const own = scope ?? (await heldScope());
  const { body } = must(await asked(own, { plan }));
  await own.runtime.observe(await planResult(own, body.id, plan));
  return { scope: own, task_id: body.id, card: await onlyCard(own, body.id) };
}
export async function countersigned(plan: string = oneItem, scope?: Scope): Promise<Driven> {
  const driven = await planned(plan, scope);
  must(await approve(driven.scope, driven.card));
  return driven;
}

export async function messageOf(
  scope: Scope,
  task_id: string,
  fields: Pick<MessageInput, "message_kind" | "sender" | "recipient"> & Partial<MessageInput>,
): Promise<Message> {
  const task = await inRuntime(scope, ({ rows }) => rows.tasks.get(task_id) ?? missing("task"));
  const from = { trace_id: task.trace_id, scope_id: scope.id, task_id, taint: task.taint, created_at: task.created_at };
  return build({
    content: "said by a test",
    message_id: derivedId(
      canonicalJson([task_id, fields.message_kind, fields.payload ?? {}, fields.plan_markdown ?? ""]),
      "test",
      0,
    ),
    ...from,
    ...fields,
  });
}
export function planResult(
  scope: Scope,
  task_id: string,
  plan: string,
  more: Partial<MessageInput> = {},
): Promise<Message> {
  return messageOf(scope, task_id, {
    message_kind: "plan_result",
    sender: "planner",
    recipient: "proxy",
    plan_markdown: plan,
    payload: { base_commit: base },
    ...more,
  });
}

export interface Held {
  readonly ref: AttemptRef;
  readonly lease: Lease;
  readonly steps: readonly string[];
}
export async function claim(scope: Scope, agent = "crew-1"): Promise<Held> {
  const lease = (await scope.runtime.claim(scope.id, agent)) ?? missing("request to claim");
  const { attempt_id, entry, steps } = executionOrder.parse(lease.message.payload);
  return { lease, steps, ref: { attempt_id, entry, agent, lease_id: lease.lease_id, epoch: lease.epoch } };
}
export async function begun(scope: Scope, agent = "crew-1"): Promise<Held> {
  const held = await claim(scope, agent);
  const entry = await scope.runtime.begin(scope.id, held.ref);
  if (entry.answer !== "go") throw new Error(`begin answered ${entry.answer}: ${entry.reason}`);
  return held;
}
export function step(held: Held, number: number, tree: string | null = null) {
  return {
    call_id: `step-${number}`,
    step: number - 1,
    tool: "shell_execute",
    arguments: canonicalJson({ command: held.steps[number - 1] ?? "" }),
    tree,
  };
}

export const changed: PatchFile = { path: "src/a.txt", change: "modified", old_mode: "100644", mode: "100644" };
export async function result(
  { scope, task_id }: Driven,
  { ref, lease }: Held,
  how: Partial<ExecutionResult> & { files?: readonly PatchFile[] } = {},
  more: Partial<MessageInput> = {},
): Promise<Message> {
  const { files = [changed], ...rest } = how;
  const { attempt_id, entry, lease_id, epoch } = ref;
  const payload: ExecutionResult = {
    ...{
      task_id,
      attempt_id,
      entry,
      lease_id,
      epoch,
      end: "finished",
      success: true,
      output: "",
      events: [],
      tool_errors: [],
      duration_ms: 1,
      exit_code: 0,
      suspension: null,
    },
    patch: { key: `${scope.id}/${attempt_id}.patch`, bytes: 10, tree: "7".repeat(40), files: [...files] },
    ...rest,
  };
  const { work_item_id, attempt_number } = lease.message;
  return messageOf(scope, task_id, {
    message_kind: "execution_result",
    sender: ref.agent,
    recipient: "runtime_queue",
    payload: { ...payload },
    work_item_id,
    attempt_number,
    ...more,
  });
}
export async function failure(driven: Driven, held: Held, retryable = true): Promise<Message> {
  const errors = { error_code: "tool_failure", retryable, origin_agent: held.ref.agent } as const;
  return result(driven, held, { success: false, patch: null, exit_code: 1 }, { ...errors, content: "it ended with 1" });
}
export async function suspended(driven: Driven, held: Held, number = 1, tree = "5".repeat(40)): Promise<Message> {
  const { call_id, tool, arguments: asked } = step(held, number);
  const suspension = {
    call_id,
    tool,
    arguments: asked,
    step: number - 1,
    patch_key: `${driven.scope.id}/kept.patch`,
    tree,
  };
  return result(driven, held, { end: "suspended", success: false, patch: null, suspension });
}

export async function openVerification({ scope, task_id }: Driven): Promise<VerificationRow> {
  const open = await inRuntime(scope, ({ rows }) =>
    rows.verifications.ofTask(task_id).filter((row) => row.state === "open"),
  );
  return open[0] ?? missing("open verification");
}
export async function verdict(
  { scope, task_id }: Driven,
  row: Pick<VerificationRow, "id" | "attempt_id" | "parent">,
  how: Partial<Extract<VerificationResult, { stage: "verify" }>> = {},
): Promise<Message> {
  const passed = (how.verdict ?? "pass") === "pass";
  const commit = passed ? derivedId(row.id, "commit", 0).padEnd(40, "0") : null;
  const payload: VerificationResult = {
    ...{
      stage: "verify",
      verification_id: row.id,
      attempt_id: row.attempt_id,
      verdict: "pass",
      detail: "checked by a test",
      checks: [],
      parent: row.parent,
      conflicts: [],
    },
    ...{ commit, bundle_key: passed ? `${scope.id}/${row.id}.bundle` : null },
    ...how,
  };
  const errors = passed
    ? {}
    : ({ error_code: "verification_failed", retryable: true, origin_agent: "verifier", attempt_number: 1 } as const);
  return messageOf(scope, task_id, {
    message_kind: "verification_result",
    sender: "verifier",
    recipient: "runtime_queue",
    payload: { ...payload },
    ...errors,
  });
}
export async function publication(
  { scope, task_id }: Driven,
  how: { ok?: boolean; retryable?: boolean } = {},
): Promise<Message> {
  const { publishing } = await inRuntime(scope, ({ rows }) => rows.tasks.get(task_id) ?? missing("task"));
  const { ok = true, retryable = true } = how;
  const payload: VerificationResult = {
    stage: "publish",
    verification_id: publishing?.verification_id ?? missing("publication under way"),
    ok,
    retryable,
    detail: ok ? "pushed" : "not pushed",
  };
  const errors = ok
    ? {}
    : ({ error_code: "tool_failure", retryable, origin_agent: "verifier", attempt_number: 0 } as const);
  return messageOf(scope, task_id, {
    message_kind: "verification_result",
    sender: "verifier",
    recipient: "runtime_queue",
    payload: { ...payload },
    ...errors,
  });
}

/** From a claimed attempt to a merged item. */
export async function carried(driven: Driven, held: Held): Promise<void> {
  await driven.scope.runtime.deliver(await result(driven, held));
  await driven.scope.runtime.deliver(await verdict(driven, await openVerification(driven)));
}
export function attempts({ scope, task_id }: Driven): Promise<AttemptRow[]> {
  return inRuntime(scope, ({ rows }) => rows.attempts.ofTask(task_id));
}
export async function item({ scope, task_id }: Driven, id = "a") {
  const items = await inRuntime(scope, ({ rows }) => rows.items.ofTask(task_id));
  return items.findLast((each) => each.spec.id === id) ?? missing(`item ${id}`);
}
