/**
 * What an attempt printed: bytes by offset, in rows of 64 KB, so that a reader can come in anywhere and go
 * on from there. Past 8 MB one line says so, and further bytes are counted but not kept. [OUTP-*]
 */
import { limits } from "../src/limits.ts";
import type { Sql } from "./sql.ts";

export const outputSchema: readonly string[] = [
  `CREATE TABLE output_attempts (attempt_id TEXT PRIMARY KEY, kept INTEGER NOT NULL, seen INTEGER NOT NULL, truncated INTEGER NOT NULL);
   CREATE TABLE output_chunks (attempt_id TEXT NOT NULL, start INTEGER NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (attempt_id, start));`,
];

export interface OutputSize {
  /** Bytes that can be read, the truncation line included. */
  readonly kept: number;
  /** Bytes the attempt printed. */
  readonly seen: number;
  readonly truncated: boolean;
}
export interface OutputPart {
  readonly bytes: Uint8Array;
  readonly next_offset: number;
}

const truncationLine = new TextEncoder().encode("\r\n[output past 8 MB is not kept]\r\n");
const chunkBytes = limits.output_chunk_bytes;

export class OutputLog {
  readonly #sql: Sql;
  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** `offset` is where these bytes begin in the log; `kept` is how many of them are in it. */
  append(attempt_id: string, bytes: Uint8Array): { readonly offset: number; readonly kept: number } {
    const size = this.size(attempt_id);
    const room = Math.max(0, limits.output_attempt_bytes - size.kept);
    const fits = bytes.subarray(0, room);
    const cut = !size.truncated && fits.length < bytes.length;
    this.#write(attempt_id, size.kept, fits);
    if (cut) this.#write(attempt_id, size.kept + fits.length, truncationLine);
    const kept = size.kept + fits.length + (cut ? truncationLine.length : 0);
    this.#sql.run(
      "INSERT OR REPLACE INTO output_attempts (attempt_id, kept, seen, truncated) VALUES (?, ?, ?, ?)",
      ...[attempt_id, kept, size.seen + bytes.length, size.truncated || cut ? 1 : 0],
    );
    return { offset: size.kept, kept: fits.length };
  }

  /** At most `max` bytes from `from`; empty at the end, and for an attempt that printed nothing. */
  read(attempt_id: string, from: number, max: number = chunkBytes): OutputPart {
    const { kept } = this.size(attempt_id);
    const offset = Math.min(Math.max(0, Math.trunc(from) || 0), kept);
    const end = Math.min(offset + Math.max(0, max), kept);
    const bytes = new Uint8Array(end - offset);
    const first = offset - (offset % chunkBytes);
    const sql =
      "SELECT start, bytes FROM output_chunks WHERE attempt_id = ? AND start >= ? AND start < ? ORDER BY start";
    for (const chunk of this.#sql.all<Chunk>(sql, attempt_id, first, end)) {
      const skip = Math.max(0, offset - chunk.start);
      bytes.set(chunk.bytes.subarray(skip, end - chunk.start), chunk.start + skip - offset);
    }
    return { bytes, next_offset: end };
  }

  size(attempt_id: string): OutputSize {
    const sql = "SELECT kept, seen, truncated FROM output_attempts WHERE attempt_id = ?";
    const row = this.#sql.one<{ kept: number; seen: number; truncated: number }>(sql, attempt_id);
    return { kept: row?.kept ?? 0, seen: row?.seen ?? 0, truncated: row?.truncated === 1 };
  }
  /** Once its bytes are in the artifacts. */
  drop(attempt_id: string): void {
    this.#sql.run("DELETE FROM output_chunks WHERE attempt_id = ?", attempt_id);
    this.#sql.run("DELETE FROM output_attempts WHERE attempt_id = ?", attempt_id);
  }

  /** Chunks begin at multiples of 64 KB; the last one is filled up before the next begins. */
  #write(attempt_id: string, at: number, bytes: Uint8Array): void {
    for (let done = 0; done < bytes.length; ) {
      const start = at + done - ((at + done) % chunkBytes);
      const used = at + done - start;
      const part = bytes.subarray(done, done + chunkBytes - used);
      const sql = "SELECT start, bytes FROM output_chunks WHERE attempt_id = ? AND start = ?";
      const before = used === 0 ? null : this.#sql.one<Chunk>(sql, attempt_id, start);
      const row = new Uint8Array(used + part.length);
      if (before !== null) row.set(before.bytes.subarray(0, used));
      row.set(part, used);
      this.#sql.run(
        "INSERT OR REPLACE INTO output_chunks (attempt_id, start, bytes) VALUES (?, ?, ?)",
        attempt_id,
        start,
        row,
      );
      done += part.length;
    }
  }
}

interface Chunk {
  readonly start: number;
  readonly bytes: Uint8Array;
}
