/**
 * The scope's messages: all are observed on their way; the runtime's own enter its queue and are taken one by one,
 * each accepted and acknowledged in one transaction. What cannot be taken becomes a dead letter with a card. [RTO-*]
 */
import { check, envelope, type Message } from "../../src/domain/message.ts";
import { researchQueue } from "../../src/domain/research-crew.ts";
import { limits } from "../../src/limits.ts";
import type { Lease } from "../durable-queue.ts";
import type { Death } from "../letters.ts";
import { newId } from "../random.ts";
import type { Answer } from "../remote.ts";
import { chargeForgotten } from "./charges.ts";
import { hearOfDeath, hearOwn } from "./dead-letters.ts";
import { EndedTasks } from "./ended-tasks.ts";
import { neverBegun } from "./entries.ts";
import { DecideAgain, prepareGithub } from "./github-decisions.ts";
import { acceptGithub, type GithubHands } from "./github-requests.ts";
import { acceptShown } from "./github-sync.ts";
import { acceptGuidance, expireConsults } from "./guidance.ts";
import { acceptVerification } from "./merging.ts";
import { acceptResult } from "./outcomes.ts";
import { expireResearch, openResearch } from "./research.ts";
import type { Scope } from "./scope.ts";
import type { Signatures } from "./signatures.ts";
import { takenIn } from "./taints.ts";
import { acceptWords, observe } from "./tasks.ts";
import type { VerifiedTokens } from "./tokens.ts";
import type { Tx } from "./tx.ts";
import { acceptWebhook } from "./webhooks.ts";

/** One call takes at most this many; an alarm goes on with the rest. */
const maxTaken = 100;

export class Mailroom {
  readonly #scope: Scope;
  readonly #signatures: Signatures;
  readonly #after: () => Promise<void>;
  readonly #ended: EndedTasks;
  constructor(scope: Scope, signatures: Signatures, after: () => Promise<void>) {
    this.#scope = scope;
    this.#signatures = signatures;
    this.#after = after;
    this.#ended = new EndedTasks(scope.sql);
  }

