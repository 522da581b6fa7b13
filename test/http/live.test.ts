import { describe, expect, it } from "vitest";
import { eventOf } from "../fakes/views.ts";
import { origin, world } from "./world.ts";

const upgrade = { upgrade: "websocket", connection: "Upgrade" };

/** Reads a stream until the text holds `until`, then leaves. */
async function read(response: Response, until: string): Promise<string> {
  const reader = response.body?.getReader();
  if (reader === undefined) throw new Error("no body");
  let text = "";
  while (!text.includes(until)) {
    const { done, value } = await reader.read();
    if (done) return text;
    text += new TextDecoder().decode(value);
  }
  await reader.cancel();
  return text;
}

describe("events as a page", () => {
  it("[HTTP-27] events after a seq, oldest first, of the types asked for", async () => {
    const { ask, runtime } = world();
    runtime.eventRows.push(eventOf(1, "task_created"), eventOf(2, "plan_ready"), eventOf(3, "task_complete"));
    const get = (query: string) =>
      ask("GET", `/api/events?${query}`, { as: "viewer", headers: { accept: "application/json" } });
    const seqs = async (query: string) => (await get(query)).body.items.map((event: { seq: number }) => event.seq);
    expect(await seqs("")).toEqual([1, 2, 3]);
    expect(await seqs("after=1&limit=1")).toEqual([2]);
    expect(await seqs("after=0&types=plan_ready,task_complete")).toEqual([2, 3]);
    expect((await get("after=3")).body).toEqual({ items: [], last_seq: 3, reset: null });
    for (const bad of ["after=-1", "after=x", "after=1e400", "wait_ms=20001", "limit=0"])
      expect((await get(bad)).status).toBe(400);
    expect((await ask("GET", "/api/events")).status).toBe(401);
  });
});

describe("events as a stream", () => {
  it("[HTTP-28] goes on after Last-Event-ID, in order, once, and says what was dropped", async () => {
    const { send, runtime } = world();
    runtime.eventRows.push(eventOf(5, "task_created"), eventOf(6, "plan_ready"));
    runtime.oldest = 5;
    let waits = 0;
    runtime.onWait = () => {
      waits += 1;
      if (waits === 1) runtime.eventRows.push(eventOf(7, "task_complete"));
    };
    const response = await send("GET", "/api/events", { as: "viewer", headers: { "last-event-id": "2" } });
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    const text = await read(response, "id: 7\n");
    expect([...text.matchAll(/^id: (\d+)$/gm)].map((match) => match[1])).toEqual(["5", "6", "7"]);
    expect(text).toContain('data: {"type":"reset","oldest":5}\n\n');
    expect(text).toContain('id: 6\ndata: {"seq":6,"type":"plan_ready"');
  });
  it("[HTTP-28] without a place it begins now; `after` is a place too; a wrong place is 400", async () => {
    const { send, ask, runtime } = world();
    runtime.eventRows.push(eventOf(1, "task_created"));
    runtime.onWait = () => runtime.eventRows.push(eventOf(runtime.eventRows.length + 1, "plan_ready"));
    const fromNow = await read(await send("GET", "/api/events", { as: "viewer" }), "id: 2");
    expect(fromNow).not.toContain("id: 1\n");
    expect(await read(await send("GET", "/api/events?after=0", { as: "viewer" }), "id: 1\n")).toContain("task_created");
    for (const place of ["x", "-1", "1.5"])
      expect((await ask("GET", "/api/events", { as: "viewer", headers: { "last-event-id": place } })).status).toBe(400);
  });
  it("[HTTP-28] a quiet stream says every 15 seconds that it lives, and ends after an hour", async () => {
    const { send, runtime, deployment } = world();
    runtime.onWait = () => {
      deployment.clock += 5_000;
    };
    const response = await send("GET", "/api/events", { as: "viewer" });
    const text = await response.text();
    expect(text.match(/^: still here$/gm)).toHaveLength(240);
    expect(runtime.calls.filter((call) => call === "events")).toHaveLength(720);
  });
  it("[HTTP-28] nothing is asked for a reader that does not read", async () => {
    const { send, runtime } = world();
    const response = await send("GET", "/api/events", { as: "viewer" });
    const reader = response.body?.getReader();
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe(": open\n\n");
    await reader?.cancel();
    expect(runtime.calls).not.toContain("events");
  });
  it("[HTTP-29] a revoked caller's stream ends without telling what happened since", async () => {
    const { send, runtime, deployment } = world();
    runtime.onWait = () => {
      deployment.clock += 3_600_000;
      runtime.credentials.clear();
      runtime.eventRows.push(eventOf(9, "task_complete"));
    };
    const response = await send("GET", "/api/events", { as: "viewer" });
    expect(await response.text()).toBe(": open\n\n");
  });
});

