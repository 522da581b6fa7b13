/** What an item's preset does on its way: on the card, in the order, at each call, and not at all to plans without one. */
import { describe, expect, it } from "vitest";
import { canonicalJson, sha256Hex } from "../../src/domain/canonical.ts";
import { parsePlan } from "../../src/domain/plan.ts";
import { planItem } from "../../src/domain/plan-shape.ts";
import { gate } from "../../src/domain/policy-gates.ts";
import type { Preset } from "../../src/domain/presets.ts";
import { executionOrder } from "../../src/domain/result.ts";
import { missing, must } from "../fakes/held-scope.ts";
import { nodeSql } from "../fakes/node-sql.ts";
import { openRuntime, planOf } from "../fakes/scope-runtime.ts";

const under = (plan: string, preset: Preset | null) =>
  preset === null ? plan : plan.replace("max_attempts: 2", `max_attempts: 2, preset: ${preset}`);
const granted = planOf(["echo one > src/a.txt", "echo two > src/b.txt"]);
/** Nothing is granted: the policy asks about shell_execute for its name alone. */
const bare = planOf(["echo one"], "paths: ['src/**']");
const loop = granted
  .replace("runner: steps", "runner: loop, budget: { tokens: 1000 }")
  .replace("goal: A goal", "goal: A goal\nbudget: { tokens: 100000 }")
  .replace(/```sh\n|```\n/g, "");

const opened = (permissive = false) => openRuntime(nodeSql(), (role) => role === "executor", permissive);
type Run = ReturnType<typeof opened>;

async function cardOf(run: Run, plan: string) {
  const id = must(await run.ask(run.ada, { plan }));
  await run.observe(run.planResult(id, plan));
  return { id, card: await run.onlyCard(id) };
}
const refusedBy = (rule: string) => ({
  ...{ answer: "refused", scope: "call", error_code: "gate_blocked" },
  reason: expect.stringContaining(rule),
});

describe("the preset of an item", () => {
  it("[PRE-7] is one of four names; an item without one is stored, hashed and shown as before there were any", async () => {
    expect(parsePlan(under(granted, "STRICT")).ok).toBe(true);
    for (const wrong of ["strict", "YOLO", "null", "''"]) {
      const read = parsePlan(granted.replace("max_attempts: 2", `max_attempts: 2, preset: ${wrong}`));
      expect(read.ok ? "read" : read.problems.map(({ message }) => message).join()).toContain("preset");
    }
    const read = parsePlan(granted);
    // What protects by itself may grow; everything else is the bytes that this item had before the key was there.
    const item = { ...(read.ok ? read.plan.items[0] : missing("plan")), protect: [] };
    expect(sha256Hex(canonicalJson(item))).toBe("8489deabb328c9d79b296229147492d8afb7b0dcf1fb9402f5aadb268c279f36");
    expect(canonicalJson(planItem.parse(JSON.parse(canonicalJson(item))))).toBe(canonicalJson(item));
    const { card } = await cardOf(opened(), granted);
    expect(card.card.items.map((one) => "preset" in one)).toEqual([false]);
  });
  it("[PRE-8] is shown on the card, and is part of what is signed", async () => {
    const run = opened();
    const [plain, strict] = [await cardOf(run, granted), await cardOf(run, under(granted, "STRICT"))];
    expect(strict.card.card.items[0]?.preset).toBe("STRICT");
    expect(strict.card.card.items[0]?.item_hash).not.toBe(plain.card.card.items[0]?.item_hash);
  });
  it("[PRE-9] goes with the order of a loop; without one it is DEFAULT", async () => {
    for (const preset of [null, "READONLY", "STRICT", "PERMISSIVE"] as const) {
      const run = opened();
      await run.going(under(loop, preset));
      const { lease } = await run.begun();
      expect(executionOrder.parse(lease.message.payload).mind?.preset).toBe(preset ?? "DEFAULT");
    }
  });
  it("[PRE-10] is applied by the runtime to every call, of steps too: READONLY refuses, STRICT asks what was granted", async () => {
    for (const [preset, answer] of [
      [null, { answer: "run" }],
      ["DEFAULT", { answer: "run" }],
      ["READONLY", refusedBy("preset:READONLY")],
      ["STRICT", { answer: "wait" }],
      ["PERMISSIVE", { answer: "run" }],
    ] as const) {
      const run = opened(true);
      await run.going(under(granted, preset));
      expect([preset, await (await run.begun()).authorize(1)]).toEqual([preset, answer]);
    }
  });
  it("[PRE-10] under STRICT a call that a person allowed runs once, and the next one asks again", async () => {
    const run = opened();
    const id = await run.going(under(granted, "STRICT"));
    const first = await run.begun();
    expect(await first.authorize(1)).toEqual({ answer: "wait" });
    const suspension = first.suspension(1);
    await run.deliver(run.result(id, first, { end: "suspended", success: false, patch: null, suspension }));
    const card = await run.onlyCard(id);
    expect(card).toMatchObject({ kind: "tool_call", rule: "preset:STRICT" });
    must(await run.approve(card));
    const held = await run.begun("crew-2");
    for (const _ of [1, 2]) expect(await held.authorize(1, "7".repeat(40))).toEqual({ answer: "run" });
    await held.settle(1);
    expect(await held.authorize(2)).toEqual({ answer: "wait" });
  });
  it("[PRE-11] PERMISSIVE counts only with the deployment's switch; a card that names it says which it is", async () => {
    for (const [permissive, answer, says] of [
      [false, "wait", "not allowed in this deployment, so it counts as DEFAULT"],
      [true, "run", "nobody is asked about a tool that it was not granted"],
    ] as const) {
      const run = opened(permissive);
      const { card } = await cardOf(run, under(bare, "PERMISSIVE"));
      expect(card.card.facts[0]).toContain(says);
      must(await run.approve(card));
      expect(await (await run.begun()).authorize(1)).toEqual({ answer });
    }
  });
  it("[PRE-12] what a gate said after a step asks under PERMISSIVE as under any other", async () => {
    const run = opened(true);
    run.gates(
      gate.parse({
        ...{ id: "looks", trigger: "after_step", action: "ask", lane: "policy" },
        ...{ check: "text_contains", params: { any: ["echo one"] } },
      }),
    );
    await run.going(under(granted, "PERMISSIVE"));
    const held = await run.begun();
    expect(await held.authorize(1)).toEqual({ answer: "run" });
    await held.settle(1);
    expect(await held.authorize(2)).toEqual({ answer: "wait" });
  });
});
