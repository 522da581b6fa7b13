/** The brackets around what runs do to the outside, and what is asked when one was left open. */
import { describe, expect, it } from "vitest";
import { lookUpAnywhere } from "../../src/agents/effects.ts";
import type { Sandboxes } from "../../src/agents/ports.ts";
import { verifier } from "../../src/agents/verifier.ts";
import type { VerificationOrder } from "../../src/domain/result.ts";
import { box, run, silent, unreachable, world } from "../fakes/attempts.ts";
import { attemptResult, environment, publishedOf, type Sample, verificationMessage } from "../fakes/orders.ts";
import { type Driving, drive, runContext } from "../fakes/world.ts";

const inWords = (effects: readonly { decision: string; reason: string; details: object }[]) =>
  effects.map(({ decision, reason, details }) => `${decision} ${reason} ${"id" in details ? String(details.id) : ""}`);

describe("an attempt's effects", () => {
  it("[EFF-3] each is on record as an intent in a commit before it is made, and with its outcome after", async () => {
    const w = world();
    const order = { clear: ["old"], steps: ["edit"], environment: { ...environment, setup: [["install"]] } };
    const said = inWords((await run(w, order)).effects);
    const open = new Set<string>();
    for (const line of said) {
      const [decision, ...what] = line.split(" ");
      if (decision === "intent") open.add(what.join(" "));
      else expect(open.delete(what.join(" ")), line).toBe(true);
    }
    expect([...open]).toEqual([]);
    expect(said.filter((line) => line.startsWith("intent"))).toEqual([
      "intent sandbox_destroy old",
      `intent sandbox_create ${box}`,
      `intent sandbox_checkout ${box}`,
      `intent setup_command ${box}/setup-1`,
      `intent sandbox_destroy ${box}`,
    ]);
  });
  it("[EFF-3] one that is refused is on record as refused, and one whose answer never came as unknown", async () => {
    const w = world();
    w.faults.next = ({ method }) => (method === "checkout" ? unreachable() : null);
    expect(inWords((await run(w)).effects)).toContain(`unknown sandbox_checkout ${box}`);
    const missing = (await run(world(), { bundle_key: "nowhere" })).effects;
    expect(missing.find(({ reason, details }) => reason === "sandbox_checkout" && details.ok === false)).toBeDefined();
  });
  it("[EFF-4] ended in the middle of a call, the sandbox is asked what became of it, and only then destroyed", async () => {
    const w = world();
    const ended = await run(
      w,
      { steps: ["linger"] },
      { before: (stored) => (JSON.stringify(stored).includes('"offset":8') ? { cancelled: true } : undefined) },
    );
    expect(attemptResult(ended.out).result.end).toBe("cancelled");
    expect(w.bus.found).toMatchObject([{ attempt_id: "p1.fix.1", call_id: "step-1", outcome: { state: "exited" } }]);
    const asked = w.asked.map(({ method }) => method);
    expect(asked.indexOf("outcome")).toBeLessThan(asked.lastIndexOf("destroy"));
  });
  it("[EFF-4] a sandbox that is gone answers that it does not know", async () => {
    const w = world();
    let gone = false;
    w.faults.next = async ({ method }) => {
      if (method === "wait" && !gone) {
        gone = true;
        await w.memory.destroy(box);
      }
      return null;
    };
    await run(w, { steps: ["linger"] });
    expect(w.bus.found).toMatchObject([{ call_id: "step-1", outcome: { state: "unknown" } }]);
  });
  it("[EFF-4] a sandbox that answers nothing is destroyed all the same, and nobody knows what became of the call", async () => {
    const w = world();
    let ends = 0;
    w.faults.next = ({ method }) => {
      if (method === "destroy") ends += 1;
      return method === "outcome" || (method === "destroy" && ends < 3) ? silent() : null;
    };
    const before = (stored: unknown) =>
      JSON.stringify(stored).includes('"offset":8') ? { cancelled: true } : undefined;
    await run(w, { steps: ["linger"] }, { before });
    expect(w.bus.found).toMatchObject([{ call_id: "step-1", outcome: { state: "unknown" } }]);
    expect(await w.memory.sandboxes()).toEqual([]);
    // Asked twice each time, and told once: when one try had ended it.
    expect(w.asked.filter(({ method }) => method === "outcome").length).toBe(6);
  });
  it("[EFF-4] one whose connection is lost is asked again later, and stands until then", async () => {
    const w = world();
    let lost = 0;
    w.faults.next = ({ method }) => (method === "outcome" && lost++ < 3 ? unreachable() : null);
    const before = (stored: unknown) =>
      JSON.stringify(stored).includes('"offset":8') ? { cancelled: true } : undefined;
    await run(w, { steps: ["linger"] }, { before });
    expect(w.bus.found).toMatchObject([{ call_id: "step-1", outcome: { state: "exited" } }]);
    expect(w.asked.filter(({ method }) => method === "destroy").length).toBe(1);
  });
  it("[EFF-4] of several sandboxes the silent one is destroyed, and the others are asked", async () => {
    const w = world();
    for (const id of ["silent", "sound"]) {
      const spec = { scope_id: "s", owner: "o", worktree: `w/${id}`, memory_mb: 1, processes: 1, file_mb: 1 };
      await w.memory.create(id, spec);
    }
    const asked: string[] = [];
    const never = { state: "never_started", reason: "it was" } as const;
    const { sandboxes } = w.ports;
    const asking = {
      ...{ destroy: (id: string) => sandboxes.destroy(id), kill: async () => {} },
      outcome: async (id: string) => {
        asked.push(id);
        if (id === "silent") throw silent();
        return never;
      },
    };
    // As much of it as the question needs.
    const found = await lookUpAnywhere(asking as unknown as Sandboxes, [{ id: "silent" }, { id: "sound" }], "c");
    expect([found, asked]).toEqual([never, ["silent", "silent", "sound"]]);
    expect((await w.memory.sandboxes()).map(({ id }) => id)).toEqual(["sound"]);
  });
  it("[EFF-5] a fresh attempt asks the old sandbox about what was left open before it is gone", async () => {
    const w = world();
    await w.memory.create("old", { scope_id: "s", owner: "o", worktree: "w", memory_mb: 1, processes: 1, file_mb: 1 });
    const look_up = [{ sandbox: "old", attempt_id: "p1.fix.0", call_id: "step-1" }];
    await run(w, { clear: ["old"], look_up });
    expect(w.bus.found).toMatchObject([{ attempt_id: "p1.fix.0", call_id: "step-1", outcome: { state: "unknown" } }]);
    expect(w.asked.slice(0, 2).map(({ method }) => method)).toEqual(["outcome", "destroy"]);
  });
});

