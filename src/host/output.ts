/**
 * The output of one process: bytes kept in a file in the order written, up to a cap, readable from any
 * offset while it grows. What comes after the cap is dropped and the log says so, once.
 */
import { appendFileSync, closeSync, existsSync, openSync, readSync, statSync, writeFileSync } from "node:fs";
import { bounds } from "./bounds.ts";

const cutNotice = `\n[output truncated: the ${bounds.output_call_bytes / 1024 / 1024} MB a call may write are used up]\n`;

export class OutputLog {
  readonly #path: string;
  readonly #waiting = new Set<() => void>();
  #size: number;
  #full = false;
  #ended = false;

  /** A log that grows; `ended` opens one of an earlier host, which does not. */
  constructor(path: string, state: "new" | "ended") {
    this.#path = path;
    if (state === "new") writeFileSync(path, "", { mode: 0o600 });
    this.#size = existsSync(path) ? statSync(path).size : 0;
    this.#ended = state === "ended";
  }

  append(bytes: Uint8Array): void {
    if (this.#full || this.#ended) return;
    const room = bounds.output_call_bytes - this.#size;
    const taken = bytes.length <= room ? bytes : bytes.subarray(0, room);
    this.#write(taken);
    if (taken.length < bytes.length) {
      this.#full = true;
      this.#write(Buffer.from(cutNotice));
    }
    this.#wake();
  }

  end(): void {
    this.#ended = true;
    this.#wake();
  }

  read(offset: number): Uint8Array {
    const length = Math.min(bounds.output_chunk_bytes, this.#size - offset);
    if (length <= 0) return new Uint8Array();
    const bytes = new Uint8Array(length);
    const file = openSync(this.#path, "r");
    try {
      return bytes.subarray(0, readSync(file, bytes, 0, length, offset));
    } finally {
      closeSync(file);
    }
  }

  /** Resolves when there is something past `offset`, the log has ended, or the time is over. */
  async past(offset: number, wait_ms: number): Promise<void> {
    if (this.#size > offset || this.#ended || wait_ms === 0) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#waiting.delete(look);
        resolve();
      };
      const look = () => {
        if (this.#size > offset || this.#ended) done();
      };
      const timer = setTimeout(done, wait_ms);
      this.#waiting.add(look);
    });
  }

  #write(bytes: Uint8Array): void {
    appendFileSync(this.#path, bytes);
    this.#size += bytes.length;
  }

  #wake(): void {
    for (const look of [...this.#waiting]) look();
  }
}
