/**
 * Many messages in one transaction: the same rows and the same facts as one by one, in a few statements. What
 * is wrong with one element is its own answer and touches no other. Lists travel as JSON, for a statement of an
 * object takes at most 100 bound values.
 */
import { byteLength, canonicalJson } from "../src/domain/canonical.ts";
import { delivery } from "../src/domain/delivery.ts";
import type { Message } from "../src/domain/message.ts";
import { enqueued, type LeaseRef, type QueueFacts, step } from "../src/domain/queue.ts";
import { takesIn } from "../src/domain/queue-standing.ts";
import { type Refusal, type Result, refuse } from "../src/domain/refusal.ts";
import { limits } from "../src/limits.ts";
import type { EnqueueOutcome, Lease } from "./durable-queue.ts";
import { bury, leased, leaseOf, nextReady, promote } from "./queue-lease.ts";
import { heads, insertRow, insertRows, type ReadyRow, readRow, readyColumns, type StoredHead } from "./queue-rows.ts";
import { noteEnd, standingOf } from "./queue-standing.ts";
import { sha256Hex } from "./sha256.ts";
import { maxRowBytes, type Sql } from "./sql.ts";

export interface BatchRequest {
  readonly holder: string;
  /** Fresh random ids, one for each row that may be leased. */
  readonly lease_ids: readonly string[];
  readonly lease_ms: number;
}
export interface BatchLeases {
  readonly leases: readonly Lease[];
  readonly facts: QueueFacts;
}
/** Gathers facts without copying what was gathered before. */
class Facts {
  readonly audit: QueueFacts["audit"][number][] = [];
  readonly telemetry: QueueFacts["telemetry"][number][] = [];
  add(facts: QueueFacts): void {
    this.audit.push(...facts.audit);
    this.telemetry.push(...facts.telemetry);
  }
}
function atMost(what: string, count: number): void {
  if (count > limits.batch_messages)
    throw new RangeError(`${what}: ${count} in one batch; at most ${limits.batch_messages} are taken`);
}
/** Lists of JSON elements, each list at most as long as one bound value may be. */
function* bound(elements: readonly string[]): Generator<string> {
  let list: string[] = [];
  let bytes = 0;
  for (const element of elements) {
    const size = byteLength(element) + 1;
    if (list.length > 0 && bytes + size > maxRowBytes) {
      yield `[${list.join(",")}]`;
      list = [];
      bytes = 0;
    }
    list.push(element);
    bytes += size;
  }
  if (list.length > 0) yield `[${list.join(",")}]`;
}

export interface Enqueued {
  readonly outcomes: readonly { readonly message_id: string; readonly outcome: EnqueueOutcome }[];
  readonly facts: QueueFacts;
}
interface Written {
  readonly message: Message;
  readonly body: string;
  readonly hash: string;
}

export function enqueueAll(sql: Sql, queue: string, messages: readonly Message[], now: number): Enqueued {
  atMost("enqueueAll", messages.length);
  const facts = new Facts();
  const open = takesIn(standingOf(sql, queue).state);
  const known = knownHashes(sql, queue, messages);
  const accepted: Written[] = [];
  const outcomes = messages.map((message) => {
    const { message_id } = message;
    const answer = (outcome: EnqueueOutcome, reason: string | null = null) => {
      if (outcome !== "duplicate" && outcome !== "closed")
        facts.add(enqueued({ queue, head: message }, reason === null ? outcome : "refused", reason));
      return { message_id, outcome };
    };
    const written = write(message);
    if (written === null) return answer("malformed", "the message has no canonical form");
    const before = known.get(message_id);
    if (before === written.hash) return answer("duplicate");
    if (before !== undefined) return answer("conflict", "a message with this id and other content came before");
    if (written.body.length > maxRowBytes / 3 && byteLength(written.body) > maxRowBytes)
      return answer("too_big", "the message is too big for a row");
    if (!open) return answer("closed");
    known.set(message_id, written.hash);
    accepted.push(written);
    return answer("accepted");
  });
  insert(sql, queue, accepted, now);
  return { outcomes, facts };
}
function write(message: Message): Written | null {
  try {
    const body = canonicalJson(message);
    return { message, body, hash: sha256Hex(body) };
  } catch {
    return null;
  }
}
function knownHashes(sql: Sql, queue: string, messages: readonly Message[]): Map<string, string> {
  const ids = JSON.stringify(messages.map((message) => message.message_id));
  const query = `SELECT message_id, body_hash FROM queue_processed WHERE queue = ?1 AND message_id IN (SELECT value FROM json_each(?2))
    UNION ALL SELECT message_id, body_hash FROM queue_rows WHERE queue = ?1 AND message_id IN (SELECT value FROM json_each(?2))`;
  const rows = sql.all<{ message_id: string; body_hash: string }>(query, queue, ids);
  return new Map(rows.map((row) => [row.message_id, row.body_hash]));
}
function insert(sql: Sql, queue: string, accepted: readonly Written[], now: number): void {
  const small: string[] = [];
  for (const { message, body, hash } of accepted) {
    const { message_id, message_kind, trace_id, scope_id, sender } = message;
    const { priority, max_deliveries } = delivery[message_kind];
    const row = [message_id, message_kind, trace_id, scope_id, sender, body, hash, priority, max_deliveries] as const;
    const element = JSON.stringify(row);
    // Escaped once more, a big body may be longer than a bound value may be: it goes in as it is, in its place.
    if (byteLength(element) <= maxRowBytes / 2) {
      small.push(element);
      continue;
    }
    insertSmall(sql, queue, small.splice(0), now);
    sql.run(insertRow, queue, ...row, now, now);
  }
  insertSmall(sql, queue, small, now);
}
function insertSmall(sql: Sql, queue: string, elements: readonly string[], now: number): void {
  for (const list of bound(elements)) sql.run(insertRows, queue, list, now);
}

