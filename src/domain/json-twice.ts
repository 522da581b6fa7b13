/**
 * The first key that stands twice in one object of a JSON text. A parser keeps the last one without a word, so what was
 * read over first would not be what holds. [PDT-14]
 */

const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:,]/gs;

/** `text` is JSON. Null when no key stands twice. */
export function keyTwice(text: string): string | null {
  /** Of each open object the keys so far; null for a list. */
  const open: (Set<string> | null)[] = [];
  let before = "";
  for (const [token] of text.matchAll(tokens)) {
    if (token === "{") open.push(new Set());
    else if (token === "[") open.push(null);
    else if (token === "}" || token === "]") open.pop();
    else if (token.startsWith('"') && (before === "{" || before === ",")) {
      const keys = open.at(-1);
      const key: unknown = keys == null ? null : JSON.parse(token);
      if (keys != null && typeof key === "string") {
        if (keys.has(key)) return key;
        keys.add(key);
      }
    }
    before = token;
  }
  return null;
}
