/** The doors of queues: who may ask what, what reaches the runtime, and what it answers. */
import { describe, expect, it } from "vitest";
import { elsewhere } from "../fakes/door-ports.ts";
import { letterOf, queueOf } from "../fakes/views.ts";
import { world } from "./world.ts";

function withLetters() {
  const all = world();
  all.runtime.letterRows.set("proxy", [
    letterOf("letter-1"),
    letterOf("letter-2", { died_in: "outbox" }),
    letterOf("letter-3", { card: { id: "ap-1", status: "denied" } }),
  ]);
  return all;
}

describe("the doors of queues", () => {
  it("[HTTP-78] anybody of the scope looks; pages of dead letters carry a cursor", async () => {
    const { ask, runtime } = withLetters();
    const get = (path: string) => ask("GET", `/api/queues${path}`, { as: "viewer" });
    runtime.queueRows.set("proxy", { ...queueOf("proxy"), state: "paused", by: "ada", reason: "why" });
    expect((await get("")).body.items[2]).toMatchObject({ name: "proxy", state: "paused", by: "ada" });
    expect((await get("")).body.items[2].leases).toBeUndefined();
    expect((await get("/proxy")).body.leases).toEqual([]);
    const first = (await get("/proxy/dead-letters?limit=2")).body;
    expect(first.items.map((letter: { message_id: string }) => letter.message_id)).toEqual(["letter-1", "letter-2"]);
    const rest = (await get(`/proxy/dead-letters?limit=2&cursor=${first.next_cursor}`)).body;
    expect([rest.items.length, rest.next_cursor]).toEqual([1, null]);
    expect((await get("/proxy/dead-letters?limit=0")).status).toBe(400);
  });

  it("[HTTP-79] an admin pauses, resumes and drains; the reason and the name reach the runtime; the same again is 200", async () => {
    const { ask, runtime } = world();
    const move = (which: string, body: object = {}) => ask("POST", `/api/queues/proxy/${which}`, { as: "admin", body });
    const paused = await move("pause", { reason: " a bad model " });
    expect([paused.status, paused.body]).toEqual([
      200,
      expect.objectContaining({ state: "paused", by: "a admin", reason: "a bad model" }),
    ]);
    expect((await move("pause")).body).toEqual(paused.body);
    expect((await move("resume")).body.state).toBe("open");
    expect((await move("drain")).body.state).toBe("draining");
    expect(runtime.calls.filter((call) => call === "moveQueue")).toHaveLength(4);
    expect((await move("pause", { reason: "x".repeat(2_001) })).status).toBe(400);
    expect((await move("stop")).status).toBe(404);
  });

  it("[HTTP-80] an approver sends letters again, one or all, and hears how many are left", async () => {
    const { ask, runtime } = withLetters();
    const send = (path: string, body: object = {}) =>
      ask("POST", `/api/queues/proxy/dead-letters${path}`, { as: "approver", body });
    const one = await send("/letter-1/requeue", { reason: "zoe is back" });
    expect([one.status, one.body]).toEqual([200, { requeued: 1, left: 2 }]);
    expect(runtime.messages).toEqual(["a approver: zoe is back"]);
    const dropped = await send("/letter-3/requeue");
    expect([dropped.status, dropped.body.code, dropped.body.state]).toEqual([409, "not_in_this_state", "dropped"]);
    const unknown = await send("/letter-9/requeue");
    expect([unknown.status, unknown.body.code]).toEqual([404, "dead_letter_not_found"]);
    expect((await send("/requeue")).body).toEqual({ requeued: 2, left: 0 });
    expect((await send("/requeue")).body).toEqual({ requeued: 0, left: 0 });
  });

  it("[HTTP-81] each change needs its role, and a body in JSON", async () => {
    const { ask } = withLetters();
    const denied = async (as: "viewer" | "submitter" | "approver", path: string) =>
      (await ask("POST", `/api/queues/proxy/${path}`, { as, body: {} })).body.needs;
    for (const move of ["pause", "resume", "drain"]) expect(await denied("approver", move)).toBe("admin");
    for (const path of ["dead-letters/requeue", "dead-letters/letter-1/requeue"])
      expect(await denied("submitter", path)).toBe("approver");
    expect((await ask("POST", "/api/queues/proxy/pause", { as: "admin" })).status).toBe(415);
    expect((await ask("POST", "/api/queues/proxy/pause", { as: "admin", body: { why: "x" } })).status).toBe(400);
  });

  it("[HTTP-82] a name that nobody has here is 404 at every door and makes no object; another scope's too", async () => {
    const { ask, deployment } = withLetters();
    deployment.agent = () => {
      throw new Error("an object was made");
    };
    deployment.runtime(elsewhere).queueRows.set("theirs", queueOf("theirs"));
    for (const name of ["theirs", "None", "a%2Fb"]) {
      for (const path of ["", "/dead-letters"])
        expect((await ask("GET", `/api/queues/${name}${path}`, { as: "admin" })).body.code).toBe("queue_not_found");
      for (const path of ["/pause", "/resume", "/drain", "/dead-letters/requeue", "/dead-letters/m/requeue"])
        expect((await ask("POST", `/api/queues/${name}${path}`, { as: "admin", body: {} })).body.code).toBe(
          "queue_not_found",
        );
    }
  });
});
