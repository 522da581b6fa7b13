/** What `task show` says of a task's spending and of its ladder. */
import { expect, it } from "vitest";
import { taskText } from "../../src/cli/show.ts";
import { type TaskView, taskView } from "../../src/domain/view.ts";
import { attemptOf, taskOf } from "../fakes/views.ts";

const input = { title: "t", description: "", repo: { url: "file:///r", ref: "HEAD" }, labels: [] };
const spent = {
  ...{ calls: 3, input_tokens: 1_200, output_tokens: 34, usd: 0.25, unknown_price: false, estimated: false },
  ...{ remaining_tokens: 8_766, remaining_usd: 4.75 },
};
const shown = (more: Partial<TaskView>) =>
  taskText(taskView.parse({ ...taskOf("t1", input, "ada"), ...more })).split("\n");
const line = (name: string, more: Partial<TaskView>) => shown(more).find((text) => text.startsWith(name)) ?? null;

it("[CHG-18] task show says what was spent and is left; a price nobody knows is said, never zero; and each rung taken", () => {
  expect(line("spent", {})).toBeNull();
  expect(line("spent", { spent })).toContain("1200 tokens in, 34 out, $0.2500; 8766 tokens left");
  const unknown = { ...spent, usd: null, unknown_price: true, estimated: true };
  expect(line("spent", { spent: unknown })).toContain("price unknown, partly estimated; 8766 tokens left");
  const rung: NonNullable<TaskView["rungs"]>[number] = {
    ...{ work_item_id: "p1.a", attempt_number: 3, why: "it broke", skipped: [], detail: null },
    from: "attempt",
    to: "consult",
    state: "timeout",
    at: "2026-01-01T00:00:00.000Z",
  };
  expect(line("rung", { rungs: [rung] })).toContain("p1.a after attempt 3: consult (timeout), it broke");
});

it("[CLI-89] task show says what became of the planner's questions, and what an attempt's loop did about being stuck", () => {
  expect(line("research", {})).toBeNull();
  const research = { open: 1, answered: 2, timed_out: 1, cancelled: 0 };
  expect(line("research", { research })).toMatch(/research\s+2 answered, 1 open, 1 too late$/);
  const detail = "the same call\u202e 3 times";
  const attempt = attemptOf("a1", "p1.a", 1);
  expect(shown({ attempts: [attempt] }).join("\n")).not.toContain("stuck");
  const stuck = { ...attempt, recoveries: [{ reason: "looping", action: "reduce_context", detail } as const] };
  const text = shown({ attempts: [stuck] }).join("\n");
  expect(text).toContain("    stuck: looping, reduce context: the same call");
  expect(text).not.toContain("\u202e");
});
