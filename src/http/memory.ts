/** Doors of what a scope remembers: plans, decisions and insights, searched by words; an admin has one forgotten. [MEM-*] */
import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import { memoryKinds } from "../domain/memory.ts";
import { limits } from "../limits.ts";
import { asks, body, id, json, problems, sends, shapes } from "./openapi.ts";
import type { DoorEnv } from "./ports.ts";
import { take } from "./problem.ts";
import { whenInvalid } from "./validation.ts";

const list = createRoute({
  method: "get",
  path: "/api/memory",
  summary: "Search what the scope remembers, best first; without words newest first",
  description:
    "Approved plans, decisions with their comments, and what agents found out. Any of the words will do; signs between them mean nothing.",
  ...asks("viewer", "memory"),
  request: {
    query: z.strictObject({
      q: z.string().max(500).optional(),
      kind: z.enum(memoryKinds).optional(),
      limit: z.coerce.number().int().min(1).max(limits.page_max).default(limits.page_default),
      cursor: z
        .string()
        .regex(/^\d{1,6}$/, "use the next_cursor of the page before")
        .optional(),
    }),
  },
  responses: { 200: json("A page of memories", shapes.memoryPage), ...problems(400, 401, 500, 503) },
});
const forget = createRoute({
  method: "delete",
  path: "/api/memory/{id}",
  summary: "Have one memory forgotten",
  description:
    "Its title and text are wiped and no search finds it again; of an insight they go from the attempt that told it, too. The record stays as it was: the plan or the decision it tells of, what agents printed and were told, and the audit. Again, it answers as it stands.",
  ...sends("admin", "memory"),
  request: { params: id, body: body(shapes.memoryForgetting) },
  responses: {
    200: json("What is left of it", shapes.memory),
    ...problems(400, 401, 403, 404, 413, 415, 500, 503),
  },
});

export const memory = new OpenAPIHono<DoorEnv>({ defaultHook: whenInvalid })
  .openapi(list, async (c) => {
    const { q = "", kind = null, limit, cursor = "0" } = c.req.valid("query");
    const asked = { query: q, kind, limit, offset: Number(cursor) };
    return c.json(take(await c.var.runtime.memories(c.var.caller, asked)), 200);
  })
  .openapi(forget, async (c) => {
    const { reason } = c.req.valid("json");
    return c.json(take(await c.var.runtime.forgetMemory(c.var.caller, c.req.valid("param").id, reason)), 200);
  });
