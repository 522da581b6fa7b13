import { describe, expect, it } from "vitest";
import type { AuditView } from "../../src/domain/record-view.ts";
import { entriesOf } from "../objects/commands/told-by-chain.ts";
import { type Entry, type Fault, type History, judge } from "./history.ts";
import { episode } from "./messaging/simulation.ts";

/** One message's entries, a second apart unless they say otherwise. */
type Short = Partial<Entry> & Pick<Entry, "what"> & Record<string, unknown>;
function history(entries: readonly Short[], final: History["final"] = null): History {
  const whole = entries.map((entry, index) => ({
    at: index * 1_000,
    process: "a",
    queue: "q",
    message_id: "m",
    ...entry,
  }));
  // Written by hand below, each with the fields of its kind.
  return { entries: whole as Entry[], final };
}
const asked: Short = { what: "invoke" };
const yes: Short = { what: "return", ok: true };
const l1 = { lease_id: "l1", epoch: 1 };
const l2 = { lease_id: "l2", epoch: 2 };
const lease: Short = { what: "lease", ...l1, expires_at: 60_000 };
const effect: Short = { what: "effect", ...l1 };
const ack: Short = { what: "ack", ...l1, ok: true };
const nack: Short = { what: "nack", ...l1, ok: true, available_at: 0 };
const second: Short = { what: "lease", ...l2, expires_at: 120_000 };
const dead: Short = { what: "dead" };
const other = { message_id: "n" };

const bad: readonly [string, Fault, History][] = [
  ["answered, leased, and gone", "lost", history([asked, yes, lease, nack], [])],
  ["answered, dead, and gone", "lost", history([asked, yes, dead], [])],
  ["answered, and nothing of it was ever seen", "never_stored", history([asked, yes], [])],
  ["refused, and leased all the same", "refused_but_stored", history([asked, { what: "return", ok: false }, lease])],
  [
    "refused, and it stands in storage",
    "refused_but_stored",
    history([asked, { what: "return", ok: false }], [{ queue: "q", message_id: "m", state: "queued" }]),
  ],
  ["leased, and nobody asked for it", "invented", history([lease])],
  ["in storage, and nobody asked for it", "invented", history([], [{ queue: "q", message_id: "m", state: "queued" }])],
  ["done twice under one lease", "doubled_effect", history([asked, yes, lease, effect, effect, ack])],
  [
    "done again by the next holder",
    "doubled_effect",
    history([asked, yes, lease, effect, nack, second, { what: "effect", ...l2 }]),
  ],
  ["leased to another while it is held", "two_holders", history([asked, yes, lease, { ...second, process: "b" }])],
  [
    "held on by heartbeats, and leased to another",
    "two_holders",
    history([
      ...[asked, yes, lease, { what: "heartbeat" as const, ...l1, ok: true, expires_at: 200_000, at: 4_000 }],
      { ...second, process: "b", at: 70_000, expires_at: 300_000 },
    ]),
  ],
  [
    "given back only after another had it",
    "two_holders",
    history([
      ...[asked, yes, lease, { ...second, process: "b", asked_at: 2_600, at: 3_000 }],
      { ...nack, asked_at: 3_500, at: 4_000 },
    ]),
  ],
  ["done without any lease", "effect_without_lease", history([asked, yes, effect])],
  [
    "done under the lease of somebody else",
    "effect_without_lease",
    history([asked, yes, lease, { ...effect, process: "b" }]),
  ],
  ["done after the lease was over", "effect_without_lease", history([asked, yes, lease, { ...effect, at: 60_000 }])],
  ["done after it was given back", "effect_without_lease", history([asked, yes, lease, nack, effect])],
  ["acked with a lease that is over", "stale_accepted", history([asked, yes, lease, { ...ack, at: 60_000 }])],
  ["acked with another epoch", "stale_accepted", history([asked, yes, lease, { ...ack, epoch: 2 }])],
  ["given back twice", "stale_accepted", history([asked, yes, lease, nack, nack])],
  [
    "a heartbeat after the end",
    "stale_accepted",
    history([asked, yes, lease, nack, { what: "heartbeat", ...l1, ok: true }]),
  ],
  ["ended before its time", "stale_accepted", history([asked, yes, lease, { what: "expire", ...l1 }])],
  ["leased after its ack", "life_after_ack", history([asked, yes, lease, effect, ack, second])],
  ["queued after its ack", "life_after_ack", history([asked, yes, lease, ack, { what: "requeue", forgives: "none" }])],
  [
    "in storage after its ack",
    "life_after_ack",
    history([asked, yes, lease, ack], [{ queue: "q", message_id: "m", state: "dead" }]),
  ],
  ["leased while it is dead", "life_after_ack", history([asked, yes, dead, lease])],
  ["dead after its ack", "dead_and_acked", history([asked, yes, lease, ack, dead])],
  [
    "the second in line goes first",
    "order_broken",
    history([asked, yes, { ...asked, ...other }, { ...yes, ...other }, { ...lease, ...other }]),
  ],
  [
    "the lower priority goes first",
    "order_broken",
    history([asked, yes, { ...asked, ...other, priority: 9 }, { ...yes, ...other }, lease]),
  ],
  ["an epoch comes back", "epoch_back", history([asked, yes, { ...lease, epoch: 3 }, { ...nack, epoch: 3 }, second])],
  [
    "delivered once too often",
    "too_many_deliveries",
    history([{ ...asked, max_deliveries: 1 }, yes, lease, nack, second]),
  ],
  [
    "time runs backwards",
    "bad_history",
    history([
      { ...asked, at: 5_000 },
      { ...yes, at: 4_000 },
    ]),
  ],
];

