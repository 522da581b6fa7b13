import { afterEach, describe, expect, it } from "vitest";
import { deliveryOf, hookOf, webhookOf } from "../fakes/webhooks-door.ts";
import { type Answer, command, type Fake, fakeService, json } from "./fake.ts";

let fake: Fake;
afterEach(() => fake?.close());
async function serve(answer: Answer): Promise<string> {
  fake = await fakeService(answer);
  return fake.url;
}
const whole = (items: unknown[]) => ({ items, next_cursor: null });
const secret = "whsec_c2VjcmV0";

describe("webhooks", () => {
  it("[WBH-50] add names the events, and shows the secret with the warning that it is shown once", async () => {
    const made = { ...webhookOf("w1"), secret };
    const url = await serve((_, response) => json(response, 201, made));
    const said = await command(url, [
      ...["webhooks", "add", "https://hooks.example/in", "--event", "task_complete", "--event", "rung"],
      ...["--description", "to chat"],
    ]);
    expect(fake.asked[0]).toMatchObject({
      ...{ method: "POST", path: "/api/webhooks" },
      body: { url: "https://hooks.example/in", events: ["task_complete", "rung"], description: "to chat" },
    });
    expect([said.code, said.out]).toEqual([
      0,
      `w1  active    0 open deliveries  https://hooks.example/in  task_complete\nmade by   ada at ${made.created_at}\nsigns by  secret 1\nsecret    ${secret}\nKeep it now: it is not shown again.\n`,
    ]);
    const machine = await command(url, ["webhooks", "add", "https://hooks.example/in", "--event", "*", "--json"]);
    expect(JSON.parse(machine.out)).toEqual(made);
    expect((await command(url, ["webhooks", "add", "https://hooks.example/in"])).code).toBe(2);
    expect(fake.asked).toHaveLength(2);
  });
  it("[WBH-51] list and show say how each stands and why, and nothing in their words hides", async () => {
    const why = "Its receiver\u202e answered 410";
    const more = { status: "disabled", why, failing_since: "2026-01-01T00:00:00.000Z", open: 1 } as const;
    const one = webhookOf("w/1", { ...more, description: "chat\u200b", old_secret_until: "2026-01-02T00:00:00.000Z" });
    const url = await serve(({ path }, response) => json(response, 200, path === "/api/webhooks" ? whole([one]) : one));
    const listed = await command(url, ["webhooks", "list"]);
    expect(listed.out).toBe("w/1  disabled  1 open delivery  https://hooks.example/in  task_complete\n");
    const shown = await command(url, ["webhooks", "show", "w/1"]);
    expect(fake.asked.at(-1)?.path).toBe("/api/webhooks/w%2F1");
    for (const words of [
      "Its receiver⟦U+202E⟧ answered 410",
      "chat⟦U+200B⟧",
      "failing   since",
      "signs until 2026-01-02",
    ])
      expect(shown.out).toContain(words);
    expect(JSON.parse((await command(url, ["webhooks", "list", "--json"])).out)).toEqual(whole([one]));
    const empty = await serve((_, response) => json(response, 200, whole([])));
    expect((await command(empty, ["webhooks", "list"])).out).toBe("Nothing here.\n");
  });
  it("[WBH-52] test, rotate, enable, disable, remove and redeliver each ask their own door", async () => {
    const url = await serve(({ method, path }, response) => {
      if (/test$|redeliver$/.test(path)) return json(response, 202, deliveryOf("d1", { state: "open", tries: 2 }));
      if (path.endsWith("rotate")) return json(response, 200, { ...webhookOf("w1", { secret_version: 2 }), secret });
      return json(response, 200, webhookOf("w1", { status: method === "DELETE" ? "disabled" : "active" }));
    });
    const run = async (...argv: string[]) => (await command(url, ["webhooks", ...argv])).out;
    expect(await run("test", "w1")).toBe("On its way: d1\n");
    expect(await run("rotate", "w1")).toContain(secret);
    expect(await run("enable", "w1")).toContain("active");
    expect(await run("disable", "w1")).toContain("w1");
    expect(await run("redeliver", "w1", "d/1")).toContain("d1  open  2 tries  task_complete 1");
    expect(await run("remove", "w1")).toBe("Removed: w1\n");
    expect(fake.asked.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "POST /api/webhooks/w1/test",
      "POST /api/webhooks/w1/rotate",
      "POST /api/webhooks/w1/enable",
      "POST /api/webhooks/w1/disable",
      "POST /api/webhooks/w1/deliveries/d%2F1/redeliver",
      "DELETE /api/webhooks/w1",
    ]);
  });
  it("[WBH-52] deliveries say how each ended, in the receiver's own words made visible, and what comes next", async () => {
    const last = { at: "2026-01-01T00:00:00.000Z", ms: 3, status: 503, words: "busy\u0007" };
    const waits = deliveryOf("d2", {
      state: "open",
      tries: 2,
      next_at: "2026-01-01T00:00:30.000Z",
      last,
      ended_at: null,
    });
    const silent = deliveryOf("d3", { state: "dead", tries: 8, last: { ...last, status: null, words: "no line" } });
    const url = await serve((_, response) => json(response, 200, { items: [waits, silent], next_cursor: "d3" }));
    const said = await command(url, ["webhooks", "deliveries", "w1", "--limit", "2"]);
    expect(fake.asked[0]?.path).toBe("/api/webhooks/w1/deliveries?limit=2");
    const [first, second] = said.out.split("\n");
    expect(first).toMatch(
      /^d2 {2}open {2}2 tries {2}task_complete 1 .* 503: busy⟦U\+0007⟧ {2}next 2026-01-01T00:00:30/,
    );
    expect(second).toMatch(/^d3 {2}dead {2}8 tries .* no answer: no line$/);
    expect(said.err).toContain("--cursor d3");
  });
});

