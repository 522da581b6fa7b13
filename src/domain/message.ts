/**
 * The only way agents speak: typed, durable messages, idempotent by `message_id`.
 * One envelope, one closed list of kinds, one table of routes; `check` is asked when a
 * message is built and again when it arrives. [MSG-*]
 */
import { z } from "zod";
import { payloads } from "./payloads.ts";

export const messageKinds = [
  "user_message",
  "plan_request",
  "plan_result",
  "research_request",
  "research_result",
  "execution_status",
  "consult_planner",
  "planner_guidance",
  "replan_request",
  "system_event",
  "execution_request",
  "execution_result",
  "verification_request",
  "verification_result",
  "agent_message",
  "agent_notice",
  "plan_review_request",
  "plan_review_result",
  "shutdown_request",
  "shutdown_response",
  "github_event",
  "github_request",
  "github_sync",
  "github_shown",
  "github_answer",
  "webhook_order",
  "webhook_result",
] as const;
export type MessageKind = (typeof messageKinds)[number];

export const errorCodes = [
  "tool_failure",
  "budget_exceeded",
  "gate_blocked",
  "approval_denied",
  "verification_failed",
  "timeout",
] as const;
export const errorCode = z.enum(errorCodes);
export type ErrorCode = z.infer<typeof errorCode>;

export const taints = ["owner", "member", "outsider", "web"] as const;
export const taint = z.enum(taints);
export type Taint = z.infer<typeof taint>;
/** The least trusted of the given taints. Taint only rises. [INV-04] */
export function joinTaint(...given: readonly Taint[]): Taint {
  return given.reduce<Taint>((worst, next) => (taints.indexOf(next) > taints.indexOf(worst) ? next : worst), "owner");
}

export const roles = ["user", "runtime", "proxy", "planner", "executor", "verifier", "courier"] as const;
/** A party to a conversation. Any agent a person spawns is an executor; the planner is also the lead. */
export type Party = (typeof roles)[number];

export const agentNamePattern = /^[a-z][a-z0-9-]{0,31}$/;
export const scopeId = z.string().regex(/^[a-z0-9]{16}$/);

const json: z.ZodType<JsonValue> = z.lazy(() =>
  z.union([z.string(), z.number(), z.boolean(), z.null(), z.array(json), z.record(z.string(), json)]),
);
export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };

export const executionStatuses = ["running", "done", "failed", "stuck", "blocked", "verification_failed"] as const;
export const statusPayload = z.strictObject({
  status: z.enum(executionStatuses),
  detail: z.string().nullable().default(null),
  attempt_number: z.number().int().nullable().default(null),
  budget_remaining_tokens: z.number().int().nullable().default(null),
  budget_remaining_usd: z.number().nullable().default(null),
  /** The task's version: a consumer ignores a status older than one it has seen. */
  version: z.number().int(),
});
export type StatusPayload = z.infer<typeof statusPayload>;

export const constraints = z.strictObject({
  return_format: z.string(),
  max_tokens: z.number().int().positive().default(500),
  tools_allowed: z.array(z.string()).default(["web_search", "file_read", "memory_search"]),
});

export const envelope = z.strictObject({
  message_id: z.string().min(8).max(64),
  trace_id: z.string().min(8).max(64),
  scope_id: scopeId,
  message_kind: z.enum(messageKinds),
  sender: z.string().max(40),
  recipient: z.string().max(40),
  content: z.string(),
  taint,
  task_id: z.string().nullable().default(null),
  parent_task_id: z.string().nullable().default(null),
  work_item_id: z.string().nullable().default(null),
  attempt_number: z.number().int().nullable().default(null),
  payload: z.record(z.string(), json).default({}),
  error_code: errorCode.nullable().default(null),
  retryable: z.boolean().nullable().default(null),
  origin_agent: z.string().nullable().default(null),
  urgency: z.enum(["background", "informational", "needs_attention"]).default("informational"),
  created_at: z.string(),
  plan_markdown: z.string().nullable().default(null),
  constraints: constraints.nullable().default(null),
  artifacts: z.array(z.string()).nullable().default(null),
  approval_token: z.string().nullable().default(null),
});
export type Message = z.infer<typeof envelope>;

type Place = Party | "executor_queue" | "runtime_queue";
const anyAgent: readonly Party[] = ["proxy", "planner", "executor", "verifier"];