describe("sockets", () => {
  it("[HTTP-6] a ticket opens its own path once; the object gets our word and none of the secrets", async () => {
    const { ask, runtime } = world();
    const { body } = await ask("POST", "/api/tickets", { as: "viewer", body: { path: "/api/events" } });
    const forged = { ...upgrade, "x-countersign-caller": '{"role":"admin"}', cookie: "cs_session=x" };
    const open = () => ask("GET", `/api/events?ticket=${body.ticket}`, { headers: forged });
    expect((await open()).text).toBe("a socket");
    const seen = runtime.lastUpgrade;
    expect(JSON.parse(seen?.headers.get("x-countersign-caller") ?? "")).toMatchObject({
      subject: "a viewer",
      role: "viewer",
    });
    expect(seen?.url).toBe(`${origin}/api/events`);
    expect([seen?.headers.get("cookie"), seen?.headers.get("authorization")]).toEqual([null, null]);
    expect((await open()).status).toBe(401);
  });
  it("[HTTP-6] a bearer token opens a socket, a name in any letters arrives whole", async () => {
    const { ask, runtime } = world();
    const authorization = `Bearer ${world().deployment.token("viewer")}`;
    await ask("GET", "/api/tasks", { as: "viewer" });
    for (const [hash, caller] of runtime.credentials) runtime.credentials.set(hash, { ...caller, subject: "Łucja 🖋" });
    expect((await ask("GET", "/api/events", { authorization, headers: upgrade })).status).toBe(200);
    expect(runtime.lastUpgrade?.headers.get("authorization")).toBeNull();
    expect(JSON.parse(runtime.lastUpgrade?.headers.get("x-countersign-caller") ?? "").subject).toBe("Łucja 🖋");
  });
  it("[HTTP-6] a cookie opens no socket, whatever its origin; nor does a ticket of another path", async () => {
    const { ask, runtime } = world();
    const link = await ask("POST", "/api/tickets", { as: "admin", body: { path: "/" } });
    const session = await ask("POST", "/auth/session", { body: { ticket: link.body.ticket } });
    const cookie = session.headers.get("set-cookie")?.split(";")[0] ?? "";
    expect((await ask("GET", "/api/events", { headers: { ...upgrade, cookie, origin } })).status).toBe(401);
    const { body } = await ask("POST", "/api/tickets", {
      as: "viewer",
      body: { path: "/api/attempts/attempt-1/terminal" },
    });
    expect((await ask("GET", `/api/events?ticket=${body.ticket}`, { headers: upgrade })).status).toBe(401);
    expect((await ask("GET", "/api/events?ticket=nonsense", { headers: upgrade })).status).toBe(401);
    expect(runtime.lastUpgrade).toBeNull();
  });
  it("[HTTP-30] a terminal is asked of the agent that holds it, from the byte asked for", async () => {
    const { ask, deployment } = world();
    const path = "/api/attempts/attempt-1/terminal";
    const { body } = await ask("POST", "/api/tickets", { as: "viewer", body: { path } });
    expect((await ask("GET", `${path}?from=70&ticket=${body.ticket}`, { headers: upgrade })).text).toBe("a terminal");
    expect(deployment.lastTerminal?.url).toBe(`${origin}/terminal?attempt=attempt-1&from=70`);
    expect(deployment.lastTerminal?.headers.get("x-countersign-caller")).toContain("a viewer");
    expect(deployment.lastTerminal?.headers.get("upgrade")).toBe("websocket");
  });
  it("[HTTP-30] an unknown attempt is 404, a wrong place 400, and a plain request is told to open a socket", async () => {
    const { ask, deployment } = world();
    const get = (path: string, headers = {}) => ask("GET", `/api/attempts/${path}`, { as: "viewer", headers });
    expect((await get("none/terminal", upgrade)).body.code).toBe("attempt_not_found");
    expect((await get("attempt-1/terminal?from=-1", upgrade)).status).toBe(400);
    expect((await get("attempt-1/terminal")).body.detail).toContain("WebSocket");
    expect(deployment.lastTerminal).toBeNull();
  });
});
