/**
 * The planner: a wish becomes a plan, a plan is revised or replaced, a stuck item gets advice. A plan that somebody
 * supplied passes through unchanged, with the commit its reference names now. It holds no execution tools. [PLR-*]
 */
import { z } from "zod";
import { givenIn } from "../domain/asked-budget.ts";
import { joinTaint } from "../domain/message.ts";
import { consultation, type planResult, replanning, researchResult, type words } from "../domain/payloads.ts";
import { parsePlan } from "../domain/plan.ts";
import { beginPlanning, stepPlanning } from "./planner-mind.ts";
import { type PlanMind, type PlannerEnd, type PlannerOrder, planMind, type ResearchNote } from "./planner-state.ts";
import type { Source } from "./ports.ts";
import { noModel } from "./proxy.ts";
import type { Outgoing, Ports, Role, RunContext, Step } from "./step.ts";
import { afterFailure } from "./workspace.ts";

const state = z.strictObject({ failures: z.number().int(), mind: planMind.nullable().default(null) });
type State = z.infer<typeof state>;

/** Payload of a `plan_request`: the repository the plan is for. */
export const planRequest = z.looseObject({ repo: z.string(), ref: z.string() });

export const planner: Role<State> = {
  open: () => ({ failures: 0, mind: null }),
  parse: (stored) => state.parse(stored),
  async step(current, context, ports) {
    const { message } = context;
    switch (message.message_kind) {
      case "plan_request":
        if (message.plan_markdown !== null) return supplied(current, context, message.plan_markdown, ports);
        return think(current, context, ports, planOrder(context));
      case "consult_planner":
        return think(current, context, ports, consultOrder(context));
      case "replan_request":
        return think(current, context, ports, replanOrder(context));
      case "research_result":
        return { kind: "end", state: current, out: [], notes: [noteOf(context, ports)] };
      default:
        return { kind: "end", state: current, out: [] };
    }
  },
};

async function supplied(current: State, context: RunContext, markdown: string, ports: Ports): Promise<Step<State>> {
  const plan = parsePlan(markdown);
  if (!plan.ok) {
    const [first] = plan.problems;
    const detail = `The plan has ${plan.problems.length} problems; the first, on line ${first?.line}: ${first?.message}`;
    return { kind: "end", state: current, out: [failed("tool_failure", detail)] };
  }
  const { repo, ref } = planRequest.parse(context.message.payload);
  return resolved(current, { scope_id: context.scope_id, url: repo }, ref, ports, async (commit) => ({
    kind: "end",
    state: current,
    out: [planned(markdown, plan.plan.title, commit)],
  }));
}

/** Goes on with the commit that the reference names now. A host that is away is waited for. */
async function resolved(
  current: State,
  source: Source,
  ref: string,
  ports: Ports,
  go: (commit: string) => Promise<Step<State>>,
): Promise<Step<State>> {
  let commit: string;
  try {
    ({ commit } = await ports.sandboxes.resolve(source, ref));
  } catch (error) {
    const after = afterFailure(error, current.failures);
    if (after.again)
      return { kind: "wait", wait_ms: after.wait_ms, state: { ...current, failures: current.failures + 1 } };
    const detail = `The repository could not be read: ${after.failure.message}`;
    return { kind: "end", state: current, out: [failed("tool_failure", detail)] };
  }
  return go(commit);
}

interface Order extends PlannerOrder {
  /** The commit the work is about; null where the reference must be looked up. */
  readonly commit: string | null;
  readonly ref: string;
}

async function think(current: State, context: RunContext, ports: Ports, order: Order): Promise<Step<State>> {
  if (context.cancelled) return { kind: "end", state: current, out: [] };
  const none =
    ports.models.configured("planner").length === 0 ? noModel : order.task_id === "" ? "It has no task." : null;
  if (none !== null)
    return {
      kind: "end",
      state: current,
      out: order.end({ kind: "failed", error_code: "tool_failure", detail: none }),
    };
  const wrapped = (step: Step<PlanMind>): Step<State> => ({ ...step, state: { ...current, mind: step.state } });
  if (current.mind !== null) return wrapped(await stepPlanning(order, current.mind, context, ports));
  if (order.commit !== null) return wrapped(await beginPlanning(order, order.commit, context, ports));
  return resolved(current, { scope_id: context.scope_id, url: order.repo }, order.ref, ports, async (commit) =>
    wrapped(await beginPlanning(order, commit, context, ports)),
  );
}

