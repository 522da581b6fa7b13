/** Calls to a measured server over kept connections on loopback; an answer that is not 200 is an error. */
import { Agent, request } from "node:http";

const callMs = 120_000;
const maxSockets = 64;

export class Caller {
  readonly #port: number;
  readonly #agent = new Agent({ keepAlive: true, maxSockets, noDelay: true });
  constructor(port: number) {
    this.#port = port;
  }

  /** The worker of this folder answers; what it answers is the caller's claim, as both stand side by side here. */
  async post<T>(path: string, body: unknown): Promise<T> {
    const text = await this.#send(path, JSON.stringify(body));
    return JSON.parse(text) as T;
  }
  /** For an answer nobody reads. */
  async run(path: string, body: unknown = {}): Promise<void> {
    await this.#send(path, JSON.stringify(body));
  }
  close(): void {
    this.#agent.destroy();
  }

  #send(path: string, body: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
      const address = { host: "127.0.0.1", port: this.#port, path, method: "POST", headers };
      const asked = request({ ...address, agent: this.#agent, timeout: callMs }, (response) => {
        const parts: Buffer[] = [];
        response.on("data", (part: Buffer) => parts.push(part));
        response.on("error", reject);
        response.on("end", () => {
          const text = Buffer.concat(parts).toString("utf8");
          if (response.statusCode === 200) resolve(text);
          else reject(new Error(`${path} answered ${response.statusCode}: ${text.slice(0, 500)}`));
        });
      });
      asked.on("timeout", () => asked.destroy(new Error(`${path} did not answer within ${callMs} ms`)));
      asked.on("error", reject);
      asked.end(body);
    });
  }
}

/** Seconds `work` took. */
export async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1_000;
}

/** `times` calls of `work`, `abreast` at a time; seconds for all of them. */
export function secondsAbreast(
  times: number,
  abreast: number,
  work: (at: number) => Promise<unknown>,
): Promise<number> {
  let next = 0;
  const one = async () => {
    for (let at = next++; at < times; at = next++) await work(at);
  };
  return secondsOf(() => Promise.all(Array.from({ length: abreast }, one)));
}