  async observe(message: Message): Promise<void> {
    const parsed = envelope.parse(message);
    this.#scope.commit((tx) => observe(tx, parsed));
    await this.#after();
  }
  /** An agent gave a message up. */
  async letterDied(holder: string, died: Death): Promise<void> {
    this.#scope.commit((tx) => hearOfDeath(tx, holder, died));
    await this.#after();
  }
  /** The runtime's own message was refused: a dead letter, unless it is one already. */
  async refuseOwn(message_id: string, reason: string): Promise<void> {
    this.#scope.commit((tx) => {
      const { outbox, letters } = tx.stores;
      if (outbox.refused(message_id, reason, tx.now) !== null) letters.noteOutbox(message_id, tx.now);
      hearOwn(tx);
    });
    await this.#after();
  }
  /** `refused` is for what the queue can never take; anything thrown is tried again by its sender. */
  async deliver(message: Message): Promise<Answer> {
    const parsed = envelope.safeParse(message);
    if (!parsed.success) return { refused: "the message does not fit its schema" };
    const { sender, recipient, message_kind } = parsed.data;
    const asks = message_kind === "research_request";
    // Its own request comes back this way when `executor_queue` was being emptied as it was made.
    const ours = recipient === "runtime_queue" || (recipient === "executor_queue" && (sender === "runtime" || asks));
    const broken = check(parsed.data) ?? (ours ? null : "it is not for the runtime");
    if (broken !== null) return { refused: broken };
    const entered = this.#scope.commit((tx) => {
      const { outcome, facts } = tx.stores.queue.enqueue(asks ? researchQueue : recipient, parsed.data, {}, tx.now);
      tx.facts(facts);
      if (asks && outcome === "accepted") openResearch(tx, parsed.data);
      return outcome;
    });
    await this.work();
    await this.#after();
    if (entered === "conflict") return { refused: "a message with this id and other content came before" };
    if (entered === "closed") return { refused: null, closed: true };
    return { refused: entered === "too_big" ? "the message is too big" : null };
  }

  /** Takes its own messages one by one; a row that meets a bug is nacked and never stops the rest. */
  async work(): Promise<void> {
    for (let taken = 0; taken < maxTaken; taken++) {
      const lease = this.#lease();
      if (lease === null) return;
      try {
        await this.#take(lease);
      } catch (error) {
        console.error(`${lease.message.message_id}: the runtime could not take it`, error);
        const reason = error instanceof Error ? error.message : String(error);
        this.#scope.commit((tx) => {
          const nacked = tx.stores.queue.nack(lease, reason, Math.random(), tx.now);
          if (nacked.ok) tx.facts(nacked.value);
          hearOwn(tx);
        });
      }
    }
  }
  /** A decision is prepared before its transaction, and anew when others decided meanwhile. */
  async #take(lease: Lease): Promise<void> {
    const { message } = lease;
    for (let tries = limits.decide_tries; ; tries--)
      try {
        const verified = message.task_id === null ? new Set<string>() : await this.#signatures.ofTask(message.task_id);
        const prepared = await prepareGithub(this.#scope, this.#signatures, message);
        const hands = { prepared, can_sign: this.#signatures.canSign() };
        this.#scope.commit((tx) => {
          const acked = tx.stores.queue.ack(lease, tx.now);
          // The lease lapsed while signatures were checked: whoever is given the message next takes it.
          if (!acked.ok) return;
          tx.facts(acked.value);
          accept(tx, takenIn(tx, message), verified, hands);
        });
        return;
      } catch (error) {
        if (!(error instanceof DecideAgain) || tries <= 1) throw error;
      }
  }
  #lease(): Lease | null {
    return this.#scope.commit((tx) => {
      const request = { holder: "runtime", lease_id: newId(), lease_ms: limits.lease_ms, many: true };
      const leased = tx.stores.queue.lease("runtime_queue", request, tx.now);
      tx.facts(leased.facts);
      // What can no longer be read dies as it is leased.
      hearOwn(tx);
      return leased.lease;
    });
  }

  /** What time alone has ended: leases, rows leased too often, letters nobody took, old events, what ended tasks no longer need. */
  expire(now: number): void {
    this.#scope.commit((tx) => {
      expireResearch(tx);
      const { expired, facts } = tx.stores.queue.expire(now);
      tx.facts(facts);
      tx.facts(tx.stores.queue.sampleDepth(tx.scope.scope_id, ["runtime_queue", "executor_queue"], now));
      for (const { queue, state, message } of expired) {
        if (state !== "dead" || message === null) continue;
        if (queue === "executor_queue") neverBegun(tx, message);
      }
      for (const { message_id } of tx.stores.outbox.dead(now)) tx.stores.letters.noteOutbox(message_id, now);
      hearOwn(tx);
      tx.stores.events.prune(now);
      this.#ended.forget(tx);
    });
    this.#scope.commit(expireConsults);
    this.#scope.commit(chargeForgotten);
  }
}

/** One message of the runtime's own queue. */
function accept(tx: Tx, message: Message, verified: VerifiedTokens, github: GithubHands): void {
  switch (message.message_kind) {
    case "execution_result":
      return acceptResult(tx, message, verified);
    case "verification_result":
      return acceptVerification(tx, message, verified);
    case "planner_guidance":
      return acceptGuidance(tx, message);
    case "agent_message":
      return acceptWords(tx, message);
    case "github_request":
      return acceptGithub(tx, message, github);
    case "github_shown":
      return acceptShown(tx, message);
    case "webhook_result":
      return acceptWebhook(tx, message);
    default:
      tx.audit("effect", message, { decision: "ignored", reason: `nothing waits for ${message.message_kind}` });
  }
}
