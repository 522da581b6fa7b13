import { array, assert, constantFrom, integer, nat, property, shuffledSubarray, tuple } from "fast-check";
import { describe, expect, it } from "vitest";
import { judge, nextRecovery, recoveries, stuckReasons } from "../../src/domain/stuck.ts";
import { comparable, digestOf, steady } from "../../src/domain/stuck-digest.ts";
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
const kept = (all: readonly string[]) => all.slice(-limits.calls_remembered);
/** After how many of the calls it is taken for looping; null when it never is. */
function loopsAfter(all: readonly string[]): number | null {
  for (let calls = 1; calls <= all.length; calls++)
    if (judge(pace(kept(all.slice(0, calls))), 0)?.reason === "looping") return calls;
  return null;
}
const times = <T>(count: number, of: readonly T[]): T[] => Array.from({ length: count }, () => of).flat();

describe("when a loop no longer gets on", () => {
  it("[STUCK-1] the same call with the same result three times in a row is looping; with another result it is not", () => {
    const call = ended("npm test", "failed");
    expect(judge(pace([call, call]), 0)).toBeNull();
    expect(judge(pace([call, call, call]), 0)).toMatchObject({ reason: "looping" });
    expect(judge(pace([call, call, call, ended("ls", "a b")]), 0)).toBeNull();
    expect(loopsAfter(["a", "b", "c", "a", "b", "c"].map((text) => ended("date", text)))).toBeNull();
    expect(loopsAfter([call, call, ended("npm test", "failed", true), call, call])).toBeNull();
    const order = ["x", "y"].map((key) =>
      digestOf({ tool: "t", arguments: comparable(`{"${key}":1,"z":2}`) }, { text: "no", is_error: true }),
    );
    expect(order[0]).not.toBe(order[1]);
    expect(digestOf({ tool: "t", arguments: comparable('{"a":1,"b":2}') }, { text: "x", is_error: true })).toBe(
      digestOf({ tool: "t", arguments: comparable('{ "b": 2, "a": 1 }') }, { text: "x", is_error: true }),
    );
    expect(comparable("{bad")).toBe("{bad");
    expect(comparable('"\\ud800"')).toBe('"\\ud800"');
  });
  it("[STUCK-2] twelve calls in a row that all came before with the same result, the last for the third time, are looping, in whatever order", () => {
    const most = Math.floor((limits.calls_remembered - limits.calls_without_new) / 2);
    const circle = nat(30).chain((before) =>
      integer({ min: 2, max: most }).chain((period) => {
        const round = Array.from({ length: period }, (_, at) => ended(`c${at}`, `of ${at}`, at % 2 === 1));
        const laps = array(shuffledSubarray(round, { minLength: period }), { minLength: 8, maxLength: 8 });
        return laps.map((all) => ({ before, period, all: all.flat() }));
      }),
    );
    assert(
      property(circle, ({ before, period, all }) => {
        const fresh = Array.from({ length: before }, (_, at) => ended(`before ${at}`, "said"));
        const at = (loopsAfter([...fresh, ...all]) ?? Number.POSITIVE_INFINITY) - before;
        expect(at).toBeLessThanOrEqual(Math.max(period + limits.calls_without_new, 3 * period));
      }),
      { numRuns: 30 },
    );
    // In the same order each time it is the first call of the third round.
    const five = Array.from({ length: 5 }, (_, at) => ended(`c${at}`, "said"));
    expect(loopsAfter(times(9, five))).toBe(5 + limits.calls_without_new);
    const twenty = Array.from({ length: 20 }, (_, at) => ended(`c${at}`, "said"));
    expect(loopsAfter(times(9, twenty))).toBe(41);
  });
  it("[STUCK-2] looking at everything once more is no circle, and one new call or result begins anew", () => {
    const files = Array.from({ length: 50 }, (_, at) => ended(`cat ${at}`, "text"));
    expect(loopsAfter(times(2, files))).toBeNull();
    const five = files.slice(0, 5);
    const work = times(4, [0]).flatMap((_, lap) => [...times(2, five), ended(`write ${lap}`, "")]);
    expect(loopsAfter(work)).toBeNull();
  });
  it("[STUCK-2] as long as each call, or its result, is new it is never looping, numbers being new", () => {
    const word = constantFrom("of 40 tests", "% done", "files", "out.csv", "failed | 3 passed", "x");
    const calls = array(tuple(constantFrom("ls", "npm test", "wc -l"), word, integer({ min: 0, max: 1 })), {
      maxLength: 60,
    });
    assert(
      property(calls, nat(1_000), (list, first) => {
        expect(
          loopsAfter(list.map(([command, said, bad], at) => ended(command, `${first + at} ${said}`, bad === 1))),
        ).toBeNull();
        expect(
          loopsAfter(list.map(([command, said, bad], at) => ended(`${command} ${first + at}`, said, bad === 1))),
        ).toBeNull();
      }),
    );
  });
  it("[STUCK-7] a check that fails six times and in no new way is looping, whatever is done in between, until it succeeds", () => {
    const edit = (at: number) =>
      digestOf({ tool: "file_edit", arguments: { at } }, { text: "Edited.", is_error: false });
    const check = (text: string, is_error = true) => ended("make check", text, is_error);
    const rounds = (results: readonly string[]) => results.flatMap((result, at) => [edit(at), result]);
    for (const text of ["", "FAIL", "x".repeat(20_000)])
      expect(loopsAfter(rounds(times(9, [check(text)])))).toBe(2 * limits.same_failures);
    // Many more calls in between, as many as are remembered.
    const slow = Array.from({ length: 9 }, (_, at) => [
      ...Array.from({ length: 15 }, (_edit, more) => edit(at * 15 + more)),
      check("FAIL"),
    ]).flat();
    expect(loopsAfter(slow)).toBe(6 * 16);
    expect(loopsAfter(rounds(["a", "b", "a", "b", "a", "b", "a"].map((text) => check(text))))).toBe(14);
    expect(loopsAfter(rounds([50, 40, 30, 20, 10, 5, 4, 2, 1].map((left) => check(`${left} failed`))))).toBeNull();
    const slow_ms = [900, 780, 640, 510, 420, 360, 300, 250];
    for (const said of ["p95 # ms, must be below 100 ms", "# ms", "response time: # ms", "p95: # ms\n1 failed in # s"])
      expect(loopsAfter(rounds(slow_ms.map((ms) => check(said.replaceAll("#", `${ms}`))))), said).toBeNull();
    const same = slow_ms.map((ms) => check(`p95 900 ms\n1 failed in ${ms} ms`));
    expect(loopsAfter(rounds(same))).toBe(2 * limits.same_failures);
    expect(loopsAfter(rounds(times(9, [check("FAIL"), check("ok", false)])))).toBeNull();
    // A success that says the same each time is none.
    expect(loopsAfter(rounds(times(20, [check("ok", false)])))).toBeNull();
  });
  it("[STUCK-3] ten minutes in which a call under way neither ended nor said something are stalled; while the model is asked nothing is", () => {
    const acts = { moved_at: 5, thinks: false };
    expect(judge(pace([], acts), 5 + limits.stalled_ms)).toBeNull();
    expect(judge(pace([], acts), 6 + limits.stalled_ms)).toMatchObject({ reason: "stalled" });
    expect(judge(pace([], { moved_at: 5 }), 6 + 9 * limits.stalled_ms)).toBeNull();
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
});

describe("what a result is compared by", () => {
  it("[STUCK-6] is its text without durations, time stamps, ids of processes, addresses and temporary names", () => {
    const same: readonly (readonly [string, string])[] = [
      ["ended with exit code 1, after 0.2 s.", "ended with exit code 1, after 14.9 s."],
      [
        "   Start at  10:00:05\n   Duration  1.01s (tests 5ms)",
        "   Start at  9:12:44\n   Duration  12.30s (tests 15ms)",
      ],
      ["real\t0m1.234s", "real\t1m59.001s"],
      ["# duration_ms 12.345", "# duration_ms 7"],
      ['<testcase time="0.12">', '<testcase time="1">'],
      ["[2026-11-22T15:45:26.123Z] no", "[2026-11-23 01:02:03,5+01:00] no"],
      ["(node:123) Warning", "(node:99123) Warning"],
      ["==12== lost\npid 7 died", "==345== lost\npid 31 died"],
      ["sh: line 1:    12 Segmentation fault", "sh: line 1:  4711 Segmentation fault"],
      ["<T object at 0x7f3b2c1d5e50>", "<T object at 0x7f3b2c1d0001>"],
      ["no /tmp/tmp.Ab3dEf9hIj/x", "no /tmp/tmp.Zz0yXx1wVv/x"],
      ["/tmp/pytest-of-root/pytest-4/a", "/tmp/pytest-of-root/pytest-5/a"],
      ["vite.config.ts.timestamp-1700000000000-0a1b.mjs", "vite.config.ts.timestamp-1711111111111-ffe.mjs"],
      ["1.2 MiB/s", "900 KiB/s"],
      ["5 files, in 3 minutes", "5 files, in 4 minutes"],
    ];
    for (const [one, other] of same) expect(steady(one)).toBe(steady(other));
  });
  it("[STUCK-6] of a failure only durations that a runner says of itself do not count: others may be what was measured", () => {
    const own = [
      "npm test ended with exit code 1, after # s.",
      "npm test was still running after # s and was ended.",
      "   Duration  #s (transform #ms, tests #ms)",
      "Time:        # s, estimated # s",
      "Tests run: 3, Failures: 1, Time elapsed: # s <<< FAILURE!",
      "Total Test time (real) =   # sec",
      "1/1 Test #1: a ....***Failed    # sec",
      "real\t0m#s\nuser\t0m#s\nsys\t0m#s",
      "ℹ duration_ms #",
      '<testcase name="a" time="#">',
      "=== 1 failed, 2 passed in #s ===",
      "Ran 3 tests in #s",
      "Finished in # seconds (files took # seconds to load)",
      "BUILD FAILED in #s",
      "webpack compiled with 2 errors in # ms",
      "--- FAIL: TestA (#s)\nFAIL\tpkg/a\t#s",
      "(fail) a [#ms]",
      " ✓ keeps it 3 #ms\n   × drops it # ms",
    ];
    for (const line of own) {
      const [one, other] = ["1.25", "14.9"].map((took) => steady(line.replace(/#(?!1)/g, took), true));
      expect(one, line).toBe(other);
    }
    const measured = [
      "p95 # ms, must be below 100 ms",
      "expected # ms to be below 100 ms",
      "latency: # ms",
      "# s",
      "# MB/s",
    ];
    for (const line of measured)
      expect(steady(line.replace("#", "900"), true), line).not.toBe(steady(line.replace("#", "300"), true));
    for (const line of ["response time: # ms", "answered in # ms", "user # is missing", "at time #"])
      expect(steady(line.replace("#", "900"), true), line).not.toBe(steady(line.replace("#", "300"), true));
  });
  it("[STUCK-6] where a long output was cut does not count, nor how much was left out", () => {
    const long = (left: number, cut: string) =>
      `FAIL a.test.ts\nat ${cut}\n[... ${left} bytes left out here: print less]\n${cut} of it\n1 failed`;
    expect(steady(long(20_001, "abc"))).toBe(steady(long(20_004, "abcd")));
    expect(steady(long(1, "a"))).not.toBe(steady(long(1, "a").replace("1 failed", "2 failed")));
    expect(steady("a\n[... not ours]\nb")).toBe("a\n[... not ours]\nb");
  });
  it("[STUCK-6] every other number, hash and name counts", () => {
    const others: readonly (readonly [string, string])[] = [
      ["10% done", "40% done"],
      ["50 failed | 50 passed", "40 failed | 60 passed"],
      ["a.ts:12:5: error", "a.ts:13:5: error"],
      ["[main 1a2b3c4] x", "[main 5d6e7f8] x"],
      ["12 out.csv", "13 out.csv"],
      ["2026-11-22", "2026-11-23"],
      ["0x10", "0x11"],
      ["line 1: 5 Errors", "line 1: 6 Errors"],
      ["took  step 1", "took step 2"],
      ["v1.2.3", "v1.2.4"],
      ["5 M", "6 M"],
      ["second 5", "second 6"],
    ];
    for (const [one, other] of others) expect(steady(one)).not.toBe(steady(other));
    assert(
      property(nat(), nat(), constantFrom("tests failed", "% done", "of 90", "bytes", "errors"), (a, b, word) => {
        if (a !== b) expect(steady(`Found ${a} ${word}.`)).not.toBe(steady(`Found ${b} ${word}.`));
      }),
    );
  });
  it("[STUCK-6] is found in the time of its length, whatever was printed", () => {
    // What grew with the square of its length would not be done within the time of a test.
    for (const piece of [
      "9",
      " ",
      "1 h 1 m ",
      "\t#",
      "/tmp/",
      "12:",
      "==1",
      "line 1: ",
      "0x",
      "[... 1 bytes left out\n",
      "1 ms ",
      "✓ 1 ms ",
      "Time: 1 s ",
      "FAIL \t",
      "ended ",
    ])
      for (const failed of [false, true])
        expect(steady(piece.repeat(40_000 / piece.length), failed).length, piece).toBeLessThanOrEqual(41_000);
  });
  it("[STUCK-6] what an older version kept is read, and is like nothing that came since", () => {
    const old = "00112233445566aa:00112233445566bb:00112233445566cc:00112233445566dd:elm";
    expect(judge(pace([old, old]), 0)).toBeNull();
    expect(judge(pace([old, old, old]), 0)).toMatchObject({ reason: "looping" });
    expect(judge(pace([old, "abc", "", ended("ls", "a")]), 0)).toBeNull();
  });
});
