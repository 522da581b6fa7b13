/** Doors of agents: who works, on what, and what waits for them. [HTTP-19] */
import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import { asks, json, name, problems, shapes, whole } from "./openapi.ts";
import type { DoorEnv } from "./ports.ts";
import { take } from "./problem.ts";
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
  responses: { 200: json("The queue", shapes.queueDetail), ...readOne },
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
    return c.json(take(await c.var.runtime.queueDetail(c.var.caller, name)), 200);
  });

function all<T>(items: readonly T[]): { items: T[]; next_cursor: null } {
  return { items: [...items], next_cursor: null };
}
