/**
 * Small files of the state folder: written whole or not at all, for their owner only, and parsed when read.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import type { z } from "zod";

/** What goes wrong at a start is said in one line to the person at the terminal; it is never a stack trace. */
export class StartError extends Error {}

export function sentence(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Whole or not at all, and for its owner only. */
export function writePrivate(file: string, text: string): void {
  const draft = `${file}.${process.pid}.draft`;
  writeFileSync(draft, text, { mode: 0o600 });
  renameSync(draft, file);
}

export function readText(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return null;
  }
}

/** Null when the file is not there; a file that is there and says something else is an error that names it. */
export function readJson<T>(file: string, shape: z.ZodType<T>): T | null {
  const text = readText(file);
  if (text === null) return null;
  try {
    return shape.parse(JSON.parse(text));
  } catch {
    throw new StartError(`${file} is damaged. Remove it, or start with another folder: npm start -- --state DIR`);
  }
}

export function removeFile(file: string): void {
  rmSync(file, { force: true });
}
