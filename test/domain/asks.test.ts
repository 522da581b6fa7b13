/** When a call may not even ask a person. */
import { describe, expect, it } from "vitest";
import { type AskStanding, whyNotAsk } from "../../src/domain/asks.ts";
import { limits } from "../../src/limits.ts";

const now = 1_000_000_000;
const fresh: AskStanding = { of_task: 0, in_minute: 0, denied: null };
const denied = (ago_ms: number) => ({ ...fresh, denied: { at: now - ago_ms, said_by: "ada", reason: "not that" } });

describe("asking a person about a call", () => {
  it("[ASK-1] for 60 s after a no the same call is refused with who said it and why; then it may ask again", () => {
    expect(whyNotAsk(fresh, {}, now)).toBeNull();
    expect(whyNotAsk(denied(0), {}, now)).toEqual({
      ...{ rule: "asks:denied_again", reason: "ada denied this call less than 60 s ago: not that" },
    });
    expect(whyNotAsk(denied(59_999), {}, now)).not.toBeNull();
    expect(whyNotAsk(denied(60_000), {}, now)).toBeNull();
    // A clock that jumped back by a day does not make the no last a day.
    expect(whyNotAsk(denied(-86_400_000), {}, now)).toBeNull();
  });
  it("[ASK-2] a task asks so often at most: 50 times, or as the policy says", () => {
    const asked = (of_task: number, asks_per_task?: number) =>
      whyNotAsk({ ...fresh, of_task }, asks_per_task === undefined ? {} : { asks_per_task }, now)?.rule ?? null;
    expect([asked(49), asked(50), asked(51)]).toEqual([null, "asks:of_task", "asks:of_task"]);
    expect([asked(1, 2), asked(2, 2), asked(60, 100)]).toEqual([null, "asks:of_task", null]);
  });
  it("[ASK-3] a scope asks so often a minute at most: 20 times, or as the policy says", () => {
    const asked = (in_minute: number, asks_per_minute?: number) =>
      whyNotAsk({ ...fresh, in_minute }, asks_per_minute === undefined ? {} : { asks_per_minute }, now)?.rule ?? null;
    expect([asked(19), asked(20)]).toEqual([null, "asks:in_minute"]);
    expect([asked(20, 30), asked(1, 1)]).toEqual([null, "asks:in_minute"]);
    expect([limits.asks_per_task, limits.asks_per_minute]).toEqual([50, 20]);
  });
});
