/** A conversation that grows over its limit, or over the model's. */
import { describe, expect, it } from "vitest";
import { ModelFailure } from "../../src/agents/models.ts";
import { limits } from "../../src/limits.ts";
import { ends, loopWorld, says } from "../fakes/loops.ts";

const tooMuch = new ModelFailure("too_long", "the test's too_long", { model: "test/tame" });

describe("a long conversation", () => {
  it("[LOOP-10] results over the limit are left out, oldest first, until there is room; the latest stay", async () => {
    const long = (at: number) => `${"abcdefghijklmnop".charAt(at)} ${"word ".repeat(7_000)}`;
    const w = loopWorld({
      script: (_, at) => (at < 14 ? says([["file_read", { path: `f${at}` }]]) : ends),
      run: ({ call_id }) => ({ kind: "result", text: long(Number(call_id.split("-")[0])), is_error: false }),
    });
    await w.toTheEnd();
    const cuts = w.row.turns.flatMap((one) => (one.kind === "cut" ? [one] : []));
    expect(cuts.length).toBeGreaterThan(0);
    expect(cuts[0]?.why).toContain(`${limits.loop_context_tokens}`);
    const kept = w.row.turns.slice(cuts[0]?.before).filter(({ kind }) => kind === "result").length;
    expect(kept).toBeGreaterThanOrEqual(limits.loop_results_kept);
    for (const { reserve_tokens } of w.minds.asked)
      expect(reserve_tokens).toBeLessThan(limits.loop_context_tokens + 1_000);
    // The cut is not one of the recoveries, and is told to the model in the very call it was made for.
    expect(w.row.state.recovered).toEqual([]);
    expect(w.models.requests.some(({ turns }) => turns.at(-1)?.kind === "cut")).toBe(true);
  });
  it("[LOOP-10] a model that takes less is asked again with half, at once; with nothing to leave out it is the end", async () => {
    let tooLong = 0;
    const w = loopWorld({
      script: (request, at) => {
        if (at < 4) return says([["file_read", { path: `f${at}` }]]);
        if (!request.turns.some(({ kind }) => kind === "cut")) return tooLong++ > 5 ? ends : tooMuch;
        return ends;
      },
      run: ({ call_id }) => ({
        kind: "result",
        text: `${"abcdefgh".charAt(Number(call_id[0]))} word `.repeat(500),
        is_error: false,
      }),
    });
    expect(await w.toTheEnd()).toMatchObject({ kind: "answered" });
    expect(tooLong).toBe(1);
    expect(w.models.requests.at(-1)?.attempt).toBe(0);
    const hopeless = loopWorld({ script: () => tooMuch });
    expect(await hopeless.toTheEnd()).toMatchObject({
      kind: "failed",
      retryable: false,
      detail: expect.stringContaining("longer context"),
    });
    expect(hopeless.models.requests).toHaveLength(1);
  });
});
