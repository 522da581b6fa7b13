/**
 * What a service has stored, read from its files once it has stopped: each object's own rows, the record database, and
 * the branches it published. It asks no code of the service, so what is found is what stands on the disk.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { AuditView } from "../../src/domain/record-view.ts";
import type { Repository } from "../journeys/road.ts";
import type { Beat } from "../objects/commands/told-by-chain.ts";

export interface StoredTask {
  readonly id: string;
  readonly title: string;
  readonly status: string;
  readonly branch: string;
  readonly published: string | null;
}
export interface StoredCard {
  readonly id: string;
  readonly task_id: string;
  readonly status: string;
  readonly decisions: readonly { readonly decision: string; readonly comment: string | null }[];
}
export interface StoredItem {
  readonly id: string;
  readonly task_id: string;
  readonly outcome: string;
  readonly spec: { readonly id: string };
}
export interface StoredEvent {
  readonly seq: number;
  readonly type: string;
  readonly task_id: string | null;
  readonly detail: string | null;
}
export interface StoredRow {
  readonly queue: string;
  readonly message_id: string;
  readonly state: string;
}
export interface StoredObject {
  readonly object: string;
  readonly links: readonly AuditView[];
  readonly rows: readonly StoredRow[];
  /** Heartbeats of its leases, as far as measurements are kept. */
  readonly beats: readonly Beat[];
  /** Messages not yet confirmed, the dead ones too. */
  readonly outbox: readonly string[];
  /** Rows up to this one are said to stand in the record database. */
  readonly shipped: number;
}
export interface Branch {
  readonly task_id: string;
  readonly commit: string;
  /** The lines of `src/ran.txt`, by their first word. */
  readonly lines: readonly string[];
  /** The `Work-item:` of each commit that is not the source's. */
  readonly merged: readonly string[];
}
export interface Stored {
  readonly tasks: readonly StoredTask[];
  readonly cards: readonly StoredCard[];
  readonly items: readonly StoredItem[];
  readonly events: readonly StoredEvent[];
  readonly objects: readonly StoredObject[];
  readonly recorded: readonly { readonly object: string; readonly seq: number; readonly hash: string }[];
  readonly branches: readonly Branch[];
}

export function readStored(state: string, repo: Repository): Stored {
  const root = join(state, "persist/v3");
  const objects: StoredObject[] = [];
  let scope: Pick<Stored, "tasks" | "cards" | "items" | "events"> = { tasks: [], cards: [], items: [], events: [] };
  for (const file of databases(join(root, "do"))) {
    const found = withTables(file, ["audit_chain", "queue_rows", "outbox"], objectOf);
    if (found !== null) objects.push(found);
    scope = withTables(file, ["tasks", "approvals", "items", "events"], scopeOf) ?? scope;
  }
  const recorded = databases(join(root, "d1")).flatMap(
    (file) => withTables(file, ["audit", "scopes"], recordedIn) ?? [],
  );
  const shipped = databases(join(root, "d1")).flatMap(
    (file) => withTables(file, ["telemetry", "scopes"], beatsIn) ?? [],
  );
  const known = objects.map((one) => {
    const own = [...one.beats, ...shipped.filter(({ object }) => object === one.object)];
    return { ...one, beats: own.toSorted((a, b) => a.at - b.at) };
  });
  return { ...scope, objects: known, recorded, branches: branchesOf(scope.tasks, repo) };
}

function databases(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".sqlite") && !name.endsWith("metadata.sqlite"))
    .map((name) => join(folder, name));
}
function withTables<T>(file: string, tables: readonly string[], read: (db: DatabaseSync) => T): T | null {
  const db = new DatabaseSync(file);
  try {
    const names = rowsOf<{ name: string }>(db, "SELECT name FROM sqlite_master WHERE type = 'table'");
    return tables.every((table) => names.some(({ name }) => name === table)) ? read(db) : null;
  } finally {
    db.close();
  }
}
/** The type is the reader's claim about the schema: what is not so shows in the comparison. */
function rowsOf<T>(db: DatabaseSync, query: string): T[] {
  return db.prepare(query).all() as T[];
}
function docs<T>(db: DatabaseSync, noun: string): T[] {
  return rowsOf<{ doc: string }>(db, `SELECT doc FROM ${noun} ORDER BY seq`).map(({ doc }) => JSON.parse(doc));
}

function objectOf(db: DatabaseSync): StoredObject {
  const links = rowsOf<{ body: string }>(db, "SELECT body FROM audit_chain ORDER BY seq");
  const parsed: AuditView[] = links.map(({ body }) => JSON.parse(body));
  return {
    object: parsed[0]?.object ?? "?",
    links: parsed,
    beats: rowsOf<{ body: string }>(db, "SELECT body FROM telemetry ORDER BY seq").flatMap(({ body }) => beatOf(body)),
    rows: rowsOf<StoredRow>(db, "SELECT queue, message_id, state FROM queue_rows ORDER BY seq"),
    outbox: rowsOf<{ id: string }>(db, "SELECT message_id AS id FROM outbox ORDER BY seq").map(({ id }) => id),
    shipped: rowsOf<{ seq: number }>(db, "SELECT seq FROM audit_shipped")[0]?.seq ?? 0,
  };
}
function scopeOf(db: DatabaseSync): Pick<Stored, "tasks" | "cards" | "items" | "events"> {
  return {
    tasks: docs<StoredTask>(db, "tasks"),
    cards: docs<StoredCard>(db, "approvals"),
    items: docs<StoredItem>(db, "items"),
    events: rowsOf<{ seq: number; body: string }>(db, "SELECT seq, body FROM events ORDER BY seq").map(
      ({ seq, body }) => ({ ...JSON.parse(body), seq }),
    ),
  };
}
/** Of a measurement that has left, nothing is kept but its place. */
function beatOf(body: string): Beat[] {
  const one: { event_name: string; queue_name: string; message_id: string; created_at: string } | null =
    JSON.parse(body);
  if (one?.event_name !== "lease_heartbeat") return [];
  return [{ queue: one.queue_name, message_id: one.message_id, at: Date.parse(one.created_at) }];
}
function beatsIn(db: DatabaseSync): (Beat & { readonly object: string })[] {
  const query =
    "SELECT object, queue_name AS queue, message_id, created_at FROM telemetry WHERE event_name = 'lease_heartbeat'";
  return rowsOf<Beat & { object: string; created_at: string }>(db, query).map(({ created_at, ...one }) => ({
    ...one,
    at: Date.parse(created_at),
  }));
}
function recordedIn(db: DatabaseSync): Stored["recorded"] {
  return rowsOf<{ object: string; seq: number; hash: string }>(
    db,
    "SELECT object, seq, hash FROM audit ORDER BY object, seq",
  );
}

function branchesOf(tasks: readonly StoredTask[], repo: Repository): Branch[] {
  const heads = repo.git("for-each-ref", "--format=%(refname:short) %(objectname)", "refs/heads/countersign/");
  return heads
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [branch = "", commit = ""] = line.split(" ");
      const task = tasks.find((each) => each.branch === branch);
      const merged = repo.git("log", "--format=%(trailers:key=Work-item,valueonly)", `main..${branch}`);
      const lines = repo.file(branch, "src/ran.txt");
      return { task_id: task?.id ?? branch, commit, lines: wordsOf(lines), merged: wordsOf(merged) };
    });
}
function wordsOf(text: string): string[] {
  return text.split("\n").flatMap((line) => (line.trim() === "" ? [] : [line.trim().split(" ")[0] ?? ""]));
}
