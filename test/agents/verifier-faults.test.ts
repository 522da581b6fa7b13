import { describe, expect, it } from "vitest";
import { verifier } from "../../src/agents/verifier.ts";
import { at, unreachable } from "../fakes/attempts.ts";
import { difference, writeBundle, writePatch } from "../fakes/memory-git.ts";
import {
  environment,
  publishedOf,
  type Sample,
  sample,
  source,
  verdictOf,
  verificationMessage,
  verifyOrder,
} from "../fakes/orders.ts";
import { type Driving, drive, runContext } from "../fakes/world.ts";

/** A patch that passes its two checks after one set-up command. */
async function world(): Promise<Sample> {
  const w = sample({
    fine: () => 0,
    linger: (process) => {
      process.print("working\n");
      return new Promise(() => {});
    },
  });
  const base = w.repo.commits.get(w.main)?.tree ?? new Map<string, string>();
  await w.artifacts.put("the-patch", writePatch(difference(base, new Map([...base, ["src/b.txt", btoa("b")]]))));
  return w;
}
const verify = (w: Sample, driving: Driving = {}, program = "fine") => {
  const checks = [
    { run: [program], timeout_s: 60 },
    { run: ["fine", "again"], timeout_s: 60 },
  ];
  const order = verifyOrder(w.main, { environment: { ...environment, setup: [["fine"]] }, checks });
  return drive(verifier, runContext(verificationMessage(order), { agent: "verifier" }), w.ports, driving);
};
const begun = (w: Sample) => w.memory.begun.map(({ call_id }) => call_id);

describe("a verification that is disturbed", () => {
  it("[VER-12] an object that dies before any commit runs no call twice and comes to the same verdict", async () => {
    const [calm, dying] = [await world(), await world()];
    const expected = verdictOf((await verify(calm)).out).result;
    const seen = verdictOf((await verify(dying, { dies: true })).out).result;
    expect(begun(dying)).toEqual(["setup-1", "check-1", "check-2"]);
    expect(seen).toMatchObject({ verdict: "pass", commit: expected.commit, bundle_key: expected.bundle_key });
    expect(await dying.memory.sandboxes()).toEqual([]);
  });
  const methods = ["create", "checkout", "merge", "exec", "wait", "restore", "destroy"] as const;
  it.each(methods)("[VER-13] the host is away during %s and back again: the verification goes on", async (method) => {
    const w = await world();
    let left = 4;
    w.faults.next = (call) => (call.method === method && left-- > 0 ? unreachable() : null);
    const ended = await verify(w);
    expect(verdictOf(ended.out).result.verdict).toBe("pass");
    expect(begun(w)).toEqual(["setup-1", "check-1", "check-2"]);
    expect(ended.waits.filter((ms) => ms >= 500)).toEqual([500, 1000, 2000, 4000]);
  });
  it.each(methods)(
    "[VER-13] the host is away for good from %s on: that says nothing about the patch, unless all checks had passed",
    async (method) => {
      const w = await world();
      let away = false;
      w.faults.next = (call) => {
        away ||= call.method === method;
        return away ? unreachable() : null;
      };
      const { message, result } = verdictOf((await verify(w)).out);
      expect(result.verdict).toBe(method === "destroy" ? "pass" : "infra_error");
      if (method !== "destroy") expect(message).toMatchObject({ error_code: "tool_failure", retryable: true });
    },
  );
  it("[VER-13] it is away again later: the patience begins anew", async () => {
    const w = await world();
    let calls = 0;
    w.faults.next = ({ method }) => (method !== "destroy" && ++calls % 28 < 25 ? unreachable() : null);
    expect(verdictOf((await verify(w)).out).result.verdict).toBe("pass");
    expect(begun(w)).toEqual(["setup-1", "check-1", "check-2"]);
  });
  it("[VER-13] a sandbox that is gone is no verdict, wherever the verification stood", async () => {
    for (const place of ["merge", "setup", "restore", "checks"]) {
      const w = await world();
      let gone = false;
      w.faults.next = async () => {
        if (gone) await w.memory.destroy("scopescopescope1.v1.0");
        return null;
      };
      const ended = await verify(w, {
        before: (stored) => {
          gone ||= at(stored) === place;
          return undefined;
        },
      });
      expect(verdictOf(ended.out).result, place).toMatchObject({ verdict: "infra_error", commit: null });
    }
  });
  it("[VER-14] called off at any step of the way it passes nothing, begins nothing more and leaves nothing behind", async () => {
    const { states } = await verify(await world());
    for (const stop of states.keys()) {
      const w = await world();
      let begunBefore = 0;
      const ended = await verify(w, {
        before: (_, index) => {
          if (index !== stop) return undefined;
          begunBefore = w.memory.begun.length;
          return { cancelled: true };
        },
      });
      const closing = ["close", "answer"].includes(at(states[stop]));
      expect(verdictOf(ended.out).result.verdict, `step ${stop}`).toBe(closing ? "pass" : "infra_error");
      expect(w.memory.begun.length).toBe(begunBefore);
      expect(await w.memory.sandboxes()).toEqual([]);
    }
  });
  it("[VER-14] called off in the middle of a check, the check is ended with its sandbox", async () => {
    const w = await world();
    const ended = await verify(
      w,
      { before: (stored) => (JSON.stringify(stored).includes('"output":"working') ? { cancelled: true } : undefined) },
      "linger",
    );
    expect(verdictOf(ended.out).result).toMatchObject({ verdict: "infra_error", detail: "called off by the runtime" });
    expect(await w.memory.sandboxes()).toEqual([]);
  });
  it("[VER-14] an order that does not fit is thrown on, never answered", async () => {
    const w = await world();
    const message = { ...verificationMessage(verifyOrder(w.main)), payload: { stage: "verify" } };
    await expect(drive(verifier, runContext(message), w.ports)).rejects.toThrow();
    expect(w.asked).toEqual([]);
  });
});

