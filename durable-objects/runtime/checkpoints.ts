/**
 * The scope's signed checkpoints: when one is due, how it is made, and those D1 does not have yet. The newest stays here
 * for good, so that one taken out of D1 is missed. Signing waits, so the ends are read before and believed only as what
 * they were: a chain never takes a row back. [AUD-18] [AUD-19] [AUD-20]
 */
import { type ChainHead, genesis } from "../../src/domain/audit.ts";
import { type Checkpoint, checkpointHash, checkpointInput, type LastCheckpoint } from "../../src/domain/checkpoint.ts";
import { assembleJws } from "../../src/domain/jws.ts";
import type { CheckpointRow } from "../../src/domain/records.ts";
import { limits } from "../../src/limits.ts";
import type { AuditLog } from "../audit-log.ts";
import { earliest } from "../post.ts";
import type { Sql } from "../sql.ts";
import type { Signer } from "./tokens.ts";

export const checkpointSchema: readonly string[] = [
  `CREATE TABLE checkpoints (seq INTEGER PRIMARY KEY, hash TEXT NOT NULL, jws TEXT NOT NULL, at INTEGER NOT NULL);
   CREATE TABLE checkpoint_state (one INTEGER PRIMARY KEY CHECK (one = 1), shipped INTEGER NOT NULL, looked_at INTEGER NOT NULL,
     covered INTEGER NOT NULL, wanted_at INTEGER);
   INSERT INTO checkpoint_state (one, shipped, looked_at, covered, wanted_at) VALUES (1, 0, 0, 0, NULL);
   CREATE TABLE checkpoint_heads (object TEXT PRIMARY KEY, seq INTEGER NOT NULL, hash TEXT NOT NULL);`,
];

interface State {
  readonly shipped: number;
  /** When the chains' ends were last asked for. */
  readonly looked_at: number;
  /** The runtime's own chain up to the row that records the newest checkpoint: up to there nothing is new. */
  readonly covered: number;
  /** A task ended then, and no checkpoint was made since. */
  readonly wanted_at: number | null;
}
interface StoredCheckpoint {
  readonly seq: number;
  readonly hash: string;
  readonly jws: string;
  readonly at: number;
}
export interface SignedCheckpoint {
  readonly said: Checkpoint;
  readonly jws: string;
  readonly kid: string;
}

export class Checkpoints {
  readonly #sql: Sql;
  readonly #audit: AuditLog;
  constructor(sql: Sql, audit: AuditLog) {
    this.#sql = sql;
    this.#audit = audit;
  }

