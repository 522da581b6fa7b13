/** The deaths of messages the runtime has heard of, each once, and the card that asks about it. [DL-8] */
import type { Sql } from "../sql.ts";

export const heardSchema: readonly string[] = [
  `CREATE TABLE letters_heard (holder TEXT NOT NULL, place TEXT NOT NULL, message_id TEXT NOT NULL, death INTEGER NOT NULL,
     approval_id TEXT, sent_again INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (holder, place, message_id));`,
];

/** One death: who holds the letter, where it died, and which of its deaths there it was. */
export interface DeathKey {
  readonly holder: string;
  readonly place: string;
  readonly message_id: string;
  readonly death: number;
}
export interface Heard {
  readonly approval_id: string | null;
  /** A person sent it again by the queue's door. */
  readonly sent_again: boolean;
}

export class HeardLetters {
  readonly #sql: Sql;
  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** False when this death, or a later one, was heard of before. */
  isNews({ holder, place, message_id, death }: DeathKey): boolean {
    const sql = "SELECT death FROM letters_heard WHERE holder = ? AND place = ? AND message_id = ?";
    const known = this.#sql.one<{ death: number }>(sql, holder, place, message_id);
    return known === null || known.death < death;
  }
  hear({ holder, place, message_id, death }: DeathKey, approval_id: string | null): void {
    this.#sql.run(
      "INSERT OR REPLACE INTO letters_heard (holder, place, message_id, death, approval_id) VALUES (?, ?, ?, ?, ?)",
      ...[holder, place, message_id, death, approval_id],
    );
  }
  /** What was heard of exactly this death. */
  get({ holder, place, message_id, death }: DeathKey): Heard | null {
    const found = this.#sql.one<{ approval_id: string | null; sent_again: number }>(
      "SELECT approval_id, sent_again FROM letters_heard WHERE holder = ? AND place = ? AND message_id = ? AND death = ?",
      ...[holder, place, message_id, death],
    );
    return found === null ? null : { approval_id: found.approval_id, sent_again: found.sent_again === 1 };
  }
  /** Also of a death nobody told of yet: hearing of it later is no news then. */
  sendAgain(key: DeathKey): void {
    if (this.isNews(key)) this.hear(key, null);
    this.#sql.run(
      "UPDATE letters_heard SET sent_again = 1 WHERE holder = ? AND place = ? AND message_id = ?",
      ...[key.holder, key.place, key.message_id],
    );
  }
}
