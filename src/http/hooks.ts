/**
 * Doors of hooks: an admin's for making them, and the public one, which takes a signed request and asks for a task. What
 * it does not take it refuses in the same words, whether the hook, the signature or the time is wrong. [HOOK-*]
 */
import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { type HookView, hookBody, hookId, hookTaken, scopeOfHook } from "../domain/hooks.ts";
import { randomId } from "../domain/ids.ts";
import { keyTwice } from "../domain/json-twice.ts";
import { refProblem, repoUrl } from "../domain/repo.ts";
import { secretText, signedId, signingSecret } from "../domain/webhook-signature.ts";
import { limits } from "../limits.ts";
import { checkJson, decode, demandJson, readBytes } from "./body.ts";
import { asks, body, id, json, problems, sends, shapes, whole } from "./openapi.ts";
import { demandPlan } from "./plan.ts";
import type { CallerEnv, DoorEnv, DoorPorts } from "./ports.ts";
import { Refused, take } from "./problem.ts";
import { resolveRepo } from "./repository.ts";
import { whenInvalid } from "./validation.ts";

const list = createRoute({
  method: "get",
  path: "/api/hooks",
  summary: "List hooks, without their secrets",
  ...asks("admin", "webhooks"),
  responses: { 200: json("All hooks", whole(shapes.hook)), ...problems(401, 403, 500, 503) },
});
const create = createRoute({
  method: "post",
  path: "/api/hooks",
  summary: "Make an address by which others ask for tasks",
  description:
    "Whoever holds the secret may ask for tasks in this one repository, as an outsider: nothing runs before a person approves, and labels sent along count for no standing approval. `secret` is shown this once.",
  ...sends("admin", "webhooks"),
  request: { body: body(shapes.hookInput) },
  responses: {
    201: json("The hook and its secret", shapes.hookMade),
    ...problems(400, 401, 403, 409, 413, 415, 422, 429, 500, 503),
  },
});
const remove = createRoute({
  method: "delete",
  path: "/api/hooks/{id}",
  summary: "Remove a hook, from its next request on",
  ...asks("admin", "webhooks"),
  request: { params: id },
  responses: { 200: json("The hook as it stood last", shapes.hook), ...problems(401, 403, 404, 500, 503) },
});
const rotate = createRoute({
  method: "post",
  path: "/api/hooks/{id}/rotate",
  summary: "Give a hook a new secret",
  description: "For 24 hours the secret before is taken as well. `secret` is shown this once.",
  ...asks("admin", "webhooks"),
  request: { params: id },
  responses: { 200: json("The hook and its new secret", shapes.hookMade), ...problems(401, 403, 404, 500, 503) },
});
const signed = z.object({
  "webhook-id": z
    .string()
    .optional()
    .describe("Of the sender's choosing, no dot in it: the same once more makes nothing"),
  "webhook-timestamp": z.string().optional().describe("Seconds since the epoch, within five minutes"),
  "webhook-signature": z.string().optional().describe("`v1,<base64>`, HMAC-SHA256 over `<id>.<timestamp>.<body>`"),
});
const run = createRoute({
  method: "post",
  path: "/hooks/{id}",
  summary: "Ask for a task with a request signed as Standard Webhooks has it",
  description:
    "The body is at most 256 KB of JSON. What is unknown or signed wrongly is answered 401, and nothing is kept of it.",
  tags: ["webhooks"],
  security: [],
  request: { params: id, headers: signed, body: { content: { "application/json": { schema: shapes.hookBody } } } },
  responses: { 202: json("The task", hookTaken), ...problems(400, 401, 403, 413, 415, 422, 429, 500, 503) },
});

