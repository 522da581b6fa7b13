/**
 * What an object has stored: one SQLite database in memory and one alarm. It outlives every instance of the object.
 * `Storage` is one instance's way to it, and the place where instances crash: before a commit, which then never
 * happened, or right after it. A write outside a transaction is a commit of its own.
 */
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { type Actor, Gone } from "./actors.ts";
import type { Commit, Faults } from "./faults.ts";

interface Prepared {
  readonly statement: StatementSync | null;
  /** The table it writes; null when it only reads. */
  readonly writes: string | null;
}
type Row = Record<string, SQLInputValue>;

const maxParameters = 100;
const maxRowBytes = 2_000_000;

export class Disk {
  readonly name: string;
  readonly db = new DatabaseSync(":memory:");
  readonly #prepared = new Map<string, Prepared>();
  alarm: number | null = null;
  /** Set by each commit; whoever looks after every step clears it. */
  touched = false;
  commits = 0;
  constructor(name: string) {
    this.name = name;
  }

  prepared(query: string): Prepared {
    const known = this.#prepared.get(query);
    if (known !== undefined) return known;
    const several = /;\s*\S/.test(query);
    const made = { statement: several ? null : this.db.prepare(query), writes: tableOf(query) };
    this.#prepared.set(query, made);
    return made;
  }
  /** For those who look on from outside. */
  all(query: string, ...params: SQLInputValue[]): Row[] {
    return this.prepared(query).statement?.all(...params) ?? [];
  }
}

function tableOf(query: string): string | null {
  if (/^\s*(select|pragma)/i.test(query)) return null;
  return /\b(?:into|update|from|table|index)\s+(?:or\s+\w+\s+|if\s+not\s+exists\s+)?(\w+)/i.exec(query)?.[1] ?? "?";
}

export interface StorageParts {
  readonly disk: Disk;
  readonly owner: Actor;
  readonly faults: Faults;
  readonly crash: (why: string) => void;
  /** The alarm was set or deleted. */
  readonly alarmed: () => void;
}

export class Storage {
  readonly #parts: StorageParts;
  /** The tables written by the transaction under way, and what it added to the audit. */
  #open: { wrote: Set<string>; audited: string[] } | null = null;
  constructor(parts: StorageParts) {
    this.#parts = parts;
  }

  readonly sql = {
    exec: (query: string, ...params: SQLInputValue[]) => {
      const { disk, owner } = this.#parts;
      if (!owner.alive) throw new Gone(owner.name);
      const { statement, writes } = disk.prepared(query);
      if (params.length > maxParameters) throw new Error(`too many SQL variables: ${params.length}`);
      for (const param of params)
        if (sizeOf(param) > maxRowBytes) throw new Error("string or blob too big: SQLITE_TOOBIG");
      if (writes === null || this.#open !== null) {
        if (writes !== null) this.#note(writes, params);
        return cursorOf(this.#run(statement, query, params));
      }
      return this.#commit({ wrote: new Set([writes]), audited: [] }, () =>
        cursorOf(this.#run(statement, query, params)),
      );
    },
  };

  transactionSync<T>(act: () => T): T {
    const { disk, owner } = this.#parts;
    if (!owner.alive) throw new Gone(owner.name);
    if (this.#open !== null) throw new Error("a transaction inside a transaction");
    const open = { wrote: new Set<string>(), audited: [] as string[] };
    this.#open = open;
    let over = false;
    const undo = () => {
      // SQLite itself has rolled back what met a full disk.
      if (!over && disk.db.isTransaction) disk.prepared("ROLLBACK").statement?.run();
      over = true;
    };
    try {
      disk.prepared("BEGIN IMMEDIATE").statement?.run();
      const result = act();
      if (result instanceof Promise) throw new Error("an async transaction");
      const end = () => {
        disk.prepared("COMMIT").statement?.run();
        over = true;
        return result;
      };
      return open.wrote.size === 0 ? end() : this.#commit(open, end);
    } catch (thrown) {
      undo();
      throw thrown;
    } finally {
      this.#open = null;
    }
  }

  async setAlarm(at: number | Date): Promise<void> {
    this.#alarm(Number(at));
  }
  async deleteAlarm(): Promise<void> {
    this.#alarm(null);
  }
  async getAlarm(): Promise<number | null> {
    return this.#parts.disk.alarm;
  }
  async sync(): Promise<void> {}

  #alarm(at: number | null): void {
    const { disk, owner, alarmed } = this.#parts;
    if (!owner.alive) throw new Gone(owner.name);
    if (disk.alarm === at) return;
    this.#commit({ wrote: new Set(["alarm"]), audited: [] }, () => {
      disk.alarm = at;
      alarmed();
    });
  }
  #run(statement: StatementSync | null, query: string, params: SQLInputValue[]): Row[] {
    if (statement !== null) return statement.all(...params);
    this.#parts.disk.db.exec(query);
    return [];
  }
  #note(table: string, params: readonly SQLInputValue[]): void {
    this.#open?.wrote.add(table);
    if (table !== "audit_chain") return;
    // Links' bodies among hashes and names, one or many at once.
    for (const body of params) if (typeof body === "string" && body.startsWith("{")) this.#open?.audited.push(body);
  }
  #commit<T>(open: { wrote: Set<string>; audited: readonly string[] }, end: () => T): T {
    const { disk, faults, crash, owner } = this.#parts;
    const commit: Commit = {
      object: disk.name,
      wrote: open.wrote,
      decisions: () => open.audited.map((body) => (JSON.parse(body) as { decision: string }).decision), // a link's body
    };
    const die = (at: "before" | "after") => {
      if (!faults.crashes(commit, at)) return;
      crash(`${at} its commit of ${[...open.wrote].join(", ")}`);
      throw new Gone(owner.name);
    };
    die("before");
    const result = end();
    disk.commits++;
    disk.touched = true;
    die("after");
    return result;
  }
}

function sizeOf(param: SQLInputValue): number {
  if (typeof param === "string") return param.length;
  return ArrayBuffer.isView(param) ? param.byteLength : 0;
}
function cursorOf(rows: Row[]) {
  for (const row of rows)
    for (const column in row) {
      const value = row[column];
      // As in an object: a blob is an ArrayBuffer of its own.
      if (value instanceof Uint8Array) row[column] = value.slice().buffer as unknown as SQLInputValue;
    }
  return { toArray: () => rows, [Symbol.iterator]: () => rows[Symbol.iterator]() };
}
