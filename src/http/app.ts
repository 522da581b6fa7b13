/**
 * The whole of the HTTP door: parse, authorize, ask an object, answer. Everything it needs arrives as
 * `ports`, so a test runs all of it with `app.request()`. [HTTP-1] [HTTP-2] [HTTP-10] [HTTP-31] [HTTP-32]
 */
import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { approvals } from "./approvals.ts";
import { wholeAudit } from "./audit.ts";
import { live } from "./events.ts";
import { github } from "./github.ts";
import { githubAdmin } from "./github-admin.ts";
import { apiHeaders, keyHeaders, pageHeaders, under } from "./headers.ts";
import { hooks } from "./hooks.ts";
import { memory } from "./memory.ts";
import { measurements } from "./metrics.ts";
import { document, json, problems, securitySchemes } from "./openapi.ts";
import { policies } from "./policy.ts";
import type { DoorEnv, DoorPorts, Feature } from "./ports.ts";
import { problem, Refused, refusedBy } from "./problem.ts";
import { queues } from "./queues.ts";
import { records } from "./records.ts";
import { scope } from "./scope.ts";
import { hex } from "./secret.ts";
import { session } from "./session.ts";
import { standing } from "./standing.ts";
import { tasks } from "./tasks.ts";
import { team } from "./team.ts";
import { tokens } from "./tokens.ts";
import { whenInvalid } from "./validation.ts";
import { webhooks } from "./webhooks.ts";

const feature = z.strictObject({
  name: z.string(),
  ok: z.boolean(),
  detail: z.string(),
  optional: z.boolean().exactOptional(),
});
const health = createRoute({
  method: "get",
  path: "/healthz",
  summary: "Say what works and what this deployment lacks",
  tags: ["deployment"],
  security: [],
  responses: {
    200: json("It serves", z.strictObject({ status: z.enum(["ok", "degraded"]), features: z.array(feature) })),
    ...problems(503),
  },
});
const publicKey = z.strictObject({
  kty: z.string(),
  crv: z.string(),
  x: z.string(),
  kid: z.string(),
  alg: z.string(),
  use: z.string(),
});
const jwks = createRoute({
  method: "get",
  path: "/.well-known/jwks.json",
  summary: "The public keys that verify approval tokens (RFC 7517)",
  tags: ["deployment"],
  security: [],
  responses: {
    200: json("Every key, retired ones too", z.strictObject({ keys: z.array(publicKey) })),
    ...problems(500),
  },
});
const openapi = createRoute({
  method: "get",
  path: "/api/openapi.json",
  summary: "This document",
  tags: ["deployment"],
  security: [],
  responses: { 200: json("OpenAPI 3.1", z.record(z.string(), z.unknown())), ...problems(500) },
});

export function createApp(ports: DoorPorts) {
  const app = new OpenAPIHono<DoorEnv>({ defaultHook: whenInvalid });
  app.use("*", async (c, next) => {
    c.set("ports", ports);
    await next();
    // A socket's answer belongs to the platform: a copy would lose the socket.
    if (c.res.status === 101 || !isOurs(c.req.path)) return;
    const keys = c.req.path === jwks.path && c.res.ok;
    c.res = under(c.res, keys ? keyHeaders() : apiHeaders(), c.req.url);
  });
  const api = app
    .route("/", tasks)
    .route("/", approvals)
    .route("/", tokens)
    .route("/", standing)
    .route("/", memory)
    .route("/", team)
    .route("/", queues)
    .route("/", policies)
    .route("/", records)
    .route("/", wholeAudit)
    .route("/", measurements)
    .route("/", scope)
    .route("/", webhooks)
    .route("/", hooks)
    .route("/", github)
    .route("/", githubAdmin)
    .route("/", session)
    .route("/", live)
    .openapi(health, async (c) => {
      const features = await ask(ports);
      return c.json(
        {
          status: features.every(({ ok, optional }) => ok || optional) ? ("ok" as const) : ("degraded" as const),
          features,
        },
        200,
      );
    })
    .openapi(jwks, (c) => c.json({ keys: [...ports.publicKeys] }, 200));
  api.openapi(openapi, (c) => c.json(describe(api), 200));
  const methods = methodTable(api);
  api.onError(answerError);
  // Caught here: what a not-found handler throws would pass by the headers every answer gets.
  api.notFound((c) => elsewhere(c, methods).catch((error: unknown) => answerError(error, c)));
  return api;
}

/** For the page: `hc<Api>(origin)`. */
export type Api = ReturnType<typeof createApp>;

async function ask(ports: DoorPorts): Promise<Feature[]> {
  try {
    return [...(await ports.features())];
  } catch {
    throw new Refused("unavailable", "The service cannot say what works: look at its log.");
  }
}

function answerError(error: unknown, c: Context<DoorEnv>): Response {
  const { ports } = c.var;
  const refused = refusedBy(error);
  const traceId = hex(ports.random().subarray(0, 16));
  if (refused.code === "internal") console.error(`${c.req.method} ${c.req.path} failed, trace_id ${traceId}`, error);
  return problem(refused, traceId);
}

function describe(api: OpenAPIHono<DoorEnv>): Record<string, unknown> {
  const made = api.getOpenAPI31Document(document);
  return { ...made, components: { ...made.components, securitySchemes } };
}

/** Paths the door answers itself; all others are the page's. */
function isOurs(path: string): boolean {
  return /^\/(api|auth|hooks|webhooks\/github|\.well-known)(\/|$)|^\/healthz$/.test(path);
}

function methodTable(api: OpenAPIHono<DoorEnv>): { path: RegExp; methods: string[] }[] {
  const byPath = new Map<string, string[]>();
  for (const definition of api.openAPIRegistry.definitions) {
    if (definition.type !== "route") continue;
    const { path, method } = definition.route;
    byPath.set(path, [...(byPath.get(path) ?? []), method.toUpperCase()]);
  }
  return [...byPath].map(([path, methods]) => ({
    path: new RegExp(`^${path.replaceAll(".", "\\.").replace(/\{[^}]+\}/g, "[^/]+")}$`),
    methods,
  }));
}

/** No route took it: the page's file, a wrong method, or nothing. */
async function elsewhere(c: Context<DoorEnv>, table: ReturnType<typeof methodTable>): Promise<Response> {
  const reads = c.req.method === "GET" || c.req.method === "HEAD";
  if (!isOurs(c.req.path) && reads) return under(await c.var.ports.assets(c.req.raw), pageHeaders(), c.req.url);
  const methods = table.filter(({ path }) => path.test(c.req.path)).flatMap((route) => route.methods);
  if (methods.length === 0)
    throw new Refused("not_found", "There is nothing at this address: GET /api/openapi.json lists what there is.");
  const allow = methods.join(", ");
  throw new Refused("method_not_allowed", `This address takes ${allow}, not ${c.req.method}.`, {}, { allow });
}