export const hooks = new OpenAPIHono<DoorEnv>({ defaultHook: whenInvalid })
  .openapi(list, async (c) => c.json({ items: take(await c.var.runtime.hooks(c.var.caller)), next_cursor: null }, 200))
  .openapi(create, async (c) => {
    const { ports, caller, runtime } = c.var;
    const input = c.req.valid("json");
    const url = take(repoUrl(input.repo, ports.localHost, ports.gitOrigin));
    const badRef = refProblem(input.ref);
    if (badRef !== null) throw new Refused("ref_not_found", badRef);
    if (!(await runtime.hasRepo(caller, url)))
      throw new Refused("repo_not_registered", `${url} is not registered with this scope: POST /api/repos.`, {
        repo: url,
      });
    await resolveRepo(ports, { scope_id: caller.scope_id, url }, input.ref);
    const made = hookId(ports.scopeMacKey, caller.scope_id, randomId(ports.random()));
    return c.json(withSecret(c, take(await runtime.addHook(caller, { ...input, repo: url, id: made }))), 201);
  })
  .openapi(remove, async (c) =>
    c.json(take(await c.var.runtime.removeHook(c.var.caller, c.req.valid("param").id)), 200),
  )
  .openapi(rotate, async (c) =>
    c.json(withSecret(c, take(await c.var.runtime.rotateHook(c.var.caller, c.req.valid("param").id))), 200),
  );
// By itself, for its body is read as bytes, once, and by nobody before: the signature is over the bytes.
hooks.openAPIRegistry.registerPath(run);
hooks.post("/hooks/:id", async (c) => c.json(await takeHook(c), 202));

async function takeHook(c: Context<DoorEnv>): Promise<z.infer<typeof hookTaken>> {
  demandJson(c);
  const { ports } = c.var;
  const hook = c.req.param("id") ?? "";
  const scope_id = scopeOfHook(ports.scopeMacKey, hook);
  const bytes = await readBytes(c.req.raw, limits.hook_body_bytes);
  const versions = scope_id === null ? [] : await ports.runtime(scope_id).hookSecrets(scope_id, hook);
  const message_id = whoSigned(c, ports, { hook, scope_id: scope_id ?? "", versions, bytes });
  if (message_id === null || scope_id === null)
    throw new Refused(
      "unauthenticated",
      "There is no such hook, or its secret did not sign this request now: check the address, the secret and the clock.",
    );
  const input = readBody(bytes);
  if (input.plan !== undefined) demandPlan(input.plan, ports.executorMind);
  const done = await ports.runtime(scope_id).runHook(scope_id, hook, { message_id, body: input });
  if (done.ok) return { task_id: done.value.task_id };
  const { code, detail, extra = {} } = done.refusal;
  const wait = extra.retry_after_s;
  throw new Refused(code, detail, extra, typeof wait === "number" ? { "retry-after": String(wait) } : {});
}
/** For a hook that is not there as much is reckoned as for one that is. */
function whoSigned(
  c: Context<DoorEnv>,
  ports: DoorPorts,
  asked: { hook: string; scope_id: string; versions: readonly number[]; bytes: Uint8Array },
): string | null {
  const { hook, scope_id, versions, bytes } = asked;
  const headers = {
    id: c.req.header("webhook-id") ?? null,
    timestamp: c.req.header("webhook-timestamp") ?? null,
    signature: c.req.header("webhook-signature") ?? null,
  };
  const secrets = (versions.length === 0 ? [0] : versions).map((version) =>
    signingSecret(ports.scopeMacKey, { use: "hook", scope_id, id: hook, version }),
  );
  const message_id = signedId(headers, bytes, secrets, ports.now());
  return versions.length === 0 ? null : message_id;
}
function readBody(bytes: Uint8Array) {
  const text = decode(bytes);
  const value = checkJson(text);
  const twice = keyTwice(text);
  if (twice !== null)
    throw new Refused("bad_request", `The key ${JSON.stringify(twice.slice(0, 80))} stands twice: leave one out.`);
  const read = hookBody.safeParse(value);
  if (read.success) return read.data;
  const [first] = read.error.issues;
  const where = first === undefined || first.path.length === 0 ? "" : `${first.path.join(".")}: `;
  throw new Refused(
    "bad_request",
    `The body is not right: ${where}${first?.message ?? ""}. Correct it and send it anew.`,
  );
}

function withSecret(c: Context<CallerEnv>, view: HookView): HookView & { secret: string } {
  const { scope_id } = c.var.caller;
  const of = { use: "hook", scope_id, id: view.id, version: view.secret_version } as const;
  return { ...view, secret: secretText(signingSecret(c.var.ports.scopeMacKey, of)) };
}
