/** Shows output where it is watched: open terminals at once, the feed at most four times a second. [TERM-*] */
import { partyOf } from "../../src/domain/message.ts";
import { limits } from "../../src/limits.ts";
import type { OutputSockets } from "../output-sockets.ts";
import type { AgentRemotes } from "./remotes.ts";
import type { Run } from "./runs.ts";
import type { AgentStores } from "./stores.ts";

export class Shown {
  readonly #stores: Pick<AgentStores, "self" | "output">;
  readonly #sockets: OutputSockets;
  readonly #remotes: AgentRemotes;
  /** By log, which an attempt that goes on here goes on with: when the feed was last told, and up to where. A restart only tells once more. */
  #toldAt = new Map<string, { at: number; offset: number }>();
  constructor(stores: Pick<AgentStores, "self" | "output">, sockets: OutputSockets, remotes: AgentRemotes) {
    this.#stores = stores;
    this.#sockets = sockets;
    this.#remotes = remotes;
  }

  async show(run: Run, ended: boolean): Promise<void> {
    this.#sockets.push(run.owner, ended);
    const { output, self } = this.#stores;
    const now = Date.now();
    const told = this.#toldAt.get(run.owner) ?? { at: 0, offset: 0 };
    const { kept } = output.size(run.owner);
    if (kept <= told.offset || (!ended && now - told.at < 1000 / limits.output_events_per_second)) return;
    const from = Math.max(told.offset, kept - limits.output_event_bytes);
    const { bytes } = output.read(run.owner, from, limits.output_event_bytes);
    this.#remember(run.owner, { at: now, offset: kept });
    const { attempt_id } = run.message.payload;
    const { scope, name } = self.identity();
    try {
      await this.#remotes.runtime().noteOutput(scope, {
        task_id: run.message.task_id,
        agent: name,
        attempt_id: typeof attempt_id === "string" ? attempt_id : run.owner,
        stage: partyOf(name) === "verifier" ? "verify" : "execute",
        offset: from,
        text: new TextDecoder().decode(bytes),
      });
    } catch {
      // The feed is a notice; the log itself is kept here.
    }
  }
  /** The one told last stands last. */
  #remember(owner: string, told: { at: number; offset: number }): void {
    this.#toldAt.delete(owner);
    this.#toldAt.set(owner, told);
    const oldest = this.#toldAt.keys().next().value;
    if (this.#toldAt.size > limits.runs_remembered && oldest !== undefined) this.#toldAt.delete(oldest);
  }
}
