/**
 * The deployment's keys in what a provider sends: a provider, or a proxy before it, may repeat the header it was sent.
 * What is stored and shown holds none of them; a call that holds one is marked, and not run. [MODEL-9] [MODEL-37]
 */
import type { ModelAnswer, ModelCall } from "../agents/models.ts";

const least_key_chars = 16;
const least_digits = 8;

/**
 * Dummy keys of servers on one's own machine (`ollama`, `not-needed`, `sk-no-key-required`) are ordinary words, which a
 * model may well write: only what looks made by a machine is a secret.
 */
export function isSecret(key: string): boolean {
  if (key.length < least_key_chars) return false;
  const kinds = [/\d/, /[A-Z]/, /[^\dA-Za-z]/].filter((kind) => kind.test(key)).length;
  return kinds >= 2 || (/[A-Za-z]/.test(key) && (key.match(/\d/g) ?? []).length >= least_digits);
}

/** The longest first: one may begin with another. */
export function keyless(words: string, keys: readonly string[]): string {
  const known = keys.filter(isSecret).sort((a, b) => b.length - a.length);
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
