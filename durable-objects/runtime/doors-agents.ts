/** What the scope's agents ask of its runtime while they work: work to claim, each entry and call of an attempt, who is over. [RTO-*] */
import type { AttemptRef, Authorization, Entry, OpenCall, ToolCall } from "../../src/agents/bus.ts";
import type { CallOutcome } from "../../src/agents/ports.ts";
import { isResearcher, researchQueue } from "../../src/domain/research-crew.ts";
import type { AgentReport } from "../agent/self.ts";
import type { Lease } from "../durable-queue.ts";
import { newId } from "../random.ts";
import type { OutputNote, RemoteRuntime } from "../remote.ts";
import { authorize, lookedUp, settle } from "./calls.ts";
import { begin, claim, claimResearch } from "./entries.ts";
import type { Feed } from "./feed.ts";
import { mayPublish } from "./publishing.ts";
import { hearReport, keepLease, noteOutput } from "./reports.ts";
import type { Scope } from "./scope.ts";
import type { Signatures } from "./signatures.ts";

type Door = Pick<
  RemoteRuntime,
  | "claim"
  | "begin"
  | "authorize"
  | "settle"
  | "lookedUp"
  | "mayPublish"
  | "heartbeat"
  | "noteOutput"
  | "report"
  | "ownersOver"
>;

export class AgentsDoor implements Door {
  readonly #scope: Scope;
  readonly #signatures: Signatures;
  readonly #feed: Feed;
  readonly #after: () => Promise<void>;
  constructor(scope: Scope, hands: { signatures: Signatures; feed: Feed; after: () => Promise<void> }) {
    this.#scope = scope;
    this.#signatures = hands.signatures;
    this.#feed = hands.feed;
    this.#after = hands.after;
  }

  async claim(scope: string, agent: string): Promise<Lease | null> {
    this.#scope.belongs(scope);
    const lease = this.#scope.commit((tx) => (isResearcher(agent) ? claimResearch : claim)(tx, agent, newId));
    await this.#after();
    return lease;
  }
  async begin(scope: string, ref: AttemptRef): Promise<Entry> {
    this.#scope.belongs(scope);
    const verified = await this.#signatures.ofAttempt(ref);
    const entry = this.#scope.commit((tx) => begin(tx, ref, verified));
    await this.#after();
    return entry;
  }
  async authorize(scope: string, ref: AttemptRef, call: ToolCall): Promise<Authorization> {
    this.#scope.belongs(scope);
    const verified = await this.#signatures.ofAttempt(ref);
    const answer = this.#scope.commit((tx) => authorize(tx, ref, call, verified));
    await this.#after();
    return answer;
  }
  async settle(scope: string, ref: AttemptRef, call_id: string, outcome: CallOutcome, said = ""): Promise<void> {
    this.#scope.belongs(scope);
    this.#scope.commit((tx) => settle(tx, ref, call_id, outcome, said));
    await this.#after();
  }

  // These change nothing that must leave at once, so nothing is flushed: at most the feed shows more.
  async heartbeat(
    scope: string,
    agent: string,
    lease: { lease_id: string; epoch: number },
    attempt_id: string | null = null,
  ): Promise<boolean> {
    this.#scope.belongs(scope);
    return this.#scope.commit((tx) => keepLease(tx, agent, lease, attempt_id));
  }
  /** Asked also by an agent whom this runtime waits for: so it must not wait for the flush in which that happens. */
  async lookedUp(scope: string, ref: AttemptRef | null, about: OpenCall, outcome: CallOutcome): Promise<void> {
    this.#scope.belongs(scope);
    this.#scope.commit((tx) => lookedUp(tx, ref, about, outcome));
    this.#feed.show();
  }
  async mayPublish(scope: string, task_id: string, verification_id: string): Promise<boolean> {
    this.#scope.belongs(scope);
    return mayPublish(this.#scope.stores.rows.tasks.get(task_id), verification_id);
  }
  async noteOutput(scope: string, said: OutputNote): Promise<void> {
    this.#scope.belongs(scope);
    this.#scope.commit((tx) => noteOutput(tx, said));
    this.#feed.show();
  }
  async report(report: AgentReport): Promise<void> {
    this.#scope.belongs(report.scope);
    this.#scope.commit((tx) => hearReport(tx, this.#scope.directory, report));
    this.#feed.show();
  }

  /** Of the owners of sandboxes, those whose attempt or verification is over: nobody will come back for what they left. */
  async ownersOver(scope: string, owners: readonly string[]): Promise<string[]> {
    this.#scope.belongs(scope);
    const { queue, rows } = this.#scope.stores;
    const { attempts, verifications } = rows;
    return owners.filter((owner) => {
      const attempt = attempts.get(owner);
      return attempt === null
        ? verifications.get(owner)?.state !== "open" && !queue.isOpen(researchQueue, owner)
        : attempt.state !== "running" && attempt.state !== "due";
    });
  }
}
