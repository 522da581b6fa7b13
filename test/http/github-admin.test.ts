import { describe, expect, it } from "vitest";
import { defaultTriggers } from "../../src/domain/github/triggers.ts";
import { githubFeature } from "../../src/http/wiring-github.ts";
import { adminToken, elsewhere, home } from "../fakes/door-ports.ts";
import { installationOf } from "../fakes/github-admin-door.ts";
import { world } from "./world.ts";

const authorization = `Bearer ${adminToken}`;
function deployment() {
  const all = world();
  const admin = all.deployment.githubAdmin;
  admin.rows.set(7, installationOf(7, "acme/shop", "acme/Docs"));
  admin.rows.set(8, installationOf(8, "other/thing"));
  return { ...all, admin };
}

describe("the App, for the deployment's admin", () => {
  it("[GHL-40] says whether there is an App, where it is installed, what is lacking and what was let go by", async () => {
    const { ask, admin } = deployment();
    admin.ignored = [{ why: "ping", n: 2 }];
    const known = {
      configured: true,
      slug: "countersign",
      default_scope_id: null,
      problems: [] as string[],
      troubles: [],
    };
    const install_url = "https://github.com/apps/countersign/installations/new";
    const whole = await ask("GET", "/api/github", { authorization });
    expect([whole.status, whole.body]).toEqual([200, { ...known, install_url, ignored: [{ why: "ping", n: 2 }] }]);

    admin.app = { slug: "c", url: "https://github.example", default_scope_id: "nobody" };
    const own = (await ask("GET", "/api/github", { authorization })).body;
    expect(own).toMatchObject({
      install_url: "https://github.example/github-apps/c/installations/new",
      problems: [expect.stringContaining("GITHUB_SCOPE: There is no scope nobody")],
    });
    expect(own.problems).toHaveLength(1);
    admin.undelivered = ["Deliveries that have not come yet: 3."];
    const troubled = (await ask("GET", "/api/github", { authorization })).body;
    expect([troubled.problems.length, troubled.troubles]).toEqual([1, admin.undelivered]);
    admin.app = null;
    admin.lacks = [{ name: "GITHUB_PRIVATE_KEY", detail: "Set it." }];
    expect((await ask("GET", "/api/github", { authorization })).body).toMatchObject({
      ...{ configured: false, slug: null, install_url: null, problems: ["GITHUB_PRIVATE_KEY: Set it."] },
    });
  });
  it("[GHL-41] lists installations whole; tokens of scopes see none of it", async () => {
    const { ask, admin } = deployment();
    const { status, body } = await ask("GET", "/api/github/installations", { authorization });
    expect([status, body]).toEqual([200, { items: [...admin.rows.values()], next_cursor: null }]);
    for (const path of ["/api/github", "/api/github/installations"])
      expect((await ask("GET", path, { as: "admin" })).status).toBe(401);
    expect((await ask("PUT", "/api/github/installations/7", { as: "admin", body: { scope_id: home } })).status).toBe(
      401,
    );
    expect(admin.rows.get(7)?.scope_id).toBeNull();
  });
  it("[GHL-42] assigns an installation, or one repository whatever the case of its name, and takes both back", async () => {
    const { ask } = deployment();
    const put = async (path: string, scope_id: string | null) =>
      (await ask("PUT", `/api/github/installations/${path}`, { authorization, body: { scope_id } })).body;
    expect(await put("7", home)).toMatchObject({ id: 7, scope_id: home });
    expect(await put("7/repositories/ACME/docs", elsewhere)).toMatchObject({
      scope_id: home,
      repositories: [{ own_scope_id: null }, { full_name: "acme/Docs", own_scope_id: elsewhere }],
    });
    expect((await put("7/repositories/acme/Docs", null)).repositories[1].own_scope_id).toBeNull();
    expect(await put("7", null)).toMatchObject({ scope_id: null });
  });
  it("[GHL-43] what is not there is 404 with what to look at, and changes nothing", async () => {
    const { ask, admin } = deployment();
    const before = JSON.stringify([...admin.rows]);
    const put = (path: string, body: unknown) =>
      ask("PUT", `/api/github/installations/${path}`, { authorization, body });
    for (const [path, scope_id, words] of [
      ["7", "nowhere", "no scope nowhere: GET /api/scopes"],
      ["7/repositories/acme/shop", "nowhere", "GET /api/scopes"],
      ["9", home, "no installation 9"],
      ["9/repositories/acme/shop", home, "no installation 9"],
      ["7/repositories/other/thing", home, "does not cover other/thing"],
      ["7/repositories/acme/none", home, "GET /api/github/installations"],
    ] as const) {
      const { status, body } = await put(path, { scope_id });
      expect([path, status, body.detail]).toEqual([path, 404, expect.stringContaining(words)]);
    }
    for (const body of [{}, { scope_id: "" }, { scope_id: home, more: 1 }, { scope_id: 7 }])
      expect((await put("7", body)).status, JSON.stringify(body)).toBe(400);
    for (const id of ["0", "x", "7.5", "-1"]) expect((await put(id, { scope_id: home })).status, id).toBe(404);
    expect(JSON.stringify([...admin.rows])).toBe(before);
  });
});

