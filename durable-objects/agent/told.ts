/** What the runtime is told of an agent until it has heard: how its machines stand, and what it gave up. [AGO-*] */
import type { AgentRemotes } from "./remotes.ts";
import type { AgentStores } from "./stores.ts";

const tellAgainMs = 1_000;

export class Told {
  readonly #stores: AgentStores;
  readonly #remotes: AgentRemotes;
  constructor(stores: AgentStores, remotes: AgentRemotes) {
    this.#stores = stores;
    this.#remotes = remotes;
  }

  /** Tells what changed about this agent. */
  async report(): Promise<void> {
    const { sql, self, runs } = this.#stores;
    const report = self.report(runs.all()[0]?.message.work_item_id ?? null);
    if (report === null) return;
    try {
      await this.#remotes.runtime().report(report);
      sql.transaction(() => self.reported(report));
    } catch (error) {
      console.warn(`${report.name}: the runtime did not hear a report; it is told again`, error);
    }
  }

  /** Messages of its own that nobody took in seven days. */
  giveUp(now: number): void {
    const { sql, outbox, letters } = this.#stores;
    sql.transaction(() => {
      for (const { message_id } of outbox.dead(now)) letters.noteOutbox(message_id, now);
    });
  }
  /** What died here, in the inbox or the outbox, is put before a person by the runtime. */
  async tellDead(): Promise<void> {
    const { sql, letters, self } = this.#stores;
    if (!letters.hasUntold()) return;
    const { scope, name } = self.identity();
    for (const died of letters.untold(name)) {
      try {
        await this.#remotes.runtime().letterDied(scope, name, died);
      } catch (error) {
        console.warn(`${died.head.message_id}: the runtime did not hear of a dead letter; it is told again`, error);
        return;
      }
      sql.transaction(() => letters.told(died));
    }
  }
  nextDueAt(now: number): number | null {
    const { self, letters } = this.#stores;
    return self.report(null) === null && !letters.hasUntold() ? null : now + tellAgainMs;
  }
}
