/** A task that thought and got stuck, its model calls, a card for more budget, and what a scope remembers. */
import type { ApprovalView } from "../../src/domain/approval-view.ts";
import type { MemoryView } from "../../src/domain/memory.ts";
import type { TaskView, ThoughtView } from "../../src/domain/view.ts";
import { cardOf, doneTask, plan, toolCard } from "./examples.ts";
import { sealed } from "./fake-api.ts";

type Rung = NonNullable<TaskView["rungs"]>[number];
const at = "2026-01-02T03:04:05.000Z";

export function thinkingTask(id: string, change: Partial<TaskView> = {}): TaskView {
  const done = doneTask(id);
  const rung: Pick<Rung, "work_item_id" | "from" | "skipped" | "at" | "detail"> = {
    ...{ work_item_id: "plan-1.fix", from: "attempt", skipped: [], at, detail: null },
  };
  return {
    ...done,
    attempts: done.attempts.map((attempt, index) =>
      index > 0
        ? attempt
        : {
            ...attempt,
            recoveries: [
              { reason: "looping", action: "reduce_context", detail: "the same call 3 times in a row" },
              { reason: "stalled", action: "simplify_prompt", detail: "nothing was said\u202e for 10 minutes" },
            ],
          },
    ),
    spent: {
      ...{ calls: 3, input_tokens: 41_200, output_tokens: 1_930, usd: null, unknown_price: true, estimated: true },
      ...{ remaining_tokens: 156_870, remaining_usd: null },
    },
    research: { open: 1, answered: 2, timed_out: 1, cancelled: 0 },
    rungs: [
      {
        ...rung,
        ...{ attempt_number: 1, to: "consult", why: "verification failed: npm test", state: "answered" },
        detail: "Round up\u200b instead.",
      },
      {
        ...rung,
        ...{ attempt_number: 2, to: "escalate", why: "every way is used up", state: "taken" },
        skipped: ["replan"],
      },
    ],
    ...change,
  };
}

export function thoughtsOf(): ThoughtView[] {
  const one: ThoughtView = {
    ...{ id: "t1", role: "planner", agent: "planner", attempt_id: null, why: "plan", prompt: "planner/plan@1" },
    ...{ model: "anthropic/claude-haiku-4-5", state: "charged", input_tokens: 20_400, output_tokens: 900 },
    ...{ cached_tokens: 18_000, estimated: false, usd: 0.0123, failure: null, at, ended_at: at },
  };
  return [
    one,
    {
      ...one,
      ...{ id: "t2", role: "executor", agent: "crew-1", attempt_id: "attempt-1", why: "attempt" },
      ...{ prompt: "executor/work@1", model: "compatible/qwen\u202e", state: "estimated", estimated: true },
      ...{ input_tokens: 20_800, output_tokens: 1_030, cached_tokens: 0, usd: null },
      failure: "the stream <b>died</b> after 12 words",
    },
    {
      ...one,
      ...{ id: "t3", model: null, state: "open", input_tokens: null, output_tokens: null, cached_tokens: null },
      ...{ usd: null, ended_at: null },
    },
  ];
}

export function budgetCard(id: string): ApprovalView {
  const base = cardOf(id, plan, {
    kind: "budget",
    title: "More budget for Correct the page count",
    why: 'The budget of "Correct the page count" is used up.',
    ...{ items: [], environment: null, publishes: null, plan_hash: null },
    budget: { tokens: 50_000, usd: 2, minutes: null },
    facts: [
      "Spent: 48100 tokens in and 1930 out of 50000; calls of a model: 14",
      "In dollars: $0.0411 of $2; more in truth, for the price of a model is unknown",
      "Left: 0 tokens, and the next call of a model may take more",
    ],
  });
  return sealed({ ...base, kind: "budget", rule: "the budget is used up" });
}
/** A call that a loop asked for, with what it said before. */
export function loopsCard(id: string): ApprovalView {
  const base = toolCard(id);
  const facts = ['Before the call the agent wrote (its words, not checked): "The <b>owner</b>\u202e said yes."'];
  return sealed({ ...base, card: { ...base.card, facts } });
}

export function memoriesOf(): MemoryView[] {
  const one = { task_id: "task-1", at, forgotten: false } as const;
  return [
    {
      ...one,
      ...{ id: "m1", kind: "gotcha", taint: "web", title: "The pager rounds down" },
      text: "Math.floor drops the last page.\nSo round up\u202e.",
      excerpt: "Math.floor drops the last page.",
    },
    {
      ...one,
      ...{
        id: "m2",
        kind: "plan",
        taint: "owner",
        title: "Show the last page",
        text: "Two items",
        excerpt: "Two items",
      },
    },
    { ...one, ...{ id: "m3", kind: "decision", taint: "member", title: "", text: "", excerpt: "" }, forgotten: true },
  ];
}
