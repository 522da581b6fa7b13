/**
 * One container as the platform gives it to its object: how it is started, waited for and spoken to. In it stands the
 * same sandbox host as on a machine of one's own, with a secret of its own and no way out but the outbound handler.
 */
import { SandboxFailure } from "../agents/ports.ts";
import { gateHost, gateOrigin } from "../domain/gate.ts";
import { instanceFor } from "../domain/instance.ts";
import { failureBody, type Method, methods, type Output } from "../host/protocol.ts";
import { limits } from "../limits.ts";

/** As much of the platform's `ctx.container` as is used. */
export interface Machine {
  readonly running: boolean;
  readonly images: Readonly<Record<string, string>>;
  start(options: MachineStart): void;
  destroy(): Promise<void>;
  setInactivityTimeout(duration_ms: number): Promise<void>;
  getTcpPort(port: number): { fetch(url: string, init: RequestInit): Promise<Response> };
  interceptOutboundHttp(host: string, handler: Fetcher): Promise<void>;
  interceptOutboundHttps(host: string, handler: Fetcher): Promise<void>;
}
export interface MachineStart {
  readonly image: string;
  readonly instance: ReturnType<typeof instanceFor>;
  readonly enableInternet: false;
  readonly env: Record<string, string>;
}

/** The name that wrangler.toml gives the image of the Dockerfile. */
const imageName = "sandbox";
const port = 8080;
// The host refuses every other Host header, wherever it listens.
const base = `http://127.0.0.1:${port}`;

/** Started whether or not it comes up: `ready` says. A platform that does not answer is not waited for. */
export async function startMachine(
  machine: Machine,
  { secret, memory_mb, idle_ms, outbound }: { secret: string; memory_mb: number; idle_ms: number; outbound: Fetcher },
): Promise<void> {
  const image = machine.images[imageName];
  if (image === undefined)
    throw new SandboxFailure(
      "unreachable",
      `wrangler.toml names no image "${imageName}" for the sandboxes' containers`,
    );
  await inTime(machine.interceptOutboundHttp(gateHost, outbound));
  await inTime(machine.interceptOutboundHttps("*", outbound));
  machine.start({
    image,
    instance: instanceFor(memory_mb, limits.container_host_mb),
    enableInternet: false,
    env: { SANDBOX_SECRET: secret, SANDBOX_PORT: String(port), SANDBOX_ADDRESS: "0.0.0.0", GIT_GATE: gateOrigin },
  });
  await inTime(machine.setInactivityTimeout(idle_ms));
}

async function inTime(work: Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const failure = new SandboxFailure("unreachable", "the platform did not make the container in time", true);
    timer = setTimeout(() => reject(failure), limits.container_start_ms);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Asks until it answers, and not longer than a start may take. */
export async function ready(line: Line, sleep: (ms: number) => Promise<void>): Promise<void> {
  for (let waited_ms = 0; ; waited_ms += limits.container_poll_ms) {
    try {
      await line.ask("sandboxes", {});
      return;
    } catch (error) {
      if (waited_ms >= limits.container_start_ms)
        throw new SandboxFailure("unreachable", `the container did not come up: ${said(error)}`, true);
      await sleep(limits.container_poll_ms);
    }
  }
}

/** The way to the host in the container, for whoever knows its secret. */
export class Line {
  readonly #machine: Machine;
  readonly #authority: Record<string, string>;
  constructor(machine: Machine, secret: string) {
    this.#machine = machine;
    this.#authority = { authorization: `Bearer ${secret}` };
  }

  /** The host's own answer, whatever it is. */
  async send(method: Method, body: BodyInit | null): Promise<Response> {
    const headers = { "content-type": "application/json", ...this.#authority };
    return this.#fetch(`/v1/${method}`, { method: "POST", headers, body, ...streamed });
  }
  async ask<M extends Method>(method: M, input: object): Promise<Output<M>> {
    const response = await this.send(method, JSON.stringify(input));
    const body: unknown = await response.json();
    // The schema was taken from the same M, which the compiler cannot follow through a lookup.
    if (response.ok) return methods[method].output.parse(body) as Output<M>;
    const { code, message, retryable } = failureBody.parse(body);
    throw new SandboxFailure(code, message, retryable);
  }
  attach(query: string): Promise<Response> {
    return this.#fetch(`/v1/pty${query}`, { headers: { upgrade: "websocket", ...this.#authority } });
  }

  async #fetch(path: string, init: RequestInit): Promise<Response> {
    try {
      return await this.#machine.getTcpPort(port).fetch(base + path, init);
    } catch (error) {
      throw new SandboxFailure("unreachable", `the container does not answer: ${said(error)}`, true);
    }
  }
}

/** Node wants it said that a body is still being read while it is sent; workerd takes no notice. */
export const streamed: object = { duplex: "half" };

function said(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
