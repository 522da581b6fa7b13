/** Objects of containers over containers that are a few lines: what each is handed is kept, and what it does is the test's. */
import { ContainerBox, type ContainerParts } from "../../src/adapters/container-box.ts";
import type { Machine, MachineStart } from "../../src/adapters/container-machine.ts";
import { containersAddress, type ListedSandbox } from "../../src/adapters/container-sandboxes.ts";
import { HostSandboxes } from "../../src/adapters/host-sandboxes.ts";
import type { GitCredentials } from "../../src/agents/github-port.ts";
import { SandboxFailure } from "../../src/agents/ports.ts";

type Outbound = ReturnType<ContainerParts["outbound"]>;
export const url = "https://github.com/acme/widgets";
export const source = { scope_id: "contract", url };
export const commit = "c".repeat(40);
export const secret = "ghs_0123456789abcdef0123456789abcdef";

/** A container that keeps what it is told; `inside` is what its host does with a call. */
export class Small implements Machine {
  readonly images = { sandbox: "image" };
  readonly starts: MachineStart[] = [];
  readonly heard: { method: string; body: string; authorization: string | null }[] = [];
  readonly stays: number[] = [];
  running = false;
  up = true;
  /** The platform does not end it. */
  stuck = false;
  /** What it answers begins and never ends. */
  endless = false;
  /** It takes what it is asked and never says anything. */
  hung = false;
  /** So many of the next questions it never answers. */
  deaf = 0;
  inside: (method: string, body: Record<string, unknown>) => Promise<unknown> = async () => null;
  start(options: MachineStart): void {
    this.starts.push(options);
    this.running = true;
  }
  async destroy(): Promise<void> {
    if (this.hung) return new Promise(() => {});
    if (this.stuck) throw new Error("the platform ends nothing");
    this.running = false;
  }
  async setInactivityTimeout(duration_ms: number): Promise<void> {
    this.stays.push(duration_ms);
  }
  async interceptOutboundHttp(): Promise<void> {}
  async interceptOutboundHttps(): Promise<void> {}
  getTcpPort() {
    return {
      fetch: async (address: string, init: RequestInit): Promise<Response> => {
        if (!this.up) throw new Error("the container is not listening");
        if (this.hung || this.deaf-- > 0) return new Promise(() => {});
        if (this.endless) return new Response(new ReadableStream({ start: (to) => to.enqueue(new Uint8Array([91])) }));
        const request = new Request(address, init);
        const [method = "", body] = [new URL(address).pathname.split("/").at(-1), await request.text()];
        this.heard.push({ method, body, authorization: request.headers.get("authorization") });
        if (method === "sandboxes") return Response.json([]);
        try {
          return Response.json((await this.inside(method, JSON.parse(body))) ?? (method === "presets" ? {} : null));
        } catch (error) {
          if (!(error instanceof SandboxFailure)) throw error;
          const { code, message, retryable } = error;
          return Response.json({ code, message, retryable }, { status: 400 });
        }
      },
    };
  }
}

export function deployment(more: Partial<ContainerParts> = {}, credentials?: GitCredentials) {
  const machines = new Map<string, Small>();
  const listed = new Map<string, ListedSandbox>();
  const documents = new Map<string, unknown>();
  const sent: { url: string; headers: Headers }[] = [];
  const order: string[] = [];
  /** What the server says its branches stand at, when it is asked. */
  const branches: string[] = [];
  let boxes = new Map<string, ContainerBox>();
  let made = 0;
  const machine = (name: string) => {
    const known = machines.get(name) ?? new Small();
    machines.set(name, known);
    return known;
  };
  const list = {
    keepSandbox: async (sandbox: ListedSandbox) => {
      order.push(`listed before a start: ${machine(sandbox.id).starts.length === 0}`);
      listed.set(sandbox.id, sandbox);
      return true;
    },
    forgetSandbox: async (id: string) => {
      order.push(`forgotten after its end: ${!machine(id).running}`);
      listed.delete(id);
    },
    sandboxes: async () => [...listed.values()],
  };
  const box = (name: string): ContainerBox => {
    const known =
      boxes.get(name) ??
      new ContainerBox({
        name,
        machine: machine(name),
        outbound: () => ({}) as Outbound,
        keep: {
          get: async () => documents.get(name),
          put: async (document) => void documents.set(name, document),
          clear: async () => void documents.delete(name),
        },
        list,
        fetch: async (to, init) => {
          sent.push({ url: String(to), headers: new Headers(init?.headers) });
          if (String(to).endsWith("/git-upload-pack")) return new Response(branches.map(packet).join(""), result);
          const headers = { "content-type": "application/x-git-upload-pack-advertisement" };
          return new Response("refs", { headers });
        },
        gitOrigin: null,
        newSecret: () => String(++made).padStart(64, "0"),
        sleep: async () => {},
        ...more,
      });
    boxes.set(name, known);
    return known;
  };
  const objects = {
    getByName: (name: string) => ({
      fetch: (to: string, init: RequestInit) => box(name).answer(new Request(to, init)),
    }),
  };
  const lent = credentials === undefined ? {} : { credentials };
  const sandboxes = new HostSandboxes({ ...containersAddress(objects, list), ...lent });
  return {
    sandboxes,
    machine,
    machines,
    listed,
    documents,
    sent,
    order,
    branches,
    box,
    anew: () => (boxes = new Map()),
  };
}
const result = { headers: { "content-type": "application/x-git-upload-pack-result" } };
const packet = (line: string) => `${(line.length + 5).toString(16).padStart(4, "0")}${line}\n`;

export const lender = (closed: string[] = []): GitCredentials => ({
  open: async () => ({
    username: "x-access-token",
    password: secret,
    moved_to: null,
    close: async () => void closed.push("closed"),
  }),
});
