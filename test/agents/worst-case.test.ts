/** Calls that have no form to be judged in, and attempts that stop for a call that does not wait. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ToolCall } from "../../src/agents/bus.ts";
import { limits } from "../../src/limits.ts";
import { callerOf, grantedPlan, HeldScope, must, planOf, shell } from "../fakes/held-scope.ts";

const ada = callerOf("ada");
const tree = "6".repeat(40);
let held: HeldScope;
beforeEach(() => {
  held = new HeldScope();
});
afterEach(() => held.close());

async function going(plan?: string) {
  const task_id = await held.planned(plan);
  must(await held.approve(ada, held.card(task_id)));
  return { task_id, run: await held.begun() };
}
const call = (given: string, more: Partial<ToolCall> = {}): ToolCall => ({
  ...shell("", "odd"),
  arguments: given,
  ...more,
});
const long = "a".repeat(limits.call_name_chars + 1);

describe("a call without a form", () => {
  it.each([
    ["no arguments", call("")],
    ["no JSON", call("{command: 'ls'}")],
    ["two values", call('{"command":"ls"}{}')],
    ["a key twice", call('{"command":"rm -rf .","command":"echo a"}')],
    ["keys out of order", call('{"cwd":".","command":"echo a"}')],
    ["a blank too many", call('{"command": "echo a"}')],
    ["a number as 1.0", call('{"command":"echo a","timeout_ms":1.0}')],
    ["half a pair", call('{"command":"echo \\ud800"}')],
    ["nested without end", call(`${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`)],
    ["too large", call(`{"command":"echo ${"a".repeat(limits.call_arguments_bytes)}"}`)],
    ["a tool's name without end", call('{"command":"echo a"}', { tool: long })],
    ["an id without end", call('{"command":"echo a"}', { call_id: long })],
  ])("[WORST-4] %s: it is refused and audited under any grant, and nothing else is kept", async (_what, odd) => {
    const { task_id, run } = await going(grantedPlan);
    expect(await held.authorize(run, odd)).toMatchObject({
      ...{ answer: "refused", error_code: "gate_blocked", reason: expect.stringMatching(/^arguments: /) },
    });
    expect(held.rows.calls.ofTask(task_id)).toEqual([]);
    const blocks = held.scope.stores.audit.after(0, 1_000).filter(({ event_type }) => event_type === "gate_block");
    expect(blocks).toMatchObject([{ decision: "deny", details: { rule: "arguments" } }]);
    expect(JSON.stringify(blocks).length).toBeLessThan(2_000);
    expect(await held.authorize(run, shell("echo a"))).toEqual({ answer: "run" });
  });
});

describe("an attempt that stops for a call", () => {
  const stops: readonly (readonly [string, ToolCall, ToolCall | null])[] = [
    ["that it never asked", shell("echo a", "step-7"), null],
    ["with other arguments than it asked", shell("echo b"), shell("echo a")],
    ["by another tool than it asked", { ...shell("echo a"), tool: "file_write" }, shell("echo a")],
    ["that is denied", shell("rm -rf src"), shell("rm -rf src")],
  ];
  it.each(stops)("[WORST-5] %s ends as crashed, and nobody is asked", async (_what, shown, asked) => {
    const { task_id, run } = await going();
    if (asked !== null) await held.authorize(run, asked);
    await held.suspend(run, shown, tree);
    expect(held.cards(task_id)).toEqual([]);
    expect(held.rows.attempts.get(run.ref.attempt_id)).toMatchObject({ state: "crashed" });
  });
  it("[WORST-5] that has run under a yes is not asked about again: it ran once", async () => {
    const { task_id, run } = await going(
      planOf(["id: a, runner: steps, verify: none, max_attempts: 2, allow: { paths: ['src/**'] }"]),
    );
    await held.authorize(run, shell("echo a"));
    await held.suspend(run, shell("echo a"), tree);
    must(await held.approve(ada, held.card(task_id)));
    const again = await held.begun();
    const same = shell("echo a", "step-1", tree);
    expect(await held.authorize(again, same)).toEqual({ answer: "run" });
    held.settle(again, "step-1");
    await held.suspend(again, same, tree);
    expect(held.cards(task_id)).toEqual([]);
    expect(held.rows.calls.get(`${run.ref.attempt_id}/step-1`)).toMatchObject({ state: "settled" });
  });
});
