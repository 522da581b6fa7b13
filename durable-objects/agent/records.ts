/** What an agent puts on record, always inside the transaction of the change it records. [INV-05] */
import { actorOf } from "../../src/domain/audit.ts";
import type { Message } from "../../src/domain/message.ts";
import type { QueueFacts } from "../../src/domain/queue.ts";
import type { Move } from "./self.ts";
import type { AgentStores } from "./stores.ts";

export class AgentRecords {
  readonly #stores: Pick<AgentStores, "self" | "audit" | "telemetry" | "letters">;
  constructor(stores: Pick<AgentStores, "self" | "audit" | "telemetry" | "letters">) {
    this.#stores = stores;
  }

  /** What a change of the queue leaves behind. */
  facts(facts: QueueFacts, now: number): void {
    const { object } = this.#names();
    this.#stores.letters.noteFacts(facts);
    const events = facts.audit.map((event) => ({ ...event, object }));
    this.#stores.audit.appendAll(events, now);
    this.#stores.telemetry.append(object, facts.telemetry, now);
  }
  event(
    about: Message,
    event: { event_type: "effect" | "transition"; decision: string; reason: string; details: Record<string, unknown> },
    now: number,
  ): void {
    const { object, scope_id, name } = this.#names();
    const { trace_id, message_id } = about;
    this.#stores.audit.append({ object, trace_id, message_id, scope_id, actor: actorOf(name), ...event }, now);
  }
  /** One move of the agent's own lifecycle. */
  move({ event, reason, from, to }: Move, now: number): void {
    this.#ofItself(event, reason, { from, to }, now);
  }
  /** It was behind, although nobody had stopped it: its alarm was lost or is stuck. */
  recovered(late_ms: number, now: number): void {
    this.#ofItself("recovered_overdue", null, { late_ms }, now);
  }
  #ofItself(decision: string, reason: string | null, details: Record<string, unknown>, now: number): void {
    const { object, scope_id } = this.#names();
    const about = {
      object,
      event_type: "transition" as const,
      trace_id: `agent:${object}`,
      message_id: null,
      scope_id,
    };
    this.#stores.audit.append({ ...about, actor: "runtime", decision, reason, details }, now);
  }
  #names(): { object: string; scope_id: string; name: string } {
    const { scope, name } = this.#stores.self.identity();
    return { object: `${scope}/${name}`, scope_id: scope, name };
  }
}
