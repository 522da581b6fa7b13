/** From an event about an installation to a scope that has its repositories: the objects, their alarms, and a GitHub that is asked. */
import { abortAllDurableObjects } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { githubAppOf, githubOf } from "../../durable-objects/remote.ts";
import { githubFrom } from "../../src/adapters/github-world.ts";
import { type Bindings, provideWorld } from "../../src/env.ts";
import { createApp } from "../../src/http/app.ts";
import { doorPorts } from "../../src/http/wiring.ts";
import { inObject, makeScope, until } from "./scope.ts";

const { bindings, doings } = JSON.parse(env.TEST_GITHUB);
async function at(doing: string, given: object = {}) {
  const response = await fetch(`${doings}/${doing}`, { method: "POST", body: JSON.stringify(given) });
  return response.json<never>();
}
const app = createApp(doorPorts(env));
// biome-ignore lint/suspicious/noExplicitAny: answers are read field by field and fail when one is missing.
type Answer = { status: number; body: any };
async function ask(method: string, path: string, token: string, body?: unknown): Promise<Answer> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
  const response = await app.request(`https://x.example${path}`, init);
  return { status: response.status, body: await response.json() };
}
const admin = env.COUNTERSIGN_ADMIN_TOKEN ?? "";
const object = () => githubAppOf(env);
let told = 0;
/** The event as GitHub's door reads it. */
async function tell(installation_id: number, event: string, action: string) {
  told += 1;
  const delivery_id = `72d3162e-cc78-11e3-81ab-${String(told).padStart(12, "0")}`;
  const given = { event, action, installation_id, account: null };
  return {
    first: await object().installation(given, delivery_id),
    again: await object().installation(given, delivery_id),
  };
}
const viewOf = async (id: number) => (await object().installations()).find((one) => one.id === id);

beforeEach(() =>
  inObject<{ readonly env: Bindings }, void>(env.GITHUB.getByName("github"), async ({ env: own }) => {
    const { missing: _missing, ...world } = githubFrom(bindings, true);
    provideWorld(own, world);
  }),
);

describe("the App's object", () => {
  it("[GHL-30] an installation's event has GitHub asked, and what the admin assigns is linked, suspended, linked again and gone", async () => {
    const made = (await ask("POST", "/api/scopes", admin, { name: "globex" })).body;
    const links = async () => (await ask("GET", "/api/github/repositories", made.token)).body.items;
    const id = await at("install", { account: "globex" });
    await at("makeRepo", { repo: "globex/rocket", id });
    expect(await tell(id, "installation", "created")).toEqual({ first: "accepted", again: "seen" });
    const waiting = await until(async () => ((await viewOf(id))?.repositories.length ? viewOf(id) : null));
    expect(waiting).toMatchObject({ account: "globex", state: "active", scope_id: null });
    expect(await links()).toEqual([]);

    const path = `/api/github/installations/${id}`;
    expect((await ask("PUT", path, admin, { scope_id: "nobody" })).status).toBe(404);
    expect((await ask("PUT", path, admin, { scope_id: made.scope_id })).status).toBe(200);
    const [linked] = await until(async () => ((await links()).length === 1 ? links() : null));
    expect(linked).toMatchObject({ state: "linked", repository: { full_name: "globex/rocket", installation_id: id } });
    const triggers = { comment: false };
    const set = await ask("PUT", "/api/github/repositories/globex/rocket", made.token, { triggers });
    expect([set.status, set.body.triggers.comment]).toEqual([200, false]);

    await at("suspend", { id });
    await tell(id, "installation", "suspend");
    await until(async () => (await links())[0]?.state === "suspended");
    await at("rename", { repo: "globex/rocket", account: "globex/ship" });
    await at("unsuspend", { id });
    await tell(id, "installation", "unsuspend");
    const [back] = await until(async () => ((await links())[0]?.state === "linked" ? links() : null));
    expect(back).toMatchObject({ repository: { full_name: "globex/ship" }, triggers: { comment: false } });
    await at("uninstall", { id });
    await tell(id, "installation", "deleted");
    await until(async () => (await links()).length === 0);
    expect(await viewOf(id)).toMatchObject({ state: "removed" });
    expect(await at("violations")).toEqual([]);
  });

  it("[GHL-31] what is given to another scope leaves the first one before the other has it", async () => {
    const [one, other] = [await makeScope(), await makeScope()];
    const id = await at("install", { account: "initech" });
    await at("makeRepo", { repo: "initech/tps", id });
    await tell(id, "installation", "created");
    await until(async () => ((await viewOf(id))?.repositories.length ?? 0) > 0);
    await object().assign(id, one.id);
    await until(async () => (await githubOf(env, one.id).githubLinks(one.id)).length === 1);
    const [covered] = (await viewOf(id))?.repositories ?? [];
    await object().assignRepository({ installation_id: id, repository_id: covered?.id ?? 0 }, other.id);
    await until(async () => {
      const had = await githubOf(env, one.id).githubLinks(one.id);
      const has = await githubOf(env, other.id).githubLinks(other.id);
      // Asked first the one, then the other: both at once would be seen.
      expect(had.length + has.length).toBeLessThanOrEqual(1);
      return has.length === 1;
    });
    expect((await viewOf(id))?.repositories).toMatchObject([{ own_scope_id: other.id, scope_id: other.id }]);
  });

  it("[GHL-15] [GHL-32] deliveries that did not come are asked for once in a while, and not again at once; what is known of them outlives the object", async () => {
    const id = await at("install", { account: "umbrella" });
    await at("suspend", { id });
    await at("unsuspend", { id });
    const before: { guid: string; redelivery: boolean }[] = await at("deliveries");
    expect(before.filter(({ redelivery }) => redelivery)).toEqual([]);
    await at("age", { ms: 10 * 60_000 });
    await object().sweep();
    await object().sweep();
    const after: { guid: string; redelivery: boolean }[] = await at("deliveries");
    const repeated = after.filter(({ redelivery }) => redelivery).map(({ guid }) => guid);
    expect(repeated.toSorted()).toEqual(before.map(({ guid }) => guid).toSorted());
    const said = await object().troubles();
    expect(said).toEqual([expect.stringContaining("not come yet")]);
    await abortAllDurableObjects();
    expect(await object().troubles()).toEqual(said);
  });
});
