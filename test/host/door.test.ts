/** Who may speak to the host, and how it starts. */
import { spawnSync } from "node:child_process";
import { request } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import WebSocket from "ws";
import { HostSandboxes } from "../../src/adapters/host-sandboxes.ts";
import { failure, spec } from "../contract/programs.ts";
import { World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await World.open();
});
afterAll(() => world?.close());

/** `fetch` sets the Host header itself, so this speaks plainly. */
function post(path: string, headers: Record<string, string>, body = "{}"): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(world.host.url + path, { method: "POST", headers }, (response) => {
      let text = "";
      response.on("data", (part) => {
        text += part;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body: text }));
    });
    sent.on("error", reject);
    sent.end(body);
  });
}
function upgrade(headers: Record<string, string>): Promise<string> {
  return new Promise((resolve) => {
    const socket = new WebSocket(`${world.host.url.replace("http", "ws")}/v1/pty?sandbox=x&pty=y`, { headers });
    socket.on("open", () => resolve("open"));
    socket.on("unexpected-response", (_request, response) => resolve(String(response.statusCode)));
    socket.on("error", () => {});
  });
}

describe("the door", () => {
  it("[SBX-17] nothing is answered without the secret, neither a request nor an upgrade", async () => {
    const wrong = "0".repeat(64);
    for (const headers of [{}, { authorization: `Bearer ${wrong}` }, { authorization: world.host.secret }] as Record<
      string,
      string
    >[]) {
      expect((await post("/v1/sandboxes", headers)).status).toBe(401);
      expect(await upgrade(headers)).toBe("401");
    }
    const stranger = new HostSandboxes({ url: world.host.url, secret: wrong });
    expect(await failure(stranger.sandboxes())).toBe("unauthorized");
  });

  it("[SBX-17] a browser's request and a foreign name are refused, even with the secret", async () => {
    const authorization = `Bearer ${world.host.secret}`;
    expect((await post("/v1/sandboxes", { authorization })).status).toBe(200);
    const bad = [{ origin: "http://127.0.0.1" }, { host: "evil.example" }, { host: "127.0.0.1:1" }] as Record<
      string,
      string
    >[];
    for (const more of bad) {
      expect((await post("/v1/sandboxes", { authorization, ...more })).status).toBe(401);
      expect(await upgrade({ authorization, ...more })).toBe("401");
    }
  });

  it("[SBX-18] what the protocol does not know is refused with a sentence", async () => {
    const authorization = `Bearer ${world.host.secret}`;
    for (const path of ["/", "/v1/nothing", "/v1/constructor", "/v1/sandboxes/../create"]) {
      expect((await post(path, { authorization })).status).toBe(400);
    }
    expect(JSON.parse((await post("/v1/sandboxes", { authorization }, "{")).body)).toMatchObject({
      code: "bad_request",
    });
    const answer = await post("/v1/sandboxes", { authorization }, '{"more":1}');
    expect(JSON.parse(answer.body)).toMatchObject({ code: "bad_request", retryable: false });
  });

  it("[SBX-18] ids and work trees cannot climb out of the host's folder", async () => {
    const { sandboxes } = world;
    for (const id of ["../x", "a/b", "", ".", "..", "x\0", "-".repeat(200)]) {
      expect(await failure(sandboxes.create(id, spec("a")))).toBe("bad_request");
    }
    for (const worktree of ["/etc", "../x/y", "a/../../b", "git/x", "sandboxes/x", "a//b", "a", "a/./b"]) {
      expect(await failure(sandboxes.create("w", spec("w", { worktree })))).toBe("bad_request");
    }
    expect(await failure(sandboxes.create("w", spec("w", { scope_id: "../x" })))).toBe("bad_request");
    const id = await world.empty();
    const nested = { worktree: `${spec(id).worktree}/inner` };
    expect(await failure(sandboxes.create("w", spec("w", nested)))).toBe("bad_request");
    await sandboxes.exec(id, "../../../x", { argv: ["true"], timeout_ms: 5_000 });
    expect((await sandboxes.wait(id, "../../../x", 0, 20_000)).outcome).toMatchObject({ state: "exited" });
  });

  it("[SBX-19] a host that is not there is unreachable, and that may pass", async () => {
    const nobody = new HostSandboxes({ url: "http://127.0.0.1:9", secret: world.host.secret });
    await expect(nobody.sandboxes()).rejects.toMatchObject({ code: "unreachable", retryable: true });
  });

  it("[SBX-19] wrong settings end the host with one clear line", () => {
    const main = join(import.meta.dirname, "../../src/host/main.ts");
    const node = join(import.meta.dirname, "../../node_modules/node/bin/node");
    const secret = "a".repeat(64);
    const bad: [Record<string, string>, RegExp][] = [
      [{}, /SANDBOX_SECRET/],
      [{ SANDBOX_SECRET: secret }, /SANDBOX_ROOT/],
      [{ SANDBOX_SECRET: secret, SANDBOX_ROOT: world.folder.state, SANDBOX_PORT: "x" }, /SANDBOX_PORT/],
      [{ SANDBOX_SECRET: secret, SANDBOX_ROOT: world.folder.state, REPO_ROOTS: "here" }, /REPO_ROOTS/],
    ];
    for (const [env, says] of bad) {
      const ended = spawnSync(node, [main], { env: { PATH: process.env.PATH, ...env }, encoding: "utf8" });
      expect(ended.status).toBe(1);
      expect(ended.stderr.trim().split("\n")).toHaveLength(1);
      expect(ended.stderr).toMatch(says);
      expect(ended.stdout).toBe("");
    }
  });
});
