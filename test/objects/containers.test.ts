/** The object of a container in the platform's own runtime. A container cannot be had there: a sandbox host stands for it. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { SandboxObject } from "../../durable-objects/sandbox-object.ts";
import type { Machine } from "../../src/adapters/container-machine.ts";
import { containersAddress } from "../../src/adapters/container-sandboxes.ts";
import { HostSandboxes } from "../../src/adapters/host-sandboxes.ts";
import { gateOrigin } from "../../src/domain/gate.ts";
import { doorPorts } from "../../src/http/wiring.ts";
import { failure, finish, shell, spec, text } from "../contract/programs.ts";

const objects = () => {
  if (env.SANDBOXES === undefined) throw new Error("the objects of containers are not bound");
  return env.SANDBOXES;
};
const pool = () => env.POOL.getByName("pool");

/** The host of these tests as a container: its secret is its own, so the object's is replaced on the way. */
class HostMachine implements Machine {
  readonly images = { sandbox: "image" };
  running = false;
  handler: Fetcher | null = null;
  start(): void {
    this.running = true;
  }
  async destroy(): Promise<void> {
    this.running = false;
  }
  stays = 0;
  /** The platform takes what it is told and never says so. */
  slow = false;
  async setInactivityTimeout(): Promise<void> {
    this.stays += 1;
    if (this.slow) return new Promise(() => {});
  }
  async interceptOutboundHttp(_host: string, handler: Fetcher): Promise<void> {
    this.handler = handler;
  }
  async interceptOutboundHttps(): Promise<void> {}
  getTcpPort() {
    return {
      fetch: (url: string, init: RequestInit): Promise<Response> => {
        const headers = new Headers(init.headers);
        headers.set("authorization", `Bearer ${env.SANDBOX_SECRET}`);
        return fetch(url.replace("http://127.0.0.1:8080", env.SANDBOX_URL ?? ""), { ...init, headers });
      },
    };
  }
}

afterEach(() => vi.restoreAllMocks());

describe("the object of a container, in workerd", () => {
  it("[CON-13] an object without a container says what to configure, and is forgotten when asked", async () => {
    const sandboxes = new HostSandboxes(
      containersAddress(
        { getByName: (name) => ({ fetch: (url, init) => objects().getByName(name).fetch(url, init) }) },
        // The object declares that it keeps the list, so its stub does.
        pool() as unknown as Parameters<typeof containersAddress>[1],
      ),
    );
    const refused = sandboxes.create("con-none", spec("con-none"));
    await expect(refused).rejects.toMatchObject({
      code: "unreachable",
      message: expect.stringContaining("[[containers]]"),
    });
    expect((await sandboxes.sandboxes()).map(({ id }) => id)).toContain("con-none");
    const features = await doorPorts({ ...env, SANDBOX: "container" }).features();
    const [sandbox] = features.filter(({ name }) => name === "sandbox");
    expect(sandbox).toMatchObject({ ok: false, detail: expect.stringContaining("[[containers]]") });
    await sandboxes.destroy("con-none");
    expect((await sandboxes.sandboxes()).map(({ id }) => id)).not.toContain("con-none");
    expect(await failure(sandboxes.read("con-none", "a"))).toBe("no_such_sandbox");
  });

  it("[CON-13] what comes out of a container reaches its object through the handler the object gave, and the answer comes back", async () => {
    const name = "con-one";
    await runInDurableObject(objects().getByName(name), async (_instance: SandboxObject, state) => {
      const machine = new HostMachine();
      Object.defineProperty(state, "container", { value: machine, configurable: true });
      const object = new SandboxObject(state, env);
      const sandboxes = new HostSandboxes({
        url: "http://container",
        secret: "",
        fetch: (url, init) => object.fetch(new Request(url, init)),
      });
      const worktree = `.runtime/worktrees/con/${crypto.randomUUID()}/1`;
      await sandboxes.create(name, spec(name, { worktree }));
      await sandboxes.write(name, "a.txt", new TextEncoder().encode("one\n"));
      const network = { hosts: ["packages.example"], cache: [] };
      await sandboxes.exec(name, "setup", { argv: ["true"], timeout_ms: 30_000, network });
      const { handler } = machine;
      if (handler === null) throw new Error("no handler was given");
      const sent: string[] = [];
      vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
        const request = new Request(input as RequestInfo, init);
        sent.push(`${request.method} ${request.url} ${await request.text()}`);
        return new Response("taken", { status: 201 });
      });
      const astray = `${gateOrigin}/https/github.com/acme/widgets/info/refs?service=git-upload-pack`;
      expect((await handler.fetch(astray)).status).toBe(421);
      // The handler asks the object that the platform keeps, which reads what this one has written down.
      const granted = "https://packages.example/upload";
      const answer = await handler.fetch(granted, { method: "POST", body: "bytes" });
      expect([answer.status, await answer.text()]).toEqual([201, "taken"]);
      expect((await handler.fetch("https://other.example/")).status).toBe(421);
      expect(sent).toEqual(["POST https://packages.example/upload bytes"]);
      vi.restoreAllMocks();
      await sandboxes.exec(name, "c", { argv: shell("cat a.txt"), timeout_ms: 30_000 });
      expect((await finish(sandboxes, name, "c")).output).toBe("one\n");
      expect(text(await sandboxes.read(name, "a.txt"))).toBe("one\n");
      const socket = await sandboxes
        .openPty(name, "t", { argv: ["cat"], cols: 80, rows: 24, timeout_ms: 30_000 })
        .then(() => sandboxes.attachPty(name, "t", 0));
      expect(socket.status).toBe(101);
      socket.webSocket?.accept();
      socket.webSocket?.close();

      // The next object beside it says anew how long it stays. [CON-17]
      expect(machine.stays).toBe(1);
      const next = new SandboxObject(state, env);
      await expect.poll(() => machine.stays).toBe(2);
      expect(await next.configured()).toBe(true);
      await sandboxes.destroy(name);
      expect(machine.running).toBe(false);
      expect((await state.storage.list()).size).toBe(0);
    });
  });

  it("[CON-17] while the platform takes its time to hear how long a container stays, its object answers and can end it", async () => {
    await runInDurableObject(objects().getByName("con-slow"), async (_instance: SandboxObject, state) => {
      const machine = Object.assign(new HostMachine(), { running: true, slow: true });
      Object.defineProperty(state, "container", { value: machine, configurable: true });
      // Blocked until it has been heard, it would be reset by the platform, again and again.
      const object = new SandboxObject(state, env);
      await expect.poll(() => machine.stays).toBe(1);
      const destroyed = await object.fetch(
        new Request("http://container/v1/destroy", { method: "POST", body: JSON.stringify({ id: "con-slow" }) }),
      );
      expect([destroyed.status, machine.running]).toEqual([200, false]);
    });
  });
});
