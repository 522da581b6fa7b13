/**
 * The canonical JSON (RFC 8785) of plain values, fast: objects and arrays as a literal or JSON.parse makes them.
 * Of anything else it says nothing, and the library is asked; of what it says the library says the same. [ID-5]
 */

/** Deeper values, cycles among them, are the library's. */
const maxDepth = 32;
/** All but what stands in JSON as it is: a control, a quote, a backslash or any half of a surrogate pair. */
const special = /[^ !#-[\]-\ud7ff\ue000-\uffff]/;

/** Null for what it does not know. */
export function plainJson(value: unknown): string | null {
  return write(value, 0);
}

function write(value: unknown, depth: number): string | null {
  switch (typeof value) {
    case "string":
      return quote(value);
    case "number":
      return Number.isFinite(value) ? `${value}` : null;
    case "boolean":
      return value ? "true" : "false";
    case "object":
      if (value === null) return "null";
      if (depth === maxDepth || "toJSON" in value) return null;
      return Array.isArray(value) ? list(value, depth) : fields(value, depth);
    default:
      return null;
  }
}
function quote(text: string): string | null {
  if (!special.test(text)) return `"${text}"`;
  return text.isWellFormed() ? JSON.stringify(text) : null;
}
function list(values: readonly unknown[], depth: number): string | null {
  if (Object.getPrototypeOf(values) !== Array.prototype) return null;
  let text = "[";
  for (let at = 0; at < values.length; at++) {
    const item = write(values[at], depth + 1);
    if (item === null) return null;
    text += at === 0 ? item : `,${item}`;
  }
  return `${text}]`;
}
function fields(value: object, depth: number): string | null {
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return null;
  const order = orderOf(Object.keys(value));
  if (order === null) return null;
  let text = "{";
  for (const { key, quoted } of order) {
    const field = (value as Readonly<Record<string, unknown>>)[key]; // its own, for it is one of its keys
    if (field === undefined) continue;
    const written = write(field, depth + 1);
    if (written === null) return null;
    text += text.length === 1 ? quoted : `,${quoted}`;
    text += written;
  }
  return `${text}}`;
}

interface Key {
  readonly key: string;
  /** With its quotes and its colon. */
  readonly quoted: string;
}
interface Order {
  readonly keys: readonly string[];
  readonly sorted: readonly Key[];
}
/**
 * The orders found last, each in the place that its keys' number and names choose: messages and audit links come in a few
 * shapes, and sorting their keys costs more than writing them. An order is a function of the keys, so none is ever stale.
 */
const places = 256;
const known: (Order | undefined)[] = new Array(places).fill(undefined);
/** Longer objects are lists of their own kind, each with keys of its own. */
const maxKeys = 64;

function orderOf(keys: readonly string[]): readonly Key[] | null {
  if (keys.length > maxKeys) return sort(keys);
  const place = placeOf(keys);
  const found = known[place];
  if (found !== undefined && same(found.keys, keys)) return found.sorted;
  const sorted = sort(keys);
  if (sorted !== null) known[place] = { keys, sorted };
  return sorted;
}
function placeOf(keys: readonly string[]): number {
  const [first = "", second = ""] = keys;
  const last = keys.at(-1) ?? "";
  return (keys.length * 31 + first.length * 17 + second.length * 7 + last.length + last.charCodeAt(0)) % places || 0;
}
function same(these: readonly string[], those: readonly string[]): boolean {
  if (these.length !== those.length) return false;
  for (let at = 0; at < these.length; at++) if (these[at] !== those[at]) return false;
  return true;
}
/** Null when a key has no JSON form. By UTF-16 code units, as the RFC says. */
function sort(keys: readonly string[]): readonly Key[] | null {
  const sorted: Key[] = [];
  for (const key of keys.toSorted()) {
    const quoted = quote(key);
    if (quoted === null) return null;
    sorted.push({ key, quoted: `${quoted}:` });
  }
  return sorted;
}
