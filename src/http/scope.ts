/** Doors of a scope's own things: repositories, tokens, tickets; and of scopes themselves. [HTTP-21] to [HTTP-24] */
import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import { refProblem, repoUrl } from "../domain/repo.ts";
import { callerRoles } from "../domain/view.ts";
import { needsDeploymentAdmin } from "./auth.ts";
import { asks, body, id, json, problems, sends, shapes, whole } from "./openapi.ts";
import type { DoorEnv } from "./ports.ts";
import { Refused, take } from "./problem.ts";
import { resolveRepo } from "./repository.ts";
import { mint } from "./secret.ts";
import { whenInvalid } from "./validation.ts";

const changes = problems(400, 401, 403, 404, 409, 413, 415, 422, 429, 500, 503);

const listRepos = createRoute({
  method: "get",
  path: "/api/repos",
  summary: "List registered repositories",
  ...asks("viewer", "scope"),
  responses: { 200: json("All repositories", whole(shapes.repo)), ...problems(401, 500, 503) },
});
const address = z.string().min(1).max(2048);
const addRepo = createRoute({
  method: "post",
  path: "/api/repos",
  summary: "Register a repository",
  description: "Registering it again changes nothing but its default ref.",
  ...sends("admin", "scope"),
  request: { body: body(z.strictObject({ url: address, default_ref: z.string().min(1).max(255).default("HEAD") })) },
  responses: { 201: json("The repository", shapes.repo), ...changes },
});
const removeRepo = createRoute({
  method: "delete",
  path: "/api/repos",
  summary: "Remove a repository from the registry",
  ...asks("admin", "scope"),
  request: { query: z.strictObject({ url: address }) },
  responses: { 200: json("The removed repository's address", z.strictObject({ url: z.string() })), ...changes },
});
const listTokens = createRoute({
  method: "get",
  path: "/api/tokens",
  summary: "List API tokens, without their secrets",
  ...asks("admin", "scope"),
  responses: { 200: json("All tokens", whole(shapes.token)), ...problems(401, 403, 500, 503) },
});
const addToken = createRoute({
  method: "post",
  path: "/api/tokens",
  summary: "Make an API token",
  description: "`token` is the secret. It is shown this once.",
  ...sends("admin", "scope"),
  request: { body: body(shapes.tokenInput) },
  responses: { 201: json("The token and its secret", shapes.token.extend({ token: z.string() })), ...changes },
});
const revokeToken = createRoute({
  method: "delete",
  path: "/api/tokens/{id}",
  summary: "Revoke an API token, from its next request on",
  ...asks("admin", "scope"),
  request: { params: id },
  responses: { 200: json("The revoked token", shapes.token), ...changes },
});
const opened = z.string().regex(/^\/$|^\/api\/events$|^\/api\/attempts\/[A-Za-z0-9_.-]{1,128}\/terminal$/, {
  message: "use /api/events or /api/attempts/{id}/terminal for a socket, or / for a sign-in link",
});
const addTicket = createRoute({
  method: "post",
  path: "/api/tickets",
  summary: "Make a ticket that opens one path once",
  description:
    "For a socket: 30 seconds. For `/`, a sign-in link `/#ticket=...`: 15 minutes, admins only; with `token_id` it signs in the person of that token, with their role, and both are on record.",
  ...sends("viewer", "scope"),
  request: { body: body(z.strictObject({ path: opened, token_id: z.string().min(1).max(128).optional() })) },
  responses: { 201: json("The ticket", z.strictObject({ ticket: z.string(), expires_at: z.string() })), ...changes },
});

const deploymentAdmin = [{ deployment_admin: [] }];
const listScopes = createRoute({
  method: "get",
  path: "/api/scopes",
  summary: "List scopes",
  tags: ["deployment"],
  security: deploymentAdmin,
  middleware: needsDeploymentAdmin(false),
  responses: {
    200: json("All scopes", whole(z.strictObject({ scope_id: z.string(), name: z.string(), created_at: z.string() }))),
    ...problems(401, 500, 503),
  },
});
const addScope = createRoute({
  method: "post",
  path: "/api/scopes",
  summary: "Make a scope and its first admin token",
  description: "`token` is the secret. It is shown this once.",
  tags: ["deployment"],
  security: deploymentAdmin,
  middleware: needsDeploymentAdmin(true),
  request: { body: body(z.strictObject({ name: z.string().trim().min(1).max(60) })) },
  responses: {
    201: json(
      "The scope",
      z.strictObject({ scope_id: z.string(), name: z.string(), token_id: z.string(), token: z.string() }),
    ),
    ...changes,
  },
});