describe("a scope's repositories on GitHub", () => {
  it("[GHL-44] are seen by its viewers; what begins a task there its admin sets, whole, and by name", async () => {
    const { ask, admin } = deployment();
    const seen = await ask("GET", "/api/github/repositories", { as: "viewer" });
    expect(seen.body).toEqual({ items: admin.linked.get(home), next_cursor: null });
    const triggers = { label: { on: true, name: "agents" }, comment: false, bots: ["renovate[bot]"] };
    const put = (as: "approver" | "admin", body: unknown) =>
      ask("PUT", "/api/github/repositories/ACME/Home", { as, body });
    expect((await put("approver", { triggers })).status).toBe(403);
    const set = await put("admin", { triggers });
    expect([set.status, set.body.triggers]).toEqual([200, { ...defaultTriggers, ...triggers }]);
    expect(admin.triggersSet).toEqual([{ scope_id: home, id: 1, by: "a admin" }]);
    expect((await put("admin", { triggers: {} })).body.triggers).toEqual(defaultTriggers);
    for (const body of [{}, { triggers: { labels: true } }, { triggers: { label: { on: 1 } } }, { triggers, more: 1 }])
      expect((await put("admin", body)).status, JSON.stringify(body)).toBe(400);
    expect(admin.triggersSet).toHaveLength(2);
  });
  it("[GHL-45] another scope's is as unknown as nobody's", async () => {
    const { ask, admin } = deployment();
    const put = async (name: string) =>
      ask("PUT", `/api/github/repositories/acme/${name}`, { as: "admin", body: { triggers: {} } });
    const [foreign, none] = [await put("elsewhere"), await put("none")];
    expect([foreign.status, none.status]).toEqual([404, 404]);
    expect(foreign.body.detail.replace("elsewhere", "none")).toBe(none.body.detail);
    expect(admin.triggersSet).toEqual([]);
  });
  it("[GHL-46] /healthz names GitHub: set up, not set up and no fault, or by what is lacking", () => {
    const lack = { name: "GITHUB_PRIVATE_KEY", detail: "Set it.", optional: true };
    expect(githubFeature({ missing: [lack], githubConfig: null })).toEqual([]);
    const [absent] = githubFeature({ missing: [{ name: "SANDBOX_URL", detail: "" }], githubConfig: null });
    expect(absent).toMatchObject({ name: "github", ok: false, optional: true });
    expect(absent?.detail).toContain("countersign github setup");
    const githubConfig = {
      ...{ app_id: 1, slug: "c", bot_login: "c[bot]", webhook_secrets: ["hush-hush-hush-hush"], scope: null },
      ...{ url: "https://github.com", api_url: "https://api.github.com", public_url: null },
    };
    const [present] = githubFeature({ missing: [], githubConfig });
    expect(present).toMatchObject({ ok: true, detail: expect.stringContaining(" c ") });
    expect(JSON.stringify(present)).not.toContain("hush");
  });
});
