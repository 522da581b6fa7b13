/** What an attempt's result says of calls that failed, and who reads it. */
import { describe, expect, it } from "vitest";
import { wordsOf } from "../../src/domain/gate-card.ts";
import { limits } from "../../src/limits.ts";
import { attemptResult } from "../fakes/orders.ts";
import { finishes, runs, says, think, thinker } from "../fakes/thinking.ts";

describe("calls that failed", () => {
  it("[MIND-25] its result names the calls that failed, whether it got over them or not, the latest and bounded", async () => {
    const missing = says("", ["file_read", { path: "no/such/file.txt" }]);
    const over = attemptResult((await think(thinker(missing, says("", runs("edit")), says("", finishes())))).out);
    expect(over.result.success).toBe(true);
    const [error, ...more] = over.result.tool_errors;
    expect(more).toEqual([]);
    expect(error?.tool_name).toBe("file_read");
    expect(error?.error_message).not.toMatch(/^<data-|^$/);
    expect(error?.raw).toContain(error?.error_message);
    const many = Array.from({ length: limits.tool_errors_told + 3 }, (_, at) =>
      says("", ["file_read", { path: `${at}-${"x".repeat(900)}` }], runs("more")),
    );
    const gave = attemptResult((await think(thinker(...many, says("", ["give_up", { reason: "No." }])))).out);
    const told = gave.result.tool_errors;
    expect(told.map(({ tool_name }) => tool_name)).toEqual([
      ...Array(limits.tool_errors_told).fill("file_read"),
      "loop",
    ]);
    expect(told.at(-2)?.raw).toContain(`${many.length - 1}-xxx`);
    for (const { error_message, raw } of told.slice(0, -1)) {
      expect(error_message.length).toBeLessThanOrEqual(limits.tool_error_chars + 4);
      expect(raw.length).toBeLessThanOrEqual(limits.tool_error_raw_chars + 4);
    }
  });
  it("[MIND-26] a gate on what agents say reads them too, and each text once", async () => {
    const missing = says("", ["file_read", { path: "no/such/file.txt" }]);
    const { message, result } = attemptResult((await think(thinker(missing, says("", finishes())))).out);
    const { raw = "none" } = result.tool_errors[0] ?? {};
    expect(wordsOf(message)).toContain(raw);
    const said = (tool_errors: typeof result.tool_errors) =>
      wordsOf({ ...message, content: "ended", payload: { ...result, output: "one\ntwo", tool_errors } });
    const error = (error_message: string, raw: string) => ({ tool_name: "loop", error_message, raw });
    expect(said([error("ended", "two"), error("three", "three: four")])).toBe("ended\n\none\ntwo\n\nthree: four");
  });
});