export const scope = new OpenAPIHono<DoorEnv>({ defaultHook: whenInvalid })
  .openapi(listRepos, async (c) =>
    c.json({ items: take(await c.var.runtime.repos(c.var.caller)), next_cursor: null }, 200),
  )
  .openapi(addRepo, async (c) => {
    const { url: given, default_ref } = c.req.valid("json");
    const url = take(repoUrl(given, c.var.ports.localHost, c.var.ports.gitOrigin));
    const badRef = refProblem(default_ref);
    if (badRef !== null) throw new Refused("ref_not_found", badRef);
    await resolveRepo(c.var.ports, { scope_id: c.var.caller.scope_id, url }, default_ref);
    return c.json(take(await c.var.runtime.addRepo(c.var.caller, { url, default_ref })), 201);
  })
  .openapi(removeRepo, async (c) => {
    const given = c.req.valid("query").url;
    const url = repoUrl(given, c.var.ports.localHost, c.var.ports.gitOrigin);
    // An address that was once allowed and is no longer must still be removable, as it stands in the list.
    return c.json(take(await c.var.runtime.removeRepo(c.var.caller, url.ok ? url.value : given)), 200);
  })
  .openapi(listTokens, async (c) =>
    c.json({ items: take(await c.var.runtime.tokens(c.var.caller)), next_cursor: null }, 200),
  )
  .openapi(addToken, async (c) => {
    const secret = mint(c.var.ports, c.var.caller.scope_id, "cs");
    const input = { ...c.req.valid("json"), id: secret.id, secret_hash: secret.hash };
    return c.json({ ...take(await c.var.runtime.addToken(c.var.caller, input)), token: secret.text }, 201);
  })
  .openapi(revokeToken, async (c) =>
    c.json(take(await c.var.runtime.revokeToken(c.var.caller, c.req.valid("param").id)), 200),
  )
  .openapi(addTicket, async (c) => {
    const { path, token_id } = c.req.valid("json");
    if (path === "/" && callerRoles.indexOf(c.var.caller.role) < callerRoles.indexOf("admin"))
      throw new Refused("forbidden", "A sign-in link needs the role admin: ask one to make it for your token.", {
        needs: "admin",
      });
    if (path !== "/" && token_id !== undefined)
      throw new Refused("bad_request", "token_id belongs to a sign-in link: use it with the path / alone.");
    const ticket = mint(c.var.ports, c.var.caller.scope_id, "cst");
    const asked = { ticket_hash: ticket.hash, path, ...(token_id === undefined ? {} : { token_id }) };
    const { expires_at } = take(await c.var.runtime.addTicket(c.var.caller, asked));
    return c.json({ ticket: ticket.text, expires_at }, 201);
  })
  .openapi(listScopes, async (c) => c.json({ items: [...(await c.var.ports.scopes())], next_cursor: null }, 200))
  .openapi(addScope, async (c) => {
    const { ports } = c.var;
    const { name } = c.req.valid("json");
    const scope_id = newScopeId(ports.random());
    const first = mint(ports, scope_id, "cs");
    // The object first: should listing it fail, what is left is a scope that nobody can address.
    take(await ports.runtime(scope_id).initScope({ scope_id, name, token_id: first.id, token_hash: first.hash }));
    await ports.addScope({ scope_id, name });
    return c.json({ scope_id, name, token_id: first.id, token: first.text }, 201);
  });

/** 16 of a-z0-9. 36 does not divide 256: the slight lean to the first letters costs under one bit of 80. */
function newScopeId(bytes: Uint8Array): string {
  return [...bytes.subarray(0, 16)].map((byte) => (byte % 36).toString(36)).join("");
}
