/**
 * Containers for tests that have none: each is a real sandbox host on loopback, started, reached and ended as the
 * platform does it with the image, and its way out is a loopback server that hands every request to the outbound
 * handler. What only the platform can do (its own walls, https, names) is not shown by it.
 */

import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import type { ReadableStream as NodeStream } from "node:stream/web";
import { ContainerBox, type ContainerParts } from "../../src/adapters/container-box.ts";
import type { Machine, MachineStart } from "../../src/adapters/container-machine.ts";
import { containersAddress, type ListedSandbox } from "../../src/adapters/container-sandboxes.ts";
import { HostSandboxes } from "../../src/adapters/host-sandboxes.ts";
import type { GitCredentials } from "../../src/agents/github-port.ts";
import { gateOrigin } from "../../src/domain/gate.ts";
import { type HostFolder, hostFolder, type RunningHost, startHost } from "./host.ts";

/** What an object registers as its container's outbound handler. */
type Outbound = ReturnType<ContainerParts["outbound"]>;
type Handler = (request: Request) => Promise<Response>;

class FakeMachine implements Machine {
  readonly images = { sandbox: "image" };
  readonly intercepted: string[] = [];
  started: MachineStart | null = null;
  folder: HostFolder | null = null;
  host: RunningHost | null = null;
  readonly #hear: (said: string) => void;
  #handler: Handler | null = null;
  #gate: Server | null = null;
  #coming: Promise<void> = Promise.resolve();

  constructor(hear: (said: string) => void) {
    this.#hear = hear;
  }
  get running(): boolean {
    return this.started !== null;
  }
  start(options: MachineStart): void {
    if (this.running) throw new Error("it runs already");
    this.started = options;
    this.#coming = this.#up(options);
    // Whoever asks it hears of the failure.
    this.#coming.catch(() => {});
  }
  async destroy(): Promise<void> {
    await this.#coming.catch(() => {});
    this.started = null;
    await this.host?.kill();
    this.host = null;
    this.#gate?.closeAllConnections();
    this.#gate?.close();
    this.folder?.remove();
  }
  async setInactivityTimeout(): Promise<void> {}
  getTcpPort() {
    return {
      fetch: async (url: string, init: RequestInit): Promise<Response> => {
        await this.#coming;
        if (this.host === null) throw new Error("the container is not listening");
        const headers = new Headers(init.headers);
        // A connection of its own: one that was kept may belong to a host that has ended, whose port another has now.
        if (!headers.has("upgrade")) headers.set("connection", "close");
        try {
          return await fetch(url.replace(/^http:\/\/127\.0\.0\.1:8080/, this.host.url), { ...init, headers });
        } catch (error) {
          // Node keeps what happened in the cause.
          const why = this.host?.ended() ?? "the sandbox host runs";
          throw error instanceof Error ? new Error(`${error.message}: ${error.cause} (${why})`) : error;
        }
      },
    };
  }
  async interceptOutboundHttp(host: string, handler: Outbound): Promise<void> {
    this.intercepted.push(`http ${host}`);
    // What the parts below hand out is this and nothing else.
    this.#handler = handler as unknown as Handler;
  }
  async interceptOutboundHttps(host: string): Promise<void> {
    this.intercepted.push(`https ${host}`);
  }

  async #up({ env }: MachineStart): Promise<void> {
    const gate = createServer((request, response) => void carry(this.#handler, request, response));
    this.#gate = gate;
    await new Promise<void>((resolve) => gate.listen(0, "127.0.0.1", resolve));
    // An address of a TCP server that listens is never a path.
    const GIT_GATE = `http://127.0.0.1:${(gate.address() as AddressInfo).port}`;
    this.folder = hostFolder();
    const own = { SANDBOX_SECRET: env.SANDBOX_SECRET, GIT_GATE, REPO_ROOTS: "" };
    this.host = await startHost(this.folder, own, this.#hear);
  }
}

async function carry(handler: Handler | null, request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const { method = "GET", url = "/", headers } = request;
    const body = method === "GET" ? null : (Readable.toWeb(request) as unknown as ReadableStream);
    const plain = Object.entries(headers).flatMap(([name, value]) =>
      typeof value === "string" && name !== "host" ? [[name, value] as [string, string]] : [],
    );
    const init = { method, headers: plain, body, duplex: "half" };
    const answer = await handler?.(new Request(gateOrigin + url, init as RequestInit));
    response.writeHead(answer?.status ?? 500, Object.fromEntries(answer?.headers ?? []));
    // Node's two names for one kind of stream.
    if (answer?.body) Readable.fromWeb(answer.body as unknown as NodeStream).pipe(response);
    else response.end();
  } catch {
    response.destroy();
  }
}

/** A deployment's containers and the list of them. */
export class FakeContainers {
  readonly listed = new Map<string, ListedSandbox>();
  readonly machines = new Map<string, FakeMachine>();
  readonly documents = new Map<string, unknown>();
  readonly heard: string[] = [];
  readonly #more: Partial<ContainerParts>;
  #boxes = new Map<string, ContainerBox>();

  constructor(more: Partial<ContainerParts> = {}) {
    this.#more = more;
  }

  sandboxes(credentials?: GitCredentials): HostSandboxes {
    const objects = {
      getByName: (name: string) => ({
        fetch: (url: string, init: RequestInit) => this.box(name).answer(new Request(url, init)),
      }),
    };
    const lent = credentials === undefined ? {} : { credentials };
    return new HostSandboxes({ ...containersAddress(objects, this.list), ...lent });
  }
  /** Objects that begin anew, beside containers that run on. */
  forget(): void {
    this.#boxes = new Map();
  }
  box(name: string): ContainerBox {
    const known = this.#boxes.get(name);
    if (known !== undefined) return known;
    const machine = this.machines.get(name) ?? new FakeMachine((said) => this.heard.push(said));
    this.machines.set(name, machine);
    const box: ContainerBox = new ContainerBox({
      name,
      machine,
      outbound: () => ((request: Request) => this.box(name).outbound(request)) as unknown as Outbound,
      keep: {
        get: async () => this.documents.get(name),
        put: async (document) => void this.documents.set(name, structuredClone(document)),
        clear: async () => void this.documents.delete(name),
      },
      list: this.list,
      fetch: (...input) => fetch(...input),
      gitOrigin: null,
      newSecret: () => randomBytes(32).toString("hex"),
      sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
      ...this.#more,
    });
    this.#boxes.set(name, box);
    return box;
  }
  readonly list = {
    keepSandbox: async (sandbox: ListedSandbox) => {
      this.listed.set(sandbox.id, sandbox);
      return true;
    },
    forgetSandbox: async (id: string) => void this.listed.delete(id),
    sandboxes: async () => [...this.listed.values()],
  };

  async close(): Promise<void> {
    for (const machine of this.machines.values()) await machine.destroy();
  }
}
