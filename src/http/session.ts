/** Doors of a person in a browser: a sign-in link becomes a session, a session ends, and who am I. [HTTP-25] [HTTP-26] */
import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { deleteCookie, setCookie } from "hono/cookie";
import { createMiddleware } from "hono/factory";
import { callerRole } from "../domain/view.ts";
import { limits } from "../limits.ts";
import { isSameOrigin, sessionCookie, sessionOf } from "./auth.ts";
import { readJson } from "./body.ts";
import { asks, body, json, problems } from "./openapi.ts";
import type { DoorEnv } from "./ports.ts";
import { Refused, take } from "./problem.ts";
import { mint, recognise } from "./secret.ts";
import { whenInvalid } from "./validation.ts";

const me = z
  .strictObject({ scope_id: z.string(), subject: z.string(), role: callerRole, via: z.enum(["token", "session"]) })
  .openapi("Me");

/** Another site may not sign a person in either: they would work in somebody else's scope. */
const fromOurPage = createMiddleware<DoorEnv>(async (c, next) => {
  if (c.req.header("origin") !== undefined && !isSameOrigin(c))
    throw new Refused("forbidden", "A sign-in link works only on the page of this service.");
  await readJson(c);
  await next();
});

const signIn = createRoute({
  method: "post",
  path: "/auth/session",
  summary: "Turn a sign-in ticket into a session cookie",
  tags: ["session"],
  security: [],
  middleware: fromOurPage,
  request: { body: body(z.strictObject({ ticket: z.string().max(200) })) },
  responses: { 201: json("Who is signed in; the cookie is set", me), ...problems(400, 401, 403, 413, 415, 500, 503) },
});
const signOut = createRoute({
  method: "delete",
  path: "/auth/session",
  summary: "End the session",
  tags: ["session"],
  security: [{ session: [] }],
  responses: {
    200: json("Nobody is signed in any more", z.strictObject({ signed_out: z.literal(true) })),
    ...problems(403, 415, 500, 503),
  },
});
const whoAmI = createRoute({
  method: "get",
  path: "/api/me",
  summary: "Show who asks",
  ...asks("viewer", "session"),
  responses: { 200: json("The caller", me), ...problems(401, 500, 503) },
});

export const session = new OpenAPIHono<DoorEnv>({ defaultHook: whenInvalid })
  .openapi(signIn, async (c) => {
    const { ports } = c.var;
    const ticket = recognise(ports, c.req.valid("json").ticket, "cst");
    if (ticket === null)
      throw new Refused("unauthenticated", "This is not a sign-in ticket of this service: open a fresh sign-in link.");
    const secret = mint(ports, ticket.scope, "css");
    const opened = { ticket_hash: ticket.hash, session_id: secret.id, session_hash: secret.hash };
    const { scope_id, subject, role } = take(await ports.runtime(ticket.scope).openSession(ticket.scope, opened));
    setCookie(c, sessionCookie, secret.text, { ...attributes(c), maxAge: limits.session_ttl_ms / 1000 });
    return c.json({ scope_id, subject, role, via: "session" as const }, 201);
  })
  .openapi(signOut, async (c) => {
    // Signing out twice, or after the session ended by itself, is as good as once.
    const asked = await sessionOf(c);
    if (asked !== null) take(await c.var.ports.runtime(asked.caller.scope_id).closeSession(asked.caller));
    deleteCookie(c, sessionCookie, attributes(c));
    return c.json({ signed_out: true as const }, 200);
  })
  .openapi(whoAmI, (c) => {
    const { scope_id, subject, role, via } = c.var.caller;
    // Whom GitHub vouches for decides there and never comes through this door.
    return c.json({ scope_id, subject, role, via: via === "session" ? via : ("token" as const) }, 200);
  });

function attributes(c: Context) {
  const secure = new URL(c.req.url).protocol === "https:";
  return { path: "/", httpOnly: true, sameSite: "Strict", secure } as const;
}
