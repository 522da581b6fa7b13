/**
 * The proxy: takes a person's words, routes them, and turns what happens into words for the Stream.
 * Without a model it routes what carries a plan, and says what to configure for what does not. It never dispatches. [PRX-*]
 */
import { z } from "zod";
import { statusPayload } from "../domain/message.ts";
import type { words } from "../domain/payloads.ts";
import type { Outgoing, Role, RunContext } from "./step.ts";

const state = z.strictObject({});
type State = z.infer<typeof state>;

export const noModel =
  "No model is configured, so only tasks that bring a plan can run. Give the task a plan, or configure MODEL_PROXY and MODEL_PLANNER.";

export const proxy: Role<State> = {
  open: () => ({}),
  parse: (stored) => state.parse(stored),
  async step(current, context) {
    return { kind: "end", state: current, out: route(context) };
  },
};

function route({ message }: RunContext): Outgoing[] {
  switch (message.message_kind) {
    case "user_message":
      if (message.plan_markdown !== null)
        return [
          {
            message_kind: "plan_request",
            recipient: "planner",
            content: message.content,
            plan_markdown: message.plan_markdown,
            payload: message.payload,
          },
        ];
      return message.payload.revise === true
        ? [{ message_kind: "plan_request", recipient: "planner", content: message.content, payload: message.payload }]
        : [say(noModel, message.payload.follow_up !== true, null)];
    case "plan_result":
      return [
        say(
          message.error_code === null ? "The plan is written and waits for your countersignature." : message.content,
          false,
          null,
        ),
      ];
    case "execution_status": {
      const status = statusPayload.parse(message.payload);
      return status.status === "running" ? [] : [say(inWords(status), false, status.version)];
    }
    default:
      return [];
  }
}

function inWords(status: z.infer<typeof statusPayload>): string {
  const detail = status.detail ?? "";
  switch (status.status) {
    case "running":
      return detail;
    case "done":
      return `Done. ${detail}`;
    case "failed":
      return `It failed: ${detail}`;
    case "stuck":
      return `It is stuck and needs you: ${detail}`;
    case "blocked":
      return `It is blocked: ${detail}`;
    case "verification_failed":
      return `The result did not pass its checks: ${detail}`;
  }
}

function say(text: string, ends_task: boolean, version: number | null): Outgoing {
  const payload: z.infer<typeof words> = { route: "direct", ends_task, version };
  return { message_kind: "agent_message", recipient: "runtime_queue", content: text, payload: { ...payload } };
}
