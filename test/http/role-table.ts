/**
 * Every route of the service: who it takes at least, and what it answers to whoever it takes. A new route without a
 * row here fails the test. `at` names things of the caller's own scope in the path; `foreign` the same in another's.
 */
import type { CallerRole } from "../../src/domain/view.ts";
import { repo, taskBody } from "./world.ts";

export interface RouteRow {
  /** The least role; "anyone" needs no token, "deployment" the deployment's own. */
  readonly needs: CallerRole | "anyone" | "deployment";
  /** What an admitted caller is answered, with what stands in the world of the test. */
  readonly ok: number;
  readonly at?: Readonly<Record<string, string>>;
  readonly foreign?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly foreignQuery?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

const task = { at: { id: "task-1" }, foreign: { id: "task-e" } };
const card = { at: { id: "approval-1" }, foreign: { id: "approval-e" } };
const agent = { at: { name: "proxy" }, foreign: { name: "agent-e" } };
const queue = { at: { name: "proxy" }, foreign: { name: "queue-e" } };
const letter = { at: { name: "proxy", id: "letter-1" }, foreign: { name: "proxy", id: "letter-e" } };
const standing = { at: { id: "standing-1" }, foreign: { id: "standing-e" } };
const memory = { at: { id: "memory-1" }, foreign: { id: "memory-e" } };
const webhook = { at: { id: "webhook-1" }, foreign: { id: "webhook-e" } };
const delivery = {
  at: { id: "webhook-1", delivery: "delivery-1" },
  foreign: { id: "webhook-1", delivery: "delivery-e" },
};
const hook = { at: { id: "hook-1" }, foreign: { id: "hook-e" } };
const attempt = { at: { id: "attempt-1" }, foreign: { id: "attempt-e" } };
const token = { at: { id: "token-1" }, foreign: { id: "token-e" } };
const socket = { upgrade: "websocket", connection: "Upgrade" };
const page = { accept: "application/json" };
const reason = { reason: "no" };

/** The route, and after `#` a variant of asking it. */
export const routeTable: Readonly<Record<string, RouteRow>> = {
  "POST /api/tasks": { needs: "submitter", ok: 202, body: taskBody },
  "GET /api/tasks": { needs: "viewer", ok: 200 },
  "GET /api/tasks/{id}": { needs: "viewer", ok: 200, ...task },
  "GET /api/tasks/{id}/events": { needs: "viewer", ok: 200, ...task },
  "GET /api/tasks/{id}/thoughts": { needs: "viewer", ok: 200, ...task },
  "GET /api/tasks/{id}/patch": { needs: "viewer", ok: 200, ...task, query: "?attempt=attempt-1" },
  "GET /api/tasks/{id}/artifacts": { needs: "viewer", ok: 200, ...task },
  "POST /api/tasks/{id}/messages": { needs: "submitter", ok: 202, ...task, body: { text: "and this" } },
  "POST /api/tasks/{id}/cancel": { needs: "submitter", ok: 200, ...task, body: reason },

  "GET /api/approvals": { needs: "viewer", ok: 200 },
  "GET /api/approvals/{id}": { needs: "viewer", ok: 200, ...card },
  "GET /api/approvals/{id}/tokens": { needs: "viewer", ok: 200, ...card },
  "POST /api/approvals/{id}/approve": { needs: "approver", ok: 200, ...card, body: { content_hash: "a".repeat(64) } },
  "POST /api/approvals/{id}/deny": { needs: "approver", ok: 200, ...card, body: reason },
  "POST /api/approvals/{id}/request-changes": {
    needs: "approver",
    ok: 200,
    ...card,
    body: { reason: "again", comments: [] },
  },
  "GET /api/standing-approvals": { needs: "viewer", ok: 200 },
  "GET /api/standing-approvals/{id}": { needs: "viewer", ok: 404, ...standing },
  // Admitted, and told what is wrong with the body.
  "POST /api/standing-approvals": { needs: "approver", ok: 400, body: {} },
  "DELETE /api/standing-approvals/{id}": { needs: "approver", ok: 404, ...standing, body: reason },
  "GET /api/memory": { needs: "viewer", ok: 200 },
  "DELETE /api/memory/{id}": { needs: "admin", ok: 200, ...memory, body: reason },

  "GET /api/agents": { needs: "viewer", ok: 200 },
  "GET /api/agents/{name}": { needs: "viewer", ok: 200, ...agent },
  "GET /api/agents/{name}/transitions": { needs: "viewer", ok: 200, ...agent },
  "GET /api/agents/{name}/queue": { needs: "viewer", ok: 200, ...agent },
  "GET /api/queues": { needs: "viewer", ok: 200 },
  "GET /api/queues/{name}": { needs: "viewer", ok: 200, ...queue },
  "GET /api/queues/{name}/dead-letters": { needs: "viewer", ok: 200, ...queue },
  "POST /api/queues/{name}/pause": { needs: "admin", ok: 200, ...queue, body: reason },
  "POST /api/queues/{name}/resume": { needs: "admin", ok: 200, ...queue, body: reason },
  "POST /api/queues/{name}/drain": { needs: "admin", ok: 200, ...queue, body: reason },
  "POST /api/queues/{name}/dead-letters/requeue": { needs: "approver", ok: 200, ...queue, body: reason },
  "POST /api/queues/{name}/dead-letters/{id}/requeue": { needs: "approver", ok: 200, ...letter, body: reason },

  "GET /api/policy": { needs: "viewer", ok: 200 },
  "PUT /api/policy": { needs: "admin", ok: 428, body: { policy: {} } },
  "GET /api/policy/versions": { needs: "viewer", ok: 200 },
  "GET /api/policy/versions/{version}": { needs: "viewer", ok: 200, at: { version: "1" } },
  "POST /api/policy/evaluate": { needs: "viewer", ok: 400, body: {} },

  "GET /api/audit": { needs: "viewer", ok: 200 },
  "GET /api/audit/verify": { needs: "viewer", ok: 200 },
  "GET /api/audit/export": { needs: "viewer", ok: 200 },
  "GET /api/telemetry": { needs: "viewer", ok: 200 },
  "GET /api/metrics": { needs: "viewer", ok: 200 },

  "GET /api/repos": { needs: "viewer", ok: 200 },
  "POST /api/repos": { needs: "admin", ok: 201, body: { url: repo.url } },
  "DELETE /api/repos": {
    needs: "admin",
    ok: 200,
    query: `?url=${encodeURIComponent(repo.url)}`,
    foreignQuery: `?url=${encodeURIComponent("https://git.example/only/there")}`,
  },
  "GET /api/tokens": { needs: "admin", ok: 200 },
  "POST /api/tokens": { needs: "admin", ok: 201, body: { name: "ci", role: "viewer" } },
  "DELETE /api/tokens/{id}": { needs: "admin", ok: 200, ...token },
  "POST /api/tickets": { needs: "viewer", ok: 201, body: { path: "/api/events" } },
  "POST /api/tickets # a sign-in link": { needs: "admin", ok: 201, body: { path: "/" } },
  "GET /api/me": { needs: "viewer", ok: 200 },

  "GET /api/webhooks": { needs: "admin", ok: 200 },
  "POST /api/webhooks": { needs: "admin", ok: 201, body: { url: "https://hooks.example/in", events: ["*"] } },
  "GET /api/webhooks/{id}": { needs: "admin", ok: 200, ...webhook },
  "DELETE /api/webhooks/{id}": { needs: "admin", ok: 200, ...webhook },
  "POST /api/webhooks/{id}/enable": { needs: "admin", ok: 200, ...webhook },
  "POST /api/webhooks/{id}/disable": { needs: "admin", ok: 200, ...webhook },
  "POST /api/webhooks/{id}/rotate": { needs: "admin", ok: 200, ...webhook },
  "POST /api/webhooks/{id}/test": { needs: "admin", ok: 202, ...webhook },
  "GET /api/webhooks/{id}/deliveries": { needs: "admin", ok: 200, ...webhook },
  "POST /api/webhooks/{id}/deliveries/{delivery}/redeliver": { needs: "admin", ok: 202, ...delivery },
  "GET /api/hooks": { needs: "admin", ok: 200 },
  "POST /api/hooks": { needs: "admin", ok: 201, body: { name: "ci", repo: repo.url } },
  "DELETE /api/hooks/{id}": { needs: "admin", ok: 200, ...hook },
  "POST /api/hooks/{id}/rotate": { needs: "admin", ok: 200, ...hook },

  "GET /api/events": { needs: "viewer", ok: 200, headers: page },
  "GET /api/events # a stream": { needs: "viewer", ok: 200, headers: { accept: "text/event-stream" } },
  "GET /api/events # a socket": { needs: "viewer", ok: 200, headers: socket },
  // It is a socket's address: a plain request is told so, once it may know.
  "GET /api/attempts/{id}/terminal": { needs: "viewer", ok: 400, ...attempt },
  "GET /api/attempts/{id}/terminal # a socket": { needs: "viewer", ok: 200, ...attempt, headers: socket },

  "GET /api/scopes": { needs: "deployment", ok: 200 },
  "POST /api/scopes": { needs: "deployment", ok: 201, body: { name: "new" } },

  "GET /api/github": { needs: "deployment", ok: 200 },
  "GET /api/github/installations": { needs: "deployment", ok: 200 },
  "PUT /api/github/installations/{id}": { needs: "deployment", ok: 404, at: { id: "7" }, body: { scope_id: null } },
  "PUT /api/github/installations/{id}/repositories/{owner}/{name}": {
    ...{ needs: "deployment", ok: 404, at: { id: "7", owner: "acme", name: "shop" }, body: { scope_id: null } },
  },
  "GET /api/github/repositories": { needs: "viewer", ok: 200 },
  "PUT /api/github/repositories/{owner}/{name}": {
    needs: "admin",
    ok: 200,
    at: { owner: "acme", name: "home" },
    foreign: { owner: "acme", name: "elsewhere" },
    body: { triggers: {} },
  },

  // What asks for no token: what it takes in speaks for itself, or it says nothing of any scope.
  "POST /auth/session": { needs: "anyone", ok: 401, body: { ticket: "cst_invented" } },
  "DELETE /auth/session": { needs: "anyone", ok: 200 },
  // Signed by whoever holds its secret; what nobody signed is answered alike.
  "POST /hooks/{id}": { needs: "anyone", ok: 401, at: { id: "hook-1" }, body: {} },
  "POST /webhooks/github": { needs: "anyone", ok: 401, body: {} },
  "GET /healthz": { needs: "anyone", ok: 200 },
  "GET /.well-known/jwks.json": { needs: "anyone", ok: 200 },
  "GET /api/openapi.json": { needs: "anyone", ok: 200 },
};
