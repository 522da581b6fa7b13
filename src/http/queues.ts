/**
 * Doors of queues: what waits, who holds what, what was given up; and the changes a person makes. To pause or drain
 * stops the scope's work, so it takes an admin; to send a letter again is what approving its card does, so it takes
 * an approver. [HTTP-70] to [HTTP-78]
 */
import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { QueueDetail, QueueMove } from "../domain/queue-shapes.ts";
import { asks, body, json, name, pageOf, pageQuery, problems, sends, shapes } from "./openapi.ts";
import type { CallerEnv, DoorEnv } from "./ports.ts";
import { take } from "./problem.ts";
import { whenInvalid } from "./validation.ts";

const readOne = problems(401, 404, 500, 503);
const changes = problems(400, 401, 403, 404, 413, 415, 500, 503);

const list = createRoute({
  method: "get",
  path: "/api/queues",
  summary: "List queues: the scope's shared ones and every agent's inbox",
  ...asks("viewer", "queues"),
  responses: { 200: json("All queues, and who did not answer", shapes.queueList), ...problems(401, 500, 503) },
});
const show = createRoute({
  method: "get",
  path: "/api/queues/{name}",
  summary: "Show a queue, and who holds what until when",
  ...asks("viewer", "queues"),
  request: { params: name },
  responses: { 200: json("The queue", shapes.queueDetail), ...readOne },
});
const deadLetters = createRoute({
  method: "get",
  path: "/api/queues/{name}/dead-letters",
  summary: "List the messages a queue, or the outbox of its owner, gave up; newest first",
  ...asks("viewer", "queues"),
  request: { params: name, query: pageQuery },
  responses: { 200: json("A page of dead letters", shapes.deadLetterPage), ...problems(400, 401, 404, 500, 503) },
});

/** `Path` stays a literal, so that the typed client knows the route. */
function moving<const Path extends string>(path: Path, summary: string, description: string) {
  return createRoute({
    method: "post",
    path,
    summary,
    description: `${description} Asked for where it stands already, the queue answers as it stands.`,
    ...sends("admin", "queues"),
    request: { params: name, body: body(shapes.queueChange) },
    responses: { 200: json("The queue as it stands now", shapes.queueDetail), ...changes },
  });
}
const pause = moving(
  "/api/queues/{name}/pause",
  "Pause a queue",
  "Messages come in and wait; none is handed out. What is held stays held.",
);
const resume = moving(
  "/api/queues/{name}/resume",
  "Resume a queue",
  "It hands out and takes in again, after a pause or a drain.",
);
const drain = moving(
  "/api/queues/{name}/drain",
  "Drain a queue",
  "What stands in it is handed out; new messages wait with their senders. Empty, it is `drained` until it is resumed.",
);
const requeueAll = createRoute({
  method: "post",
  path: "/api/queues/{name}/dead-letters/requeue",
  summary: "Send a queue's dead letters again",
  description:
    "At most 100 at once: `left` says how many still stand there. Letters that were dropped in Review stay, and each card that waits is superseded.",
  ...sends("approver", "queues"),
  request: { params: name, body: body(shapes.queueChange) },
  responses: { 200: json("How many were sent again", shapes.requeued), ...changes },
});
const requeueOne = createRoute({
  method: "post",
  path: "/api/queues/{name}/dead-letters/{id}/requeue",
  summary: "Send one dead letter again",
  description:
    "Its card, if one waits in Review, is superseded. 409 `not_in_this_state` says what it is when it is no dead letter, or when its card was decided first.",
  ...sends("approver", "queues"),
  request: { params: name.extend({ id: z.string().min(1).max(128) }), body: body(shapes.queueChange) },
  responses: { 200: json("It was sent again", shapes.requeued), ...changes, ...problems(409) },
});

export const queues = new OpenAPIHono<DoorEnv>({ defaultHook: whenInvalid })
  .openapi(list, async (c) => {
    const { queues: items, silent } = take(await c.var.runtime.queues(c.var.caller));
    return c.json({ items, next_cursor: null, silent }, 200);
  })
  .openapi(show, async (c) =>
    c.json(take(await c.var.runtime.queueDetail(c.var.caller, c.req.valid("param").name)), 200),
  )
  .openapi(deadLetters, async (c) => {
    const query = pageOf(c.req.valid("query"));
    return c.json(take(await c.var.runtime.deadLetters(c.var.caller, c.req.valid("param").name, query)), 200);
  })
  .openapi(pause, async (c) => c.json(await moved(c, "pause", c.req.valid("param"), c.req.valid("json")), 200))
  .openapi(resume, async (c) => c.json(await moved(c, "resume", c.req.valid("param"), c.req.valid("json")), 200))
  .openapi(drain, async (c) => c.json(await moved(c, "drain", c.req.valid("param"), c.req.valid("json")), 200))
  .openapi(requeueAll, async (c) => {
    const { reason } = c.req.valid("json");
    return c.json(take(await c.var.runtime.requeueLetters(c.var.caller, c.req.valid("param").name, reason)), 200);
  })
  .openapi(requeueOne, async (c) => {
    const { name, id } = c.req.valid("param");
    return c.json(take(await c.var.runtime.requeueLetter(c.var.caller, name, id, c.req.valid("json").reason)), 200);
  });

async function moved(
  c: Context<CallerEnv>,
  move: QueueMove,
  { name }: { name: string },
  { reason }: { reason: string },
): Promise<QueueDetail> {
  return take(await c.var.runtime.moveQueue(c.var.caller, name, { move, reason }));
}
