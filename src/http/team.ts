/** Doors of agents and queues: who works, on what, and what waits or was given up. [HTTP-19] */
import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { agentNamePattern } from "../domain/message.ts";
import type { DeadLetterView, QueueView } from "./doors.ts";
import { asks, json, name, problems, shapes, whole } from "./openapi.ts";
import type { CallerEnv, DoorEnv } from "./ports.ts";
import { Refused, take } from "./problem.ts";
import { whenInvalid } from "./validation.ts";

const read = problems(401, 500, 503);
const readOne = problems(401, 404, 500, 503);
const transition = z.strictObject({
  from: z.string(),
  event: z.string(),
  to: z.string(),
  reason: z.string(),
  at: z.string(),
});

const listAgents = createRoute({
  method: "get",
  path: "/api/agents",
  summary: "List agents",
  ...asks("viewer", "agents"),
  responses: { 200: json("All agents", whole(shapes.agent)), ...read },
});
const showAgent = createRoute({
  method: "get",
  path: "/api/agents/{name}",
  summary: "Show an agent",
  ...asks("viewer", "agents"),
  request: { params: name },
  responses: { 200: json("The agent", shapes.agent), ...readOne },
});
const transitions = createRoute({
  method: "get",
  path: "/api/agents/{name}/transitions",
  summary: "List an agent's life, oldest first",
  ...asks("viewer", "agents"),
  request: { params: name },
  responses: { 200: json("All transitions", whole(transition)), ...readOne },
});
const inbox = createRoute({
  method: "get",
  path: "/api/agents/{name}/queue",
  summary: "Show an agent's inbox",
  ...asks("viewer", "agents"),
  request: { params: name },
  responses: { 200: json("The queue", shapes.queue), ...readOne },
});
const listQueues = createRoute({
  method: "get",
  path: "/api/queues",
  summary: "List queues: the scope's shared ones and every agent's inbox",
  ...asks("viewer", "queues"),
  responses: { 200: json("All queues", whole(shapes.queue)), ...read },
});
const showQueue = createRoute({
  method: "get",
  path: "/api/queues/{name}",
  summary: "Show a queue",
  ...asks("viewer", "queues"),
  request: { params: name },
  responses: { 200: json("The queue", shapes.queue), ...readOne },
});
const deadLetters = createRoute({
  method: "get",
  path: "/api/queues/{name}/dead-letters",
  summary: "List the messages a queue gave up",
  ...asks("viewer", "queues"),
  request: { params: name },
  responses: { 200: json("All dead letters", whole(shapes.deadLetter)), ...readOne },
});

export const team = new OpenAPIHono<DoorEnv>({ defaultHook: whenInvalid })
  .openapi(listAgents, async (c) => c.json(all(take(await c.var.runtime.agents(c.var.caller))), 200))
  .openapi(showAgent, async (c) =>
    c.json(take(await c.var.runtime.agent(c.var.caller, c.req.valid("param").name)), 200),
  )
  .openapi(transitions, async (c) => {
    const life = await c.var.runtime.agentTransitions(c.var.caller, c.req.valid("param").name);
    return c.json(all(take(life)), 200);
  })
  .openapi(inbox, async (c) => {
    const { name } = take(await c.var.runtime.agent(c.var.caller, c.req.valid("param").name));
    return c.json(await inboxOf(c, name), 200);
  })
  .openapi(listQueues, async (c) => {
    const shared = take(await c.var.runtime.queues(c.var.caller));
    const listed = new Set(shared.map((queue) => queue.name));
    const agents = take(await c.var.runtime.agents(c.var.caller)).filter((agent) => !listed.has(agent.name));
    return c.json(all([...shared, ...(await Promise.all(agents.map((agent) => inboxOf(c, agent.name))))]), 200);
  })
  .openapi(showQueue, async (c) => c.json(await queueOf(c, c.req.valid("param").name), 200))
  .openapi(deadLetters, async (c) => c.json(all(await lettersOf(c, c.req.valid("param").name)), 200));

function all<T>(items: readonly T[]): { items: T[]; next_cursor: null } {
  return { items: [...items], next_cursor: null };
}

/** An agent holds its inbox itself, so it is asked itself. */
async function inboxOf(c: Context<CallerEnv>, agent: string): Promise<QueueView> {
  const scope = c.var.caller.scope_id;
  return { ...(await c.var.ports.agent(scope, agent).queueView(scope)), name: agent };
}

async function queueOf(c: Context<CallerEnv>, queue: string): Promise<QueueView> {
  const shared = await c.var.runtime.queue(c.var.caller, queue);
  if (shared.ok || shared.refusal.code !== "queue_not_found") return take(shared);
  await demandAgent(c, queue);
  return inboxOf(c, queue);
}

async function lettersOf(c: Context<CallerEnv>, queue: string): Promise<DeadLetterView[]> {
  const shared = await c.var.runtime.deadLetters(c.var.caller, queue);
  if (shared.ok || shared.refusal.code !== "queue_not_found") return take(shared);
  await demandAgent(c, queue);
  const scope = c.var.caller.scope_id;
  return c.var.ports.agent(scope, queue).deadLetters(scope);
}

/** Asked of the runtime first: naming an agent nobody made must not make its object. */
async function demandAgent(c: Context<CallerEnv>, queue: string): Promise<void> {
  const known = agentNamePattern.test(queue) && (await c.var.runtime.agent(c.var.caller, queue)).ok;
  if (!known) throw new Refused("queue_not_found", "There is no queue of that name: GET /api/queues lists them.");
}
