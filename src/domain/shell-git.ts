/** `git`: which of its calls only do what their words say, and which run programs or change what git runs. [SH-43] */
import { gitOptions } from "./shell-git-options.ts";
import { readOptions } from "./shell-options.ts";
import { type Peeled, wordsIn } from "./shell-peeled.ts";

/** Commands of git itself. Any other name is an alias or a program called `git-<name>`. */
const known = wordsIn(`
  add am annotate apply archive bisect blame branch bundle cat-file check-ignore check-ref-format checkout
  cherry cherry-pick clean clone commit commit-tree count-objects describe diff diff-files diff-index
  diff-tree fetch for-each-ref format-patch fsck gc grep hash-object init log ls-files ls-remote ls-tree merge
  merge-base mv name-rev notes prune pull push range-diff rebase reflog remote reset restore rev-list
  rev-parse revert rm shortlog show show-branch show-ref sparse-checkout stash status switch symbolic-ref tag
  update-index update-ref var version whatchanged worktree write-tree read-tree
`);
/** Commands that run what a patch, a hook of a new place, or another repository brings, or reach another one. */
const running = wordsIn(`
  am apply bisect clone pull push rebase read-tree update-index fetch ls-remote remote
`);
/** Options before the command that change neither what runs nor which files its words name. */
const plainGlobal =
  /^(?:--no-pager|-P|--no-replace-objects|--no-optional-locks|--no-lazy-fetch|--literal-pathspecs|--version|--help)$/;
/** Commands that change files or references as another commit has them: their words do not say which. */
const bringing = wordsIn("cherry-pick revert merge update-ref prune sparse-checkout");
const here = /^(?:HEAD|@)$/;

/**
 * The words by which a command writes what stands in a commit, a stash or under `.git`, and not only what it names;
 * none when it does not. From the index comes only what somebody wrote and added.
 */
function bringingWords(command: string, rest: readonly string[]): readonly string[] {
  if (bringing.includes(command)) return [command];
  const end = rest.indexOf("--");
  const before = end < 0 ? rest : rest.slice(0, end);
  const options = before.filter((word) => /^-./.test(word));
  const [first = "", ...further] = before.filter((word) => !/^-./.test(word));
  const by = (pattern: RegExp) => options.filter((word) => pattern.test(word));
  const when = (holds: boolean, words: readonly string[] = []) => (holds ? [command, ...words] : []);
  switch (command) {
    case "checkout":
    case "switch": {
      const odd = by(/^-(?!-)[a-zA-Z]*[BCdpm]|^--(?:fo|m|d|p|ov|no-ov|orph|ou|th)/);
      // A new branch where the files already are; with a second word it starts elsewhere.
      const creates = options.some((word) => word === (command === "checkout" ? "-b" : "-c") || word === "--create");
      const [other = ""] = command === "switch" && end >= 0 ? rest.slice(end + 1) : [];
      if (other !== "") return when(true, [...odd, other]);
      const elsewhere = creates ? further.length > 0 : first !== "" && (end < 0 || !here.test(first));
      return when(odd.length > 0 || elsewhere, odd);
    }
    case "reset": {
      const odd = by(/^--(?:h|me|k|r|pathspec)/);
      return when(odd.length > 0 || (first !== "" && !here.test(first)), odd);
    }
    case "restore": {
      const odd = by(/^--(?:so|pathspec|p|m|ou|th|ov|rec)|^-(?!-)[a-zA-Z]*[spm]/);
      return when(odd.length > 0, odd);
    }
    case "branch":
    case "tag": {
      const odd = by(command === "tag" ? /^-(?!-)[a-zA-Z]*f|^--fo/ : /^-(?!-)[a-zA-Z]*[fDMC]|^--fo/);
      return when(odd.length > 0, odd);
    }
    case "stash":
      return when(/^(?:pop|apply|branch|store)$/.test(first), [first]);
    case "symbolic-ref":
      return when(further.length > 0 || by(/^--?d/).length > 0);
    case "worktree":
      return when(first !== "list", first === "" ? [] : [first]);
    case "reflog":
      return when(/^(?:expire|delete)$/.test(first), [first]);
    case "bundle":
      return when(first === "unbundle", [first]);
    default:
      return [];
  }
}

export function gitWords(rest: readonly string[]): Peeled {
  let at = 0;
  const code: string[] = [];
  let moves = false;
  for (let word = rest[at]; word?.startsWith("-") === true; word = rest[at]) {
    at++;
    if (plainGlobal.test(word)) continue;
    code.push(word);
    if (word === "-C") moves = true;
    // `-c name=value`, `-C folder`, `--exec-path folder` and their like: the value is the next word.
    if (!word.includes("=") && !/^-(?:p|-paginate|-bare)$/.test(word)) {
      const value = rest[at++];
      if (value !== undefined) code.push(value);
    }
  }
  const command = rest[at];
  if (command === undefined) return code.length === 0 ? {} : { opaque: "it sets what git runs", code, moves };
  if (!known.includes(command))
    return { opaque: `"git ${command.slice(0, 40)}" may run any program`, code: [...code, command], moves };
  const harmless = Object.hasOwn(gitOptions, command) ? gitOptions[command] : undefined;
  const words = rest.slice(at + 1);
  const odd = readOptions(harmless ?? {}, words).odd.map((index) => words[index] ?? "");
  // `ext::program`: a transport is a program.
  odd.push(...rest.slice(at).filter((word) => /^[\w+-]+::|=[\w+-]+::/.test(word)));
  if (running.includes(command))
    return {
      opaque: `what "git ${command}" brings or takes out is not in its words`,
      code: [...code, command, ...odd],
      moves,
    };
  const brought = bringingWords(command, words);
  if (brought.length > 0)
    return {
      opaque: `what "git ${command}" writes is not in its words`,
      code: [...new Set([...code, ...brought, ...odd])],
      moves,
    };
  code.push(...odd);
  return code.length === 0 ? {} : { opaque: `"${(code[0] ?? "").slice(0, 40)}" may set what git runs`, code, moves };
}

/** Of those, the ones that change no file their words name: they read, or write references and what is staged. */
const keeping = wordsIn(`
  add annotate blame branch cat-file check-ignore check-ref-format cherry commit count-objects describe diff diff-files
  diff-index diff-tree fetch for-each-ref fsck gc grep log ls-files ls-remote ls-tree merge merge-base name-rev notes
  pull push range-diff rebase reflog remote reset rev-list rev-parse revert cherry-pick shortlog show show-branch
  show-ref stash status switch symbolic-ref tag var version whatchanged
`);
/** Whether all the words of the call name no file that it changes. */
export function gitKeepsFiles(rest: readonly string[]): boolean {
  const at = rest.findIndex((word) => !plainGlobal.test(word));
  const command = rest[at] ?? "";
  if (!keeping.includes(command)) return at < 0;
  const harmless = Object.hasOwn(gitOptions, command) ? gitOptions[command] : undefined;
  return readOptions(harmless ?? {}, rest.slice(at + 1)).odd.length === 0;
}
