/** Many clients at work on a service that is killed again and again; what they were answered is held against what stands. */
import { beforeAll, describe, expect, it } from "vitest";
import { type Broken, compare } from "../kills/compare.ts";
import type { Asked } from "../kills/journal.ts";
import { inOneLine, killAgainAndAgain, type Outcome } from "../kills/run.ts";
import type { Stored } from "../kills/stored.ts";

const kills = 10;
/** A machine that does much else starts the service in half a minute, not in three seconds. */
const withinMs = 20 * 60_000;

let outcome: Outcome;
beforeAll(async () => {
  const seed = process.env.COUNTERSIGN_SEED || "11";
  const said: string[] = [];
  outcome = await killAgainAndAgain({ seed, kills, clients: 8, tasks: 4, say: (line) => said.push(line) });
  console.log(inOneLine(outcome.figures));
  if (outcome.broken.length > 0) console.log([`SEED=${seed}`, ...said, `kept: ${outcome.kept}`].join("\n"));
}, withinMs);

describe("a service killed under the hands of many clients", () => {
  it("[KILL-4] [KILL-5] [KILL-6] keeps everything it answered, does it once, and comes to rest", () => {
    const { broken, figures } = outcome;
    expect(broken.map(({ kind, sentence }) => `${kind}: ${sentence}`)).toEqual([]);
    expect(figures).toMatchObject({ kills, tasks: 32, lost: 0, doubled: 0, violations: 0 });
    expect(figures.done).toBeGreaterThan(0);
    expect(figures.dropped).toBeGreaterThan(0);
  });

  it("[KILL-7] would have been caught at any single thing that was lost, doubled, altered or left behind", () => {
    for (const [name, change] of Object.entries(spoilt)) {
      const found = compare(outcome.asked, change(outcome.stored)).map(({ kind }) => kind);
      expect([name, found]).toEqual([name, expect.arrayContaining([kindOf(name)])]);
    }
    const before: Asked[] = outcome.asked.filter((one) => one.what !== "create");
    expect(compare(before, outcome.stored)).not.toEqual([]);
  });
});

function kindOf(name: string): Broken["kind"] {
  return name.startsWith("lost") ? "lost" : name.startsWith("doubled") ? "doubled" : "other";
}

/** One change each, as a fault of the service would have made it. */
const spoilt: Record<string, (stored: Stored) => Stored> = {
  "lost task": (stored) => ({ ...stored, tasks: stored.tasks.slice(1) }),
  "doubled task": (stored) => ({
    ...stored,
    tasks: stored.tasks.flatMap((task, at) => (at === 0 ? [task, { ...task, id: "t-again" }] : [task])),
  }),
  "lost decision": (stored) => ({ ...stored, cards: stored.cards.map((card) => ({ ...card, decisions: [] })) }),
  "doubled decision": (stored) => ({
    ...stored,
    cards: stored.cards.map((card) => ({ ...card, decisions: [...card.decisions, ...card.decisions] })),
  }),
  "lost words": (stored) => ({ ...stored, events: stored.events.filter(({ type }) => type !== "message") }),
  "lost end": (stored) => ({
    ...stored,
    tasks: stored.tasks.map((task, at) => (at === 0 ? { ...task, status: "active" } : task)),
  }),
  "doubled end": (stored) => ({
    ...stored,
    events: stored.events.flatMap((event) => (event.type === "task_complete" ? [event, event] : [event])),
  }),
  "lost branch": (stored) => ({ ...stored, branches: [] }),
  "lost line": (stored) => ({ ...stored, branches: stored.branches.map((branch) => ({ ...branch, lines: [] })) }),
  "doubled line": (stored) => ({
    ...stored,
    branches: stored.branches.map((branch) => ({ ...branch, lines: [...branch.lines, ...branch.lines] })),
  }),
  "doubled merge": (stored) => ({
    ...stored,
    branches: stored.branches.map((branch) => ({ ...branch, merged: [...branch.merged, ...branch.merged] })),
  }),
  "doubled call": (stored) => ({
    ...stored,
    objects: stored.objects.map((each) => ({
      ...each,
      links: each.links.flatMap((link) => (link.decision === "intent" ? [link, link] : [link])),
    })),
  }),
  "altered chain": (stored) => ({
    ...stored,
    objects: stored.objects.map((each) => ({ ...each, links: each.links.toSpliced(1, 1) })),
  }),
  "lost record": (stored) => ({ ...stored, recorded: stored.recorded.slice(1) }),
  "left in a queue": (stored) => ({
    ...stored,
    objects: stored.objects.map((each) => ({ ...each, rows: [{ queue: "inbox", message_id: "m", state: "queued" }] })),
  }),
  "left in an outbox": (stored) => ({ ...stored, objects: stored.objects.map((each) => ({ ...each, outbox: ["m"] })) }),
  "doubled delivery": (stored) => ({
    ...stored,
    objects: stored.objects.map((each) => ({
      ...each,
      links: each.links.flatMap((link) =>
        link.decision === "acked" ? [link, { ...link, decision: "leased" }] : [link],
      ),
    })),
  }),
};
