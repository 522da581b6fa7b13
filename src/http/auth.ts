/**
 * Who asks, and whether they may. A bearer token speaks for itself; a cookie is only believed when
 * the page of this very origin sent it; a socket opens with a bearer token or a ticket. [HTTP-3] [HTTP-4] [HTTP-5] [HTTP-6]
 */
import type { Context, MiddlewareHandler } from "hono";
import { getCookie } from "hono/cookie";
import { createMiddleware } from "hono/factory";
import { type CredentialPrefix, sameText, secretHash } from "../domain/credential.ts";
import { type Caller, type CallerRole, callerRoles } from "../domain/view.ts";
import { readJson } from "./body.ts";
import type { CallerEnv, DoorEnv, DoorPorts } from "./ports.ts";
import { Refused, take } from "./problem.ts";
import { recognise } from "./secret.ts";

export const sessionCookie = "cs_session";

interface Asked {
  readonly caller: Caller;
  readonly credentialHash: string;
}

/** Lets through whoever holds the role; with `body`, reads the JSON afterwards, so that strangers cannot make us read. */
export function needs(role: CallerRole, body = false): MiddlewareHandler<CallerEnv> {
  return createMiddleware<CallerEnv>(async (c, next) => {
    admit(c, role, isUpgrade(c) ? await whoOpens(c) : await whoAsks(c));
    if (body) await readJson(c);
    await next();
  });
}

/** The holder of COUNTERSIGN_ADMIN_TOKEN, who stands above every scope. */
export function needsDeploymentAdmin(body: boolean): MiddlewareHandler<DoorEnv> {
  return createMiddleware<DoorEnv>(async (c, next) => {
    const { adminTokenHash } = c.var.ports;
    if (adminTokenHash === "")
      throw new Refused(
        "unavailable",
        "Scopes cannot be managed: set the secret COUNTERSIGN_ADMIN_TOKEN of this deployment.",
      );
    const given = bearer(c.req.header("authorization"));
    // Hashes are compared, so that the time taken tells nothing about the token.
    if (given === null || !sameText(secretHash(given), adminTokenHash))
      throw new Refused(
        "unauthenticated",
        "This needs the deployment's admin token: send Authorization: Bearer <COUNTERSIGN_ADMIN_TOKEN>.",
      );
    if (body) await readJson(c);
    await next();
  });
}

export function isUpgrade(c: Context): boolean {
  return c.req.header("upgrade")?.toLowerCase() === "websocket";
}

function admit(c: Context<CallerEnv>, role: CallerRole, asked: Asked): void {
  const { caller } = asked;
  if (callerRoles.indexOf(caller.role) < callerRoles.indexOf(role))
    throw new Refused(
      "forbidden",
      `This needs the role ${role}; ${caller.subject} has ${caller.role}. Ask an admin of the scope for it.`,
      {
        needs: role,
      },
    );
  c.set("caller", caller);
  c.set("credentialHash", asked.credentialHash);
  c.set("runtime", c.var.ports.runtime(caller.scope_id));
}

async function whoAsks(c: Context<CallerEnv>): Promise<Asked> {
  const header = c.req.header("authorization");
  if (header !== undefined) {
    const asked = await known(c.var.ports, bearer(header) ?? "", "cs");
    if (asked !== null) return asked;
    throw new Refused(
      "unauthenticated",
      "The token is unknown or was revoked: ask an admin of the scope for a new one.",
      {},
      {
        "www-authenticate": 'Bearer realm="countersign", error="invalid_token"',
      },
    );
  }
  const asked = await sessionOf(c);
  if (asked !== null) return asked;
  throw new Refused(
    "unauthenticated",
    "Nobody is signed in: send Authorization: Bearer <token>, or open a sign-in link.",
  );
}

/** Null without a live session. Throws when the request could have been sent by a page that is not ours. */
export async function sessionOf(c: Context): Promise<Asked | null> {
  const cookie = getCookie(c, sessionCookie);
  if (cookie === undefined) return null;
  if (c.req.method !== "GET" && c.req.method !== "HEAD") demandOurPage(c);
  const { ports } = (c as Context<DoorEnv>).var; // Every route of the app runs behind the middleware that sets it.
  return known(ports, cookie, "css");
}

/** No other site's page can forge `Origin`. That a body is JSON, which no form can send, is `readJson`'s to demand. */
function demandOurPage(c: Context): void {
  if (!isSameOrigin(c))
    throw new Refused(
      "forbidden",
      "A session changes things only from its own page: the Origin header must name this service.",
    );
}

export function isSameOrigin(c: Context): boolean {
  return c.req.header("origin") === new URL(c.req.url).origin;
}

/** Browsers send cookies with every socket, whoever's page opens it: so a cookie opens none. */
async function whoOpens(c: Context<CallerEnv>): Promise<Asked> {
  if (c.req.header("authorization") !== undefined) return whoAsks(c);
  const { ports } = c.var;
  const ticket = recognise(ports, c.req.query("ticket") ?? "", "cst");
  if (ticket === null)
    throw new Refused(
      "unauthenticated",
      "A socket opens with ?ticket= from POST /api/tickets, or with Authorization: Bearer <token>.",
    );
  const path = new URL(c.req.url).pathname;
  const caller = take(await ports.runtime(ticket.scope).redeemTicket(ticket.scope, { ticket_hash: ticket.hash, path }));
  return { caller, credentialHash: ticket.hash };
}

/** The prefix keeps the kinds apart: a token is no cookie, and a session's secret no token. */
async function known(ports: DoorPorts, text: string, prefix: CredentialPrefix): Promise<Asked | null> {
  const secret = recognise(ports, text, prefix);
  if (secret === null) return null;
  const caller = await ports.runtime(secret.scope).authenticate(secret.scope, secret.hash);
  return caller === null ? null : { caller, credentialHash: secret.hash };
}

function bearer(header: string | undefined): string | null {
  return /^Bearer +(\S+)$/i.exec(header ?? "")?.[1] ?? null;
}
