/**
 * The deployment's keys in what a provider sends: a provider, or a proxy before it, may repeat the header it was sent.
 * What is stored and shown holds none of them; a call that holds one is marked, and not run. [MODEL-9] [MODEL-37]
 */
import type { ModelAnswer, ModelCall } from "../agents/models.ts";

const surely_secret_chars = 16;
const maybe_secret_chars = 8;

/** A key as it goes over the wire: what stands at its ends is no part of it. Null: there is none, or none can be sent. */
export interface ReadKey {
  readonly key: string | null;
  /** What is wrong with it, without its text. */
  readonly problem: string | null;
}
/**
 * Read once, before it is used or compared: a header drops the blanks at a value's ends, and an error about one with a line
 * break in its middle would tell a half of it.
 */
export function readKey(text: string | undefined): ReadKey {
  const key = (text ?? "").trim();
  if (key === "") return { key: null, problem: null };
  if (/^[\x21-\x7e]+$/.test(key)) return { key, problem: null };
  return { key: null, problem: "a key is of visible ASCII characters, without white space between them" };
}

/** Every secret that goes to a provider. That of the search is of no model: known here so that no answer repeats it. */
export interface KeyBindings {
  readonly ANTHROPIC_API_KEY?: string;
  readonly OPENAI_API_KEY?: string;
  readonly GOOGLE_API_KEY?: string;
  readonly MODEL_API_KEY?: string;
  readonly WEB_SEARCH_KEY?: string;
}
/** All that can be sent, as they are sent. */
export function keysOf(own: KeyBindings): string[] {
  const all = [own.ANTHROPIC_API_KEY, own.OPENAI_API_KEY, own.GOOGLE_API_KEY, own.MODEL_API_KEY, own.WEB_SEARCH_KEY];
  return all.flatMap((text) => readKey(text).key ?? []);
}

/**
 * Whatever is long is one, however it looks: a random key may be all letters. A short dummy of a server on one's own
 * machine (`ollama`, `not-needed`) is an ordinary word, which a model may well write: words have no digit in them, and
 * no capital behind a small letter.
 */
export function isSecret(key: string): boolean {
  if (key.length >= surely_secret_chars) return true;
  return key.length >= maybe_secret_chars && /\d|[a-z][A-Z]/.test(key);
}

/** The longest first: one may begin with another. Each as a header carries it, without the blanks at its ends. */
export function keyless(words: string, keys: readonly string[]): string {
  const sent = keys.map((key) => key.trim());
  const known = sent.filter(isSecret).sort((a, b) => b.length - a.length);
  return known.reduce((text, key) => text.replaceAll(key, "[key]"), words);
}

type Heard = Pick<ModelAnswer, "text" | "calls" | "finish">;
export function withoutKeys(answer: Heard, keys: readonly string[]): Heard {
  if (!keys.some(isSecret)) return answer;
  return { ...answer, text: keyless(answer.text, keys), calls: answer.calls.map((call) => markedCall(call, keys)) };
}

/** As it was written where no key stands in it; else without, for the record, and marked: it is not what was asked for. */
function markedCall(call: ModelCall, keys: readonly string[]): ModelCall {
  const tool = keyless(call.tool, keys);
  const call_id = keyless(call.call_id, keys);
  const args = keylessArguments(call.arguments, keys);
  if (args === null) return tool === call.tool ? { ...call, call_id } : { ...call, call_id, tool, holds_key: true };
  return { call_id, tool, arguments: args, holds_key: true };
}

/** Null when they hold none. Values are compared as they are read, so that no escape hides a key. */
function keylessArguments(text: string, keys: readonly string[]): string | null {
  const without = (value: string) => keyless(value, keys);
  let found = false;
  const seen = (value: string): string => {
    const shown = without(value);
    found ||= shown !== value;
    return shown;
  };
  const plain = seen(text);
  // As well as they can be read in what is no JSON: it is never run, but shown.
  const unescaped = text
    .replace(/\\u([\da-f]{4})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/\\([\\/"])/g, "$1");
  const shown = seen(unescaped);
  try {
    // Names are values too: an entry under a changed name takes the place of the one that held the key.
    const read: unknown = JSON.parse(text, (_, value: unknown) => {
      if (typeof value === "string") return seen(value);
      if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
      return Object.fromEntries(Object.entries(value).map(([name, held]) => [seen(name), held]));
    });
    return found ? JSON.stringify(read) : null;
  } catch {
    return shown !== unescaped ? shown : found ? plain : null;
  }
}
