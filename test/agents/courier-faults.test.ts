/** The courier's syncs under crashes and failures: nothing is made twice, nothing is left out, and what fails is told. */
import { describe, expect, it } from "vitest";
import { courier } from "../../src/agents/courier.ts";
import { githubFailureCodes } from "../../src/agents/github-port.ts";
import type { GithubStanding } from "../../src/domain/github/standing.ts";
import { limits } from "../../src/limits.ts";
import { counts, courierWorld, syncOrder } from "../fakes/courier.ts";
import { doneStanding as done, type Fault, shaOf, waitingStanding } from "../fakes/github.ts";
import { MemorySandboxes } from "../fakes/memory-sandboxes.ts";
import { runContext, tameWorld } from "../fakes/world.ts";

describe("crashes and failures", () => {
  const roads: readonly [string, Partial<GithubStanding>[]][] = [
    ["made at the end", [done]],
    [
      "a plan that waits, is worked on, and is done",
      [waitingStanding, { status: "active", phase: "coding", card: null }, done],
    ],
    ["without a commit at first", [{ base_commit: null }, { base_commit: shaOf("b") }, done]],
  ];
  it.each(roads)(
    "[GHO-13] the object dies after each call and before its commit: nothing is made twice (%s)",
    async (_, changes) => {
      const w = courierWorld();
      for (const change of changes) expect((await w.sync(change, { dies: true })).shown.failed).toBeNull();
      expect(counts(w)).toEqual([1, 1, 1]);
      expect(w.github.comments.length).toBe(1);
      const steady = courierWorld();
      for (const change of changes) await steady.sync(change);
      expect(w.github.standing()).toEqual(steady.github.standing());
    },
  );
  it("[GHO-13] an answer of the courier that nobody heard: the next sync finds what stands", async () => {
    const w = courierWorld(done);
    await w.sync();
    if (w.stands !== null) w.stands = { ...w.stands, shown: null };
    const { shown } = await w.sync({ spent: { tokens: 1, usd: null } });
    expect(counts(w)).toEqual([1, 1, 1]);
    expect(w.github.writes().slice(3)).toEqual(["updatePull", "updateCheck", "updateComment"]);
    expect(shown.failed).toBeNull();
  });

  const calls = ["head", "findPull", "createPull", "findCheck", "createCheck", "findComment", "createComment"];
  const updates = ["updatePull", "updateCheck", "updateComment"];
  const faults = [
    ...githubFailureCodes.map((code): Fault => ({ code })),
    { code: "unavailable", after: true } satisfies Fault,
  ];
  it.each([...calls, ...updates])(
    "[GHO-15] whatever fails at %s, once: the others stand, and after the next sync all does, once",
    async (method) => {
      for (const fault of faults) {
        const w = courierWorld({ base_commit: null });
        if (updates.includes(method)) await w.sync({ ...done });
        let left = 1;
        w.github.fault = (call) => (call.method === method && left-- > 0 ? fault : null);
        const first = await w.sync({ ...done, reason: "Over." }, { dies: fault.code === "unavailable" });
        const said = `${method} ${JSON.stringify(fault)}`;
        expect(left, said).toBeLessThan(1);
        const retried = fault.code === "rate_limited" || fault.code === "unavailable";
        if (retried) expect(first.shown.failed, said).toBeNull();
        const hopeless = ["not_configured", "unauthorized", "suspended"].includes(fault.code);
        if (!hopeless) expect(counts(w).filter((n) => n === 1).length, said).toBeGreaterThanOrEqual(2);
        const { shown } = await w.sync({ reason: "Over and done." });
        expect(shown.failed, said).toBeNull();
        expect(counts(w), said).toEqual([1, 1, 1]);
        expect(w.github.comments.length, said).toBe(1);
        expect(w.github.standing().comments[0], said).toContain("Over and done.");
      }
    },
  );
  it.each(githubFailureCodes)(
    "[GHO-15] %s at every call: it ends with words, and goes on when it is mended",
    async (code) => {
      const w = courierWorld(done);
      w.github.fault = () => ({ code });
      const { shown } = await w.sync();
      expect(shown).toMatchObject({ comment: null, check: null, pull: null });
      expect(shown.failed).toContain(`the comment: GitHub says ${code}.`);
      expect(shown.failed).toContain(`the pull request: GitHub says ${code}.`);
      w.github.fault = () => null;
      expect((await w.sync()).shown.failed).toBeNull();
      expect(counts(w)).toEqual([1, 1, 1]);
    },
  );
  it("[GHO-15] without a GitHub App, or with its installation gone, one call is enough to know", async () => {
    for (const code of ["not_configured", "unauthorized", "suspended"] as const) {
      const w = courierWorld(done);
      w.github.fault = () => ({ code });
      await w.sync();
      expect(w.github.calls.length).toBe(1);
    }
  });
  it("[GHO-15] a part whose last write nobody knows the end of is written again, though it says what stood before", async () => {
    const w = courierWorld();
    await w.sync();
    w.github.fault = ({ method }) => (method === "updateComment" ? { code: "unavailable", after: true } : null);
    expect((await w.sync({ phase: "qa" })).shown.failed).toContain("the comment");
    w.github.fault = () => null;
    const before = w.github.calls.length;
    await w.sync({ phase: "coding" });
    expect(w.github.methods().slice(before)).toEqual(["updateCheck", "updateComment"]);
    expect(w.github.standing().comments[0]).toContain("Countersign: Working");
  });
  it("[GHO-16] a rate limit is waited for as long as GitHub asks, a quarter of an hour at most, and then the task is looked at anew", async () => {
    const w = courierWorld();
    let asks = [30_000, 3_600_000, 0];
    w.github.fault = ({ method }) => {
      if (method !== "createCheck" || asks.length === 0) return null;
      const [retry_after_ms = 0, ...rest] = asks;
      asks = rest;
      if (w.stands !== null) w.stands = { ...w.stands, phase: "qa", version: 20 };
      return { code: "rate_limited", retry_after_ms };
    };
    const { waits, shown } = await w.sync();
    expect(waits).toEqual([30_000, limits.github_wait_max_ms, limits.github_wait_first_ms]);
    expect(shown).toMatchObject({ version: 20, failed: null });
    expect(w.github.standing().checks).toMatchObject([{ title: "Verifying" }]);
    expect(w.asked).toBe(4);
  });
  it("[GHO-16] it waits longer each time GitHub is away, an hour in all, and then says what does not stand", async () => {
    const w = courierWorld();
    w.github.fault = ({ method }) => (method === "createComment" ? { code: "unavailable" } : null);
    const { waits, shown } = await w.sync();
    expect(waits.slice(0, 4)).toEqual([1_000, 2_000, 4_000, 8_000]);
    expect(waits.reduce((sum, wait) => sum + wait, 0)).toBeLessThanOrEqual(limits.github_sync_wait_ms);
    expect(waits.reduce((sum, wait) => sum + wait, 0)).toBeGreaterThan(limits.github_sync_wait_ms / 2);
    expect(shown.failed).toBe("the comment: GitHub says unavailable.");
    expect(counts(w)).toEqual([0, 1, 0]);
  });
  it("[GHO-16] the link goes while it waits: it ends there", async () => {
    const w = courierWorld();
    w.github.fault = () => {
      w.stands = null;
      return { code: "rate_limited", retry_after_ms: 1_000 };
    };
    await expect(w.sync()).rejects.toThrow("expected one, got 0");
    expect(w.github.calls.length).toBe(1);
  });
  it("[GHO-16] while it waits it keeps its lease and holds no place", async () => {
    const w = courierWorld();
    const { ports } = tameWorld(new MemorySandboxes({}));
    w.github.fault = () => ({ code: "rate_limited" });
    const context = runContext(syncOrder());
    const shows = { standing: async () => w.stands };
    let step = await courier.step(courier.open(context), context, { ...ports, github: w.github.port, shows });
    for (let n = 0; step.kind === "continue" && n < 9; n++)
      step = await courier.step(courier.parse(step.state), context, { ...ports, github: w.github.port, shows });
    expect(step).toMatchObject({ kind: "wait", for_notes: true });
  });
  it("[GHO-19] each write has its intent on record before and how it ended after; one that nobody knows of is unknown", async () => {
    const w = courierWorld(done);
    const { effects } = await w.sync({}, { dies: true });
    expect(effects.map(({ decision, reason }) => `${decision} ${reason}`)).toEqual([
      ...["intent github_pull", "outcome github_pull", "intent github_check", "outcome github_check"],
      ...["intent github_comment", "outcome github_comment"],
    ]);
    expect(effects[0]?.details).toMatchObject({ repository: "octo/sample", branch: "countersign/tabcdefgh2345678" });
    let left = 2;
    w.github.fault = ({ method }) =>
      method === "updateComment" && left-- > 0 ? { code: left > 0 ? "unavailable" : "rate_limited" } : null;
    const again = (await w.sync({ reason: "Else." })).effects.filter(({ reason }) => reason === "github_comment");
    expect(again.map(({ decision, details }) => [decision, details.ok ?? true])).toEqual([
      ...[
        ["intent", true],
        ["unknown", true],
        ["intent", true],
        ["outcome", false],
        ["intent", true],
        ["outcome", true],
      ],
    ]);
    expect(JSON.stringify([...effects, ...again])).not.toContain("Make it faster");
  });
  it("[GHO-21] called off, it makes nothing more and says what stands", async () => {
    const w = courierWorld(done);
    const { shown } = await w.sync({}, { before: (_, index) => (index === 2 ? { cancelled: true } : undefined) });
    expect(counts(w)).toEqual([0, 0, 1]);
    expect(shown).toMatchObject({ pull: { number: w.github.pulls[0]?.number }, comment: null });
    expect(shown.failed).toContain("called off");
  });
});
