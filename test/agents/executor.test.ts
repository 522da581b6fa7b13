import { describe, expect, it } from "vitest";
import { executor } from "../../src/agents/executor.ts";
import { byteLength, canonicalJson } from "../../src/domain/canonical.ts";
import { limits } from "../../src/limits.ts";
import { begunIn, box, run, world } from "../fakes/attempts.ts";
import { readPatch, writeBundle } from "../fakes/memory-git.ts";
import { testScope } from "../fakes/messages.ts";
import { attemptMessage, attemptOrder, attemptResult, environment, source } from "../fakes/orders.ts";
import { drive, runContext } from "../fakes/world.ts";

describe("an attempt", () => {
  it("[EXE-1] it works in a fresh sandbox at the baseline, stores its patch, leaves nothing behind and answers once", async () => {
    const w = world();
    const setup = { ...environment, setup: [["install"]], hosts: ["npm"] };
    const ended = await run(w, { steps: ["edit", "more"], environment: setup });
    const { message, result } = attemptResult(ended.out);
    expect(result).toMatchObject({
      end: "finished",
      success: true,
      task_id: "task-1",
      attempt_id: "p1.fix.1",
      entry: 0,
      lease_id: "lease-1",
      epoch: 3,
      exit_code: 0,
      tool_errors: [],
      suspension: null,
    });
    expect(message).toMatchObject({
      message_kind: "execution_result",
      recipient: "runtime_queue",
      work_item_id: "p1.fix",
      error_code: null,
      content: "2 files changed",
    });
    expect(result.patch?.files.map((file) => [file.path, file.change])).toEqual([
      ["src/a.txt", "modified"],
      ["src/b.txt", "added"],
    ]);
    expect(result.patch?.key.startsWith(`${testScope}/`)).toBe(true);
    const stored = w.artifacts.stored.get(result.patch?.key ?? "") ?? new Uint8Array();
    expect(readPatch(stored)?.map((change) => change.path)).toEqual(["src/a.txt", "src/b.txt"]);
    expect(result.patch?.bytes).toBe(stored.byteLength);
    expect(begunIn(w)).toEqual(["setup-1", "step-1", "step-2"]);
    expect(await w.memory.sandboxes()).toEqual([]);
    expect(ended.output).toContain("editing");
    expect(result.output).toContain("editing");
  });
  it("[EXE-1] the sandbox carries the order's bounds and owner, and what was done to it is on record", async () => {
    const w = world();
    const ended = await run(w);
    expect(w.asked.find(({ method }) => method === "create")?.args).toEqual([
      box,
      {
        scope_id: testScope,
        owner: "p1.fix.1",
        worktree: `.runtime/worktrees/${testScope}/p1.fix/1-0`,
        memory_mb: 512,
        processes: 64,
        file_mb: 64,
      },
    ]);
    expect(w.asked.find(({ method }) => method === "checkout")?.args).toEqual([
      box,
      { scope_id: testScope, url: source },
      w.main,
      undefined,
    ]);
    expect(ended.effects.map(({ decision, reason }) => `${decision} ${reason}`)).toEqual([
      "intent sandbox_create",
      "outcome sandbox_create",
      "intent sandbox_checkout",
      "outcome sandbox_checkout",
      "intent sandbox_destroy",
      "outcome sandbox_destroy",
    ]);
  });
  it("[EXE-2] an object that dies before any commit runs no call twice and ends the same", async () => {
    const order = { steps: ["edit", "edit", "more"], environment: { ...environment, setup: [["install"]] } };
    const [calm, dying] = [world(), world()];
    const expected = attemptResult((await run(calm, order)).out);
    const seen = attemptResult((await run(dying, order, { dies: true })).out);
    expect(begunIn(dying)).toEqual(["setup-1", "step-1", "step-2", "step-3"]);
    const { duration_ms: _, ...rest } = expected.result;
    expect(seen.result).toMatchObject(rest);
    expect(await dying.memory.sandboxes()).toEqual([]);
  });
  it("[EXE-3] without a lease it does nothing at all", async () => {
    const w = world();
    const context = runContext(attemptMessage(attemptOrder(w.main)), { lease: null });
    await expect(drive(executor, context, w.ports)).rejects.toThrow("under a lease");
    expect(w.asked).toEqual([]);
  });
  it("[EXE-3] an order that does not fit, or a bug, is thrown on and never answered as if it were an end", async () => {
    const w = world();
    const bent = { ...attemptMessage(attemptOrder(w.main)), payload: { ...attemptOrder(w.main), extra: 1 } };
    await expect(drive(executor, runContext(bent), w.ports)).rejects.toThrow();
    w.bus.beginning = () => {
      throw new TypeError("the runtime did not answer");
    };
    await expect(run(w)).rejects.toThrow("the runtime did not answer");
    expect(w.asked).toEqual([]);
  });
});

