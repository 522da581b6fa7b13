import { describe, expect, it } from "vitest";
import { canonicalJson } from "../../src/domain/canonical.ts";
import type { ExecutionOrder } from "../../src/domain/result.ts";
import { begunIn, run, world } from "../fakes/attempts.ts";
import { readPatch } from "../fakes/memory-git.ts";
import { testScope } from "../fakes/messages.ts";
import { attemptResult, environment, type Sample } from "../fakes/orders.ts";

describe("an attempt that waits for a person", () => {
  const asksAt = (w: Sample, call_id: string) => {
    w.bus.authorizing = (call) =>
      call.call_id === call_id && call.tree === null ? { answer: "wait" } : { answer: "run" };
  };
  async function suspended(order: Partial<ExecutionOrder> = {}) {
    const w = world();
    asksAt(w, "step-2");
    const { result } = attemptResult((await run(w, { steps: ["edit", "more"], ...order })).out);
    if (result.suspension === null) throw new Error("it is not suspended");
    return { w, result, suspension: result.suspension };
  }
  it("[EXE-12] its workspace is stored with its tree, the call is named, and the sandbox is gone", async () => {
    const { w, result, suspension } = await suspended();
    expect(result).toMatchObject({ end: "suspended", success: false, patch: null, tool_errors: [] });
    expect(suspension).toMatchObject({
      call_id: "step-2",
      step: 1,
      tool: "shell_execute",
      arguments: canonicalJson({ command: "more" }),
    });
    expect(
      readPatch(w.artifacts.stored.get(suspension.patch_key) ?? new Uint8Array())?.map(({ path }) => path),
    ).toEqual(["src/a.txt"]);
    expect(begunIn(w)).toEqual(["step-1"]);
    expect(await w.memory.sandboxes()).toEqual([]);
  });
  it("[EXE-13] it goes on in a rebuilt workspace of equal tree: set-up again, what ran stays done, the call runs once", async () => {
    const environmentWithSetup = { ...environment, setup: [["install"]] };
    const { w, suspension } = await suspended({ environment: environmentWithSetup });
    const ended = await run(
      w,
      { steps: ["edit", "more"], entry: 1, resume: suspension, environment: environmentWithSetup },
      { dies: true },
    );
    const { result } = attemptResult(ended.out);
    expect(begunIn(w)).toEqual(["setup-1", "step-1", "setup-1", "step-2"]);
    expect(w.bus.asked.at(-1)?.call).toMatchObject({ call_id: "step-2", tree: suspension.tree });
    expect(result).toMatchObject({ entry: 1, success: true });
    expect(result.patch?.files.map(({ path }) => path)).toEqual(["src/a.txt", "src/b.txt"]);
  });
  it("[EXE-13] the patch comes on top of what the set-up left behind, and the tree that is told is the whole", async () => {
    const { w, suspension } = await suspended();
    await run(w, {
      steps: ["edit", "more"],
      entry: 1,
      resume: suspension,
      environment: { ...environment, setup: [["litter"]] },
    });
    const told = w.bus.asked.at(-1)?.call.tree;
    expect(told).not.toBe(suspension.tree);
    expect(told).not.toBeNull();
    const kept = w.artifacts.stored.get(`${testScope}/attempts/p1.fix.1/1-result.patch`) ?? new Uint8Array();
    expect(readPatch(kept)?.map(({ path }) => path)).toEqual(["litter.txt", "src/a.txt", "src/b.txt"]);
  });
  it("[EXE-13] the rebuilt tree is told for the call that waited and for no later one", async () => {
    const { w, suspension } = await suspended({ steps: ["edit", "more", "edit"] });
    await run(w, { steps: ["edit", "more", "edit"], entry: 1, resume: suspension }, { dies: true });
    const told = w.bus.asked.filter(({ call }) => call.step > 0).map(({ call }) => [call.call_id, call.tree]);
    expect(told.slice(-4)).toEqual([
      ["step-2", suspension.tree],
      ["step-2", suspension.tree],
      ["step-3", null],
      ["step-3", null],
    ]);
  });
  it("[EXE-14] in another tree the runtime asks anew, and the attempt is suspended with the tree as it is now", async () => {
    const { w, suspension } = await suspended();
    w.bus.authorizing = (call) => (call.tree === suspension.tree ? { answer: "run" } : { answer: "wait" });
    const again = attemptResult(
      (
        await run(w, {
          steps: ["edit", "more"],
          entry: 1,
          resume: suspension,
          environment: { ...environment, setup: [["litter"]] },
        })
      ).out,
    ).result;
    expect(again).toMatchObject({ end: "suspended", entry: 1, suspension: { call_id: "step-2", step: 1 } });
    expect(again.suspension?.tree).toBe(w.bus.asked.at(-1)?.call.tree);
    expect(again.suspension?.patch_key).not.toBe(suspension.patch_key);
    expect(begunIn(w).filter((id) => id === "step-2")).toEqual([]);
  });
  it("[EXE-15] a stored workspace that is missing is a crash, one that does not fit an error; no step runs on another", async () => {
    const { w, suspension } = await suspended();
    const patch = w.artifacts.stored.get(suspension.patch_key) ?? new Uint8Array();
    w.artifacts.stored.delete(suspension.patch_key);
    const missing = attemptResult((await run(w, { steps: ["edit", "more"], entry: 1, resume: suspension })).out);
    expect(missing.result).toMatchObject({ end: "crashed" });
    w.artifacts.stored.set(suspension.patch_key, patch.slice(1));
    const bent = attemptResult((await run(w, { steps: ["edit", "more"], entry: 1, resume: suspension })).out);
    expect(bent.result).toMatchObject({ end: "finished", success: false });
    expect(begunIn(w)).toEqual(["step-1"]);
  });
});