export function leaseMany(sql: Sql, queue: string, request: BatchRequest, n: number, now: number): BatchLeases {
  const wanted = Math.min(n, request.lease_ids.length);
  atMost("leaseMany", wanted);
  const facts = new Facts();
  const leases: Lease[] = [];
  const ids = [...request.lease_ids];
  // A round may bring fewer than it asked for: unreadable rows die in it, and big ones fill it early.
  for (let round = 0; round < limits.queue_batch && leases.length < wanted; round++) {
    const rows = nextRows(sql, queue, wanted - leases.length, now);
    if (rows.length === 0) break;
    const taken = rows.map((stored) => {
      const { holder, lease_ms } = request;
      const lease_id = ids.shift() ?? "";
      const moved = leased(stored, { event: "lease", lease_id, holder, lease_ms }, now);
      return { moved, lease: leaseOf(moved.row, stored.body) };
    });
    const list = taken.map(({ moved: { row } }) => [row.seq, row.deliveries, row.lease?.lease_id ?? null]);
    sql.run(
      `UPDATE queue_rows SET state = 'leased', ready = 0, deliveries = json_extract(given.value, '$[1]'), reason = NULL,
         lease_id = json_extract(given.value, '$[2]'), holder = ?2, leased_at = ?3, expires_at = ?4, heartbeats = 0
         FROM json_each(?1) AS given WHERE seq = json_extract(given.value, '$[0]')`,
      ...[JSON.stringify(list), request.holder, now, now + request.lease_ms],
    );
    for (const { moved, lease } of taken) {
      facts.add(moved.facts);
      if (lease !== null) {
        leases.push(lease);
        continue;
      }
      ids.push(moved.row.lease?.lease_id ?? "");
      facts.add(bury(sql, moved.row, now));
    }
  }
  return { leases, facts };
}
/** The next rows in order, as many as `batch_bytes` hold and at least one when there is one. */
function nextRows(sql: Sql, queue: string, n: number, now: number): ReadyRow[] {
  for (let promoted = 0; promoted < limits.batch_messages; promoted += limits.queue_batch)
    if (promote(sql, queue, now) < limits.queue_batch) break;
  const first = nextReady(sql, queue, now);
  if (first === null || n === 1) return first === null ? [] : [first];
  const sizes = sql.all<{ seq: number; bytes: number }>(
    `SELECT seq, length(CAST(body AS BLOB)) AS bytes FROM queue_rows WHERE queue = ? AND ready = 1 ORDER BY priority DESC, seq LIMIT ?`,
    ...[queue, n],
  );
  let bytes = 0;
  const fit = sizes.filter((row, index) => {
    bytes += row.bytes;
    return index === 0 || bytes <= limits.batch_bytes;
  });
  return sql.all<ReadyRow>(
    `SELECT ${readyColumns} FROM queue_rows WHERE seq IN (SELECT value FROM json_each(?)) ORDER BY priority DESC, seq`,
    JSON.stringify(fit.map((row) => row.seq)),
  );
}

export interface Acked {
  /** In the order of the leases: null for an ack that counted, else why not. */
  readonly refusals: readonly (Refusal | null)[];
  readonly facts: QueueFacts;
}

export function ackAll(sql: Sql, leases: readonly LeaseRef[], now: number): Acked {
  atMost("ackAll", leases.length);
  const facts = new Facts();
  const rows = sql.all<StoredHead & { lease_id: string }>(
    `SELECT ${heads} FROM queue_rows WHERE state = 'leased' AND lease_id IN (SELECT value FROM json_each(?))`,
    JSON.stringify(leases.map((lease) => lease.lease_id)),
  );
  const held = new Map(rows.map((row) => [row.lease_id, row]));
  const done: StoredHead[] = [];
  const refusals = leases.map((lease) => {
    const stored = held.get(lease.lease_id);
    const acked: Result<{ facts: QueueFacts }> =
      stored === undefined
        ? refuse("not_in_this_state", "nobody holds this lease: it expired, was given back, or was never granted")
        : step(readRow(stored), { event: "ack", lease }, now);
    if (!acked.ok) return acked.refusal;
    facts.add(acked.value.facts);
    held.delete(lease.lease_id);
    if (stored !== undefined) done.push(stored);
    return null;
  });
  const seqs = JSON.stringify(done.map((row) => row.seq));
  sql.run(
    `INSERT OR IGNORE INTO queue_processed (queue, message_id, body_hash, at)
       SELECT queue, message_id, body_hash, ? FROM queue_rows WHERE seq IN (SELECT value FROM json_each(?))`,
    ...[now, seqs],
  );
  sql.run("DELETE FROM queue_rows WHERE seq IN (SELECT value FROM json_each(?))", seqs);
  const draining = new Map(
    done.filter((row) => row.standing === "draining").map((row) => [row.queue, row.scope_id] as const),
  );
  for (const [queue, scope_id] of draining) facts.add(noteEnd(sql, queue, scope_id, now));
  return { refusals, facts };
}
