/**
 * The words routes are declared in, so that the OpenAPI document says everything a door takes,
 * answers and refuses. Shapes get their names here. [HTTP-10]
 */
import { type RouteConfig, z } from "@hono/zod-openapi";
import type { MiddlewareHandler } from "hono";
import * as approval from "../domain/approval-view.ts";
import * as github from "../domain/github/views.ts";
import * as hooks from "../domain/hooks.ts";
import * as memory from "../domain/memory.ts";
import * as policy from "../domain/policy-shapes.ts";
import * as queues from "../domain/queue-shapes.ts";
import * as record from "../domain/record-view.ts";
import * as standing from "../domain/standing-shape.ts";
import type { CallerRole } from "../domain/view.ts";
import * as view from "../domain/view.ts";
import * as webhooks from "../domain/webhooks.ts";
import { limits } from "../limits.ts";
import { needs, sessionCookie } from "./auth.ts";
import type { CallerEnv } from "./ports.ts";
import { problemSchema } from "./problem.ts";

/** A copy under a name. A copy, because shapes made before the OpenAPI extension was loaded do not have it. */
function named<T extends z.ZodType>(name: string, shape: T): T {
  return shape.clone().openapi(name);
}

export const shapes = {
  taskInput: named("TaskInput", view.taskInput),
  task: named("Task", view.taskView),
  taskPage: named("TaskPage", view.page(view.taskSummary)),
  thoughtPage: named("ModelCallPage", view.page(view.thoughtView)),
  approval: named("Approval", approval.approvalView),
  approvalPage: named("ApprovalPage", view.page(approval.approvalView)),
  approveInput: named("ApproveInput", approval.approveInput),
  denyInput: named("DenyInput", approval.denyInput),
  changesInput: named("ChangesInput", approval.changesInput),
  standing: named("StandingApproval", standing.standingView),
  standingPage: named("StandingApprovalPage", view.page(standing.standingView)),
  standingInput: named("StandingApprovalInput", standing.standingInput),
  standingRevocation: named("StandingApprovalRevocation", standing.standingRevocation),
  memory: named("Memory", memory.memoryView),
  memoryPage: named("MemoryPage", view.page(memory.memoryView)),
  memoryForgetting: named("MemoryForgetting", memory.memoryForgetting),
  webhook: named("Webhook", webhooks.webhookView),
  webhookInput: named("WebhookInput", webhooks.webhookInput),
  webhookMade: named("WebhookWithSecret", webhooks.webhookMade),
  delivery: named("WebhookDelivery", webhooks.deliveryView),
  deliveryPage: named("WebhookDeliveryPage", view.page(webhooks.deliveryView)),
  hook: named("Hook", hooks.hookView),
  hookInput: named("HookInput", hooks.hookInput),
  hookMade: named("HookWithSecret", hooks.hookMade),
  hookBody: named("HookBody", hooks.hookBody),
  githubOverview: named("GithubOverview", github.githubOverview),
  githubInstallation: named("GithubInstallation", github.installationView),
  githubAssignment: named("GithubAssignment", github.assignment),
  githubLink: named("GithubRepository", github.githubLinkView),
  githubTriggers: named("GithubTriggersInput", github.triggersInput),
  agent: named("Agent", view.agentView),
  queue: named("Queue", queues.queueView),
  queueDetail: named("QueueDetail", queues.queueDetail),
  queueChange: named("QueueChange", queues.queueChange),
  deadLetterPage: named("DeadLetterPage", view.page(queues.deadLetterView)),
  queueList: named("QueueList", queues.queueList),
  requeued: named("Requeued", queues.requeued),
  policy: named("Policy", policy.policyView),
  policyChanged: named("PolicyChanged", policy.policyChanged),
  policyVersionPage: named("PolicyVersionPage", view.page(policy.policyVersion)),
  evaluateInput: named("EvaluateInput", policy.evaluateInput),
  evaluation: named("Evaluation", policy.evaluationView),
  replay: named("Replay", policy.replayView),
  repo: named("Repo", view.repoView),
  token: named("Token", view.tokenView),
  tokenInput: named("TokenInput", view.tokenInput),
  event: named("Event", record.eventView),
  eventPage: named("EventPage", view.page(record.eventView)),
  auditPage: named("AuditPage", view.page(record.auditView)),
};

