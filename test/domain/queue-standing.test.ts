import { describe, expect, it } from "vitest";
import {
  handsOut,
  openStanding,
  type Standing,
  stand,
  standingMoves,
  standings,
  takesIn,
} from "../../src/domain/queue-standing.ts";

const order = { scope_id: "scopescopescope1", by: "ana", reason: "deploying" };
const events = ["pause", "resume", "drain", "empty", "refill"] as const;

describe("how a queue stands", () => {
  it("[Q-19] every pair of standing and order is a move of the table; what changes nothing leaves nothing on record", () => {
    for (const state of standings)
      for (const event of events) {
        const from: Standing = { ...openStanding, state };
        const moved = stand("work", from, event, order, 5);
        const to = standingMoves[state][event];
        expect(moved?.standing.state ?? state, `${state} ${event}`).toBe(to);
        if (to === state) expect(moved).toBeNull();
        else
          expect(moved?.facts.audit).toMatchObject([
            {
              event_type: "transition",
              decision: `queue_${to === "open" ? "resumed" : to}`,
              actor: "user",
              reason: "deploying",
              details: { queue: "work", from: state, to, by: "ana" },
            },
          ]);
      }
  });
  it("[Q-19] only a paused queue hands out nothing, and only one being emptied takes nothing in", () => {
    expect(standings.filter((state) => !handsOut(state))).toEqual(["paused"]);
    expect(standings.filter((state) => !takesIn(state))).toEqual(["draining", "drained"]);
    expect(
      stand("work", { ...openStanding, state: "draining" }, "empty", { ...order, by: "runtime" }, 5),
    ).toMatchObject({
      standing: { state: "drained", by: "runtime", at: "1970-01-01T00:00:00.005Z" },
      facts: { audit: [{ actor: "runtime" }] },
    });
  });
});
