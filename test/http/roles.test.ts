/** Every route, asked by everybody: each role in its own scope and in another, nobody, the revoked, the deployment's admin. */
import { describe, expect, it } from "vitest";
import { secretHash } from "../../src/domain/credential.ts";
import { callerRoles } from "../../src/domain/view.ts";
import type { RuntimeDoor } from "../../src/http/doors.ts";
import { adminToken, elsewhere, home } from "../fakes/door-ports.ts";
import { memoryOf } from "../fakes/memory-door.ts";
import type { FakeRuntime } from "../fakes/runtime-door.ts";
import { approvalOf, letterOf, taskOf } from "../fakes/views.ts";
import { deliveryOf, hookOf, webhookOf } from "../fakes/webhooks-door.ts";
import { type RouteRow, routeTable } from "./role-table.ts";
import { repo, world } from "./world.ts";

/** What stands in a scope, under names that the other does not have. */
function furnish(runtime: FakeRuntime, mark: string): void {
  const input = { title: "t", description: "", repo, labels: [] };
  runtime.taskRows.set(`task-${mark}`, taskOf(`task-${mark}`, input, "ada"));
  runtime.approvalRows.set(`approval-${mark}`, approvalOf(`approval-${mark}`));
  runtime.letterRows.set("proxy", [letterOf(`letter-${mark}`)]);
  const shown = { name: "t", role: "viewer", created_at: "2026-01-01T00:00:00.000Z", revoked_at: null } as const;
  runtime.memoryRows.set(`memory-${mark}`, memoryOf(`memory-${mark}`));
  runtime.webhookRows.set(`webhook-${mark}`, webhookOf(`webhook-${mark}`));
  runtime.deliveryRows.set(`delivery-${mark}`, deliveryOf(`delivery-${mark}`));
  runtime.hookRows.set(`hook-${mark}`, hookOf(`hook-${mark}`));
  runtime.tokenRows.set(`token-${mark}`, { id: `token-${mark}`, ...shown });
}
function standingWorld() {
  const all = world();
  furnish(all.deployment.runtime(home), "1");
  furnish(all.deployment.runtime(elsewhere), "e");
  all.deployment.runtime(home).repoRows.set(repo.url, { ...repo, default_ref: "main", added_by: "ada", added_at: "t" });
  all.deployment.runtime(home).patches.set("task-1", [{ attempt_id: "attempt-1", key: `${home}/k`, bytes: 1 }]);
  all.deployment.stored.set(`${home}/k`, new Uint8Array([10]));
  /** The scopes whose objects were asked anything from here on. */
  const reached = new Set<string>();
  const runtime = all.deployment.runtime.bind(all.deployment);
  all.deployment.runtime = (scope_id) => {
    const door: RuntimeDoor = runtime(scope_id);
    return new Proxy(door, {
      get(target, name) {
        const found: unknown = Reflect.get(target, name, target);
        if (typeof found !== "function") return found;
        if (name !== "authenticate" && name !== "redeemTicket") reached.add(scope_id);
        return found.bind(target);
      },
    }) as FakeRuntime; // A proxy of the fake is a fake.
  };
  return { ...all, reached };
}
type World = ReturnType<typeof standingWorld>;

/** The status, read without waiting for an end that a stream does not have. */
async function asked(all: World, name: string, row: RouteRow, authorization: string | null, foreign = false) {
  const [method = "", path = ""] = (name.split(" #")[0] ?? "").split(" ");
  const names = foreign ? row.foreign : row.at;
  const at = path.replaceAll(/\{(\w+)\}/g, (_, key: string) => names?.[key] ?? "none");
  const query = (foreign ? row.foreignQuery : row.query) ?? "";
  all.reached.clear();
  const response = await all.send(method, `${at}${query}`, {
    ...(row.headers === undefined ? {} : { headers: { ...row.headers } }),
    ...(authorization === null ? {} : { authorization }),
    ...(row.body === undefined ? {} : { body: row.body }),
  });
  const status = response.status;
  const text = status >= 400 ? await response.text() : "";
  if (status < 400) await response.body?.cancel();
  return { status, code: text === "" ? null : (JSON.parse(text).code as string) };
}

const rows = Object.entries(routeTable);
const inScope = rows.filter(([, row]) => row.needs !== "anyone" && row.needs !== "deployment");
const unknown = ["unauthenticated", "forbidden"];
function rankOf({ needs }: RouteRow): number {
  const roles: readonly string[] = callerRoles;
  return roles.indexOf(needs);
}

