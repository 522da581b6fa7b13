/** What agents that think ask of the runtime besides: to think, to use what only reads, to remember, to speak. [RTO-*] */
import type {
  Asker,
  MayThink,
  MayUse,
  PastTask,
  Remembered,
  Thought,
  ThoughtRef,
  Use,
} from "../../src/agents/mind-bus.ts";
import type { RemoteRuntime } from "../remote.ts";
import { mayThink, thought } from "./charges.ts";
import { recall } from "./memory.ts";
import type { Scope } from "./scope.ts";
import type { Tx } from "./tx.ts";
import { history, mayUse, say } from "./uses.ts";

type Door = Pick<RemoteRuntime, "mayThink" | "thought" | "mayUse" | "recall" | "history" | "say">;

export class MindsDoor implements Door {
  readonly #scope: Scope;
  readonly #after: () => Promise<void>;
  constructor(scope: Scope, after: () => Promise<void>) {
    this.#scope = scope;
    this.#after = after;
  }

  mayThink(scope: string, ref: ThoughtRef): Promise<MayThink> {
    return this.#commit(scope, (tx) => mayThink(tx, ref));
  }
  thought(scope: string, task_id: string, done: Thought): Promise<void> {
    return this.#commit(scope, (tx) => thought(tx, task_id, done));
  }
  mayUse(scope: string, use: Use): Promise<MayUse> {
    return this.#commit(scope, (tx) => mayUse(tx, use));
  }
  recall(scope: string, asker: Asker, query: string, limit: number): Promise<readonly Remembered[]> {
    return this.#commit(scope, (tx) => recall(tx, asker, query, limit));
  }
  history(scope: string, asker: { readonly task_id: string; readonly agent: string }): Promise<readonly PastTask[]> {
    return this.#commit(scope, (tx) => history(tx, asker));
  }
  say(scope: string, task_id: string, id: string, text: string): Promise<void> {
    return this.#commit(scope, (tx) => say(tx, task_id, id, text));
  }

  async #commit<T>(scope: string, change: (tx: Tx) => T): Promise<T> {
    this.#scope.belongs(scope);
    const done = this.#scope.commit(change);
    await this.#after();
    return done;
  }
}
