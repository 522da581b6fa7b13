/** The forms of git for which a wildcard speaks: those that read, `add`, `commit` with its message, `mv` and `rm`. [GR-78] */
import { gitWords } from "./shell-git.ts";
import { gitOptions } from "./shell-git-options.ts";
import { readOptions } from "./shell-options.ts";
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

/** The command, where nothing before it moves git or sets what it runs. */
function commandOf(rest: readonly string[]): { readonly command: string; readonly words: readonly string[] } {
  const at = rest.findIndex((word) => !word.startsWith("-"));
  // `--help` shows a page with another program, whatever command follows.
  if (at < 0 || rest.slice(0, at).some((word) => /^--(?:help|version)$/.test(word))) return { command: "", words: [] };
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
  if (command === "commit") return values.some(({ option }) => message.test(option)) || words.includes("--no-edit");
  return gitOnlyReads(rest) || /^(?:add|mv|rm)$/.test(command);
}
