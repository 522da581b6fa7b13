/** service.log: what the parts of the service write, kept within bounds and read back when one of them fails. */
import { closeSync, existsSync, openSync, readSync, renameSync, statSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";

const MAX_LOG_BYTES = 10 * 1024 * 1024;
const TAIL_BYTES = 8 * 1024;

/** A descriptor to append to. The log of earlier starts is put aside once it is large. */
export function openLog(file: string): number {
  if (existsSync(file) && statSync(file).size > MAX_LOG_BYTES) renameSync(file, `${file}.1`);
  return openSync(file, "a", 0o600);
}

export function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

/** The line that most likely says why: the last error since `from`, else the last line there is. */
export function reasonIn(file: string, from: number): string {
  const fd = openSync(file, "r");
  try {
    const start = Math.max(from, sizeOf(file) - TAIL_BYTES);
    const bytes = Buffer.alloc(TAIL_BYTES);
    const text = bytes.toString("utf8", 0, readSync(fd, bytes, 0, TAIL_BYTES, start));
    const lines = text
      .split("\n")
      .map((line) => stripVTControlCharacters(line).trim())
      .filter((line) => line !== "");
    return (
      lines.findLast((line) => /error|ERROR|✘|EADDRINUSE|cannot|could not/i.test(line)) ??
      lines.at(-1) ??
      "it said nothing"
    );
  } finally {
    closeSync(fd);
  }
}
