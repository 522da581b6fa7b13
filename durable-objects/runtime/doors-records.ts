/**
 * What the scope's objects hold together: where their chains end, what they count; and the checkpoint that signs those
 * ends. Asked of every agent at once; one that does not answer is named. [AUD-18] [AUD-19] [AUD-20] [TEL-5]
 */
import type { ObjectFigures } from "../../src/domain/metrics.ts";
import { ok, type Result } from "../../src/domain/refusal.ts";
import type { Caller } from "../../src/domain/view.ts";
import type { ChainEnds, RuntimeDoor } from "../../src/http/doors.ts";
import type { ChainEnd } from "../audit-log.ts";
import type { RemoteAgent } from "../remote.ts";
import { askAll } from "./ask-all.ts";
import type { Scope } from "./scope.ts";
import type { Signer } from "./tokens.ts";

type Door = Pick<RuntimeDoor, "chainEnds" | "figures">;

export class RecordsDoor implements Door {
  readonly #scope: Scope;
  readonly #agent: (name: string) => RemoteAgent;
  readonly #signer: () => Signer | null;
  #signing = false;
  constructor(scope: Scope, agent: (name: string) => RemoteAgent, signer: () => Signer | null) {
    this.#scope = scope;
    this.#agent = agent;
    this.#signer = signer;
  }

  async chainEnds(_caller: Caller): Promise<Result<ChainEnds>> {
    const { checkpoints } = this.#scope.stores;
    const { answers, silent } = await this.#ends();
    const newest = checkpoints.newest();
    return ok({
      chains: answers,
      silent,
      checkpoint: newest === null ? null : { ...newest, shipped: checkpoints.shippedSeq() },
      signing: this.#signer() !== null,
    });
  }
  async figures(_caller: Caller): Promise<Result<{ objects: ObjectFigures[]; silent: string[] }>> {
    const { scope_id } = this.#scope.self();
    const { queue, audit, telemetry, checkpoints } = this.#scope.stores;
    const own: ObjectFigures = {
      name: "runtime",
      totals: telemetry.totals(),
      queues: [queue.view("runtime_queue"), queue.view("executor_queue")],
      backlog: {
        audit: audit.backlog(),
        telemetry: telemetry.backlog(),
        checkpoints: (checkpoints.newest()?.seq ?? 0) - checkpoints.shippedSeq(),
      },
    };
    const { answers, silent } = await this.#all((agent) => agent.figures(scope_id));
    return ok({ objects: [own, ...answers], silent });
  }

  /** When the alarm should look whether a checkpoint is due; never, without keys. */
  nextDueAt(): number | null {
    return this.#signer() === null ? null : this.#scope.stores.checkpoints.nextDueAt();
  }
  /** Gather, sign, then one transaction. What fails is tried at the next due time, and stops nothing. */
  async seal(now: number): Promise<void> {
    const signer = this.#signer();
    const { checkpoints } = this.#scope.stores;
    if (signer === null || this.#signing || !checkpoints.isDue(now)) return;
    this.#signing = true;
    try {
      const { scope_id } = this.#scope.self();
      const { answers } = await this.#ends();
      const signed = await checkpoints.sign(scope_id, signer, answers, now);
      this.#scope.commit((tx) => {
        checkpoints.looked(now);
        if (signed === null) return;
        const { said, kid } = signed;
        checkpoints.keep(signed, now, (hash) =>
          tx.audit(
            "effect",
            { trace_id: "scope" },
            { decision: "checkpoint_signed", details: { seq: said.seq, hash, kid, chains: said.heads.length } },
          ),
        );
      });
    } catch (error) {
      console.warn("runtime: no checkpoint was made; it is tried again", error);
      this.#scope.commit(() => checkpoints.looked(now));
    } finally {
      this.#signing = false;
    }
  }

  async #ends(): Promise<{ answers: ChainEnd[]; silent: string[] }> {
    const { scope_id } = this.#scope.self();
    const { answers, silent } = await this.#all((agent) => agent.chainHead(scope_id));
    const all = [this.#scope.stores.audit.end(), ...answers];
    return { answers: all.filter((end) => end !== null), silent };
  }
  #all<T>(ask: (agent: RemoteAgent) => Promise<T>): Promise<{ answers: T[]; silent: string[] }> {
    return askAll(
      this.#scope.directory.agents().map(({ name }) => name),
      this.#agent,
      ask,
    );
  }
}
