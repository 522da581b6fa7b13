/**
 * Which words a wildcard of a command grant may stand for: plain ones, which mean the same to every program and to every
 * shell that gets hold of them, and those that are only text to their program. [GR-77]
 */
import { programName } from "./shell-peeled.ts";
import { inShell } from "./shell-shells.ts";
import { textsOf } from "./shell-text-words.ts";

/** No blank, quote, `;`, `$`, backslash, glob or bracket; `~` and `:` in front have meanings of their own. */
const plain = /^[\w@%+=,./-][\w@%+=:,./-]*$/;
/** `HEAD~2`, `main^`, `@{1}`: revisions, where git only reads. */
const revision = /^(?:[\w@%+=,./^-]|@\{[\w-]+\})(?:[\w@%+=:,./~^-]|@\{[\w-]+\})*$/;
/** Of `make`: by its own rules a name with a folder or an ending is made from whatever file has that name. */
const target = /^(?:-[\w=.-]*|[\w+][\w+-]*)$/;
/** Signs of a language that the program's own words are. */
const signs: Readonly<Record<string, RegExp>> = {
  ...{ test: /^(?:[!()<>]|!=)$/, "[": /^(?:[!()<>\]]|!=)$/ },
  find: /^[!()]$/,
};

/** Whether each of those words is plain, or text to the program. `reads`: it is git, and only reads. `loose`: of a known shape. */
export function isPlainRun(
  run: readonly string[],
  wild: ReadonlySet<number>,
  reads: boolean,
  loose: ReadonlySet<number>,
): boolean {
  const name = programName(run[0] ?? "");
  const texts = textsOf(run);
  // What a shell runs is read word by word, and each program in it is granted by itself.
  const scripts = (inShell(name, run)?.scripts ?? []).map(({ text }) => text);
  const own = Object.hasOwn(signs, name) ? signs[name] : undefined;
  return [...wild].every((at) => {
    const word = run[at] ?? "";
    if ((at === 0 && word === ":") || loose.has(at)) return true;
    if (/^g?make$/.test(name) && at > 0) return target.test(word);
    if (plain.test(word) || (at > 0 && texts.has(at)) || own?.test(word) === true) return true;
    return scripts.includes(word) || (reads && name === "git" && revision.test(word));
  });
}
