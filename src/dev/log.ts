/** service.log: what the parts of the service write, kept within bounds and read back when one of them fails. */
import { closeSync, existsSync, openSync, readSync, renameSync, statSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";
import { z } from "zod";

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
    const error = lines.findLastIndex((line) => /error|ERROR|✘|EADDRINUSE|cannot|could not/i.test(line));
    return error < 0 ? (lines.at(-1) ?? "it said nothing") : withPlace(lines.slice(error));
  } finally {
    closeSync(fd);
  }
}

/** Wrangler tells of a broken configuration over several lines: the file, or the first fault in it, stands below. */
function withPlace([error = "", ...below]: readonly string[]): string {
  const place = below.find((line) => /wrangler\.toml:\d+:\d+:?$/.test(line));
  if (place !== undefined && !error.includes("wrangler.toml")) return `${place.replace(/:?$/, ":")} ${error}`;
  const fault = error.endsWith(":") ? below.find((line) => line.startsWith("- ")) : undefined;
  return fault === undefined ? error : `${error} ${fault.slice(2)}`;
}

/** What a failure of wrangler's programming interface says, on one line and with the file it is about. */
export function failureLine(error: unknown): string {
  let inner = error;
  while (inner instanceof Error && inner.cause !== undefined) inner = inner.cause;
  const message = (inner instanceof Error ? inner.message : String(inner)).replaceAll(/\s+/g, " ").trim();
  const found = located.safeParse(inner);
  if (!found.success || message.includes(found.data.location.file)) return `Error: ${message}`;
  const { file, line } = found.data.location;
  return `Error: ${file}:${line}: ${message}`;
}
const located = z.looseObject({ location: z.looseObject({ file: z.string(), line: z.number() }) });
