/** Holds what bash ran to what was read: every program that ran and every file that appeared was told, or the script was flagged. [ORA-1] */
import { readShell, type ShellReading } from "../../../src/domain/shell.ts";
import { unlisted } from "../../../src/domain/shell-opaque.ts";
import type { Ran } from "./bash.ts";

export interface Verdict {
  /** Why the reading does not claim to know what runs; null when it does. */
  readonly flagged: string | null;
  /** What ran or appeared although it was not told. Empty for what was flagged. */
  readonly missed: readonly string[];
}

export function judge(script: string, ran: Ran): Verdict {
  const reading = readShell(script);
  const flagged = flagOf(reading);
  if (flagged !== null || ran.late) return { flagged: flagged ?? "it did not end", missed: [] };
  return { flagged, missed: [...programs(reading, ran), ...files(reading, ran)] };
}

/**
 * Words that a wrapper takes from its input are foreseen as far as they stand in the script: that is no flag. Nor is it
 * one that nobody listed the stubs: which program runs, and with which words, is told all the same.
 */
function flagOf(reading: ShellReading): string | null {
  if (reading.parse_error !== null) return reading.parse_error;
  if (reading.dynamic) return "dynamic";
  return reading.commands.find(({ opaque, open }) => opaque !== null && opaque !== unlisted && !open)?.opaque ?? null;
}

function programs(reading: ShellReading, ran: Ran): string[] {
  const told = reading.commands.flatMap(({ runs, open }) => runs.map((words) => ({ words: bare(words), open })));
  return ran.argvs
    .filter((argv) => !told.some(({ words, open }) => matches(words, argv, open)))
    .map((argv) => `ran ${JSON.stringify(argv)}`);
}
function matches(words: readonly string[], argv: readonly string[], open: boolean): boolean {
  return (
    (open ? words.length <= argv.length : words.length === argv.length) && words.every((one, at) => one === argv[at])
  );
}
function bare([name = "", ...rest]: readonly string[]): readonly string[] {
  return [name.slice(name.lastIndexOf("/") + 1), ...rest];
}

function files(reading: ShellReading, ran: Ran): string[] {
  return ran.files.filter((file) => !reading.writes.includes(file)).map((file) => `wrote ${JSON.stringify(file)}`);
}
