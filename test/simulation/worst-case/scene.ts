/**
 * One scope in which a hostile executor asks, with what it was answered and what took effect. An effect is an intent on
 * record or a call that stands as begun: it is read from the audit and from the rows, never from the answers. [WORST-1]
 */
import type { Authorization, ToolCall } from "../../../src/agents/bus.ts";
import { callerOf, type Held, HeldScope, must } from "../../fakes/held-scope.ts";

export interface Answered {
  readonly family: string;
  readonly name: string;
  readonly answer: Authorization["answer"] | "threw";
  readonly rule: string;
}
export interface Outcome {
  readonly answered: readonly Answered[];
  /** What took effect and may not. */
  readonly forbidden: readonly string[];
  /** What may take effect, and did not. */
  readonly missing: readonly string[];
}
const notBegun: readonly string[] = ["waiting", "allowed", "refused", "void"];

export class Scene {
  readonly held: HeldScope;
  readonly answered: Answered[] = [];
  readonly family: string;
  constructor(family: string, held = new HeldScope()) {
    this.family = family;
    this.held = held;
    // How often an agent may ask has cases of its own.
    this.held.demand({ asks_per_task: 10_000, asks_per_minute: 10_000 });
  }

  /** The one card of the task that waits, decided by a person. */
  async approved(task_id: string): Promise<void> {
    must(await this.held.approve(callerOf("ada"), this.held.card(task_id)));
  }

  /** Asks as whoever holds this lease, or says so, and notes the answer. */
  async ask(name: string, held: Held, call: ToolCall): Promise<Answered["answer"]> {
    let said: Authorization;
    try {
      said = await this.held.authorize(held, call);
    } catch (error) {
      return this.note(name, "threw", error instanceof Error ? error.message.slice(0, 100) : "");
    }
    const row = this.held.rows.calls.get(`${held.ref.attempt_id}/${call.call_id}`);
    const own = row?.tool === call.tool && row.arguments === call.arguments ? row.rule : null;
    // Where the call has no row of its own, the answer's words say why.
    const words = "reason" in said ? said.reason.slice(0, 120) : "";
    return this.note(name, said.answer, own !== null && (words === "" || words.startsWith(own)) ? own : words);
  }
  note(name: string, answer: Answered["answer"], rule: string): Answered["answer"] {
    this.answered.push({ family: this.family, name, answer, rule });
    return answer;
  }

  /** `attempt/call tool`, once for each time it took effect. */
  effects(): string[] {
    const links = this.held.scope.stores.audit.after(0, 100_000);
    const intents = links.filter(({ event_type, decision }) => event_type === "effect" && decision === "intent");
    const told = intents.map(({ details }) => `${details.attempt_id}/${details.call_id} ${details.tool}`);
    const tasks = this.held.rows.tasks.all().map(({ id }) => id);
    const begun = tasks
      .flatMap((id) => this.held.rows.calls.ofTask(id))
      .filter(({ state }) => !notBegun.includes(state))
      .map(({ id, tool }) => `${id} ${tool}`);
    return [...told, ...begun.filter((call) => !told.includes(call)).map((call) => `${call} without a record`)];
  }
  /** Held to what may take effect, each once. */
  outcome(may: readonly string[]): Outcome {
    const left = [...may];
    const forbidden = this.effects().filter((effect) => {
      const at = left.indexOf(effect);
      if (at >= 0) left.splice(at, 1);
      return at < 0;
    });
    return { answered: this.answered, forbidden, missing: left };
  }
  close(): void {
    this.held.close();
  }
}
