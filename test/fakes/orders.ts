/** Orders for attempts and verifications over one small repository in memory. */
import type { Outgoing } from "../../src/agents/step.ts";
import { build, type Message } from "../../src/domain/message.ts";
import {
  type ExecutionOrder,
  executionResult,
  type VerificationOrder,
  verificationResult,
} from "../../src/domain/result.ts";
import { MemoryRepo } from "./memory-git.ts";
import { type MemoryProgram, MemorySandboxes } from "./memory-sandboxes.ts";
import { testMessage, testScope } from "./messages.ts";
import { tameWorld } from "./world.ts";

export const source = "/repos/sample";
export const environment = { setup: [], hosts: [], cache: [] };
const bounds = { memory_mb: 512, processes: 64, file_mb: 64 };
const readme = { "README.md": "hello\n", "src/a.txt": "one\n", "test/a.test": "expect one\n" };

export function sample(programs: Readonly<Record<string, MemoryProgram>> = {}) {
  const repo = new MemoryRepo(readme, ["node_modules"]);
  const memory = new MemorySandboxes({ repos: { [source]: repo }, programs });
  return { repo, memory, main: repo.branches.get("main") ?? "", ...tameWorld(memory) };
}
export type Sample = ReturnType<typeof sample>;

export function attemptOrder(main: string, fields: Partial<ExecutionOrder> = {}): ExecutionOrder {
  return {
    repo: source,
    baseline: main,
    bundle_key: null,
    worktree: `.runtime/worktrees/${testScope}/p1.fix/1-0`,
    environment,
    limits: bounds,
    attempt_id: "p1.fix.1",
    work_item_id: "p1.fix",
    title: "Fix it",
    entry: 0,
    runner: "steps",
    steps: ["edit"],
    section: "",
    guidance: [],
    minutes: 30,
    clear: [],
    resume: null,
    ...fields,
  };
}
export function attemptMessage(order: ExecutionOrder): Message {
  return testMessage(1, {
    message_kind: "execution_request",
    sender: "runtime",
    recipient: "executor_queue",
    task_id: "task-1",
    work_item_id: order.work_item_id,
    attempt_number: 1,
    payload: { ...order },
  });
}

export type VerifyOrder = Extract<VerificationOrder, { stage: "verify" }>;
export function verifyOrder(main: string, fields: Partial<VerifyOrder> = {}): VerifyOrder {
  return {
    stage: "verify",
    repo: source,
    baseline: main,
    bundle_key: null,
    worktree: `.runtime/worktrees/${testScope}/p1.fix/v1`,
    environment,
    limits: bounds,
    verification_id: "v1",
    attempt_id: "p1.fix.1",
    work_item_id: "p1.fix",
    title: "Fix it",
    parent: main,
    patch_key: "the-patch",
    protect: ["test/**"],
    checks: [{ run: ["check"], timeout_s: 60 }],
    at_s: 1_700_000_000,
    ...fields,
  };
}
export function verificationMessage(order: VerificationOrder): Message {
  return testMessage(2, {
    message_kind: "verification_request",
    sender: "runtime",
    recipient: "verifier",
    task_id: "task-1",
    payload: { ...order },
  });
}

/** What the object makes of an outgoing message: a message whose rules hold, small enough to travel. */
export function stamped(out: Outgoing, sender: string): Message {
  const failed = (out.error_code ?? null) !== null;
  return build({
    ...out,
    message_id: "result-1",
    trace_id: "trace-1-long",
    scope_id: testScope,
    sender,
    taint: "owner",
    attempt_number: 1,
    retryable: failed ? (out.retryable ?? false) : null,
    origin_agent: failed ? sender : null,
    created_at: "2026-01-01T00:00:00.000Z",
  });
}
/** The one result of an attempt, with its message. */
export function attemptResult(out: readonly Outgoing[]) {
  const message = stamped(only(out), "crew-1");
  return { message, result: executionResult.parse(message.payload) };
}
export function verdictOf(out: readonly Outgoing[]) {
  const message = stamped(only(out), "verifier");
  const result = verificationResult.parse(message.payload);
  if (result.stage !== "verify") throw new Error("it answers a publish order");
  return { message, result };
}
export function publishedOf(out: readonly Outgoing[]) {
  const message = stamped(only(out), "verifier");
  const result = verificationResult.parse(message.payload);
  if (result.stage !== "publish") throw new Error("it answers a verify order");
  return { message, result };
}
export function only<T>(items: readonly T[]): T {
  const [first, ...rest] = items;
  if (first === undefined || rest.length > 0) throw new Error(`expected one, got ${items.length}`);
  return first;
}