const good: readonly [string, History][] = [
  ["a message and its ack", history([asked, yes, lease, effect, ack], [])],
  ["unanswered, and never stored", history([asked], [])],
  ["unanswered, and stored", history([asked, lease, effect, ack], [])],
  ["asked twice, answered once", history([asked, asked, yes, lease, effect, ack], [])],
  [
    "accepted once, other bytes refused",
    history([asked, yes, asked, { what: "return", ok: false }, lease, effect, ack], []),
  ],
  ["waiting still", history([asked, yes], [{ queue: "q", message_id: "m", state: "queued" }])],
  [
    "given back, and done by the next",
    history([asked, yes, lease, nack, second, { what: "effect", ...l2 }, { what: "ack", ...l2, ok: true }], []),
  ],
  ["the same holder asks again", history([asked, yes, lease, lease, effect, ack], [])],
  [
    "a stale ack refused",
    history([asked, yes, lease, nack, { ...ack, ok: false }], [{ queue: "q", message_id: "m", state: "queued" }]),
  ],
  [
    "over by time, then another's",
    history([asked, yes, lease, { what: "expire", ...l1, at: 60_000 }, { ...second, process: "b", at: 61_000 }]),
  ],
  [
    "dead, sent again, done",
    history([
      { ...asked, max_deliveries: 1 },
      yes,
      lease,
      { ...dead, ...l1 },
      { what: "requeue", forgives: "all" },
      second,
    ]),
  ],
  [
    "a restart gives the delivery back",
    history([{ ...asked, max_deliveries: 1 }, yes, lease, { what: "requeue", forgives: "one" }, second]),
  ],
  [
    "one backs off, the next is served",
    history([
      asked,
      yes,
      { ...asked, ...other },
      { ...yes, ...other },
      lease,
      { ...nack, available_at: 50_000 },
      { ...lease, ...other, lease_id: "n1" },
    ]),
  ],
  [
    "told of late: given back before the next lease, heard of after it",
    history([
      ...[asked, yes, lease, { ...second, process: "b", asked_at: 2_600, at: 3_000 }],
      { ...nack, asked_at: 2_500, at: 4_000 },
    ]),
  ],
];

describe("the judge of histories", () => {
  it.each(bad)("[HIS-1] it rejects what no right queue does: %s", (_name, fault, told) => {
    expect(judge(told).map((verdict) => verdict.fault)).toContain(fault);
  });
  it.each(good)("[HIS-2] it accepts what a right queue may do: %s", (_name, told) => {
    expect(judge(told)).toEqual([]);
  });
  it("[HIS-3] its input is plain JSON", () => {
    for (const [, , told] of bad) expect(judge(JSON.parse(JSON.stringify(told)))).toEqual(judge(told));
  });
});

