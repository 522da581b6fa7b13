/** The agent's inbox, and what it gave up, as the scope's people see and steer it. [HTTP-70] */
import type { QueueDetail, QueueMove, QueueView } from "../../src/domain/queue-shapes.ts";
import type { Page } from "../../src/domain/view.ts";
import type { Letter, LetterStanding, LettersQuery, Shelf } from "../letters.ts";
import { detailedQueue, moveQueue, shownQueue } from "../queue-shown.ts";
import type { QueueMoved } from "../remote.ts";
import type { AgentRecords } from "./records.ts";
import { type AgentStores, inbox } from "./stores.ts";

export class Inbox {
  readonly #stores: AgentStores;
  readonly #records: AgentRecords;
  constructor(stores: AgentStores, records: AgentRecords) {
    this.#stores = stores;
    this.#records = records;
  }

  view(): QueueView {
    return shownQueue(this.#stores, this.#shelf());
  }
  detail(): QueueDetail {
    return detailedQueue(this.#stores, this.#shelf());
  }
  letters(query: LettersQuery): Page<Letter> {
    return this.#stores.letters.page(this.#shelf(), query);
  }
  letter(message_id: string): LetterStanding | null {
    return this.#stores.letters.standing(this.#shelf(), message_id);
  }
  move(move: QueueMove, { by, reason }: { by: string; reason: string }): QueueMoved {
    const now = Date.now();
    const { sql, queue, self } = this.#stores;
    const { changed } = sql.transaction(() => {
      const order = { scope_id: self.identity().scope, by, reason: reason === "" ? null : reason };
      const stood = moveQueue(queue, inbox, move, order, now);
      this.#records.facts(stood.facts, now);
      return stood;
    });
    return { queue: this.detail(), changed };
  }
  /** A dead letter goes on: sent again, or back in the inbox. */
  revive(message_id: string): void {
    const now = Date.now();
    const { sql, queue, outbox } = this.#stores;
    sql.transaction(() => {
      outbox.revive(message_id, now);
      this.#records.facts(queue.requeueDead(inbox, message_id, now).facts, now);
    });
  }

  #shelf(): Shelf {
    return { queue: inbox, owner: this.#stores.self.identity().name, outbox: true };
  }
}
