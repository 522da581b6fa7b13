/** `sed` and `awk`: programs in a word. The plain ones are known; any other may run programs or write files. [SH-43] */
import type { Peeled } from "./shell-peeled.ts";

/** In brackets a delimiter is a letter like any other: brackets that hold one, or anything odd, are not read. */
const bracket = String.raw`\[\^?[\w .,!"'<>()*+?=~&-]+\]`;
/** An address or two, then one command without a file or a program of its own. */
const address = String.raw`(?:\d+|\$|/(?:[^/\\\n[\]]|\\[^\n]|${bracket})*/I?)`;
const substitution = String.raw`s([/|#:@])(?:(?!\1)[^\\\n[\]]|\\[^\n]|${bracket})*\1(?:(?!\1)[^\\\n]|\\[^\n])*\1[gpiI\d]*`;
const plainSed = new RegExp(`^(?:${address}(?:,${address})?\\s*!?\\s*)?(?:[dpqDPhHgGxnN=]|${substitution})$`, "s");

/** Options that bring no script and name no file. `-i` takes the rest of its word for the name of a copy. */
const plainSedOption =
  /^(?:-[nErszu]+|-[nErszu]*i.*|--in-place(?:=.*)?|--quiet|--silent|--regexp-extended|--null-data|--separate|--posix|--sandbox)$/s;

/** Lines by number, or a substitution in which no letter has a meaning: for these alone a wildcard speaks. */
const coreScript =
  /^(?:(?:\d+|\$)(?:,(?:\d+|\$))?[pd](?:; ?(?:\d+|\$)(?:,(?:\d+|\$))?[pd]){0,20}|\/[\w -]+\/(?:,\/[\w -]+\/)?[pd]|s\/[\w .-]+\/[\w .-]*\/g?)$/;
const coreOption = /^(?:-[nErs]*i?[nErs]*|--quiet|--silent|--regexp-extended|--separate|--in-place)$/;
export function isCoreSed(rest: readonly string[]): boolean {
  const { scripts, at } = scriptsIn(rest);
  const options = rest.filter((word, index) => /^-./.test(word) && !at.has(index));
  // A letter behind `i` would be the ending of a copy.
  return (
    scripts.length > 0 &&
    scripts.every((script) => coreScript.test(script)) &&
    options.every((word) => coreOption.test(word) && !/i./.test(word.replace(/^--.*/, "")))
  );
}
/** The scripts that options bring, or else the first operand; and where the words of those options stand. */
function scriptsIn(rest: readonly string[]): { readonly scripts: readonly string[]; readonly at: ReadonlySet<number> } {
  const scripts: string[] = [];
  const at = new Set<number>();
  for (let index = 0; index < rest.length; index++) {
    const word = rest[index] ?? "";
    if (word !== "-e" && word !== "--expression") continue;
    at.add(index).add(index + 1);
    scripts.push(rest[++index] ?? "");
  }
  const first = rest.findIndex((word) => !word.startsWith("-"));
  if (scripts.length > 0 || first < 0) return { scripts, at };
  return { scripts: [rest[first] ?? ""], at: new Set([first]) };
}
/** Where the words stand that `sed` takes for scripts, and no path. */
export function sedTexts(rest: readonly string[]): ReadonlySet<number> {
  return scriptsIn(rest).at;
}

export function sedWords(rest: readonly string[]): Peeled {
  const scripts: string[] = [];
  let brought = false;
  const unknown: string[] = [];
  for (let at = 0; at < rest.length; at++) {
    const word = rest[at] ?? "";
    const given = /^(?:-[nErszu]*e|--expression=)(.*)$/s.exec(word)?.[1];
    if (given !== undefined) {
      brought = true;
      scripts.push(given === "" && !word.startsWith("--") ? (rest[++at] ?? "") : given);
    } else if (word === "--expression") {
      brought = true;
      scripts.push(rest[++at] ?? "");
    } else if (word.startsWith("-") && !plainSedOption.test(word)) unknown.push(word);
  }
  if (!brought) {
    const first = rest.find((word) => !word.startsWith("-"));
    if (first !== undefined) scripts.push(first);
  }
  const odd = scripts.filter(
    (script) => script !== "" && !script.split(";").every((part) => plainSed.test(part.trim())),
  );
  if (unknown.length > 0)
    return { opaque: `what "${(unknown[0] ?? "").slice(0, 40)}" brings is not known`, code: unknown };
  return odd.length === 0 ? {} : { opaque: "its script may run a program or write a file", code: odd };
}

export function awkWords(rest: readonly string[]): Peeled {
  const code: string[] = [];
  let at = 0;
  for (let word = rest[at]; word?.startsWith("-") === true && word !== "-"; word = rest[at]) {
    at++;
    if (word === "--") break;
    if (/^-[Fv]$/.test(word)) at++;
    else if (!/^-[Fv]./.test(word)) code.push(word);
  }
  const program = rest[at] ?? "";
  if (/[|>@]|system|getline|close|\\/.test(program)) code.push(program);
  return code.length === 0 ? {} : { opaque: "its program may run programs or write files", code };
}
