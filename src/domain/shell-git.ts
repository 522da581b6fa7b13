/** `git`: which of its calls only do what their words say, and which run programs or change what git runs. [SH-43] */
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
/** Options before the command that change nothing of what runs. */
const plainGlobal =
  /^(?:--no-pager|-P|--no-replace-objects|--no-optional-locks|--no-lazy-fetch|--literal-pathspecs|--glob-pathspecs|--noglob-pathspecs|--icase-pathspecs|--version|--help)$/;
/** Options of a command, in any abbreviation, by which git runs another program or writes where it is told. */
const hazards =
  /^(?:--remote.*|--upl.*|--rec.*|--exec.*|--ext.*|--op.*|-O.*|--textc.*|--conf.*|-c.*|--templ.*|--sep.*|--git-dir.*|--work-tree.*|-x.*|--to-command.*|--too.*|--stra.*|-s|--show-sig.*|-S.*|--gpg.*|-u.*|--reso.*|--uplo.*|--edit.*|-e)$/;
/** `-c`, `-u`, `-x`, `-s`, `-S`, `-e`, `-O` mean nothing of that kind to these. */
const quiet: Readonly<Record<string, RegExp>> = {
  log: /^(?:-c|-s|-u|-S.*)$/,
  diff: /^(?:-c|-s|-u|-S.*)$/,
  show: /^(?:-c|-s|-u|-S.*)$/,
  status: /^(?:-s|-u.*|-sb)$/,
  add: /^(?:-u|-e|-x)$/,
  clean: /^(?:-x.*|-e.*)$/,
  commit: /^(?:-c.*|-s|-e|-u.*)$/,
  push: /^(?:-u)$/,
  stash: /^(?:-u|-S)$/,
  checkout: /^(?:-c)$/,
  switch: /^(?:-c.*)$/,
  branch: /^(?:-c|-u.*)$/,
  "cherry-pick": /^(?:-x|-s|-e)$/,
  revert: /^(?:-s|-e)$/,
  tag: /^(?:-s|-u.*)$/,
  restore: /^(?:-s.*|-S)$/,
  blame: /^(?:-c|-s|-e|-S.*)$/,
  "ls-files": /^(?:-c|-s|-u|-x.*)$/,
  grep: /^(?:-c|-e)$/,
  shortlog: /^(?:-c|-s|-e|-se|-sn.*)$/,
  merge: /^(?:-s|-e)$/,
};

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
  if (running.includes(command))
    return { opaque: `what "git ${command}" brings or takes out is not in its words`, code: [...code, command], moves };
  const harmless = Object.hasOwn(quiet, command) ? quiet[command] : undefined;
  const end = rest.indexOf("--", at);
  const options = rest.slice(at + 1, end < 0 ? undefined : end).filter((word) => word.startsWith("-"));
  code.push(...options.filter((word) => hazards.test(word) && harmless?.test(word) !== true));
  // `ext::program`: a transport is a program.
  code.push(...rest.slice(at).filter((word) => /^[\w+-]+::|=[\w+-]+::/.test(word)));
  const brought = bringingWords(command, rest.slice(at + 1));
  if (brought.length > 0)
    return { opaque: `what "git ${command}" writes is not in its words`, code: [...code, ...brought], moves };
  return code.length === 0 ? {} : { opaque: `"${(code[0] ?? "").slice(0, 40)}" sets what git runs`, code, moves };
}