describe("a publication", () => {
  const branch = "countersign/task-1";
  async function merged(w: Sample) {
    const commit = w.repo.commit(w.main, { "src/a.txt": "two\n" });
    const { writeBundle } = await import("../fakes/memory-git.ts");
    await w.artifacts.put("b", writeBundle([...w.repo.commits.values()]));
    const order: VerificationOrder = {
      ...{ stage: "publish", verification_id: "v9", repo: "/repos/sample", branch, commit, bundle_key: "b" },
    };
    const publish = (driving: Driving = {}) =>
      drive(verifier, runContext(verificationMessage(order), { agent: "verifier" }), w.ports, driving);
    return { commit, publish };
  }
  it("[EFF-9] nobody waits for it any more: nothing is pushed", async () => {
    const w = world();
    const { publish } = await merged(w);
    w.bus.publishing = () => false;
    expect(publishedOf((await publish()).out).result.ok).toBe(false);
    expect(w.asked.map(({ method }) => method)).not.toContain("publish");
  });
  it("[EFF-9] when its answer never came, the branch is looked at: made, it is success", async () => {
    const w = world();
    const { commit, publish } = await merged(w);
    w.faults.next = async ({ method }) => {
      if (method !== "publish") return null;
      w.repo.branches.set(branch, commit);
      return unreachable();
    };
    const ended = await publish();
    expect(publishedOf(ended.out).result).toMatchObject({ ok: true });
    expect(inWords(ended.effects).at(-1)).toBe(`outcome publish ${branch}@${commit}`);
  });
  it("[EFF-9] when nobody answers at all, it is said that it is not known", async () => {
    const w = world();
    const { publish } = await merged(w);
    w.faults.next = ({ method }) => (method === "publish" || method === "resolve" ? unreachable() : null);
    const ended = await publish();
    expect(publishedOf(ended.out).result).toMatchObject({ ok: false, unknown: true });
    expect(ended.effects.at(-1)).toMatchObject({ decision: "unknown", reason: "publish" });
  });
});
