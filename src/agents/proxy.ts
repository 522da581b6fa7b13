/**
 * The proxy: takes a person's words, routes them, and turns what happens into words for the Stream. What carries a plan
 * it routes without a model, and without one it says what to configure for what does not. It never dispatches. [PRX-*]
 */
import { z } from "zod";
import { partyOf, statusPayload } from "../domain/message.ts";
import { words } from "../domain/payloads.ts";
import { limits } from "../limits.ts";
import { beginProxy, type ProxyMind, type ProxyOrder, proxyMind, stepProxy } from "./proxy-mind.ts";
import type { Outgoing, Ports, Role, RunContext, Step } from "./step.ts";

const state = z.strictObject({ mind: proxyMind.nullable().default(null) });
type State = z.infer<typeof state>;
type Words = z.infer<typeof words>;

export const noModel =
  "No model is configured, so only tasks that bring a plan can run. Give the task a plan, or set MODEL_PROXY, MODEL_PLANNER and MODEL_EXECUTOR to provider/model and the provider's key, or start with `npm start -- --model-url URL`.";

export const proxy: Role<State> = {
  open: () => ({ mind: null }),
  parse: (stored) => state.parse(stored),
  async step(current, context, ports) {
    const end = (out: readonly Outgoing[]): Step<State> => ({ kind: "end", state: current, out });
    const has = { proxy: hasMind(ports, "proxy"), planner: hasMind(ports, "planner") };
    const { message } = context;
    switch (message.message_kind) {
      case "user_message": {
        if (message.plan_markdown !== null || message.payload.revise === true) return end([planRequest(context)]);
        if (has.proxy && message.task_id !== null)
          return think(current, wish(context, message.task_id, has.planner), context, ports);
        const follows = message.payload.follow_up === true;
        return end(has.planner && !follows ? [planRequest(context)] : [say(noModel, { ends_task: !follows })]);
      }
      case "plan_result": {
        const planned = message.error_code === null;
        return end([say(planned ? "The plan is written and waits for your countersignature." : message.content)]);
      }
      case "execution_status": {
        const status = statusPayload.parse(message.payload);
        // Shown in Activity as it is; nobody needs it in words.
        if (status.status === "running") return end([]);
        if (has.proxy && message.task_id !== null)
          return think(current, report(context, message.task_id, status), context, ports);
        return end([say(inWords(status), { version: status.version })]);
      }
      case "agent_message": {
        const said = words.safeParse(message.payload);
        return end(said.success && partyOf(message.sender) === "planner" ? [say(message.content, said.data)] : []);
      }
      default:
        return end([]);
    }
  },
};
function hasMind(ports: Ports, role: "proxy" | "planner"): boolean {
  return ports.models.configured(role).length > 0;
}

async function think(current: State, order: ProxyOrder, context: RunContext, ports: Ports): Promise<Step<State>> {
  const wrapped = (step: Step<ProxyMind>): Step<State> => ({ ...step, state: { mind: step.state } });
  if (context.cancelled) return { kind: "end", state: current, out: order.dropped() };
  return wrapped(
    current.mind === null
      ? await beginProxy(order, context, ports)
      : await stepProxy(order, current.mind, context, ports),
  );
}

/** The planner is told what the person said, word for word: nothing that a model made of it. */
function planRequest({ message }: RunContext): Outgoing {
  const { content, payload, plan_markdown } = message;
  return { message_kind: "plan_request", recipient: "planner", content, payload, plan_markdown };
}

/** What a task that goes on is told more of is answered; only what a task begins with can become its plan. */
function wish(context: RunContext, task_id: string, has_planner: boolean): ProxyOrder {
  const follows = context.message.payload.follow_up === true;
  const may_plan = has_planner && !follows;
  return {
    ...{ phase: "route", task_id, may_plan, report: null, until_ms: null },
    decided: ({ route, message }) =>
      route === "direct"
        ? [say(message, { ends_task: !follows, ...(follows ? {} : { ended_as: "done" }) })]
        : [...(message === undefined ? [] : [say(message, { route: "planner" })]), planRequest(context)],
    without: (why) =>
      may_plan ? [planRequest(context)] : [say(`The proxy's model could not answer: ${why}`, { ends_task: !follows })],
    dropped: () => [],
  };
}

/** A status is never lost: whatever becomes of the model, the template says it. */
function report(context: RunContext, task_id: string, status: z.infer<typeof statusPayload>): ProxyOrder {
  const { version } = status;
  const template = [say(inWords(status), { version })];
  return {
    ...{ phase: "status", task_id, may_plan: false, report: inWords(status) },
    until_ms: context.opened_at_ms + limits.status_words_ms,
    decided: (decision) => (decision.route === "direct" ? [say(decision.message, { version })] : template),
    without: () => template,
    dropped: () => template,
  };
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

function say(text: string, more: Partial<Words> = {}): Outgoing {
  const payload: Words = { route: "direct", ends_task: false, version: null, ...more };
  return { message_kind: "agent_message", recipient: "runtime_queue", content: text, payload: { ...payload } };
}
