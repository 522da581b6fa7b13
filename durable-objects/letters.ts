/**
 * The messages one object gave up, in an inbox or in its outbox: each death is noted in the transaction that brings
 * it, until the scope's runtime has heard; and they can be looked through, newest first. [DL-*]
 */
import { type Message, taint } from "../src/domain/message.ts";
import type { QueueFacts } from "../src/domain/queue.ts";
import type { DeadLetterView } from "../src/domain/queue-shapes.ts";
import type { Page } from "../src/domain/view.ts";
import { limits } from "../src/limits.ts";
import type { Sql } from "./sql.ts";

export const outboxPlace = "outbox";

/** What is known of a message even when its body can no longer be read. */
export type LetterHead = Pick<
  Message,
  | "message_id"
  | "message_kind"
  | "trace_id"
  | "task_id"
  | "work_item_id"
  | "attempt_number"
  | "sender"
  | "recipient"
  | "taint"
>;
export interface Death {
  /** The queue it died in, or `outbox`. */
  readonly place: string;
  /** Grows from one death of a message in a place to its next. */
  readonly death: number;
  readonly reason: string;
  readonly head: LetterHead;
}
/** As it is shown, but for its card; and which death it is. */
export type Letter = Omit<DeadLetterView, "card"> & { readonly place: string; readonly death: number };
export interface LetterStanding {
  readonly state: string;
  /** Where it is dead, if it is. */
  readonly deaths: readonly { readonly place: string; readonly death: number }[];
  readonly task_id: string | null;
}
export interface LettersQuery {
  readonly limit: number;
  readonly cursor: string | null;
}
/** Where letters are looked for: one queue, and the outbox of the object when it belongs to that queue. */
export interface Shelf {
  readonly queue: string;
  /** Whose queue it is, for a letter that no longer says whom it was for. */
  readonly owner: string;
  readonly outbox: boolean;
}

/** Letters of before this table are noted as well: whoever hears of one twice knows it by its number. */
export const lettersSchema: readonly string[] = [
  `CREATE TABLE letters (place TEXT NOT NULL, message_id TEXT NOT NULL, death INTEGER NOT NULL, PRIMARY KEY (place, message_id));
   INSERT INTO letters SELECT queue, message_id, epoch FROM queue_rows WHERE state = 'dead';
   INSERT INTO letters SELECT 'outbox', message_id, died_at FROM outbox WHERE died_at IS NOT NULL;`,
];

/** What the body says, as far as it can be read. */
const field = (name: string): string =>
  `CASE WHEN json_valid(body) THEN json_extract(body, '$.${name}') END AS ${name}`;
const said = ["trace_id", "task_id", "work_item_id", "attempt_number", "sender", "recipient", "taint"]
  .map(field)
  .join(", ");
const inboxLetter = `SELECT 'inbox' AS died_in, message_id, message_kind, coalesce(reason, '') AS reason, deliveries, epoch AS death,
  coalesce(died_at, 0) AS died_at, sender AS known_sender, trace_id AS known_trace, ${said} FROM queue_rows WHERE state = 'dead'`;
const outboxLetter = `SELECT 'outbox' AS died_in, message_id, message_kind, coalesce(reason, '') AS reason, sends AS deliveries, died_at AS death,
  died_at, NULL AS known_sender, NULL AS known_trace, ${said} FROM outbox WHERE died_at IS NOT NULL`;

interface StoredLetter {
  readonly died_in: "inbox" | "outbox";
  readonly message_id: string;
  readonly message_kind: Message["message_kind"];
  readonly reason: string;
  readonly deliveries: number;
  readonly death: number;
  readonly died_at: number;
  readonly known_sender: string | null;
  readonly known_trace: string | null;
  readonly trace_id: string | null;
  readonly task_id: string | null;
  readonly work_item_id: string | null;
  readonly attempt_number: number | null;
  readonly sender: string | null;
  readonly recipient: string | null;
  readonly taint: string | null;
}