function planOrder({ message }: RunContext): Order {
  const { repo, ref } = planRequest.parse(message.payload);
  return {
    ...{ phase: message.payload.revise === true ? "revise" : "plan", repo, ref, task_id: message.task_id ?? "" },
    ...{ not_again: null, mode: "other_approach", given: givenIn(message.payload.budget), commit: null },
    end: (ended) => planEnd(ended, "tool_failure"),
  };
}
function replanOrder({ message }: RunContext): Order {
  const { repo, ref, base_commit, mode } = replanning.parse(message.payload);
  return {
    ...{ phase: "replan", repo, ref, task_id: message.task_id ?? "", mode },
    ...{ not_again: message.plan_markdown, given: givenIn(message.payload.budget), commit: base_commit },
    end: (ended) => planEnd(ended, "verification_failed"),
  };
}
function consultOrder({ message }: RunContext): Order {
  const { consult_id } = consultation.parse(message.payload);
  const guided = (content: string, more: Partial<Outgoing> = {}): Outgoing => ({
    ...{ message_kind: "planner_guidance", recipient: "runtime_queue", content, payload: { consult_id } },
    ...more,
  });
  return {
    ...{ phase: "consult", repo: "", ref: "", commit: "", task_id: message.task_id ?? "" },
    ...{ not_again: null, mode: "other_approach", given: null },
    end: (ended) => {
      if (ended.kind === "dropped") return [];
      if (ended.kind === "guidance") return [guided(ended.text)];
      const { error_code, detail } =
        ended.kind === "failed"
          ? ended
          : { error_code: "tool_failure" as const, detail: "The planner gave no advice." };
      return [guided(detail, { error_code, retryable: false })];
    },
  };
}

/** `gave_up`: what a planner that sees no way says of it, to whoever asked. */
function planEnd(ended: PlannerEnd, gave_up: "tool_failure" | "verification_failed"): readonly Outgoing[] {
  switch (ended.kind) {
    case "plan":
      return [planned(ended.markdown, ended.title, ended.base_commit)];
    case "answer":
      return [answered(ended.text)];
    case "failed":
      return [failed(ended.error_code === "verification_failed" ? gave_up : ended.error_code, ended.detail)];
    case "guidance":
    case "dropped":
      return [];
  }
}
function planned(markdown: string, title: string, base_commit: string): Outgoing {
  const payload: z.infer<typeof planResult> = { base_commit };
  return {
    message_kind: "plan_result",
    recipient: "proxy",
    content: title,
    plan_markdown: markdown,
    payload: { ...payload },
    urgency: "needs_attention",
  };
}
function failed(error_code: Outgoing["error_code"], detail: string): Outgoing {
  const out = { message_kind: "plan_result", recipient: "proxy", content: detail, retryable: false } as const;
  return { ...out, error_code: error_code ?? "tool_failure" };
}
/** Through the proxy to the person; the task is done with it. */
function answered(text: string): Outgoing {
  const payload: z.infer<typeof words> = { route: "direct", ends_task: true, version: null, ended_as: "done" };
  return { message_kind: "agent_message", recipient: "proxy", content: text, payload: { ...payload } };
}

/** For the run that asked: it may be over, and then nobody hears it. */
function noteOf({ message }: RunContext, ports: Ports): { run_id: string; key: string; body: ResearchNote } {
  const { research_id, plan_run_id, taint } = researchResult.parse(message.payload);
  const body = {
    research_id,
    text: message.content,
    taint: joinTaint(message.taint, taint),
    failed: message.error_code !== null,
    at: ports.clock.now(),
  };
  return { run_id: plan_run_id, key: research_id, body };
}
