/** The measured Worker with, beside ours, an object of the package `agents` and its own `queue()`. */
import { Agent } from "agents";
import type { Message } from "../../../src/domain/message.ts";
import { BenchObject } from "./bench-object.ts";
import { call } from "./call.ts";
import { messageAt } from "./messages.ts";

export { BenchObject };

interface AgentsEnv {
  readonly AGENTS: DurableObjectNamespace<AgentsObject>;
  readonly BENCH: DurableObjectNamespace<BenchObject>;
}

export class AgentsObject extends Agent<AgentsEnv> {
  #left = 0;
  #done: () => void = () => undefined;

  /** All queued, then all handled by its own loop; answers after the last. */
  async bulk({ series, count }: { series: string; count: number }): Promise<void> {
    const done = this.#expect(count);
    for (let at = 0; at < count; at++) await this.queue("handle", messageAt(series, at));
    await done;
  }
  /** Each queued once the one before was handled. */
  async single({ series, count }: { series: string; count: number }): Promise<void> {
    for (let at = 0; at < count; at++) {
      const done = this.#expect(1);
      await this.queue("handle", messageAt(series, at));
      await done;
    }
  }
  async handle(_message: Message): Promise<void> {
    this.#left -= 1;
    if (this.#left === 0) this.#done();
  }
  #expect(count: number): Promise<void> {
    this.#left = count;
    return new Promise((resolve) => {
      this.#done = resolve;
    });
  }
}

export default {
  fetch: (request: Request, env: AgentsEnv): Promise<Response> =>
    call(request, { agents: env.AGENTS, bench: env.BENCH }),
};