const seeds = ["history.0", "history.1", "history.2", "history.3"];
const steps = 1_500;
async function seen(seed: string): Promise<History> {
  const outcome = await episode(seed, steps, true);
  expect(outcome.violation).toBeNull();
  return { entries: outcome.history ?? [], final: outcome.final };
}
function spoiled(told: History, what: Entry["what"], change: (entry: Entry) => Entry[]): History {
  const found = told.entries.findIndex((entry) => entry.what === what && (!("ok" in entry) || entry.ok === true));
  const entry = told.entries[found];
  return entry === undefined ? told : { ...told, entries: told.entries.toSpliced(found, 1, ...change(entry)) };
}
const changes: readonly [string, Fault, (told: History) => History][] = [
  ["an effect once more", "doubled_effect", (told) => spoiled(told, "effect", (entry) => [entry, entry])],
  ["an ack left out", "lost", (told) => spoiled(told, "ack", () => [])],
  ["an ack twice", "stale_accepted", (told) => spoiled(told, "ack", (entry) => [entry, entry])],
  [
    "a lease left out",
    "effect_without_lease",
    (told) => ({
      ...told,
      entries: told.entries.filter((entry) => entry.what !== "lease" || entry.lease_id !== leaseOfEffect(told)),
    }),
  ],
  [
    "an effect of somebody else",
    "effect_without_lease",
    (told) => spoiled(told, "effect", (entry) => [{ ...entry, process: "nobody" }]),
  ],
  [
    "life after the ack",
    "life_after_ack",
    (told) => spoiled(told, "ack", (entry) => [entry, { ...entry, what: "requeue", forgives: "none" }]),
  ],
  [
    "dead and acked",
    "dead_and_acked",
    (told) =>
      spoiled(told, "ack", (entry) => [
        entry,
        { at: entry.at, process: "x", queue: entry.queue, message_id: entry.message_id, what: "dead" },
      ]),
  ],
  [
    "an answer without a message",
    "never_stored",
    (told) => ({ ...told, entries: [...told.entries, ...invented(told)] }),
  ],
  [
    "nobody asked",
    "invented",
    (told) => ({ ...told, entries: told.entries.filter((entry) => entry.what !== "invoke") }),
  ],
];
function leaseOfEffect(told: History): string {
  return told.entries.flatMap((entry) => (entry.what === "effect" ? [entry.lease_id] : []))[0] ?? "";
}
function invented(told: History): Entry[] {
  const about = { at: told.entries.at(-1)?.at ?? 0, process: "x", queue: "q", message_id: "of-nobody" };
  return [
    { ...about, what: "invoke" },
    { ...about, what: "return", ok: true },
  ];
}

describe("histories of the simulation", () => {
  it("[HIS-4] whatever crashed, got lost or came twice, what was seen is accepted", async () => {
    for (const seed of seeds) {
      const told = await seen(seed);
      expect(told.entries.length).toBeGreaterThan(steps / 4);
      expect(judge(told)).toEqual([]);
    }
  });
  it("[HIS-5] one entry changed, left out or repeated, and it is rejected for what was done to it", async () => {
    for (const seed of seeds) {
      const told = await seen(seed);
      for (const [name, fault, change] of changes)
        expect(
          judge(change(told)).map((verdict) => verdict.fault),
          `${seed}: ${name}`,
        ).toContain(fault);
    }
  });
});

describe("histories told by chains", () => {
  const object = "scopescopescope1/runtime";
  const second_ms = 1_000;
  /** A chain as the judge reads it: only these fields are looked at. */
  const link = (s: number, event_type: string, decision: string, details: object = {}) =>
    ({
      ...{ event_type, decision, message_id: "message-1", created_at: new Date(s * second_ms).toISOString() },
      details: { queue: "executor_queue", message_kind: "execution_request", deliveries: 1, ...details },
    }) as unknown as AuditView;
  const held = { lease_id: "lease-1", epoch: 1, holder: "crew-1" };
  const links = [
    link(0, "enqueue", "accepted", { deliveries: 0 }),
    link(1, "dequeue", "leased", held),
    link(330, "dequeue", "acked", held),
  ];
  const faults = (beats: readonly number[]) => {
    const told = beats.map((s) => ({ queue: "executor_queue", message_id: "message-1", at: s * second_ms }));
    return judge({ entries: entriesOf({ object, links, beats: told }), final: [] }).map(({ fault }) => fault);
  };
  it("[HIS-6] a lease that was prolonged, as telemetry tells, holds until then and no longer", () => {
    expect(faults([100, 220])).toEqual([]);
    expect(faults([])).toContain("stale_accepted");
    expect(faults([100])).toContain("stale_accepted");
  });
});
