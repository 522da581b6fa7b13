/** What a person watches: the scope's feed and an attempt's output, by sockets that begin anywhere and end when they must. */
import { evictDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import { OutputLog } from "../../durable-objects/output-log.ts";
import { countersigned } from "./driven.ts";
import {
  agent,
  agentStub,
  as,
  events,
  hold,
  inAgent,
  inRuntime,
  makeScope,
  missing,
  must,
  type Scope,
  until,
} from "./scope.ts";

interface Heard {
  readonly socket: WebSocket;
  readonly said: { seq?: number; type: string; oldest?: number; to?: string }[];
  readonly bytes: Uint8Array[];
  closed: { code: number } | null;
}
async function open(stub: DurableObjectStub, path: string, caller: unknown): Promise<Heard> {
  const headers = { upgrade: "websocket", "x-countersign-caller": JSON.stringify(caller) };
  const answer = await stub.fetch(`http://object${path}`, { headers });
  const socket = answer.webSocket ?? missing(`socket: ${answer.status}`);
  socket.binaryType = "arraybuffer";
  const heard: Heard = { socket, said: [], bytes: [], closed: null };
  socket.addEventListener("message", ({ data }) => {
    if (typeof data === "string") heard.said.push(JSON.parse(data));
    else if (data instanceof ArrayBuffer) heard.bytes.push(new Uint8Array(data));
  });
  socket.addEventListener("close", ({ code }) => {
    heard.closed = { code };
  });
  socket.accept();
  return heard;
}
function subscribe(heard: Heard, after: number | null, types: string[] = []): void {
  heard.socket.send(JSON.stringify({ type: "subscribe", events: types, after }));
}
const feed = (scope: Scope) => open(scope.stub, "/events", scope.admin);

describe("the feed's socket", () => {
  it("[EVS-1] replays every event after the given one in order, then goes on as they come", async () => {
    const { scope } = await countersigned();
    const known = await events(scope);
    const heard = await feed(scope);
    subscribe(heard, 3);
    await until(async () => heard.said.length >= known.length - 3);
    must(
      await scope.runtime.cancelTask(
        scope.admin,
        (await scope.runtime.tasks(scope.admin, { limit: 1, cursor: null, status: null }).then(must)).items[0]?.id ??
          "",
        "stop",
      ),
    );
    await until(async () => heard.said.some((event) => event.type === "task_cancelled"));
    expect(heard.said.map((event) => event.seq)).toEqual(heard.said.map((_, at) => at + 4));
    heard.socket.close();
  });

  it("[EVS-2] hears nothing before it subscribes, and then what is new, or only the types it names", async () => {
    const scope = await makeScope();
    await hold(scope, "proxy", "planner", "verifier");
    const quiet = await feed(scope);
    const named = await feed(scope);
    const newest = (await events(scope)).length;
    subscribe(named, 0, ["task_created"]);
    await scope.runtime.createTask(
      scope.admin,
      {
        title: "x",
        description: "",
        labels: [],
        repo: { url: "file:///x", ref: "HEAD" },
        plan: "p",
        register_repo: true,
      },
      null,
    );
    await until(async () => named.said.length > 0);
    expect(named.said.map((event) => event.type)).toEqual(["task_created"]);
    expect(quiet.said).toEqual([]);
    subscribe(quiet, null);
    await until(async () => quiet.said.some((event) => event.type === "task_created"));
    expect(quiet.said[0]?.seq).toBeGreaterThan(newest - 1);
  });

  it("[EVS-3] asking for what is gone or never was, it is told to begin anew", async () => {
    const { scope } = await countersigned();
    await inRuntime(scope, ({ sql }) => sql.run("DELETE FROM events WHERE seq <= 4"));
    for (const after of [1, 9_999]) {
      const heard = await feed(scope);
      subscribe(heard, after);
      await until(async () => heard.said.length > 1);
      expect(heard.said.slice(0, 2)).toMatchObject([{ type: "reset", oldest: 5 }, { seq: 5 }]);
    }
  });

  it("[EVS-4] a wrong word is answered with the right one, and without a caller there is no socket", async () => {
    const scope = await makeScope();
    const heard = await feed(scope);
    for (const word of ["{", "[]", JSON.stringify({ type: "subscribe", after: -1 }), "x".repeat(9_000)])
      heard.socket.send(word);
    await until(async () => heard.said.length === 4);
    expect(heard.said.every((answer) => answer.type === "error")).toBe(true);
    for (const caller of [null, {}, "x"])
      expect(
        (
          await scope.stub.fetch("http://object/events", {
            headers: { upgrade: "websocket", "x-countersign-caller": JSON.stringify(caller) },
          })
        ).status,
      ).toBe(400);
  });

  it("[EVS-5] a revoked token closes what it opened at once, here and at the agents, and nobody else's", async () => {
    const scope = await makeScope();
    must(
      await scope.runtime.addToken(scope.admin, {
        id: "token-of-bob",
        name: "bob",
        role: "viewer",
        secret_hash: `bob of ${scope.id}`,
      }),
    );
    const bob = { ...as(scope, "bob", "viewer"), credential_id: "token-of-bob" };
    const mine = await feed(scope);
    const his = await open(scope.stub, "/events", bob);
    await keepOpen(scope, "a1");
    const terminal = await open(agentStub(scope, "planner"), "/terminal?attempt=a1&from=0", bob);
    subscribe(mine, 0);
    subscribe(his, 0);
    must(await scope.runtime.revokeToken(scope.admin, "token-of-bob"));
    await until(async () => his.closed !== null && terminal.closed !== null);
    expect([his.closed?.code, terminal.closed?.code, mine.closed]).toEqual([4001, 4001, null]);
    expect(await scope.runtime.authenticate(scope.id, `bob of ${scope.id}`)).toBeNull();
  });

  it("[EVS-6] a credential that no longer holds is sent nothing more, even when nobody closed its socket", async () => {
    const scope = await makeScope();
    const heard = await feed(scope);
    subscribe(heard, 0);
    await until(async () => heard.said.length > 0);
    await inRuntime(scope, ({ sql }) => sql.run("UPDATE credentials SET expires_at = 1"));
    await scope.runtime.addRepo(scope.admin, { url: "https://example.com/x", default_ref: "HEAD" });
    await until(async () => heard.closed !== null);
    expect(heard.closed).toEqual({ code: 4001 });
  });

  it("[EVS-7] it outlives the object's eviction and goes on where it was", async () => {
    const { scope, task_id } = await countersigned();
    const heard = await feed(scope);
    subscribe(heard, 0);
    await until(async () => heard.said.length > 0);
    await evictDurableObject(scope.stub);
    must(await scope.runtime.cancelTask(scope.admin, task_id, "stop"));
    await until(async () => heard.said.some((event) => event.type === "task_cancelled"));
    expect(heard.said.map((event) => event.seq)).toEqual(heard.said.map((_, at) => at + 1));
  });

  it("[EVS-8] a long poll answers when something happens", async () => {
    const { scope, task_id } = await countersigned();
    const after = (await events(scope)).length;
    const waiting = scope.runtime.events(scope.admin, { after, limit: 10, types: ["task_cancelled"], wait_ms: 20_000 });
    must(await scope.runtime.cancelTask(scope.admin, task_id, "stop"));
    expect(must(await waiting).events).toMatchObject([{ type: "task_cancelled" }]);
  });
});

/** A run of the planner's whose output grows as the test says. */
async function keepOpen(scope: Scope, owner: string): Promise<void> {
  await hold(scope, "planner");
  await inAgent(scope, "planner", ({ sql }) => {
    const message = {
      message_id: "message-1",
      trace_id: "trace-1-long",
      scope_id: scope.id,
      message_kind: "plan_request",
      sender: "proxy",
      recipient: "planner",
      content: "",
      taint: "owner",
      created_at: "",
    };
    const run = {
      id: owner,
      message,
      lease: { lease_id: "l", epoch: 1 },
      owner,
      state: {},
      cancelled: false,
      opened_at: 0,
      next_at: Date.now() + 86_400_000,
      steps: 0,
      errors: 0,
    };
    sql.run(
      "INSERT INTO runs (id, owner, next_at, doc) VALUES (?, ?, ?, ?)",
      owner,
      owner,
      Date.now() + 86_400_000,
      JSON.stringify(run),
    );
  });
}
const text = (heard: Heard) => heard.bytes.map((bytes) => new TextDecoder().decode(bytes)).join("");

describe("an attempt's terminal", () => {
  it("[TERM-1] is sent the output from where it asked, and its end when the attempt is over", async () => {
    const scope = await makeScope();
    await agent(scope, "planner").start(scope.id, "planner");
    await inAgent(scope, "planner", ({ sql }) =>
      new OutputLog(sql).append("a1", new TextEncoder().encode("hello terminal")),
    );
    const heard = await open(agentStub(scope, "planner"), "/terminal?attempt=a1&from=6", scope.admin);
    await until(async () => heard.closed !== null);
    expect([text(heard), heard.said, heard.closed?.code]).toEqual(["terminal", [{ type: "exit" }], 1000]);
  });

  it("[TERM-2] while the attempt runs it stays open; without a caller, an attempt or a number it does not open", async () => {
    const scope = await makeScope();
    await keepOpen(scope, "a2");
    const heard = await open(agentStub(scope, "planner"), "/terminal?attempt=a2&from=0", scope.admin);
    expect(heard.closed).toBeNull();
    const upgrade = { upgrade: "websocket" };
    const caller = { "x-countersign-caller": JSON.stringify(scope.admin) };
    for (const [path, headers] of [
      ["/terminal?attempt=a2&from=0", upgrade],
      ["/terminal?from=0", { ...upgrade, ...caller }],
      ["/terminal?attempt=a2&from=x", { ...upgrade, ...caller }],
    ] as const)
      expect((await agentStub(scope, "planner").fetch(`http://object${path}`, { headers })).status).toBe(400);
  });
});
