/** Messages to a planner, and the turns of a conversation that a test writes down. */
import type { ModelAnswer, ModelRequest, Turn } from "../../src/agents/models.ts";
import { planner } from "../../src/agents/planner.ts";
import type { Message, MessageInput } from "../../src/domain/message.ts";
import { testMessage } from "./messages.ts";
import { type Sample, source } from "./orders.ts";
import { type Driving, drive, runContext } from "./world.ts";

export const goodPlan = `---
title: Show the last page
goal: Every row is listed
items:
  - id: fix
    title: Fix it
    runner: steps
    allow: { tools: [shell_execute], paths: ["src/**"] }
    verify: none
---
## fix

\`\`\`sh
true
\`\`\`
`;

export function planMessage(fields: Partial<MessageInput> = {}): Message {
  return testMessage(1, {
    message_kind: "plan_request",
    sender: "proxy",
    recipient: "planner",
    task_id: "task-1",
    content: "Show the last page.",
    payload: { repo: source, ref: "HEAD" },
    ...fields,
  });
}
export function consultMessage(fields: Partial<MessageInput> = {}): Message {
  return testMessage(2, {
    message_kind: "consult_planner",
    sender: "runtime",
    recipient: "planner",
    task_id: "task-1",
    payload: {
      ...{
        consult_id: "consult-1",
        work_item_id: "p1.fix",
        title: "Fix it",
        goal: "Every row",
        section: "Fix the pager.",
      },
      ...{ failures: ["npm test: 2 failed"], budget_remaining_tokens: 1000, answer_by: "2026-01-01T00:01:30.000Z" },
    },
    ...fields,
  });
}
export function replanMessage(plan_markdown: string, base_commit: string, fields: Partial<MessageInput> = {}): Message {
  return testMessage(3, {
    message_kind: "replan_request",
    sender: "runtime",
    recipient: "planner",
    task_id: "task-1",
    plan_markdown,
    payload: {
      ...{ replan_id: "replan-1", repo: source, ref: "HEAD", base_commit, goal: "Every row is listed" },
      ...{ done: ["read: Read it"], failures: ["npm test: 2 failed"], depth: 1, mode: "other_approach" },
      work_item_id: "p1.fix",
    },
    ...fields,
  });
}

type Called = readonly [tool: string, value: unknown];
/** One answer of a model that calls these tools. */
export function calling(...calls: readonly Called[]): ModelAnswer {
  return {
    model: "test/tame",
    text: "",
    calls: calls.map(([tool, value], index) => ({ call_id: `c${index}`, tool, arguments: JSON.stringify(value) })),
    finish: "calls",
    usage: { input_tokens: 10, output_tokens: 5, cached_tokens: 0, estimated: false },
    usd: 0.001,
  };
}

/** The model's answers, in order: how many it gave is seen in the conversation, so that a repeated step is answered the same. */
export function script(
  w: Sample,
  ...answers: readonly (ModelAnswer | ((request: ModelRequest) => ModelAnswer))[]
): void {
  w.models.script = (request) => {
    const answer = answers[request.turns.filter(({ kind }) => kind === "said").length];
    if (answer === undefined) throw new Error("the test wrote no more answers");
    return typeof answer === "function" ? answer(request) : answer;
  };
}
export const runPlanner = (w: Sample, message: Message, driving: Driving = {}) =>
  drive(planner, runContext(message, { agent: "planner", lease: null, opened_at_ms: w.clock.at }), w.ports, driving);
export const texts = (turns: readonly Turn[]) => turns.flatMap((turn) => ("text" in turn ? [turn.text] : []));
export const lastRequest = (w: Sample) => {
  const request = w.models.requests.at(-1);
  if (request === undefined) throw new Error("no model was asked");
  return request;
};
