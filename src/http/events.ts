/**
 * Doors of what happens now: the scope's events as a socket, a stream or a page, and an attempt's
 * terminal. Sockets are handed to the object that holds them, with the caller we vouch for. [HTTP-27] to [HTTP-30]
 */
import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { Caller } from "../domain/view.ts";
import { limits } from "../limits.ts";
import { isUpgrade } from "./auth.ts";
import { asks, id, problems, shapes } from "./openapi.ts";
import type { CallerEnv, DoorEnv } from "./ports.ts";
import { Refused, take } from "./problem.ts";
import { stream } from "./sse.ts";
import { whenInvalid } from "./validation.ts";

const count = z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
const ticket = z.string().max(200).optional().describe("For a socket: a ticket of POST /api/tickets for this path");
const socket = { 101: { description: "The socket" } };

const events = createRoute({
  method: "get",
  path: "/api/events",
  summary: "Follow the scope's events",
  description:
    'With `Upgrade: websocket` a socket: send `{"type":"subscribe","events":[..],"after":seq}`. With `Accept: application/json` one page. Otherwise server-sent events, going on after `Last-Event-ID` or `after`; without either, from now on. Where events were dropped, `{"type":"reset","oldest":seq}` says so.',
  ...asks("viewer", "events"),
  request: {
    query: z.strictObject({
      after: count.optional(),
      types: z.string().min(1).max(1000).optional().describe("Comma-separated event types"),
      limit: z.coerce.number().int().min(1).max(limits.page_max).default(limits.page_max),
      wait_ms: z.coerce
        .number()
        .int()
        .min(0)
        .max(limits.wait_poll_ms)
        .default(0)
        .describe("How long a page may wait for a first event"),
      ticket,
    }),
  },
  responses: {
    ...socket,
    200: {
      description: "Events, oldest first",
      content: {
        "application/json": {
          schema: z.strictObject({
            items: z.array(shapes.event),
            last_seq: z.number().int(),
            reset: z.number().int().nullable(),
          }),
        },
        "text/event-stream": { schema: z.string() },
      },
    },
    ...problems(400, 401, 500, 503),
  },
});
const terminal = createRoute({
  method: "get",
  path: "/api/attempts/{id}/terminal",
  summary: "Follow an attempt's output",
  description: "A socket: binary frames are output from byte `from` on, text frames are JSON.",
  ...asks("viewer", "events"),
  request: { params: id, query: z.strictObject({ from: count.default(0), ticket }) },
  responses: { ...socket, ...problems(400, 401, 404, 500, 503) },
});

export const live = new OpenAPIHono<DoorEnv>({ defaultHook: whenInvalid })
  .openapi(events, async (c) => {
    if (isUpgrade(c)) return c.var.runtime.fetch(vouched(c.req.raw, c.req.url, c.var.caller));
    const { after, types, limit, wait_ms } = c.req.valid("query");
    const wanted = types === undefined ? null : types.split(",").filter((type) => type !== "");
    if (!wantsJson(c)) return stream(c, { after: after ?? lastEventId(c), types: wanted });
    const query = { after: after ?? lastEventId(c) ?? 0, limit, types: wanted, wait_ms };
    const found = take(await c.var.runtime.events(c.var.caller, query));
    return c.json({ items: found.events, last_seq: found.last_seq, reset: found.reset }, 200);
  })
  .openapi(terminal, async (c) => {
    if (!isUpgrade(c)) throw new Refused("bad_request", "A terminal is a socket: open this address with a WebSocket.");
    const { id: attempt } = c.req.valid("param");
    const { agent } = take(await c.var.runtime.attemptAgent(c.var.caller, attempt));
    const asked = new URLSearchParams({ attempt, from: String(c.req.valid("query").from) });
    const door = c.var.ports.agent(c.var.caller.scope_id, agent);
    return door.fetch(vouched(c.req.raw, new URL(`/terminal?${asked}`, c.req.url).href, c.var.caller));
  });

function wantsJson(c: Context): boolean {
  const accept = c.req.header("accept") ?? "";
  return accept.includes("application/json") && !accept.includes("text/event-stream");
}

function lastEventId(c: Context<CallerEnv>): number | null {
  const header = c.req.header("last-event-id");
  if (header === undefined) return null;
  const seq = count.safeParse(header.trim() === "" ? "none" : header);
  if (!seq.success) throw new Refused("bad_request", "Last-Event-ID must be the seq of an event.");
  return seq.data;
}

/** The upgrade as an object may see it: no secret of the caller's, and a caller that only we can have written. */
function vouched(request: Request, address: string, caller: Caller): Request {
  const url = new URL(address);
  url.searchParams.delete("ticket");
  const headers = new Headers(request.headers);
  for (const secret of ["authorization", "cookie"]) headers.delete(secret);
  headers.set("x-countersign-caller", ascii(JSON.stringify(caller)));
  return new Request(url, { method: "GET", headers });
}

/** A header holds no letters beyond Latin-1, and a person's name may. */
function ascii(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
