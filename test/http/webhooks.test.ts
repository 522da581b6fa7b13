import { Webhook } from "standardwebhooks";
import { beforeEach, describe, expect, it } from "vitest";
import { hookId } from "../../src/domain/hooks.ts";
import { secretText, signatureOf, signingSecret } from "../../src/domain/webhook-signature.ts";
import { limits } from "../../src/limits.ts";
import { elsewhere, home } from "../fakes/door-ports.ts";
import { hookOf, webhookOf } from "../fakes/webhooks-door.ts";
import { plan, repo, world } from "./world.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

describe("doors of webhooks", () => {
  const url = "https://hooks.example/in";
  it("[WBH-40] making and rotating one show its secret, once each; no other answer holds it", async () => {
    const { ask, deployment } = world();
    const made = await ask("POST", "/api/webhooks", { as: "admin", body: { url, events: ["*"] } });
    expect([made.status, made.body.id, made.body.secret_version]).toEqual([201, "webhook-1", 1]);
    const secretOf = (version: number) =>
      secretText(signingSecret(deployment.scopeMacKey, { use: "webhook", scope_id: home, id: "webhook-1", version }));
    expect(made.body.secret).toBe(secretOf(1));
    expect(() => new Webhook(made.body.secret)).not.toThrow();
    const rotated = await ask("POST", "/api/webhooks/webhook-1/rotate", { as: "admin" });
    expect([rotated.body.secret_version, rotated.body.secret]).toEqual([2, secretOf(2)]);
    const others = [
      await ask("GET", "/api/webhooks", { as: "admin" }),
      await ask("GET", "/api/webhooks/webhook-1", { as: "admin" }),
      await ask("POST", "/api/webhooks/webhook-1/disable", { as: "admin" }),
      await ask("POST", "/api/webhooks/webhook-1/enable", { as: "admin" }),
      await ask("POST", "/api/webhooks/webhook-1/test", { as: "admin" }),
      await ask("GET", "/api/webhooks/webhook-1/deliveries", { as: "admin" }),
      await ask("DELETE", "/api/webhooks/webhook-1", { as: "admin" }),
    ];
    expect(others.map(({ status }) => status)).toEqual([200, 200, 200, 200, 202, 200, 200]);
    for (const { text } of others) expect(text).not.toContain("whsec_");
  });
  it("[WBH-41] an address inside a network, or with a wrong event, is refused before it is stored", async () => {
    const { ask, runtime, deployment } = world();
    const make = (body: object) => ask("POST", "/api/webhooks", { as: "admin", body });
    for (const wrong of [
      "http://hooks.example/",
      "https://169.254.169.254/",
      "https://10.0.0.1/",
      "https://u:p@a.example/",
    ])
      expect((await make({ url: wrong, events: ["*"] })).status).toBe(400);
    expect((await make({ url: "http://127.0.0.1:9000/", events: ["*"] })).body.detail).toContain("https");
    expect((await make({ url, events: ["task_done"] })).body.errors[0].path).toBe("events.0");
    expect(runtime.webhookRows.size).toBe(0);
    deployment.webhookLoopback = true;
    expect((await make({ url: "http://127.0.0.1:9000/", events: ["*"] })).status).toBe(201);
    expect((await make({ url: "HTTPS://Hooks.Example", events: ["*"] })).body.url).toBe("https://hooks.example/");
  });
  it("[WBH-40] what is not there is 404, with a code of its own", async () => {
    const { ask, runtime } = world();
    runtime.webhookRows.set("w", webhookOf("w"));
    const gone = await ask("GET", "/api/webhooks/x", { as: "admin" });
    expect([gone.status, gone.body.code]).toEqual([404, "webhook_not_found"]);
    const delivery = await ask("POST", "/api/webhooks/w/deliveries/x/redeliver", { as: "admin" });
    expect([delivery.status, delivery.body.code]).toEqual([404, "delivery_not_found"]);
    const hook = await ask("DELETE", "/api/hooks/x", { as: "admin" });
    expect([hook.status, hook.body.code]).toEqual([404, "hook_not_found"]);
  });
});

