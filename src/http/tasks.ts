/**
 * Doors of tasks: ask for one, watch it, talk to it, cancel it, take its patch. A task is refused
 * here, before anything is stored, when its plan or its repository cannot be right. [HTTP-11] to [HTTP-16]
 */
import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { hashOf } from "../domain/canonical.ts";
import { refProblem, repoUrl } from "../domain/repo.ts";
import { type TaskInput, taskStatuses } from "../domain/view.ts";
import type { Idempotency } from "./doors.ts";
import { asks, body, id, json, pageOf, pageQuery, problems, sends, shapes, whole } from "./openapi.ts";
import { patchOf } from "./patch.ts";
import { demandPlan } from "./plan.ts";
import type { CallerEnv, DoorEnv } from "./ports.ts";
import { Refused, take } from "./problem.ts";
import { resolveRepo } from "./repository.ts";
import { whenInvalid } from "./validation.ts";

const create = createRoute({
  method: "post",
  path: "/api/tasks",
  summary: "Ask for a task",
  description:
    "With a plan it goes to review as it is; without one a planner writes it. Nothing executes before a person approves.",
  ...sends("submitter", "tasks"),
  request: {
    body: body(shapes.taskInput),
    headers: z.object({
      "idempotency-key": z
        .string()
        .regex(/^[\x21-\x7e]{1,255}$/, "use 1 to 255 visible ASCII characters")
        .optional()
        .describe(
          "The same key with the same body gives the first answer again for 24 hours, with Idempotent-Replay: true",
        ),
    }),
  },
  responses: {
    202: {
      ...json("Accepted", shapes.task),
      headers: {
        location: { description: "Where the task is", schema: { type: "string" } },
        "idempotent-replay": { description: "`true` when this answer was given before", schema: { type: "string" } },
      },
    },
    ...problems(400, 401, 403, 409, 413, 415, 422, 429, 500, 503),
  },
});
const list = createRoute({
  method: "get",
  path: "/api/tasks",
  summary: "List tasks, newest first",
  ...asks("viewer", "tasks"),
  request: { query: pageQuery.extend({ status: z.enum(taskStatuses).optional() }) },
  responses: { 200: json("A page of tasks", shapes.taskPage), ...problems(400, 401, 500, 503) },
});
const show = createRoute({
  method: "get",
  path: "/api/tasks/{id}",
  summary: "Show a task with its plan, items, attempts and phases",
  ...asks("viewer", "tasks"),
  request: { params: id },
  responses: { 200: json("The task", shapes.task), ...problems(401, 404, 500, 503) },
});
const events = createRoute({
  method: "get",
  path: "/api/tasks/{id}/events",
  summary: "List a task's events, oldest first",
  ...asks("viewer", "tasks"),
  request: { params: id, query: pageQuery },
  responses: { 200: json("A page of events", shapes.eventPage), ...problems(400, 401, 404, 500, 503) },
});
const thoughts = createRoute({
  method: "get",
  path: "/api/tasks/{id}/thoughts",
  summary: "List a task's model calls, oldest first",
  description: "What each cost, which model answered, and which version of which prompt it was made with.",
  ...asks("viewer", "tasks"),
  request: { params: id, query: pageQuery },
  responses: { 200: json("A page of model calls", shapes.thoughtPage), ...problems(400, 401, 404, 500, 503) },
});
const patch = createRoute({
  method: "get",
  path: "/api/tasks/{id}/patch",
  summary: "Download the task's patch",
  description: "The newest patch of each work item, in the items' order; with `attempt`, the patch of that attempt.",
  ...asks("viewer", "tasks"),
  request: { params: id, query: z.strictObject({ attempt: z.string().min(1).max(128).optional() }) },
  responses: {
    200: { description: "A git patch", content: { "text/x-diff": { schema: z.string() } } },
    ...problems(400, 401, 404, 500, 503),
  },
});
const artifact = z.strictObject({ attempt_id: z.string(), kind: z.literal("patch"), bytes: z.number().int() });
const artifacts = createRoute({
  method: "get",
  path: "/api/tasks/{id}/artifacts",
  summary: "List what a task's attempts left",
  ...asks("viewer", "tasks"),
  request: { params: id },
  responses: { 200: json("All artifacts", whole(artifact)), ...problems(401, 404, 500, 503) },
});
const message = createRoute({
  method: "post",
  path: "/api/tasks/{id}/messages",
  summary: "Say more about a task",
  ...sends("submitter", "tasks"),
  request: { params: id, body: body(z.strictObject({ text: z.string().trim().min(1).max(20_000) })) },
  responses: {
    202: json("Accepted", z.strictObject({ message_id: z.string() })),
    ...problems(400, 401, 403, 404, 409, 413, 415, 429, 500, 503),
  },
});
const cancel = createRoute({
  method: "post",
  path: "/api/tasks/{id}/cancel",
  summary: "Cancel a task",
  ...sends("submitter", "tasks"),
  request: { params: id, body: body(z.strictObject({ reason: z.string().trim().max(2_000).default("") })) },
  responses: {
    200: json("The cancelled task", shapes.task),
    ...problems(400, 401, 403, 404, 409, 413, 415, 500, 503),
  },
});

