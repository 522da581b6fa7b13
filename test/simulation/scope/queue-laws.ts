/**
 * What must hold of queues and outboxes at every step: nothing accepted is ever gone, nothing done comes back, one
 * lease a row, order within a queue, each move on record once, chains that verify, and no other scope's row anywhere.
 */
import { createHash } from "node:crypto";
import { genesis } from "../../../src/domain/audit.ts";
import type { Disk } from "../platform/disk.ts";
import type { Change, Columns } from "./changes.ts";

export class Violation extends Error {}

export function must(holds: boolean, law: string): void {
  if (!holds) throw new Violation(law);
}

type Standing = "queued" | "leased" | "dead" | "processed";

export class QueueLaws {
  /** `<object> <queue> <message>` to where it stands. */
  readonly #standing = new Map<string, Standing>();
  /** Every row that ever stood in an outbox, by `<object> <message>`, with its addressee's key. */
  readonly #promised = new Map<string, string>();
  /** Of each object the hashes of its links, from the first. */
  readonly #links = new Map<string, string[]>();
  readonly #leases = new Set<string>();
  readonly counts = { accepted: 0, leased: 0, acked: 0, given_back: 0, dead: 0, promised: 0, kept: 0, audited: 0 };

  check(disk: Disk, changes: readonly Change[]): void {
    const moves: string[] = [];
    const recorded: string[] = [];
    const marked = new Set<string>();
    for (const { table, now } of changes)
      if (table === "queue_processed" && now !== null) marked.add(`${now.queue} ${now.message_id}`);
    for (const { table, old, now } of changes) {
      if (table === "queue_rows") moves.push(...this.#row(disk, old, now, marked));
      else if (table === "queue_processed") this.#mark(disk, old, now);
      else if (table === "outbox") this.#outbox(disk, old, now);
      else if (table === "audit_chain") recorded.push(...this.#link(disk, now));
    }
    const [did, said] = [moves.sort().join("\n"), recorded.sort().join("\n")];
    must(did === said, `${disk.name}: moves and their audit differ.\n moved:\n${did}\n recorded:\n${said}`);
    this.#order(disk, changes);
  }

  /** Returns how the audit must speak of the move. */
  #row(disk: Disk, old: Columns | null, now: Columns | null, marked: ReadonlySet<string>): string[] {
    const row = now ?? old;
    if (row === null) return [];
    const { queue, message_id: id } = row;
    const name = `${disk.name} ${queue} ${id}`;
    const stood = this.#standing.get(name);
    must(row.scope_id === scopeOf(disk.name), `${name}: a row of scope ${row.scope_id}`);
    if (old === null) {
      must(stood === undefined, `${name}: it was ${stood} and was enqueued again`);
      this.#standing.set(name, "queued");
      this.counts.accepted++;
      return [`enqueue accepted ${id}`];
    }
    if (now === null) {
      must(old.state === "leased", `${name}: it was ${old.state} and is gone`);
      must(marked.has(`${queue} ${id}`), `${name}: it is gone without a mark that it was processed`);
      this.#standing.set(name, "processed");
      this.counts.acked++;
      return [`dequeue acked ${id}`];
    }
    must(Number(now.epoch) >= Number(old.epoch), `${name}: its epoch goes back from ${old.epoch} to ${now.epoch}`);
    must(Number(now.deliveries) <= Number(now.max_deliveries), `${name}: delivered ${now.deliveries} times`);
    if (old.state === now.state) {
      must(old.lease_id === now.lease_id, `${name}: its lease changes hands without an end`);
      return [];
    }
    must(stood === old.state, `${name}: it was ${stood}, not ${old.state}`);
    this.#standing.set(name, now.state as Standing); // the table's CHECK holds it to these
    return this.#moved(name, old, now);
  }
  #moved(name: string, old: Columns, now: Columns): string[] {
    const id = now.message_id;
    if (now.state === "leased") {
      must(old.state === "queued", `${name}: leased while ${old.state}`);
      must(!this.#leases.has(String(now.lease_id)), `${name}: lease ${now.lease_id} was given before`);
      this.#leases.add(String(now.lease_id));
      this.counts.leased++;
      return [`dequeue leased ${id}`];
    }
    must(now.lease_id === null, `${name}: ${now.state} and still leased`);
    if (old.state === "dead") return [`enqueue requeued ${id}`];
    must(old.state === "leased", `${name}: from ${old.state} to ${now.state}`);
    must(Number(now.epoch) > Number(old.epoch), `${name}: its lease ended and its epoch is still ${now.epoch}`);
    if (now.state === "dead") this.counts.dead++;
    else this.counts.given_back++;
    return [`dequeue ${now.state === "dead" ? "dead" : "back"} ${id}`];
  }
  #mark(disk: Disk, old: Columns | null, now: Columns | null): void {
    if (old === null || now !== null) return;
    const name = `${disk.name} ${old.queue} ${old.message_id}`;
    must(!this.#standing.has(name), `${name}: the mark that it was processed is gone`);
  }
  #outbox(disk: Disk, old: Columns | null, now: Columns | null): void {
    const row = now ?? old;
    if (row === null) return;
    const name = `${disk.name} ${row.message_id}`;
    if (old === null) {
      const to = `${row.object} ${row.queue} ${row.message_id}`;
      must(scopeOf(String(row.object)) === scopeOf(disk.name), `${name}: sent to another scope, ${to}`);
      must(!this.#promised.has(name), `${name}: promised again after it was confirmed`);
      this.#promised.set(name, to);
      this.counts.promised++;
    } else if (now === null) {
      const to = this.#promised.get(name) ?? "";
      must(this.#standing.has(to), `${name}: confirmed, but ${to} never had it`);
      this.counts.kept++;
    }
  }
  /** Returns the moves that the link speaks of. */
  #link(disk: Disk, now: Columns | null): string[] {
    if (now === null) throw new Violation(`${disk.name}: a link of the audit is gone or changed`);
    const links = this.#links.get(disk.name) ?? [];
    const head = { seq: links.length, hash: links.at(-1) ?? genesis };
    const body = String(now.body);
    const hash = String(now.hash);
    // The canonical bytes that were hashed are these without the hash, which stands once, between two known keys.
    const hashed = createHash("sha256")
      .update(body.replace(`"hash":"${hash}",`, ""))
      .digest("hex");
    must(hashed === hash, `${disk.name}: link ${now.seq} does not match its own hash`);
    const link = JSON.parse(body) as Record<string, string | number | null>; // what audit-log.ts wrote
    must(now.seq === head.seq + 1 && link.prev_hash === head.hash, `${disk.name}: link ${now.seq} is out of place`);
    must(link.scope_id === scopeOf(disk.name), `${disk.name}: link ${now.seq} is of scope ${link.scope_id}`);
    links.push(hash);
    this.#links.set(disk.name, links);
    this.counts.audited++;
    const { event_type, decision, message_id } = link;
    if ((event_type !== "enqueue" && event_type !== "dequeue") || decision === "refused") return [];
    const back = ["nacked", "expired", "requeued"].includes(String(decision)) && event_type === "dequeue";
    return [`${event_type} ${back ? "back" : decision} ${message_id}`];
  }

  /** Of the rows eligible when a row was leased, and not touched since, none should have gone first. */
  #order(disk: Disk, changes: readonly Change[]): void {
    const leased = changes.flatMap(({ table, old, now }) =>
      table === "queue_rows" && old?.state === "queued" && now?.state === "leased" ? [now] : [],
    );
    if (leased.length === 0) return;
    const touched = new Set(changes.map(({ now }) => now?.seq));
    for (const row of leased) {
      const better = disk.all(
        `SELECT seq FROM queue_rows WHERE queue = ?1 AND state = 'queued' AND available_at <= ?2
           AND (priority > ?3 OR (priority = ?3 AND seq < ?4))`,
        ...[row.queue ?? "", row.leased_at ?? 0, row.priority ?? 0, row.seq ?? 0],
      );
      const passed = better.filter(({ seq }) => !touched.has(Number(seq)));
      must(passed.length === 0, `${disk.name} ${row.queue}: row ${row.seq} was leased before row ${passed[0]?.seq}`);
    }
  }

  hashOf(object: string, seq: number): string | null {
    return this.#links.get(object)?.[seq - 1] ?? null;
  }
}

export function scopeOf(object: string): string {
  return object.split("/")[0] ?? "";
}
