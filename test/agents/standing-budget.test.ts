/** A task that is planned again and again under a standing approval, in the scope's runtime: its money is the whole task's. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { mayThink, thought } from "../../durable-objects/runtime/charges.ts";
import { recall, remember } from "../../durable-objects/runtime/memory.ts";
import type { Message } from "../../src/domain/message.ts";
import { replanning } from "../../src/domain/payloads.ts";
import { type Held, missing, must } from "../fakes/held-scope.ts";
import { alice, bob, plan, StandingScope } from "../fakes/standing-scope.ts";

let s: StandingScope;
beforeEach(() => {
  s = new StandingScope(() => true);
});
afterEach(() => s.close());

const asked = { tokens: 100_000, usd: 1 };
function thinkingPlan(tokens: number, usd: number, title = "A chore"): string {
  return plan
    .replace("A chore", title)
    .replace("goal:", `budget: { tokens: ${tokens}, usd: ${usd} }\ngoal:`)
    .replace("runner: steps, max_attempts: 2", "runner: loop, max_attempts: 1, on_stuck: replan")
    .replace(/```sh[\s\S]*```/, "Write it.");
}
/** What its agent's model has cost when the attempt fails and the planner is asked again. */
async function fails(held: Held, tokens: number, usd: number): Promise<void> {
  const { attempt_id, entry, agent } = held.ref;
  const task_id = held.message.task_id ?? "";
  const thought_id = `${attempt_id}.${entry}.1`;
  const payer = { kind: "attempt", task_id, attempt_id, entry } as const;
  const call = { thought_id, run_id: `${attempt_id}.${entry}`, agent, role: "executor", payer } as const;
  s.scope.commit((tx) => mayThink(tx, { ...call, reserve_tokens: 10, prompt: "executor/work@2" }));
  const usage = { input_tokens: tokens, output_tokens: 0, cached_tokens: 0, estimated: false };
  s.scope.commit((tx) => thought(tx, task_id, { thought_id, model: "m", usage, usd, failure: null }));
  await s.fail(held, true);
}

describe("a task that is planned anew under a standing approval", () => {
  it("[STA-45] [STA-47] goes on while all of its plans fit into what was asked with; then a person is shown what is gone", async () => {
    const { id } = await s.made({ uses: 10 }, { runners: ["loop"] });
    const task = await s.chore(thinkingPlan(50_000, 0.5), alice, ["chore"], asked);
    await s.flush();
    expect(s.status(task)).toBe("active");
    await fails(await s.begun(), 40_000, 0.4);
    expect(s.rows.accounts.ofTask(task)).toMatchObject([{ spent: { input_tokens: 40_000, usd: 0.4 } }]);
    await s.replan(task, thinkingPlan(60_000, 0.6, "Another way"));
    const [fact] = s.approval(task).card.facts.filter((line) => line.startsWith("Spent"));
    expect(fact).toContain("40,000 of 100,000 tokens and $0.4 of $1; left: 60,000 tokens and $0.6.");
    await s.flush();
    expect(s.status(task)).toBe("active");
    await fails(await s.begun(), 45_000, 0.1);
    const whole = s.rows.accounts.ofTask(task).reduce((sum, { spent }) => sum + spent.input_tokens, 0);
    expect(whole).toBe(85_000);
    // Each plan alone would fit, and 15,000 are left.
    await s.replan(task, thinkingPlan(15_001, 0.1, "A third way"));
    await s.flush();
    expect(s.status(task)).toBe("waiting on plan");
    const card = s.approval(task);
    expect(card.standing_notes).toEqual([
      {
        ...{ id, name: "chores" },
        why: "85,000 tokens are spent on this task already; with them, the 15,001 tokens of this plan are more than the 100,000 tokens that alice#abc123 gave this task",
      },
    ]);
    expect(card.card.facts.join("\n")).toContain("85,000 of 100,000 tokens and $0.5 of $1; left: 15,000 tokens");
    must(await s.approve(bob, card));
    expect(s.status(task)).toBe("active");
  });
  it("[STA-45] what a call under way may cost is spent, and is kept back from a plan without tokens once", async () => {
    await s.made({ uses: 10 }, { runners: ["steps", "loop"] });
    for (const [markdown, reserve_tokens, is] of [
      [thinkingPlan(50_000, 0.5), 50_001, "waiting on plan"],
      [thinkingPlan(50_000, 0.5), 50_000, "active"],
      [plan, 50_000, "active"],
    ] as const) {
      const task_id = await s.chore(markdown, alice, ["chore"], asked);
      const payer = { kind: "task", task_id, why: "proxy" } as const;
      const call = { thought_id: `say.${task_id}`, run_id: `say.${task_id}`, agent: "proxy", role: "proxy" } as const;
      const may = s.scope.commit((tx) => mayThink(tx, { ...call, payer, reserve_tokens, prompt: "proxy/status@1" }));
      expect(may.answer).toBe("go");
      await s.flush();
      expect([reserve_tokens, s.status(task_id)]).toEqual([reserve_tokens, is]);
    }
  });
  it("[PLR-19] the planner is told what is spent when it is asked for another way", async () => {
    await s.made({}, { runners: ["loop"] });
    const task = await s.chore(thinkingPlan(50_000, 0.5), alice, ["chore"], asked);
    await s.flush();
    const held = await s.begun();
    await fails(held, 40_000, 0.4);
    expect(s.rows.rungs.ofTask(task)).toMatchObject([{ to: "replan", state: "open" }]);
    const [request] = s.sql
      .all<{ body: string }>("SELECT body FROM outbox ORDER BY seq")
      .map(({ body }) => JSON.parse(body) as Message) // What `outbox.put` wrote.
      .filter(({ message_kind }) => message_kind === "replan_request");
    expect(replanning.parse(request?.payload).spent).toEqual({ tokens: 40_000, usd: 0.4 });
  });
  it("[STA-46] asked with nothing, a plan over what a task has by default waits", async () => {
    await s.made({ uses: 10 }, { runners: ["loop"] });
    for (const [tokens, usd, is] of [
      [500_000, 5, "active"],
      [500_001, 5, "waiting on plan"],
      [1_000_000_000, 0, "waiting on plan"],
      [1_000, 0, "waiting on plan"],
    ] as const) {
      const task = await s.chore(thinkingPlan(tokens, usd));
      await s.flush();
      expect([tokens, usd, s.status(task)]).toEqual([tokens, usd, is]);
    }
  });
  it("[MEM-26] what a stranger's wish left in memory does not stop it from speaking for a member's", async () => {
    await s.made();
    const hooked = await s.planned();
    const row = s.rows.tasks.get(hooked) ?? missing("task");
    s.rows.tasks.put({ ...row, taint: "outsider" });
    for (let at = 0; at < 30; at++)
      s.scope.commit((tx) => {
        const text = `Write docs for the pager ${at}`;
        remember(tx, { cause: `c${at}`, kind: "plan", title: text, text, task: { ...row, taint: "outsider" } });
      });
    const task = await s.chore();
    const asker = { task_id: task, unasked: true } as const;
    expect(s.scope.commit((tx) => recall(tx, asker, "Write docs for the pager", 8))).toEqual([]);
    expect(s.rows.tasks.get(task)?.taint).toBe("owner");
    await s.flush();
    expect(s.status(task)).toBe("active");
  });
});