/** All there is, in one answer: for lists that a scope bounds by itself. */
export function whole<T extends z.ZodType>(item: T) {
  return z.strictObject({ items: z.array(item), next_cursor: z.null() });
}

export function json<T extends z.ZodType>(description: string, schema: T) {
  return { description, content: { "application/json": { schema } } };
}

export function body<T extends z.ZodType>(schema: T) {
  return { required: true as const, content: { "application/json": { schema } } };
}

type ProblemStatus = 400 | 401 | 403 | 404 | 405 | 409 | 412 | 413 | 415 | 422 | 428 | 429 | 500 | 503;
const reasons: Record<ProblemStatus, string> = {
  400: "The request is malformed or has a wrong or unknown field",
  401: "No live token or session",
  403: "The caller's role does not allow it, or the session came from another origin",
  404: "No such thing in this scope",
  405: "The path takes other methods",
  409: "It was decided, changed or is in another state",
  412: "What it was made for has changed since",
  413: "The body is larger than 1 MB",
  415: "The body is not application/json",
  422: "Well-formed, but cannot be done as asked",
  428: "Say in If-Match what it was made for",
  429: "Too many: try again after Retry-After seconds",
  500: "A defect of the service",
  503: "A part the request needs is down or not configured",
};
const problemContent = { "application/problem+json": { schema: problemSchema } };
type ProblemAnswer = { description: string; content: typeof problemContent };

export function problems<const S extends ProblemStatus>(...statuses: readonly S[]): { [K in S]: ProblemAnswer } {
  const answers = statuses.map((status) => [status, { description: reasons[status], content: problemContent }]);
  return Object.fromEntries(answers) as { [K in S]: ProblemAnswer }; // fromEntries forgets the keys it was given
}

type Door = {
  middleware: MiddlewareHandler<CallerEnv>;
  security: NonNullable<RouteConfig["security"]>;
  tags: string[];
};
const security = [{ token: [] }, { session: [] }];

/** A door that takes no body. */
export function asks(role: CallerRole, tag: string): Door {
  return { middleware: needs(role), security, tags: [tag] };
}
/** A door that takes JSON. */
export function sends(role: CallerRole, tag: string): Door {
  return { middleware: needs(role, true), security, tags: [tag] };
}

export const id = z.strictObject({ id: z.string().min(1).max(128) });
export const name = z.strictObject({ name: z.string().min(1).max(40) });
export const pageQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(limits.page_max).default(limits.page_default),
  cursor: z.string().min(1).max(500).optional(),
});
/** As the objects take it. */
export function pageOf(query: z.infer<typeof pageQuery>): { limit: number; cursor: string | null } {
  return { limit: query.limit, cursor: query.cursor ?? null };
}

export const securitySchemes = {
  token: { type: "http", scheme: "bearer", description: "An API token of a scope, `cs_...`" },
  session: {
    type: "apiKey",
    in: "cookie",
    name: sessionCookie,
    description: "The page's session. Changes need this origin's `Origin` header, and JSON where there is a body.",
  },
  deployment_admin: { type: "http", scheme: "bearer", description: "COUNTERSIGN_ADMIN_TOKEN" },
};

export const document = {
  openapi: "3.1.0",
  info: {
    title: "Countersign",
    version: "1",
    description:
      "Coding agents plan, a person countersigns, a sandbox executes, the runtime verifies. Every answer that is not a success is a problem (RFC 9457) with a `code`.",
  },
};
