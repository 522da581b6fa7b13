import { describe, expect, it } from "vitest";
import type { z } from "zod";
import {
  type ExecutionResult,
  executionOrder,
  executionResult,
  type Suspension,
  sandboxId,
  type VerificationResult,
  verificationOrder,
  verificationResult,
} from "../../src/domain/result.ts";
import { attemptOrder, verifyOrder } from "../fakes/orders.ts";

const suspended: Suspension = {
  call_id: "step-2",
  step: 1,
  tool: "shell_execute",
  arguments: "{}",
  patch_key: "k",
  tree: "t",
};
const result: ExecutionResult = {
  task_id: "task-1",
  attempt_id: "p1.fix.1",
  entry: 0,
  lease_id: "lease-1",
  epoch: 1,
  end: "finished",
  success: true,
  output: "",
  events: [{ event_type: "progress", message: "half", data: { done: "1" } }],
  tool_errors: [{ tool_name: "shell_execute", error_message: "no", raw: "no" }],
  duration_ms: 12,
  exit_code: 0,
  patch: { key: "k", bytes: 1, tree: "t", files: [{ path: "a", change: "added", old_mode: "000000", mode: "100644" }] },
  suspension: suspended,
};
const check = { argv: ["npm", "test"], exit_code: 0, timed_out: false, duration_ms: 1, output: "ok" };
const verified: VerificationResult = {
  stage: "verify",
  verification_id: "v1",
  attempt_id: "p1.fix.1",
  verdict: "pass",
  detail: "",
  checks: [check],
  parent: "p",
  commit: "c",
  bundle_key: "b",
  conflicts: [],
};
const published: VerificationResult = {
  stage: "publish",
  verification_id: "v2",
  ok: true,
  detail: "",
  retryable: true,
};
const publish = {
  stage: "publish",
  verification_id: "v2",
  repo: "/r",
  branch: "countersign/t",
  commit: "c",
  bundle_key: "b",
};

const shapes: [string, z.ZodType, Record<string, unknown>][] = [
  ["an attempt's order", executionOrder, { ...attemptOrder("main"), resume: suspended }],
  ["an attempt's result", executionResult, { ...result }],
  ["a verification's order", verificationOrder, { ...verifyOrder("main") }],
  ["a publication's order", verificationOrder, publish],
  ["a verification's result", verificationResult, { ...verified }],
  ["a publication's result", verificationResult, { ...published }],
];

describe("orders and results", () => {
  it.each(shapes)("[RES-1] %s comes through a message as it was", (_, shape, good) => {
    expect(shape.parse(JSON.parse(JSON.stringify(good)))).toEqual(good);
  });
  it.each(shapes)("[RES-2] %s with a key too many, too few or of another type is not believed", (_, shape, good) => {
    expect(shape.safeParse({ ...good, more: 1 }).success).toBe(false);
    for (const key of Object.keys(good)) {
      const less = Object.fromEntries(Object.entries(good).filter(([name]) => name !== key));
      expect(shape.safeParse(less).success, `without ${key}`).toBe(false);
      expect(shape.safeParse({ ...good, [key]: () => undefined }).success, `${key} as something else`).toBe(false);
      expect(shape.safeParse({ ...good, [key]: { surprise: true } }).success, `${key} as an object`).toBe(false);
    }
  });
  it("[RES-3] only the ends, verdicts and stages of the lists are taken", () => {
    for (const end of ["done", "FINISHED", ""])
      expect(executionResult.safeParse({ ...result, end }).success).toBe(false);
    for (const verdict of ["passed", "ok", null])
      expect(verificationResult.safeParse({ ...verified, verdict }).success).toBe(false);
    for (const stage of ["merge", "", null])
      expect(verificationOrder.safeParse({ ...publish, stage }).success).toBe(false);
    expect(verificationResult.safeParse({ ...verified, stage: "publish" }).success).toBe(false);
    expect(verificationOrder.safeParse({ ...verifyOrder("m"), checks: [{ run: [], timeout_s: 1 }] }).success).toBe(
      false,
    );
    expect(verificationOrder.safeParse({ ...verifyOrder("m"), checks: [{ run: ["x"], timeout_s: 0 }] }).success).toBe(
      false,
    );
  });
  it("[RES-4] each entry of each attempt of each scope has a sandbox of its own", () => {
    const ids = ["scopea", "scopeb"].flatMap((scope) =>
      ["p1.fix.1", "p1.fix.2"].flatMap((attempt) => [0, 1, 11].map((entry) => sandboxId(scope, attempt, entry))),
    );
    expect(new Set(ids).size).toBe(12);
    for (const id of ids) expect(id).toMatch(/^[A-Za-z0-9._-]+$/);
  });
});
