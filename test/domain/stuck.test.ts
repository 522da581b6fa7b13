import { array, assert, constantFrom, integer, nat, property, tuple } from "fast-check";
import { describe, expect, it } from "vitest";
import {
  blur,
  comparable,
  digestOf,
  judge,
  nextRecovery,
  recentKept,
  recoveries,
  stuckReasons,
} from "../../src/domain/stuck.ts";
import { limits } from "../../src/limits.ts";

const pace = (recent: readonly string[], more: object = {}) => ({
  steps: 0,
  max_steps: 60,
  moved_at: 0,
  thinks: true,
  recent,
  ...more,
});
const ended = (command: string, text: string, is_error = false) =>
  digestOf({ tool: "shell_execute", arguments: { command } }, { text, is_error });
/** A text of its own for each number, also when numbers and hashes do not count. */
const word = (at: number): string => [...String(at)].map((digit) => "ghijklmnop".charAt(Number(digit))).join("");
/** Long enough to say something by itself. */
const said = ", as a program tells it that has more to say about what went wrong than a single word";
const times = <T>(count: number, of: readonly T[]): T[] => Array.from({ length: count }, () => of).flat();

describe("when a loop no longer gets on", () => {
  it("[STUCK-1] the same call three times in a row, the last bringing nothing new, is looping", () => {
    const call = ended("npm test", "failed");
    expect(judge(pace([call, call]), 0)).toBeNull();
    expect(judge(pace([call, call, call]), 0)).toMatchObject({ reason: "looping" });
    expect(judge(pace([call, call, call, ended("ls", "a b")]), 0)).toBeNull();
    const [a, b, c] = ["a", "b", "c"].map((text) => ended("date", text));
    expect(judge(pace([a ?? "", b ?? "", c ?? ""]), 0)).toBeNull();
    expect(judge(pace([a ?? "", b ?? "", a ?? ""]), 0)).toMatchObject({ reason: "looping" });
    const order = ["x", "y"].map((key) =>
      digestOf({ tool: "t", arguments: comparable(`{"${key}":1,"z":2}`) }, { text: "no", is_error: true }),
    );
    expect(order[0]).not.toBe(order[1]);
    expect(digestOf({ tool: "t", arguments: comparable('{"a":1,"b":2}') }, { text: "x", is_error: true })).toBe(
      digestOf({ tool: "t", arguments: comparable('{ "b": 2, "a": 1 }') }, { text: "x", is_error: true }),
    );
  });
  it("[STUCK-2] the same results in the same order, of up to four calls, four times over is looping; numbers and hashes do not count", () => {
    for (let period = 1; period <= limits.output_period; period++) {
      const round = (lap: number) =>
        Array.from({ length: period }, (_, at) =>
          ended(`call ${lap} ${at}`, `error ${word(at)} at line ${lap} of 3f9a2b${lap}c in ${lap}.5 s${said}`, true),
        );
      const laps = Array.from({ length: limits.repeated_outputs }, (_, lap) => round(lap)).flat();
      expect(laps.length).toBeLessThanOrEqual(recentKept);
      expect(judge(pace(laps), 0)).toMatchObject({ reason: "looping" });
      expect(judge(pace(laps.slice(1)), 0)).toBeNull();
      expect(judge(pace([...laps.slice(0, -1), ended("new", `something else went wrong${said}`, true)]), 0)).toBeNull();
    }
  });
  it("[STUCK-2] a short good word says nothing by itself: other calls may all be answered with it", () => {
    const oks = Array.from({ length: 12 }, (_, at) => ended(`mkdir ${at}`, "exit code 0"));
    expect(judge(pace(oks), 0)).toBeNull();
    expect(judge(pace(oks.map((_, at) => ended(`cat ${at}`, "the same long text ".repeat(10)))), 0)).toMatchObject({
      reason: "looping",
    });
  });
  it("[STUCK-2] as long as each result is a new one it is never looping, whatever is called", () => {
    const calls = array(tuple(constantFrom("ls", "npm test", "cat a"), integer({ min: 0, max: 1 })), { maxLength: 40 });
    assert(
      property(calls, nat(1_000), (list, first) => {
        const recent: string[] = [];
        for (const [at, [command, bad]] of list.entries()) {
          recent.push(ended(command, `${word(first + at)} after ${at} ms`, bad === 1));
          expect(judge(pace(recent.slice(-recentKept)), 0)).toBeNull();
        }
      }),
    );
  });
  it("[STUCK-2] whatever the calls, a pattern of results that goes on is found within its laps", () => {
    assert(
      property(integer({ min: 1, max: limits.output_period }), nat(30), (period, before) => {
        const fresh = Array.from({ length: before }, (_, at) => ended(`c${at}`, word(at + 100), true));
        const laps = times(
          limits.repeated_outputs,
          Array.from({ length: period }, (_, at) => word(at)),
        );
        const recent = [...fresh, ...laps.map((text, at) => ended(`d${at}`, `${text}${said}`, true))].slice(
          -recentKept,
        );
        expect(judge(pace(recent), 0)).toMatchObject({ reason: "looping" });
      }),
    );
  });
  it("[STUCK-3] ten minutes without a call that ended or said something is stalled", () => {
    expect(judge(pace([], { moved_at: 5 }), 5 + limits.stalled_ms)).toBeNull();
    expect(judge(pace([], { moved_at: 5, thinks: false }), 6 + limits.stalled_ms)).toMatchObject({ reason: "stalled" });
  });
  it("[STUCK-4] steps used up is exhausted once the model would be asked again", () => {
    expect(judge(pace([], { steps: 59 }), 0)).toBeNull();
    expect(judge(pace([], { steps: 60, thinks: false }), 0)).toBeNull();
    expect(judge(pace([], { steps: 60 }), 0)).toMatchObject({ reason: "exhausted" });
  });
  it("[STUCK-5] what was tried is not tried again, in one order, and a person is always left", () => {
    for (const reason of stuckReasons) {
      const tried: (typeof recoveries)[number][] = [];
      for (let rung = 0; rung < 6; rung++) tried.push(nextRecovery(reason, tried));
      const order = reason === "exhausted" ? recoveries.slice(2) : [...recoveries];
      expect(tried).toEqual([...order, ...Array(6 - order.length).fill("ask_person")]);
    }
  });
  it("[STUCK-2] blurring keeps words and drops what changes from one time to the next", () => {
    expect(blur("took  12 ms\n at deadbeef1 (v1.2.3)")).toBe("took # ms at # (v#.#.#)");
    expect(blur("defaced facade")).toBe("defaced facade");
    expect(comparable("{bad")).toBe("{bad");
    expect(comparable('"\\ud800"')).toBe('"\\ud800"');
  });
});
