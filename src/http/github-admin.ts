/**
 * Doors of GitHub's App: which installation and repository belong to which scope, for the deployment's admin; what begins
 * a task in a repository, for the people of its scope. [GHL-40] to [GHL-47]
 */
import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import { type GithubOverview, installUrl } from "../domain/github/views.ts";
import { needsDeploymentAdmin } from "./auth.ts";
import { asks, body, json, problems, sends, shapes, whole } from "./openapi.ts";
import type { DoorEnv, DoorPorts } from "./ports.ts";
import { Refused } from "./problem.ts";
import { whenInvalid } from "./validation.ts";

const deployment = { tags: ["github"], security: [{ deployment_admin: [] }] };
const named = { owner: z.string().min(1).max(100), name: z.string().min(1).max(100) };
const installationId = z
  .string()
  .regex(/^[1-9][0-9]{0,14}$/, "is a number")
  .transform(Number);
const changes = problems(400, 401, 404, 413, 415, 500, 503);

const overview = createRoute({
  method: "get",
  path: "/api/github",
  summary: "Say how the deployment's GitHub App stands",
  ...deployment,
  middleware: needsDeploymentAdmin(false),
  responses: { 200: json("How it stands", shapes.githubOverview), ...problems(401, 500, 503) },
});
const list = createRoute({
  method: "get",
  path: "/api/github/installations",
  summary: "List the App's installations, and which scope has which repository",
  ...deployment,
  middleware: needsDeploymentAdmin(false),
  responses: { 200: json("All installations", whole(shapes.githubInstallation)), ...problems(401, 500, 503) },
});
const assign = createRoute({
  method: "put",
  path: "/api/github/installations/{id}",
  summary: "Assign an installation to a scope, or to none",
  description: "Its repositories are linked within seconds. What another scope still worked on there is stopped first.",
  ...deployment,
  middleware: needsDeploymentAdmin(true),
  request: { params: z.strictObject({ id: installationId }), body: body(shapes.githubAssignment) },
  responses: { 200: json("The installation", shapes.githubInstallation), ...changes },
});
const assignRepository = createRoute({
  method: "put",
  path: "/api/github/installations/{id}/repositories/{owner}/{name}",
  summary: "Assign one repository to a scope of its own, or to where its installation belongs",
  ...deployment,
  middleware: needsDeploymentAdmin(true),
  request: { params: z.strictObject({ id: installationId, ...named }), body: body(shapes.githubAssignment) },
  responses: { 200: json("The installation", shapes.githubInstallation), ...changes },
});
const links = createRoute({
  method: "get",
  path: "/api/github/repositories",
  summary: "List the scope's repositories on GitHub, and what begins a task in each",
  ...asks("viewer", "github"),
  responses: { 200: json("All linked repositories", whole(shapes.githubLink)), ...problems(401, 500, 503) },
});
const setTriggers = createRoute({
  method: "put",
  path: "/api/github/repositories/{owner}/{name}",
  summary: "Set what begins a task in a repository",
  description:
    "The whole of it: a trigger that is left out is as it is by default. Decisions by comment are always heard.",
  ...sends("admin", "github"),
  request: { params: z.strictObject(named), body: body(shapes.githubTriggers) },
  responses: { 200: json("The repository", shapes.githubLink), ...problems(400, 401, 403, 404, 413, 415, 500, 503) },
});

export const githubAdmin = new OpenAPIHono<DoorEnv>({ defaultHook: whenInvalid })
  .openapi(overview, async (c) => c.json(await overviewOf(c.var.ports), 200))
  .openapi(list, async (c) =>
    c.json({ items: [...(await c.var.ports.githubAdmin.installations())], next_cursor: null }, 200),
  )
  .openapi(assign, async (c) => {
    const { id } = c.req.valid("param");
    const { scope_id } = c.req.valid("json");
    await demandScope(c.var.ports, scope_id);
    const done = await c.var.ports.githubAdmin.assign(id, scope_id);
    if (done === null) throw noInstallation(id);
    return c.json(done, 200);
  })
  .openapi(assignRepository, async (c) => {
    const { id, owner, name } = c.req.valid("param");
    const { scope_id } = c.req.valid("json");
    await demandScope(c.var.ports, scope_id);
    const { githubAdmin } = c.var.ports;
    const found = (await githubAdmin.installations()).find((one) => one.id === id);
    if (found === undefined) throw noInstallation(id);
    const covers = found.repositories.find((one) => sameRepository(one.full_name, owner, name));
    const done =
      covers === undefined
        ? null
        : await githubAdmin.assignRepository({ installation_id: id, repository_id: covers.id }, scope_id);
    if (done === null)
      throw new Refused(
        "repo_not_found",
        `Installation ${id} does not cover ${owner}/${name}: have its owner add it at GitHub, or look at GET /api/github/installations.`,
      );
    return c.json(done, 200);
  })
  .openapi(links, async (c) => {
    const { githubAdmin } = c.var.ports;
    return c.json({ items: [...(await githubAdmin.links(c.var.caller.scope_id))], next_cursor: null }, 200);
  })
  .openapi(setTriggers, async (c) => {
    const { owner, name } = c.req.valid("param");
    const { githubAdmin } = c.var.ports;
    const { scope_id, subject } = c.var.caller;
    const linked = await githubAdmin.links(scope_id);
    const found = linked.find(({ repository }) => sameRepository(repository.full_name, owner, name));
    const { triggers } = c.req.valid("json");
    const done =
      found === undefined ? null : await githubAdmin.setTriggers(scope_id, found.repository.id, triggers, subject);
    if (done === null)
      throw new Refused(
        "repo_not_found",
        `${owner}/${name} is not linked to this scope: GET /api/github/repositories lists what is; the deployment's admin assigns it.`,
      );
    return c.json(done, 200);
  });

/** GitHub's names are the same whatever their case. */
function sameRepository(full_name: string, owner: string, name: string): boolean {
  return full_name.toLowerCase() === `${owner}/${name}`.toLowerCase();
}
function noInstallation(id: number): Refused {
  return new Refused(
    "not_found",
    `There is no installation ${id} of the App: GET /api/github/installations lists them; one that was just made shows up once GitHub has told of it.`,
  );
}
/** Nobody's repositories are given to a scope that is not there, where they would wait for ever. */
async function demandScope(ports: DoorPorts, scope_id: string | null): Promise<void> {
  if (scope_id === null || (await ports.githubAdmin.scopeStands(scope_id))) return;
  throw new Refused("not_found", `There is no scope ${scope_id}: GET /api/scopes lists them.`);
}

async function overviewOf({ githubAdmin }: DoorPorts): Promise<GithubOverview> {
  const { app, lacks } = githubAdmin;
  const problems = lacks.map(({ name, detail }) => `${name}: ${detail}`);
  const default_scope_id = app?.default_scope_id ?? null;
  if (default_scope_id !== null && !(await githubAdmin.scopeStands(default_scope_id)))
    problems.push(
      `GITHUB_SCOPE: There is no scope ${default_scope_id}, so new installations wait. GET /api/scopes lists them.`,
    );
  return {
    configured: app !== null,
    slug: app?.slug ?? null,
    install_url: app === null ? null : installUrl(app.url, app.slug),
    default_scope_id,
    problems,
    troubles: app === null ? [] : [...(await githubAdmin.troubles())],
    ignored: [...(await githubAdmin.counts())],
  };
}