describe("hooks", () => {
  it("[HOOK-30] add sends what was said and no more, and shows the address and the secret once", async () => {
    const made = { ...hookOf("h1"), secret };
    const url = await serve((_, response) => json(response, 201, made));
    const said = await command(url, ["hooks", "add", "ci", "--repo", "https://git.example/a/b", "--label", "x"]);
    expect(fake.asked[0]?.body).toEqual({ name: "ci", repo: "https://git.example/a/b", labels: ["x"] });
    expect(said.out).toContain(`${url}/hooks/h1\nsecret    ${secret}\n`);
    const all = ["--ref", "main", "--title", "[ci] {title}", "--max-per-hour", "5"];
    await command(url, ["hooks", "add", "ci", "--repo", "r", ...all]);
    expect(fake.asked[1]?.body).toEqual({
      ...{ name: "ci", repo: "r", labels: [], ref: "main", title: "[ci] {title}", max_per_hour: 5 },
    });
    expect((await command(url, ["hooks", "add", "ci"])).code).toBe(2);
    expect((await command(url, ["hooks", "add", "ci", "--repo", "r", "--max-per-hour", "0"])).code).toBe(2);
    expect(fake.asked).toHaveLength(2);
  });
  it("[HOOK-31] list, rotate and remove", async () => {
    const url = await serve(({ method, path }, response) => {
      if (path === "/api/hooks") return json(response, 200, whole([hookOf("h1")]));
      if (method === "DELETE") return json(response, 200, hookOf("h1"));
      return json(response, 200, { ...hookOf("h1", { secret_version: 2 }), secret });
    });
    expect((await command(url, ["hooks", "list"])).out).toContain(
      "h1  ci  https://git.example/a/b HEAD  at most 20 an hour",
    );
    expect((await command(url, ["hooks", "rotate", "h1"])).out).toContain(secret);
    expect((await command(url, ["hooks", "remove", "h1"])).out).toBe("Removed: ci\n");
    expect(JSON.parse((await command(url, ["hooks", "list", "--json"])).out)).toEqual(whole([hookOf("h1")]));
    expect(fake.asked.map(({ method, path }) => `${method} ${path}`)).toEqual([
      ...["GET /api/hooks", "POST /api/hooks/h1/rotate", "DELETE /api/hooks/h1", "GET /api/hooks"],
    ]);
  });
});
