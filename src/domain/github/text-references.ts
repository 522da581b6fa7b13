/** Character references (`&#x200b;`, `&zwj;`) to characters that no screen shows: they are judged as what they stand for. [GHI-45] */
import { hidden } from "../visible.ts";

/** All of HTML's names for such a character. That of a soft hyphen counts without its semicolon too. */
const names: ReadonlyMap<string, string> = new Map([
  ...["ZeroWidthSpace", "NegativeVeryThinSpace", "NegativeThinSpace", "NegativeMediumSpace", "NegativeThickSpace"].map(
    (name) => [name, "\u200b"] as const,
  ),
  ["shy", "\u00ad"],
  ["zwnj", "\u200c"],
  ["zwj", "\u200d"],
  ["lrm", "\u200e"],
  ["rlm", "\u200f"],
  ["NoBreak", "\u2060"],
  ["ApplyFunction", "\u2061"],
  ["af", "\u2061"],
  ["InvisibleTimes", "\u2062"],
  ["it", "\u2062"],
  ["InvisibleComma", "\u2063"],
  ["ic", "\u2063"],
]);
const reference = /&(?:#[xX]0*([0-9a-fA-F]{1,6})(?![0-9a-fA-F]);?|#0*(\d{1,7})(?!\d);?|(shy);?|([A-Za-z]{2,30});)/y;
/** A screen has room for these. */
const space = /[\n\t\p{Zs}]/u;

/** The references to unseen characters that stand at `at` one behind the other; null when there are none. */
export function unseenReferences(text: string, at: number): { end: number; characters: string } | null {
  let [end, characters] = [at, ""];
  for (;;) {
    reference.lastIndex = end;
    const found = reference.exec(text);
    const character = found === null ? null : meant(found);
    if (character === null) break;
    characters += character;
    end = reference.lastIndex;
  }
  return end === at ? null : { end, characters };
}
function meant([, hex, decimal, shy, name]: RegExpExecArray): string | null {
  const named = shy ?? name;
  if (named !== undefined) return names.get(named) ?? null;
  const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
  if (code > 0x10ffff) return null;
  const character = String.fromCodePoint(code);
  return !space.test(character) && character.search(hidden) !== -1 ? character : null;
}