describe("the table of routes", () => {
  it("[ROLE-1] holds every route that is described and every route that answers, and no other", () => {
    const { app } = world();
    const described = app.openAPIRegistry.definitions.flatMap((each) =>
      each.type === "route" ? [`${each.route.method.toUpperCase()} ${each.route.path}`] : [],
    );
    const answering = app.routes
      .filter(({ method }) => method !== "ALL")
      .map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, "{$1}")}`);
    const held = [...new Set(rows.map(([name]) => name.split(" #")[0] ?? ""))].sort();
    expect([...new Set(described)].sort()).toEqual(held);
    expect([...new Set(answering)].sort()).toEqual(held);
    expect(app.routes.filter(({ method }) => method === "ALL").map(({ path }) => path)).toEqual(["/*"]);
  });
});

describe("every route", () => {
  it.each(inScope)(
    "[ROLE-2] %s takes its role and every higher one, and refuses each lower one before anything is asked",
    async (name, row) => {
      const least = rankOf(row);
      for (const [rank, role] of callerRoles.entries()) {
        const all = standingWorld();
        const answer = await asked(all, name, row, `Bearer ${all.deployment.token(role)}`);
        if (rank >= least) expect([role, answer.status]).toEqual([role, row.ok]);
        else {
          expect([role, answer]).toEqual([role, { status: 403, code: "forbidden" }]);
          expect([...all.reached]).toEqual([]);
        }
      }
    },
  );
  it.each(inScope)(
    "[ROLE-3] %s answers 401 to nobody, to a revoked token, to a stranger's and to the deployment's admin",
    async (name, row) => {
      const all = standingWorld();
      const revoked = all.deployment.token("admin");
      all.deployment.runtimes.get(home)?.credentials.delete(secretHash(revoked));
      const wrong = [null, `Bearer ${revoked}`, `Bearer ${adminToken}`, "Bearer cs_invented", "Basic YTpi"];
      for (const authorization of wrong) {
        const answer = await asked(all, name, row, authorization);
        expect([authorization, answer]).toEqual([authorization, { status: 401, code: "unauthenticated" }]);
        expect([...all.reached]).toEqual([]);
      }
    },
  );
  it.each(inScope)(
    "[ROLE-4] %s never reaches another scope: its things are 404, and its objects are not asked",
    async (name, row) => {
      const all = standingWorld();
      for (const role of callerRoles.slice(rankOf(row))) {
        const answer = await asked(all, name, row, `Bearer ${all.deployment.token(role)}`, row.foreign !== undefined);
        if (row.foreign !== undefined && row.ok < 400) expect([role, answer.status]).toEqual([role, 404]);
        expect(unknown).not.toContain(answer.code);
        expect([...all.reached].filter((scope) => scope !== home)).toEqual([]);
      }
      // The other way round: an admin there gets nothing of here, by any name it has here.
      const stranger = await asked(all, name, row, `Bearer ${all.deployment.token("admin", elsewhere)}`);
      const named =
        row.at !== undefined && !["proxy", "attempt-1", "1"].some((same) => Object.values(row.at ?? {}).includes(same));
      if (named) expect(stranger.status).toBe(404);
      expect([...all.reached].filter((scope) => scope !== elsewhere)).toEqual([]);
    },
  );
  it.each(rows.filter(([, row]) => row.needs === "deployment"))(
    "[ROLE-5] %s takes the deployment's admin and no token of any scope",
    async (name, row) => {
      const all = standingWorld();
      expect((await asked(all, name, row, `Bearer ${adminToken}`)).status).toBe(row.ok);
      for (const role of callerRoles)
        for (const scope of [home, elsewhere]) {
          const answer = await asked(all, name, row, `Bearer ${all.deployment.token(role, scope)}`);
          expect(answer).toEqual({ status: 401, code: "unauthenticated" });
        }
      expect((await asked(all, name, row, null)).status).toBe(401);
      expect([...all.reached]).toEqual([]);
    },
  );
  it.each(rows.filter(([, row]) => row.needs === "anyone"))(
    "[ROLE-6] %s answers all alike, and reaches no scope",
    async (name, row) => {
      const all = standingWorld();
      const tokens = callerRoles.map((role) => `Bearer ${all.deployment.token(role)}`);
      for (const authorization of [null, "Bearer cs_invented", `Bearer ${adminToken}`, ...tokens]) {
        expect((await asked(all, name, row, authorization)).status).toBe(row.ok);
        expect([...all.reached]).toEqual([]);
      }
    },
  );
});

describe("tickets", () => {
  it("[ROLE-7] a socket's ticket opens just the path it was made for, once, in its own scope, with its maker's role", async () => {
    for (const path of ["/api/events", "/api/attempts/attempt-1/terminal"]) {
      const all = standingWorld();
      const ticket = async () =>
        (await all.ask("POST", "/api/tickets", { as: "viewer", body: { path } })).body.ticket as string;
      const open = (given: string, at = path) =>
        all.send("GET", `${at}?ticket=${given}`, { headers: { upgrade: "websocket" } });
      const good = await ticket();
      expect((await open(good)).status).toBe(200);
      const handed = (path === "/api/events" ? all.runtime.lastUpgrade : all.deployment.lastTerminal)?.headers;
      expect(JSON.parse(handed?.get("x-countersign-caller") ?? "{}")).toMatchObject({ scope_id: home, role: "viewer" });
      expect((await open(good)).status).toBe(401);
      const other = path === "/api/events" ? "/api/attempts/attempt-1/terminal" : "/api/events";
      const misplaced = await ticket();
      expect((await open(misplaced, other)).status).toBe(401);
      expect((await open(misplaced)).status).toBe(401);
      // Not a token, and not for what is no socket.
      const plain = await ticket();
      expect((await all.send("GET", path, { authorization: `Bearer ${plain}` })).status).toBe(401);
      expect(
        (await all.send("GET", `/api/events?ticket=${plain}`, { headers: { accept: "application/json" } })).status,
      ).toBe(401);
    }
  });
});
