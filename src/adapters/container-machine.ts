/**
 * One container as the platform gives it to its object: how it is started, waited for and spoken to. In it stands the
 * same sandbox host as on a machine of one's own, with a secret of its own and no way out but the outbound handler.
 */
import { SandboxFailure } from "../agents/ports.ts";
import { gateHost, gateOrigin } from "../domain/gate.ts";
import { instanceFor } from "../domain/instance.ts";
import { failureBody, type Method, methods, type Output } from "../host/protocol.ts";
import { limits } from "../limits.ts";
import { shortAnswer } from "./container-bundle.ts";
import { answered, inTime } from "./container-time.ts";

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
  await made(machine.interceptOutboundHttp(gateHost, outbound));
  await made(machine.interceptOutboundHttps("*", outbound));
  machine.start({
    image,
    instance: instanceFor(memory_mb, limits.container_host_mb),
    enableInternet: false,
    env: { SANDBOX_SECRET: secret, SANDBOX_PORT: String(port), SANDBOX_ADDRESS: "0.0.0.0", GIT_GATE: gateOrigin },
  });
  await keepFor(machine, idle_ms);
}

/** How long it stays when nobody asks for it. It counts for the object that says so, and not for the next. */
export function keepFor(machine: Machine, idle_ms: number): Promise<void> {
  return made(machine.setInactivityTimeout(idle_ms));
}
/** One that does not end in time counts as running. */
export function endMachine(machine: Machine): Promise<void> {
  return inTime(limits.container_end_ms, "the platform did not end the container in time", () => machine.destroy());
}
function made(work: Promise<void>): Promise<void> {
  return inTime(limits.container_start_ms, "the platform did not make the container in time", () => work);
}

/** Asks until it answers, and not longer than a start may take, the questions' own time included. */
export async function ready(line: Line, sleep: (ms: number) => Promise<void>): Promise<void> {
  let why = "it was never asked";
  const asked = async (over: AbortSignal): Promise<void> => {
    for (let slept_ms = 0; slept_ms <= limits.container_start_ms && !over.aborted; ) {
      try {
        await line.ask("sandboxes", {}, limits.container_ask_ms);
        return;
      } catch (error) {
        why = said(error);
      }
      await sleep(limits.container_poll_ms);
      slept_ms += limits.container_poll_ms;
    }
    throw new SandboxFailure("unreachable", `the container did not come up: ${why}`, true);
  };
  await inTime(limits.container_start_ms, "the container did not come up in time", asked);
}

/** The way to the host in the container, for whoever knows its secret. */
export class Line {
  readonly #machine: Machine;
  readonly secret: string;
  readonly #authority: Record<string, string>;
  constructor(machine: Machine, secret: string) {
    this.#machine = machine;
    this.secret = secret;
    this.#authority = { authorization: `Bearer ${secret}` };
  }

  /** The host's own answer, whatever it is. */
  async send(method: Method, body: BodyInit | null, signal?: AbortSignal): Promise<Response> {
    const headers = { "content-type": "application/json", ...this.#authority };
    return this.#fetch(`/v1/${method}`, {
      method: "POST",
      headers,
      body,
      ...(signal === undefined ? {} : { signal }),
      ...streamed,
    });
  }
  /** The same, ended within the limit. */
  call(method: Method, body: BodyInit | null, limit_ms: number): Promise<Response> {
    return answered(limit_ms, lateFor(method), (signal) => this.send(method, body, signal));
  }
  /** The same for a short answer, of which nothing is handed on before all of it is there. */
  whole(method: Method, body: string, limit_ms: number): Promise<Response> {
    return inTime(limit_ms, lateFor(method), async (signal) => {
      return shortAnswer(await this.send(method, body, signal), method);
    });
  }
  /** A short question of the object's own. */
  async ask<M extends Method>(
    method: M,
    input: object,
    limit_ms: number = limits.container_start_ms,
  ): Promise<Output<M>> {
    const [response, body] = await inTime(limit_ms, lateFor(method), async (signal) => {
      const answer = await this.send(method, JSON.stringify(input), signal);
      return [answer, (await answer.json()) as unknown] as const;
    });
    // The schema was taken from the same M, which the compiler cannot follow through a lookup.
    if (response.ok) return methods[method].output.parse(body) as Output<M>;
    const { code, message, retryable } = failureBody.parse(body);
    throw new SandboxFailure(code, message, retryable);
  }
  /** In time its head: the terminal behind it is open for as long as somebody looks at it. */
  attach(query: string): Promise<Response> {
    const headers = { upgrade: "websocket", ...this.#authority };
    return inTime(limits.container_call_ms, lateFor("pty"), (signal) =>
      this.#fetch(`/v1/pty${query}`, { headers, signal }),
    );
  }

  async #fetch(path: string, init: RequestInit): Promise<Response> {
    try {
      return await this.#machine.getTcpPort(port).fetch(base + path, init);
    } catch (error) {
      throw new SandboxFailure("unreachable", `the container does not answer: ${said(error)}`, true);
    }
  }
}

export function lateFor(method: string): string {
  return `the container did not answer "${method}" in time`;
}

/** Node wants it said that a body is still being read while it is sent; workerd takes no notice. */
export const streamed: object = { duplex: "half" };

function said(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