export const tasks = new OpenAPIHono<DoorEnv>({ defaultHook: whenInvalid })
  .openapi(create, async (c) => {
    const input = c.req.valid("json");
    const key = c.req.valid("header")["idempotency-key"];
    const idempotency: Idempotency | null =
      key === undefined ? null : { route: "POST /api/tasks", key, body_hash: hashOf(input) };
    const checked = await checkTask(c, input);
    const created = take(await c.var.runtime.createTask(c.var.caller, checked, idempotency));
    c.header("location", `/api/tasks/${created.body.id}`);
    if (created.replay) c.header("idempotent-replay", "true");
    return c.json(created.body, 202);
  })
  .openapi(list, async (c) => {
    const query = c.req.valid("query");
    const found = await c.var.runtime.tasks(c.var.caller, { ...pageOf(query), status: query.status ?? null });
    return c.json(take(found), 200);
  })
  .openapi(show, async (c) => c.json(take(await c.var.runtime.task(c.var.caller, c.req.valid("param").id)), 200))
  .openapi(events, async (c) => {
    const found = await c.var.runtime.taskEvents(c.var.caller, c.req.valid("param").id, pageOf(c.req.valid("query")));
    return c.json(take(found), 200);
  })
  .openapi(thoughts, async (c) => {
    const found = await c.var.runtime.thoughts(c.var.caller, c.req.valid("param").id, pageOf(c.req.valid("query")));
    return c.json(take(found), 200);
  })
  .openapi(patch, async (c) => {
    const bytes = await patchOf(c, c.req.valid("param").id, c.req.valid("query").attempt ?? null);
    return c.body(bytes, 200, { "content-type": "text/x-diff; charset=utf-8" });
  })
  .openapi(artifacts, async (c) => {
    const keys = take(await c.var.runtime.patchKeys(c.var.caller, c.req.valid("param").id));
    // The keys are the store's own business; an attempt's id is all that `/patch?attempt=` needs.
    const items = keys.map(({ attempt_id, bytes }) => ({ attempt_id, kind: "patch" as const, bytes }));
    return c.json({ items, next_cursor: null }, 200);
  })
  .openapi(message, async (c) => {
    const added = await c.var.runtime.addMessage(c.var.caller, c.req.valid("param").id, c.req.valid("json").text);
    return c.json(take(added), 202);
  })
  .openapi(cancel, async (c) => {
    const reason = c.req.valid("json").reason || `cancelled by ${c.var.caller.subject}`;
    return c.json(take(await c.var.runtime.cancelTask(c.var.caller, c.req.valid("param").id, reason)), 200);
  });

/** The task as the runtime takes it, once its plan reads well and its repository answers. */
async function checkTask(c: Context<CallerEnv>, input: TaskInput): Promise<TaskInput & { register_repo: boolean }> {
  const { ports, runtime, caller } = c.var;
  if (input.plan !== undefined) demandPlan(input.plan, ports.executorMind);
  const url = take(repoUrl(input.repo.url, ports.localHost, ports.gitOrigin));
  const badRef = refProblem(input.repo.ref);
  if (badRef !== null) throw new Refused("ref_not_found", badRef);
  const registered = await runtime.hasRepo(caller, url);
  // On one's own machine the first task is the first contact: an admin who names a repository means it.
  const register = !registered && ports.localHost && caller.role === "admin";
  if (!registered && !register)
    throw new Refused(
      "repo_not_registered",
      `${url} is not registered with this scope: an admin adds it with POST /api/repos.`,
      {
        repo: url,
      },
    );
  await resolveRepo(ports, { scope_id: caller.scope_id, url }, input.repo.ref);
  return { ...input, repo: { url, ref: input.repo.ref }, register_repo: register };
}
