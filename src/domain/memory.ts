/**
 * What a scope remembers, as it is shown, and the words it is searched by. A search is words and nothing else: the
 * search engine's own language never comes from outside. [MEM-*]
 */
import { z } from "zod";
import { limits } from "../limits.ts";
import { byteLength } from "./canonical.ts";
import { insightKinds } from "./insight.ts";
import { taint } from "./message.ts";

export const memoryKinds = ["plan", "decision", ...insightKinds] as const;
export type MemoryKind = (typeof memoryKinds)[number];

export const memoryView = z.strictObject({
  id: z.string(),
  kind: z.enum(memoryKinds),
  title: z.string(),
  text: z.string(),
  /** The part that fits the search best; without one, how the text begins. */
  excerpt: z.string(),
  task_id: z.string().nullable(),
  taint,
  at: z.string(),
  /** An admin had it forgotten: title and text are gone. */
  forgotten: z.boolean(),
});
export type MemoryView = z.infer<typeof memoryView>;

export const memoryForgetting = z.strictObject({ reason: z.string().trim().min(1).max(2000) });

/** Longest first, for of too many words the longer ones say more. */
export function searchWords(query: string): string[] {
  const words = new Set(query.toLowerCase().match(/[\p{L}\p{N}\p{M}]+/gu) ?? []);
  return [...words]
    .map((word) => word.slice(0, wordMax))
    .sort((a, b) => b.length - a.length || (a < b ? -1 : 1))
    .slice(0, limits.memory_words);
}
const wordMax = 60;

/** In the language of SQLite's FTS5: each word is a string of its own, and any of them will do. Null: there is none. */
export function matchOf(query: string): string | null {
  const words = searchWords(query);
  return words.length === 0 ? null : words.map((word) => `"${word}"`).join(" OR ");
}

/** As it is stored: one line of title, and no more text than a row may hold. */
export function memoryTexts(title: string, text: string): { title: string; text: string } {
  const line = title.replace(/\s+/g, " ").trim().slice(0, limits.memory_title_chars);
  if (byteLength(text) <= limits.memory_text_bytes) return { title: line, text: text.trim() };
  const buffer = new Uint8Array(limits.memory_text_bytes - cutMark.length);
  const { read } = new TextEncoder().encodeInto(text, buffer);
  return { title: line, text: `${text.slice(0, read)}${cutMark}` };
}
const cutMark = "\n[cut]";