describe("what it works on and what it hands back", () => {
  it("[EXE-18] commits the source does not have yet come from the store; a missing bundle is a crash before any work", async () => {
    const w = world();
    const next = w.repo.commit(w.main, { "README.md": "next\n" });
    const bundle = writeBundle([...w.repo.commits.values()]);
    w.repo.commits.delete(next);
    const missing = attemptResult((await run(w, { baseline: next, bundle_key: "b" })).out);
    expect(missing.result).toMatchObject({ end: "crashed" });
    expect(missing.message.content).toContain("missing from the store");
    expect(begunIn(w)).toEqual([]);
    await w.artifacts.put("b", bundle);
    const { result } = attemptResult((await run(w, { baseline: next, bundle_key: "b", steps: ["more"] })).out);
    expect(result.patch?.files.map(({ path }) => path)).toEqual(["src/b.txt"]);
  });
  it("[EXE-19] the set-up alone has a network, and one that fails ends the attempt before any step", async () => {
    const w = world();
    const opened = { setup: [["install"], ["break"]], hosts: ["npm"], cache: ["npm"] };
    const { message, result } = attemptResult((await run(w, { environment: opened })).out);
    expect(message).toMatchObject({ error_code: "tool_failure", content: "set-up 2 ended with exit code 3" });
    expect(result.output).toContain("it broke");
    expect(begunIn(w)).toEqual(["setup-1", "setup-2"]);
    const fine = world();
    await run(fine, { environment: { ...opened, setup: [["install"]] }, steps: ["edit", "more"] });
    const networks = fine.asked
      .filter(({ method }) => method === "exec")
      .map(({ args }) => [args[1], (args[2] as { network?: unknown }).network]); // the third argument of exec is its spec
    expect(networks).toEqual([
      ["setup-1", { hosts: ["npm"], cache: ["npm"] }],
      ["step-1", undefined],
      ["step-2", undefined],
    ]);
  });
  it("[EXE-20] the result fits in a message, whatever was printed, and no character is cut in half", async () => {
    const w = world();
    w.memory.programs.set("flood", (process) => {
      process.print(`${"\u{1F680}".repeat(50_000)}!\u0007`);
      return 1;
    });
    const { message, result } = attemptResult((await run(w, { steps: ["flood"] })).out);
    expect(byteLength(canonicalJson(message))).toBeLessThan(limits.message_inline_bytes);
    expect(result.output).toContain("\u{1F680}!");
    expect(result.output.length).toBeLessThanOrEqual(4_000);
    expect(result.tool_errors).toMatchObject([
      { tool_name: "shell_execute", error_message: "step 1 ended with exit code 1" },
    ]);
  });
  it("[EXE-20] a patch of more files than a message can name ends the attempt and says so", async () => {
    const w = world();
    w.memory.programs.set("many", (process) => {
      for (let n = 0; n < 1_000; n++) process.write(`src/a-folder/file-${n}.txt`, "x");
      return 0;
    });
    const { message, result } = attemptResult((await run(w, { steps: ["many"] })).out);
    expect(message).toMatchObject({ error_code: "tool_failure", content: expect.stringContaining("1000 files") });
    expect(result).toMatchObject({ success: false, patch: null });
    expect(byteLength(canonicalJson(message))).toBeLessThan(limits.message_inline_bytes);
  });
});

describe("what the runtime answers", () => {
  it("[EXE-10] stale: the attempt is dropped, its sandbox with it, and nothing is answered", async () => {
    const w = world();
    w.bus.beginning = () => ({ answer: "stale", reason: "the task is cancelled" });
    expect((await run(w)).out).toEqual([]);
    expect(w.asked.map(({ method }) => method)).toEqual(["destroy"]);
    const later = world();
    later.bus.authorizing = () => ({ answer: "stale", reason: "the lease is no longer yours" });
    expect((await run(later)).out).toEqual([]);
    expect(begunIn(later)).toEqual([]);
    expect(await later.memory.sandboxes()).toEqual([]);
  });
  it("[EXE-11] refused: the attempt ends with that error for good, and nothing has run", async () => {
    for (const error_code of ["gate_blocked", "approval_denied", "budget_exceeded"] as const)
      for (const where of ["begin", "call", "attempt"] as const) {
        const w = world();
        const refused = { answer: "refused", error_code, reason: `no: ${error_code}` } as const;
        if (where === "begin") w.bus.beginning = () => refused;
        else w.bus.authorizing = () => ({ ...refused, scope: where });
        const { message, result } = attemptResult((await run(w)).out);
        expect(message).toMatchObject({ error_code, retryable: false, content: `no: ${error_code}` });
        expect(result).toMatchObject({ end: "finished", success: false, patch: null });
        expect(begunIn(w)).toEqual([]);
        if (where === "begin") expect(w.asked.map(({ method }) => method)).toEqual(["destroy"]);
      }
  });
});