export class Letters {
  readonly #sql: Sql;
  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** The deaths among what a change of a queue left behind. */
  noteFacts(facts: QueueFacts): void {
    for (const { event_type, decision, message_id, details } of facts.audit) {
      if (event_type !== "dequeue" || decision !== "dead" || message_id === null) continue;
      // A row's epoch grows as it dies, so that is the number its row shows.
      this.#note(String(details.queue), message_id, Number(details.epoch) + 1);
    }
  }
  noteOutbox(message_id: string, now: number): void {
    this.#note(outboxPlace, message_id, now);
  }
  #note(place: string, message_id: string, death: number): void {
    this.#sql.run(
      "INSERT OR REPLACE INTO letters (place, message_id, death) VALUES (?, ?, ?)",
      place,
      message_id,
      death,
    );
  }

  /** Deaths the runtime has not heard of, a batch at a time; one that was sent again meanwhile is forgotten. */
  untold(owner: string): Death[] {
    const sql = `SELECT place, message_id, death FROM letters LIMIT ${limits.outbox_batch}`;
    return this.#sql.all<{ place: string; message_id: string; death: number }>(sql).flatMap((noted) => {
      const { place, message_id, death } = noted;
      const stored =
        place === outboxPlace
          ? this.#sql.one<StoredLetter>(`${outboxLetter} AND message_id = ?`, message_id)
          : this.#sql.one<StoredLetter>(`${inboxLetter} AND queue = ? AND message_id = ?`, place, message_id);
      if (stored === null) this.#forget(place, message_id, death);
      return stored === null ? [] : [{ place, death, reason: stored.reason, head: headOf(stored, owner) }];
    });
  }
  hasUntold(): boolean {
    return this.#sql.one("SELECT 1 AS found FROM letters LIMIT 1") !== null;
  }
  told({ place, death, head }: Death): void {
    this.#forget(place, head.message_id, death);
  }
  #forget(place: string, message_id: string, death: number): void {
    this.#sql.run("DELETE FROM letters WHERE place = ? AND message_id = ? AND death = ?", place, message_id, death);
  }

  /** Newest first; a cursor stays good while letters come and go. */
  page(shelf: Shelf, { limit, cursor }: LettersQuery): Page<Letter> {
    const after = cursorOf(cursor);
    const found = this.#sql.all<{ died_in: "inbox" | "outbox"; seq: number; died_at: number }>(
      `SELECT died_in, seq, died_at FROM (
         SELECT 'inbox' AS died_in, seq, coalesce(died_at, 0) AS died_at FROM queue_rows WHERE queue = ?1 AND state = 'dead'
         UNION ALL SELECT 'outbox', seq, died_at FROM outbox WHERE ?2 AND died_at IS NOT NULL)
       WHERE ?3 IS NULL OR (died_at, died_in, seq) < (?3, ?4, ?5) ORDER BY died_at DESC, died_in DESC, seq DESC LIMIT ?6`,
      ...[shelf.queue, shelf.outbox ? 1 : 0, after?.died_at ?? null, after?.died_in ?? "", after?.seq ?? 0, limit + 1],
    );
    const keys = found.slice(0, limit);
    const last = keys.at(-1);
    return {
      items: keys.flatMap(({ died_in, seq }) => {
        const stored = this.#sql.one<StoredLetter>(
          `${died_in === "inbox" ? inboxLetter : outboxLetter} AND seq = ?`,
          seq,
        );
        return stored === null ? [] : [letterOf(stored, shelf)];
      }),
      next_cursor: found.length > limit && last !== undefined ? `${last.died_at}.${last.died_in}.${last.seq}` : null,
    };
  }

  /** How a message stands in the queue or on its way from it; null when neither knows it. */
  standing(shelf: Shelf, message_id: string): LetterStanding | null {
    const found = this.#sql.all<{ state: string; place: string; death: number; task_id: string | null }>(
      `SELECT state, place, death, ${field("task_id")} FROM (
         SELECT state, queue AS place, epoch AS death, body FROM queue_rows WHERE queue = ?1 AND message_id = ?2
         UNION ALL SELECT CASE WHEN died_at IS NULL THEN 'on its way' ELSE 'dead' END, 'outbox', died_at, body
           FROM outbox WHERE ?3 AND message_id = ?2
         UNION ALL SELECT 'processed', queue, 0, '{}' FROM queue_processed WHERE queue = ?1 AND message_id = ?2)`,
      ...[shelf.queue, message_id, shelf.outbox ? 1 : 0],
    );
    const dead = found.filter(({ state }) => state === "dead");
    const [first = null] = dead.length > 0 ? dead : found;
    if (first === null) return null;
    const deaths = dead.map(({ place, death }) => ({ place, death }));
    return { state: first.state, deaths, task_id: first.task_id };
  }
  outboxCounts(): { waiting: number; dead: number } {
    const sql = `SELECT count(*) FILTER (WHERE died_at IS NULL) AS waiting, count(*) FILTER (WHERE died_at IS NOT NULL) AS dead FROM outbox`;
    return this.#sql.one<{ waiting: number; dead: number }>(sql) ?? { waiting: 0, dead: 0 };
  }
}

/** What cannot be read is trusted least, and is its holder's. */
function headOf(stored: StoredLetter, owner: string): LetterHead {
  const { message_id, message_kind, task_id, work_item_id, attempt_number } = stored;
  return {
    message_id,
    message_kind,
    task_id,
    work_item_id,
    attempt_number,
    trace_id: stored.trace_id ?? stored.known_trace ?? "",
    sender: stored.sender ?? stored.known_sender ?? owner,
    recipient: stored.recipient ?? owner,
    taint: taint.safeParse(stored.taint).data ?? "web",
  };
}
function letterOf(stored: StoredLetter, shelf: Shelf): Letter {
  const { message_id, message_kind, reason, deliveries, died_in, died_at, death } = stored;
  const { sender, recipient, task_id } = headOf(stored, shelf.owner);
  const place = died_in === "outbox" ? outboxPlace : shelf.queue;
  const at = new Date(died_at).toISOString();
  return { message_id, message_kind, reason, deliveries, at, died_in, sender, recipient, task_id, place, death };
}

/** A cursor is `<died_at>.<inbox|outbox>.<seq>`; what is none is the beginning. */
function cursorOf(cursor: string | null): { died_at: number; died_in: string; seq: number } | null {
  const parts = /^(\d{1,15})\.(inbox|outbox)\.(\d{1,15})$/.exec(cursor ?? "");
  return parts === null ? null : { died_at: Number(parts[1]), died_in: String(parts[2]), seq: Number(parts[3]) };
}