/** Who may send a kind, and to where. A message on a route that is not here is refused. */
export const routes: Record<MessageKind, readonly { from: readonly Party[]; to: readonly Place[] }[]> = {
  user_message: [{ from: ["user"], to: ["proxy"] }],
  plan_request: [{ from: ["proxy"], to: ["planner"] }],
  plan_result: [{ from: ["planner"], to: ["proxy"] }],
  research_request: [{ from: ["planner"], to: ["executor_queue"] }],
  research_result: [{ from: ["executor"], to: ["planner"] }],
  execution_status: [{ from: ["runtime"], to: ["proxy"] }],
  consult_planner: [{ from: ["runtime"], to: ["planner"] }],
  planner_guidance: [{ from: ["planner"], to: ["runtime_queue"] }],
  replan_request: [{ from: ["runtime"], to: ["planner"] }],
  system_event: [{ from: ["runtime"], to: [...anyAgent] }],
  execution_request: [{ from: ["runtime"], to: ["executor_queue"] }],
  execution_result: [{ from: ["executor"], to: ["runtime_queue"] }],
  verification_request: [{ from: ["runtime"], to: ["verifier"] }],
  verification_result: [{ from: ["verifier"], to: ["runtime_queue"] }],
  agent_message: [
    { from: anyAgent, to: anyAgent },
    { from: ["proxy"], to: ["runtime_queue"] },
  ],
  agent_notice: [{ from: anyAgent, to: ["planner"] }],
  plan_review_request: [{ from: ["executor"], to: ["planner"] }],
  plan_review_result: [{ from: ["planner"], to: ["executor"] }],
  shutdown_request: [{ from: ["planner"], to: anyAgent }],
  shutdown_response: [{ from: anyAgent, to: ["planner"] }],
  github_event: [{ from: ["runtime"], to: ["courier"] }],
  github_request: [{ from: ["courier"], to: ["runtime_queue"] }],
  github_sync: [{ from: ["runtime"], to: ["courier"] }],
  github_shown: [{ from: ["courier"], to: ["runtime_queue"] }],
  github_answer: [{ from: ["runtime"], to: ["courier"] }],
  webhook_order: [{ from: ["runtime"], to: ["courier"] }],
  webhook_result: [{ from: ["courier"], to: ["runtime_queue"] }],
};

/** The party a name speaks as: `crew-3`, and any agent somebody spawned, is an executor. */
export function partyOf(name: string): Party {
  return (roles as readonly string[]).includes(name) ? (name as Party) : "executor";
}
function placeOf(recipient: string): Place {
  return recipient === "executor_queue" || recipient === "runtime_queue" ? recipient : partyOf(recipient);
}

const errorStatuses: readonly string[] = ["failed", "stuck", "blocked", "verification_failed"];

/** Null when the message keeps every rule, else one sentence that says which it breaks. */
export function check(message: Message): string | null {
  const from = partyOf(message.sender);
  const to = placeOf(message.recipient);
  if (!routes[message.message_kind].some((route) => route.from.includes(from) && route.to.includes(to)))
    return `no route for ${message.message_kind} from ${message.sender} to ${message.recipient}`;
  if (message.message_kind === "execution_status") {
    const status = statusPayload.safeParse(message.payload);
    if (!status.success) return `execution_status needs a status payload: ${z.prettifyError(status.error)}`;
    if (errorStatuses.includes(status.data.status) && message.error_code === null)
      return `execution_status ${status.data.status} needs an error_code`;
  }
  const carried = payloads[message.message_kind]?.safeParse(message.payload);
  if (carried?.success === false)
    return `${message.message_kind} has a payload that does not fit: ${z.prettifyError(carried.error).slice(0, 500)}`;
  if (message.error_code !== null) {
    for (const header of ["retryable", "origin_agent", "attempt_number"] as const)
      if (message[header] === null) return `a message with error_code needs ${header}`;
  }
  if (message.message_kind === "plan_result" && message.plan_markdown === null && message.error_code === null)
    return "plan_result needs plan_markdown or an error_code";
  if (
    message.message_kind === "plan_result" &&
    message.error_code === null &&
    message.payload.base_commit === undefined
  )
    return "plan_result needs the commit its plan is for";
  if (
    message.message_kind === "agent_message" &&
    message.recipient === "runtime_queue" &&
    !("route" in message.payload)
  )
    return "agent_message to the runtime says its route";
  if (message.message_kind === "research_request" && message.constraints === null)
    return "research_request needs constraints";
  return null;
}

/** What a message that follows from another copies unchanged, and the taint it may not go below. */
export function derive(
  cause: Message,
  fields: Omit<MessageInput, "trace_id" | "scope_id" | "taint"> & { taint?: Taint },
): Message {
  return build({
    task_id: cause.task_id,
    ...fields,
    trace_id: cause.trace_id,
    scope_id: cause.scope_id,
    taint: joinTaint(cause.taint, fields.taint ?? "owner"),
  });
}

export type MessageInput = z.input<typeof envelope>;

/** Builds a message and holds it to its rules. A broken rule here is a bug of ours, so it throws. */
export function build(input: MessageInput): Message {
  const message = envelope.parse(input);
  const broken = check(message);
  if (broken !== null) throw new Error(`message not built: ${broken}`);
  return message;
}

export const surfaces = ["stream", "review", "activity"] as const;
export type Surface = (typeof surfaces)[number];

/** Where a person sees a message. The runtime asks this; no agent decides it. */
export function surfacesOf(message: Pick<Message, "message_kind" | "payload">): readonly Surface[] {
  if (message.message_kind === "plan_result") return ["review"];
  if (message.message_kind !== "execution_status") return ["activity"];
  const status = message.payload.status;
  if (status === "done") return ["stream"];
  return status === "running" ? ["activity"] : ["stream", "activity"];
}