describe("doors of hooks", () => {
  let all: ReturnType<typeof world>;
  let id: string;
  beforeEach(() => {
    all = world();
    all.deployment.clock = 1_800_000_000_000;
    id = hookId(all.deployment.scopeMacKey, home, "a".repeat(24));
    all.runtime.hookRows.set(id, hookOf(id));
  });
  const signed = (
    body: string,
    more: { id?: string; version?: number; scope?: string; message_id?: string; at_s?: number } = {},
  ) => {
    const { version = 1, scope = home, message_id = "m-1", at_s = 1_800_000_000 } = more;
    const of = { use: "hook", scope_id: scope, id: more.id ?? id, version } as const;
    const signature = signatureOf(signingSecret(all.deployment.scopeMacKey, of), {
      ...{ id: message_id, timestamp_s: at_s, body: bytes(body) },
    });
    return { "webhook-id": message_id, "webhook-timestamp": String(at_s), "webhook-signature": signature };
  };
  const send = (body: string, headers: Record<string, string> = signed(body), to = id) =>
    all.ask("POST", `/hooks/${to}`, { raw: body, headers });

  it("[HOOK-20] what its secret signed is 202 with the task, and the same once more is the same 202", async () => {
    const body = '{"title":"Fix it","labels":["x"]}';
    const first = await send(body);
    expect([first.status, first.body]).toEqual([202, { task_id: "task-1" }]);
    expect(first.headers.get("cache-control")).toBe("no-store");
    expect(await send(body)).toMatchObject({ status: 202, body: { task_id: "task-1" } });
    expect(all.runtime.ran).toEqual([
      { id, message_id: "m-1", body: { title: "Fix it", description: "", labels: ["x"] } },
    ]);
    expect(await send("{}", signed("{}", { message_id: "m-2" }))).toMatchObject({ body: { task_id: "task-2" } });
  });
  it("[HOOK-21] a wrong, old, missing or foreign signature and a hook that is gone are answered alike, and run nothing", async () => {
    const body = '{"title":"x"}';
    const gone = hookId(all.deployment.scopeMacKey, home, "b".repeat(24));
    const foreign = hookId(all.deployment.scopeMacKey, elsewhere, "a".repeat(24));
    all.deployment.runtime(elsewhere).hookRows.set(foreign, hookOf(foreign));
    const right = signed(body);
    const answers = [
      await send(body, { ...right, "webhook-signature": "v1,AAAA" }),
      await send(body, signed(`${body} `)),
      await send(body, signed(body, { at_s: 1_800_000_000 - 301 })),
      await send(body, signed(body, { version: 2 })),
      await send(body, {}),
      await send(body, signed(body, { id: gone }), gone),
      await send(body, signed(body, { id: gone, version: 0 }), gone),
      await send(body, right, foreign),
      await send(body, signed(body, { id: "invented" }), "invented"),
      await send("not json", {}),
    ];
    const [first] = answers;
    for (const { status, body: said } of answers)
      expect([status, said.code, said.detail]).toEqual([401, "unauthenticated", first?.body.detail]);
    expect(all.runtime.ran).toEqual([]);
    expect(all.deployment.runtime(elsewhere).ran).toEqual([]);
  });
  it("[HOOK-21] an invented id asks no object anything", async () => {
    const invented = `${id.slice(0, -1)}${id.endsWith("0") ? "1" : "0"}`;
    for (const to of [invented, home, "x", `${home}${"a".repeat(24)}${"0".repeat(16)}`])
      expect((await send("{}", signed("{}", { id: to }), to)).status).toBe(401);
    expect(all.runtime.calls).toEqual([]);
    expect((await send("{}", {})).status).toBe(401);
    expect(all.runtime.calls).toEqual(["hookSecrets"]);
  });
  it("[HOOK-22] a body that is too big, no JSON or of another shape, and a plan that cannot be right, are told what is wrong", async () => {
    const told = async (body: string) => {
      const { status, body: said } = await send(body, signed(body));
      return [status, said.code];
    };
    expect(await told(JSON.stringify({ description: "x".repeat(limits.hook_body_bytes) }))).toEqual([
      413,
      "body_too_large",
    ]);
    expect(await told("")).toEqual([400, "bad_request"]);
    expect(await told("[1")).toEqual([400, "bad_request"]);
    expect(await told('{"titel":"x"}')).toEqual([400, "bad_request"]);
    expect(await told('{"title":"a","title":"b"}')).toEqual([400, "bad_request"]);
    expect(await told('{"title":"\\ud800"}')).toEqual([400, "bad_request"]);
    expect(await told('{"title":7}')).toEqual([400, "bad_request"]);
    expect(await told('{"plan":"no plan"}')).toEqual([422, "invalid_plan"]);
    const form = await send("{}", { ...signed("{}"), "content-type": "application/x-www-form-urlencoded" });
    expect([form.status, form.body.code]).toEqual([415, "unsupported_media_type"]);
    expect(all.runtime.ran).toEqual([]);
    expect(await told(JSON.stringify({ plan }))).toEqual([202, undefined]);
  });
  it("[HOOK-23] over its number an hour it answers 429 with when to come back", async () => {
    all.runtime.hookRefusal = { code: "too_many", detail: "later", extra: { retry_after_s: 77 } };
    const answer = await send("{}");
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([429, "77"]);
  });
  it("[HOOK-24] while two secrets live either is taken; an admin makes and rotates one and is shown each secret once", async () => {
    all.runtime.hookVersions.set(id, [3, 2]);
    for (const version of [3, 2]) expect((await send("{}", signed("{}", { version }))).status).toBe(202);
    for (const version of [1, 4]) expect((await send("{}", signed("{}", { version }))).status).toBe(401);
    all.runtime.repoRows.set(repo.url, { ...repo, default_ref: "main", added_by: "ada", added_at: "t" });
    const made = await all.ask("POST", "/api/hooks", { as: "admin", body: { name: "ci", repo: `${repo.url}/` } });
    expect([made.status, made.body.repo, made.body.title]).toEqual([201, repo.url, "{title}"]);
    const headers = new Webhook(made.body.secret).sign("m-9", new Date(1_800_000_000_000), "{}");
    const own = { "webhook-id": "m-9", "webhook-timestamp": "1800000000", "webhook-signature": headers };
    expect((await send("{}", own, made.body.id)).status).toBe(202);
    const rotated = await all.ask("POST", `/api/hooks/${made.body.id}/rotate`, { as: "admin" });
    expect(rotated.body.secret).not.toBe(made.body.secret);
    expect((await send("{}", own, made.body.id)).status).toBe(401);
    expect((await all.ask("GET", "/api/hooks", { as: "admin" })).text).not.toContain("whsec_");
  });
  it("[HOOK-25] a hook is made only for a registered repository that answers, with a name and a ref that can be", async () => {
    const make = (body: object) => all.ask("POST", "/api/hooks", { as: "admin", body });
    expect((await make({ name: "ci", repo: repo.url })).body.code).toBe("repo_not_registered");
    all.runtime.repoRows.set(repo.url, { ...repo, default_ref: "main", added_by: "ada", added_at: "t" });
    for (const name of ["", "CI", "-x", "a b", "hook:x", "x".repeat(41)])
      expect((await make({ name, repo: repo.url })).status).toBe(400);
    expect((await make({ name: "ci", repo: repo.url, ref: "a..b" })).body.code).toBe("ref_not_found");
    expect((await make({ name: "ci", repo: repo.url, ref: "main" })).status).toBe(201);
    expect(all.deployment.resolved).toContain(`${repo.url} main`);
  });
});
