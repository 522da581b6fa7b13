/** Calls of somebody who may not ask any more, or never might: old leases, other agents, tasks that are over. [WORST-2] */
import { callerOf, type Held, must, shell } from "../../fakes/held-scope.ts";
import { ada, again, askedAs, granted, type Stage, type Trick, tree, trick } from "./tricks.ts";

const family = "stale and foreign";
const sue = callerOf("sue#sub001", "submitter");
const call = shell("echo a");
const minute_ms = 60_000;

/** The holder of a granted call, and who they say they are instead. */
const claims: readonly (readonly [string, (held: Held, other: Held) => Partial<Held["ref"]>])[] = [
  ["the epoch before", ({ ref }) => ({ epoch: ref.epoch - 1 })],
  ["the epoch after", ({ ref }) => ({ epoch: ref.epoch + 1 })],
  ["half an epoch", ({ ref }) => ({ epoch: ref.epoch + 0.5 })],
  ["an epoch that is no number", () => ({ epoch: Number.NaN })],
  ["another agent", () => ({ agent: "crew-9" })],
  ["the runtime", () => ({ agent: "runtime" })],
  ["the planner", () => ({ agent: "planner" })],
  ["nobody", () => ({ agent: "" })],
  ["the agent in capitals", ({ ref }) => ({ agent: ref.agent.toUpperCase() })],
  ["the entry before", ({ ref }) => ({ entry: ref.entry - 1 })],
  ["the entry after", ({ ref }) => ({ entry: ref.entry + 1 })],
  ["an invented lease", () => ({ lease_id: "lease-0" })],
  ["no lease", () => ({ lease_id: "" })],
  ["a lease with a wild sign", () => ({ lease_id: "%" })],
  ["a lease with a quote", () => ({ lease_id: "' OR 1=1 --" })],
  ["another's lease", (_, other) => ({ lease_id: other.ref.lease_id, epoch: other.ref.epoch })],
  ["another's lease and name", (_, { ref }) => ({ lease_id: ref.lease_id, epoch: ref.epoch, agent: ref.agent })],
  ["another's attempt", (_, other) => ({ attempt_id: other.ref.attempt_id })],
  ["an attempt that never was", () => ({ attempt_id: "nobody.a.1" })],
  ["no attempt", () => ({ attempt_id: "" })],
];

/** What ends the right of a holder who goes on all the same. */
const endings: readonly (readonly [
  string,
  (stage: Stage, about: { task_id: string; held: Held }) => Promise<unknown>,
])[] = [
  ["its lease ran out", async ({ held }) => (held.now += 5 * minute_ms + 1)],
  [
    "another took its lease over",
    async ({ held }) => {
      held.now += 6 * minute_ms;
      held.claim();
    },
  ],
  ["its task was cancelled", async ({ held }, { task_id }) => must(await held.tasks.cancelTask(sue, task_id, "stop"))],
  ["its attempt has failed", ({ held }, about) => held.fail(about.held)],
  ["its attempt is suspended", ({ held }, about) => held.suspend(about.held, call, tree)],
  [
    "its scope was restarted and its lease ran out",
    async ({ held }) => {
      held.now += 10 * minute_ms;
      held.reopen();
    },
  ],
  [
    "a clock jumped by a year",
    async ({ held }) => {
      held.now += 365 * 24 * 60 * minute_ms;
    },
  ],
];

export const stale: readonly Trick[] = [
  ...claims.map(([name, says]) =>
    trick(family, `says it is ${name}`, async (stage) => {
      const { held } = await stage.going(granted);
      const other = await stage.going(granted);
      const said = { ...held, ref: { ...held.ref, ...says(held, other.held) } };
      await stage.try(said, call);
      stage.held.settle(said, "step-1");
      // Whoever it is that holds it still may.
      await stage.held.authorize(held, call);
      return [stage.effect(held)];
    }),
  ),
  ...endings.map(([name, end]) =>
    trick(family, `goes on after ${name}`, async (stage) => {
      const about = await stage.going(granted);
      await end(stage, about);
      await stage.try(about.held, call);
      return [];
    }),
  ),
  ...endings.slice(0, 3).map(([name, end]) =>
    trick(family, `settles after ${name}, and asks again`, async (stage) => {
      const about = await stage.going(granted);
      await stage.held.authorize(about.held, call);
      await end(stage, about);
      stage.held.settle(about.held, "step-1");
      await stage.try(about.held, call);
      await stage.try(about.held, shell("echo a", "step-2"));
      return [stage.effect(about.held)];
    }),
  ),
  trick(family, "the holder before the wait runs what the holder after it may", async (stage) => {
    const { first, held } = await stage.allowed();
    await stage.try(first, again);
    await stage.held.authorize(held, again);
    return [stage.effect(held)];
  }),
  trick(family, "begins what another has begun", async (stage) => {
    const { held } = await stage.going(granted);
    const thief = askedAs(held, { agent: "crew-9" });
    const entry = await stage.held.begin(thief);
    stage.note(stage.trick, entry.answer === "go" ? "run" : entry.answer, "reason" in entry ? entry.reason : "");
    await stage.try(thief, call);
    return [];
  }),
  trick(family, "answers for another, so that its own call is shown", async (stage) => {
    const { task_id, held } = await stage.going(granted);
    await stage.held.suspend(askedAs(held, { agent: "crew-9" }), shell("echo evil"), tree);
    await stage.held.suspend(askedAs(held, { epoch: held.ref.epoch + 1 }), shell("echo evil"), tree);
    stage.note(
      stage.trick,
      stage.held.cards(task_id).length === 0 ? "stale" : "run",
      "its answer is kept for the record",
    );
    return [];
  }),
  trick(family, "a call allowed by a task that was cancelled since", async (stage) => {
    const { task_id, held } = await stage.allowed();
    must(await stage.held.tasks.cancelTask(sue, task_id, "stop"));
    await stage.try(held, again);
    return [];
  }),
  trick(family, "a call allowed and denied at once", async (stage) => {
    const { card } = await stage.waiting();
    const both = await Promise.all([stage.held.deny(ada, card, "no", true), stage.held.approve(ada, card)]);
    if (both.filter(({ ok }) => ok).length !== 1) throw new Error("decided twice");
    const next = stage.held.claim();
    stage.note(stage.trick, next === null ? "refused" : "run", "the first decision stands");
    return [];
  }),
];