describe("publishing what was merged", () => {
  const branch = "countersign/task-1";
  async function merged() {
    const w = sample();
    const commit = w.repo.commit(w.main, { "README.md": "next\n" });
    const bundle = writeBundle([...w.repo.commits.values()]);
    w.repo.commits.delete(commit);
    await w.artifacts.put("branch", bundle);
    const order = {
      stage: "publish",
      verification_id: "v9",
      repo: source,
      branch,
      commit,
      bundle_key: "branch",
    } as const;
    const publish = (driving: Driving = {}) =>
      drive(verifier, runContext(verificationMessage(order), { agent: "verifier" }), w.ports, driving);
    return { w, commit, publish };
  }
  it("[VER-15] exactly the merged commit is pushed to its branch; the intent is on record before, the outcome after", async () => {
    const { w, commit, publish } = await merged();
    const ended = await publish();
    expect(publishedOf(ended.out)).toMatchObject({
      result: { verification_id: "v9", ok: true },
      message: { error_code: null },
    });
    expect(w.repo.branches.get(branch)).toBe(commit);
    expect(w.repo.branches.get("main")).toBe(w.main);
    const details = { id: `${branch}@${commit}`, branch, commit };
    expect(ended.effects).toEqual([
      { decision: "intent", reason: "publish", details },
      { decision: "outcome", reason: "publish", details },
    ]);
    expect(w.asked.map(({ method }) => method)).toEqual(["publish"]);
  });
  it("[VER-16] an object that dies after the push finds the branch there: it is success", async () => {
    const { w, commit, publish } = await merged();
    expect(publishedOf((await publish({ dies: true })).out).result.ok).toBe(true);
    expect(publishedOf((await publish()).out).result.ok).toBe(true);
    expect(w.repo.branches.get(branch)).toBe(commit);
  });
  it("[VER-17] a source that is away for a while is waited for; away for good, the answer says it may be tried again", async () => {
    const { w, commit, publish } = await merged();
    let left = 6;
    w.faults.next = () => (left-- > 0 ? unreachable() : null);
    expect(publishedOf((await publish()).out).result.ok).toBe(true);
    expect(w.repo.branches.get(branch)).toBe(commit);
    const gone = await merged();
    gone.w.faults.next = unreachable;
    const { message, result } = publishedOf((await gone.publish()).out);
    expect(result).toMatchObject({ ok: false, retryable: true });
    expect(message).toMatchObject({ error_code: "tool_failure", retryable: true });
  });
  it("[VER-17] a branch that somebody moved, or a bundle that is missing, is not overwritten nor tried again", async () => {
    const { w, publish } = await merged();
    const theirs = w.repo.commit(w.main, { "README.md": "theirs\n" });
    w.repo.branches.set(branch, theirs);
    expect(publishedOf((await publish()).out).result).toMatchObject({
      ok: false,
      retryable: false,
      detail: "the branch moved",
    });
    expect(w.repo.branches.get(branch)).toBe(theirs);
    w.repo.branches.delete(branch);
    w.artifacts.stored.delete("branch");
    expect(publishedOf((await publish()).out).result).toMatchObject({ ok: false, retryable: false });
    expect(w.repo.branches.has(branch)).toBe(false);
  });
  it("[VER-18] called off before the push, nothing is pushed", async () => {
    for (const stop of [0, 1]) {
      const { w, publish } = await merged();
      const ended = await publish({ before: (_, index) => (index === stop ? { cancelled: true } : undefined) });
      expect(publishedOf(ended.out).result).toMatchObject({ ok: false, detail: "called off by the runtime" });
      expect(w.asked.map(({ method }) => method)).not.toContain("publish");
    }
  });
  it("[VER-18] a branch that is not ours is refused", async () => {
    const { w, commit } = await merged();
    const order = {
      stage: "publish",
      verification_id: "v9",
      repo: source,
      branch: "main",
      commit,
      bundle_key: "branch",
    } as const;
    const ended = await drive(verifier, runContext(verificationMessage(order)), w.ports);
    expect(publishedOf(ended.out).result).toMatchObject({ ok: false, retryable: false });
    expect(w.repo.branches.get("main")).toBe(w.main);
  });
});
