/**
 * The planner: a plan that somebody supplied passes through it unchanged, with the commit its reference names
 * now. It holds no execution tools. [PLR-*]
 */
import { z } from "zod";
import type { planResult } from "../domain/payloads.ts";
import { parsePlan } from "../domain/plan.ts";
import { noModel } from "./proxy.ts";
import type { Outgoing, Role, RunContext, Step } from "./step.ts";
import { afterFailure } from "./workspace.ts";

const state = z.strictObject({ failures: z.number().int() });
type State = z.infer<typeof state>;

/** Payload of a `plan_request`: the repository the plan is for. */
export const planRequest = z.looseObject({ repo: z.string(), ref: z.string() });

export const planner: Role<State> = {
  open: () => ({ failures: 0 }),
  parse: (stored) => state.parse(stored),
  async step(current, context, ports) {
    const { message } = context;
    const end = (...out: Outgoing[]): Step<State> => ({ kind: "end", state: current, out });
    switch (message.message_kind) {
      case "plan_request": {
        if (message.plan_markdown === null) return end(failed(noModel));
        const plan = parsePlan(message.plan_markdown);
        if (!plan.ok)
          return end(
            failed(
              `The plan has ${plan.problems.length} problems; the first, on line ${plan.problems[0]?.line}: ${plan.problems[0]?.message}`,
            ),
          );
        const { repo, ref } = planRequest.parse(message.payload);
        try {
          const { commit } = await ports.sandboxes.resolve(repo, ref);
          return end(result(context, commit, plan.plan.title));
        } catch (error) {
          const after = afterFailure(error, current.failures);
          if (after.again) return { kind: "wait", wait_ms: after.wait_ms, state: { failures: current.failures + 1 } };
          return end(failed(`The repository could not be read: ${after.failure.message}`));
        }
      }
      case "consult_planner":
        return end({
          message_kind: "planner_guidance",
          recipient: "runtime_queue",
          content: noModel,
          error_code: "tool_failure",
          retryable: false,
        });
      case "replan_request":
        return end(failed(noModel));
      default:
        return end();
    }
  },
};

function result({ message }: RunContext, base_commit: string, title: string): Outgoing {
  const payload: z.infer<typeof planResult> = { base_commit };
  return {
    message_kind: "plan_result",
    recipient: "proxy",
    content: title,
    plan_markdown: message.plan_markdown,
    payload: { ...payload },
    urgency: "needs_attention",
  };
}
function failed(detail: string): Outgoing {
  return {
    message_kind: "plan_result",
    recipient: "proxy",
    content: detail,
    error_code: "tool_failure",
    retryable: false,
  };
}
