/** The forms of git for which a wildcard speaks: those that read, `add`, `commit` with its message, and `rm` of files. [GR-78] */
import { goesUp } from "./grant-paths.ts";
import { gitWords } from "./shell-git.ts";
import { gitOptions } from "./shell-git-options.ts";
import { type Harmless, type OptionValue, readOptions } from "./shell-options.ts";
import { wordsIn } from "./shell-peeled.ts";

const reading = new Set(
  wordsIn(`
    annotate blame cat-file check-ignore check-ref-format cherry count-objects describe diff diff-files diff-index
    diff-tree grep log ls-files ls-tree merge-base name-rev range-diff rev-list rev-parse shortlog show show-branch
    show-ref status version whatchanged
  `),
);
/** They only list by these, whatever words follow. */
const listing = /^--(?:list|contains|no-contains|merged|no-merged|points-at)(?:=|$)/;
const listed =
  /^(?:-[arv]+|--(?:all|remotes|verbose|show-current|ignore-case|no-color|no-column)|--(?:format|sort|color|column|abbrev)=.*)$/;
const message = /^(?:-m|--message|-F|--file)$/;
/** Not `--amend`: it takes the place of what was committed. */
const committing: Harmless = {
  short: "aqvsnm:F@",
  long: `message= file=@ all quiet verbose signoff no-signoff allow-empty no-verify author= date= dry-run short porcelain
    cleanup= no-gpg-sign trailer= status no-status`,
};
/** Placeholders that only print: `%G` runs a program that checks a signature. */
const printed =
  /^(?:t?format:)?(?:[^%]|%(?:[HhTtPpsfbBdDneSNm%]|[ac][nNeElLdDrtisIh]|g[dDsnNeE]|[<>]{1,2}\|?\(\d+(?:,\w+)?\)|C(?:red|green|blue|reset|\((?:auto,?|bold |dim )?\w*\))|x[\da-f]{2}))*$/;
const prettyNames = /^(?:oneline|short|medium|full|fuller|reference|email|raw)$/;
/** What references are sorted by: what stands in them, never whether a signature holds. */
const sorted =
  /^-?(?:(?:v|version):)?(?:refname|objectname|objecttype|subject|(?:author|committer|tagger|creator)(?:name|email|date)?)$/;

/** The command, where nothing before it moves git, sets what it runs or says which files its words name. */
function commandOf(rest: readonly string[]): { readonly command: string; readonly words: readonly string[] } {
  const at = rest.findIndex((word) => !word.startsWith("-"));
  if (at < 0 || rest.slice(0, at).some((word) => word !== "--no-pager")) return { command: "", words: [] };
  return { command: rest[at] ?? "", words: rest.slice(at + 1) };
}
export function gitOnlyReads(rest: readonly string[]): boolean {
  const { command, words } = commandOf(rest);
  if (command === "") return rest.length === 1 && rest[0] === "--version";
  if (/^(?:branch|tag)$/.test(command))
    return (
      words.every((word) => !word.startsWith("-") || listing.test(word) || listed.test(word)) &&
      (words.every((word) => word.startsWith("-")) || words.some((word) => listing.test(word)))
    );
  return reading.has(command) || (command === "stash" && words.join(" ") === "list");
}
export function isCoreGit(rest: readonly string[]): boolean {
  const { opaque, moves } = gitWords(rest);
  if (opaque !== undefined || moves === true) return false;
  const { command, words } = commandOf(rest);
  const { odd, values } = readOptions(Object.hasOwn(gitOptions, command) ? (gitOptions[command] ?? {}) : {}, words);
  // What looks like an option where a value stands may be one to another version.
  if (odd.length > 0 || values.some((one) => one.in !== one.at && one.value.startsWith("-"))) return false;
  if (!values.every((value) => onlyPrints(command, value))) return false;
  if (command === "commit")
    return values.some(({ option }) => message.test(option)) && readOptions(committing, words).odd.length === 0;
  // What lies in a folder its name does not say.
  if (command === "rm") return !words.some((word) => /^-(?!-)\w*r|^--r/.test(word));
  return gitOnlyReads(rest) || command === "add";
}
/**
 * Whether what a wildcard names to `add`, `commit` and `rm` is where its words say; and what is removed looks like a file,
 * because of a submodule git removes the whole folder. [GR-99]
 */
export function stagesNamed(rest: readonly string[], isWild: (at: number) => boolean): boolean {
  const { command, words } = commandOf(rest);
  if (!/^(?:add|commit|rm)$/.test(command)) return true;
  const before = rest.length - words.length;
  const { text } = readOptions(gitOptions[command] ?? {}, words);
  return words.every((word, at) => {
    if (!isWild(at + before) || text.has(at) || word === "--") return true;
    return !goesUp(word) && (command !== "rm" || /\w\.\w+$/.test(word));
  });
}
function onlyPrints(command: string, { option, value }: OptionValue): boolean {
  if (option === "--sort") return sorted.test(value);
  if (!/^--(?:format|pretty|group)$/.test(option)) return true;
  if (/^(?:branch|tag)$/.test(command)) return false;
  if (/^ls-(?:files|tree)$/.test(command)) return true;
  return option === "--group"
    ? /^(?:author|committer)$/.test(value)
    : prettyNames.test(value) || (value.includes("%") && printed.test(value));
}