  /** A task has ended: what it left is signed soon. */
  want(now: number): void {
    this.#sql.run("UPDATE checkpoint_state SET wanted_at = coalesce(wanted_at, ?)", now);
  }
  /** When the ends should next be looked at; null while nothing has changed here. */
  nextDueAt(): number | null {
    const { looked_at, covered, wanted_at } = this.#state();
    const first = this.#audit.after(0, 1)[0];
    if (first === undefined) return null;
    const last = Math.max(looked_at, Date.parse(first.created_at));
    const soon =
      wanted_at === null
        ? null
        : Math.max(wanted_at + limits.checkpoint_settle_ms, looked_at + limits.checkpoint_soon_ms);
    const changed = (this.#audit.head()?.seq ?? 0) > covered ? last + limits.checkpoint_ms : null;
    return earliest(soon, changed);
  }
  /** Also true now and then while nothing changed here: another object's chain may have grown by itself. */
  isDue(now: number): boolean {
    const due = this.nextDueAt();
    const { looked_at } = this.#state();
    return (due !== null && due <= now) || (looked_at > 0 && now >= looked_at + limits.checkpoint_ms);
  }

  /**
   * The signed statement of these ends; null when they are those of the newest checkpoint. An object that did not answer
   * keeps the end that was signed of it last.
   */
  async sign(
    scope_id: string,
    signer: Signer,
    heads: readonly ChainHead[],
    now: number,
  ): Promise<SignedCheckpoint | null> {
    const before = new Map(this.#signedHeads().map((head) => [head.object, head]));
    const own = `${scope_id}/runtime`;
    const grew = heads.some(({ object, seq }) =>
      object === own ? seq > this.#state().covered : seq > (before.get(object)?.seq ?? 0),
    );
    if (!grew) return null;
    for (const { object, seq, hash } of heads)
      if (seq >= (before.get(object)?.seq ?? 1)) before.set(object, { object, seq, hash });
    const newest = this.newest();
    const said: Checkpoint = {
      scope: scope_id,
      seq: (newest?.seq ?? 0) + 1,
      prev: newest?.hash ?? genesis,
      heads: [...before.values()].sort((a, b) => (a.object < b.object ? -1 : 1)),
      at: new Date(now).toISOString(),
    };
    const input = checkpointInput(signer.kid, said);
    return { said, jws: assembleJws(input, await signer.sign(input)), kid: signer.kid };
  }
  /** Keeps it, in the caller's transaction, which records it by `record`; false when another was made meanwhile. */
  keep({ said, jws }: SignedCheckpoint, now: number, record: (hash: string) => void): boolean {
    const newest = this.newest();
    if (said.prev !== (newest?.hash ?? genesis)) return false;
    const hash = checkpointHash(jws);
    this.#sql.run("INSERT INTO checkpoints (seq, hash, jws, at) VALUES (?, ?, ?, ?)", said.seq, hash, jws, now);
    for (const head of said.heads)
      this.#sql.run(
        "INSERT OR REPLACE INTO checkpoint_heads (object, seq, hash) VALUES (?, ?, ?)",
        head.object,
        head.seq,
        head.hash,
      );
    const unseen = (this.#audit.head()?.seq ?? 0) > (said.heads.find(isRuntime)?.seq ?? 0);
    record(hash);
    // Only the row that records this checkpoint follows what it covers; anything else that came between is new.
    if (!unseen) this.#sql.run("UPDATE checkpoint_state SET covered = ?", this.#audit.head()?.seq ?? 0);
    return true;
  }
  /** The ends were asked for; with `made`, or with nothing new, what was wanted is had. */
  looked(now: number): void {
    this.#sql.run("UPDATE checkpoint_state SET looked_at = ?, wanted_at = NULL", now);
  }

  newest(): LastCheckpoint | null {
    const row = this.#sql.one<StoredCheckpoint>("SELECT seq, hash, jws, at FROM checkpoints ORDER BY seq DESC LIMIT 1");
    return row === null ? null : { seq: row.seq, hash: row.hash, at: new Date(row.at).toISOString() };
  }
  unshipped(scope_id: string, limit: number): CheckpointRow[] {
    return this.#sql
      .all<StoredCheckpoint>(
        "SELECT seq, hash, jws, at FROM checkpoints WHERE seq > (SELECT shipped FROM checkpoint_state) ORDER BY seq LIMIT ?",
        limit,
      )
      .map(({ at, ...row }) => ({ ...row, scope_id, at: new Date(at).toISOString() }));
  }
  /** D1 has all up to this one: of those only the newest is kept here. */
  shipped(up_to_seq: number): void {
    const known = Math.min(up_to_seq, this.newest()?.seq ?? 0);
    this.#sql.run("UPDATE checkpoint_state SET shipped = ?1 WHERE shipped < ?1", known);
    this.#sql.run("DELETE FROM checkpoints WHERE seq <= ?1 AND seq < (SELECT max(seq) FROM checkpoints)", known);
  }
  shippedSeq(): number {
    return this.#state().shipped;
  }

  #state(): State {
    const state = this.#sql.one<State>("SELECT shipped, looked_at, covered, wanted_at FROM checkpoint_state");
    return state ?? { shipped: 0, looked_at: 0, covered: 0, wanted_at: null };
  }
  #signedHeads(): ChainHead[] {
    return this.#sql.all<ChainHead>("SELECT object, seq, hash FROM checkpoint_heads");
  }
}

function isRuntime({ object }: ChainHead): boolean {
  return object.endsWith("/runtime");
}
