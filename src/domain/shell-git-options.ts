/** The harmless options of git's commands. Of a command that does not stand here every option is odd. [SH-43] [SH-54] */
import type { Harmless } from "./shell-options.ts";

const diffLong = `patch no-patch raw patch-with-raw patch-with-stat indent-heuristic minimal patience histogram
  diff-algorithm= stat?= numstat shortstat dirstat?= summary name-only name-status submodule?= color?= no-color
  color-words?= word-diff?= word-diff-regex= no-renames find-renames?= find-copies?= find-copies-harder check full-index
  binary abbrev?= diff-filter= pickaxe-all pickaxe-regex relative?= no-relative text ignore-space-at-eol
  ignore-space-change ignore-all-space ignore-blank-lines ignore-matching-lines= inter-hunk-context= function-context
  exit-code quiet no-ext-diff no-textconv ignore-submodules?= src-prefix= dst-prefix= no-prefix unified?= cached staged
  merge-base no-index color-moved?= no-color-moved color-moved-ws= cc ws-error-highlight= compact-summary
  irreversible-delete`;
const diff: Harmless = { short: "puszabwRWctU?M?C?B?X?l:S:G:#DI:", long: diffLong };
const log: Harmless = {
  short: "puszabwRWctmiEFPgqU?M?C?B?X?l:S:G:I:n:L:#D",
  long: `${diffLong} oneline pretty?= format= graph decorate?= no-decorate decorate-refs= decorate-refs-exclude= all
    branches?= tags?= remotes?= glob= exclude= max-count= skip= since= after= until= before= author= committer= grep=
    all-match invert-grep regexp-ignore-case basic-regexp extended-regexp fixed-strings perl-regexp merges no-merges
    first-parent reverse follow date= date-order topo-order author-date-order walk-reflogs source full-history
    simplify-merges simplify-by-decoration left-right left-only right-only cherry-pick cherry-mark cherry boundary
    abbrev-commit no-abbrev-commit no-abbrev children parents notes?= no-notes ancestry-path use-mailmap no-mailmap
    mailmap stdin count relative-date encoding= root no-walk?= do-walk min-parents= max-parents= no-min-parents
    no-max-parents no-show-signature no-expand-tabs diff-merges= objects not timestamp`,
};
const fetchLong = `all prune prune-tags tags no-tags depth= deepen= quiet verbose dry-run progress no-progress
  shallow-since= unshallow jobs= no-recurse-submodules atomic`;
const branchLong = `list contains?= no-contains?= merged?= no-merged?= sort= points-at= format= color?= no-color column?=
  no-column ignore-case create-reflog`;

export const gitOptions: Readonly<Record<string, Harmless>> = {
  ...{ log, show: log, diff, shortlog: { short: "nsecw?", long: `${log.long} numbered summary email group=` } },
  ...{ whatchanged: log, "rev-list": log, "range-diff": log, "diff-tree": { ...log, short: `${log.short}rv` } },
  ...{ "diff-index": diff, "diff-files": diff, reflog: reflog() },
  status: {
    short: "sbvu?z",
    long: `short branch porcelain?= long verbose untracked-files?= ignored?= show-stash ahead-behind no-ahead-behind
      renames no-renames find-renames?= column?= no-column ignore-submodules?=`,
  },
  add: {
    short: "AunvfN",
    long: "all no-all update verbose dry-run force intent-to-add ignore-errors ignore-missing ignore-removal chmod=",
  },
  commit: {
    short: "aqvsnoizm:F@C:u?",
    long: `message= file=@ all amend no-edit quiet verbose signoff no-signoff allow-empty allow-empty-message no-verify
      author= date= reset-author dry-run short porcelain branch only include cleanup= untracked-files?= no-gpg-sign
      fixup= squash= reuse-message= no-post-rewrite trailer= status no-status`,
  },
  grep: {
    short: "acilLnvwhHoqEFGPIWpzre:f@A:B:C:m:#",
    long: `cached untracked no-index ignore-case word-regexp invert-match line-number column count files-with-matches
      name-only files-without-match only-matching extended-regexp basic-regexp fixed-strings perl-regexp and or not
      all-match quiet color?= no-color break heading show-function function-context context= after-context=
      before-context= max-depth= threads= null full-name exclude-standard no-exclude-standard max-count= text recursive
      no-recursive no-textconv`,
  },
  blame: {
    short: "L:ltsfnpewcbM?C?S@",
    long: `porcelain line-porcelain root show-stats show-number show-name show-email date= abbrev?= since= reverse
      first-parent incremental color-lines color-by-age ignore-rev= ignore-revs-file=@`,
  },
  "ls-files": {
    short: "cdmosiuktvfzx:X@",
    long: `cached deleted modified others ignored stage unmerged killed exclude= exclude-standard error-unmatch
      full-name directory no-empty-directory abbrev?= eol deduplicate with-tree= recurse-submodules exclude-from=@
      exclude-per-directory= format=`,
  },
  "ls-tree": { short: "rtdlz", long: "long name-only name-status object-only full-name full-tree abbrev?= format=" },
  "ls-remote": { short: "htq", long: "heads branches tags refs quiet symref exit-code sort=" },
  "cat-file": { short: "tpse", long: "batch?= batch-check?= batch-all-objects buffer" },
  "rev-parse": {
    short: "q",
    long: `abbrev-ref?= short?= show-toplevel verify quiet git-dir is-inside-work-tree is-inside-git-dir
      symbolic-full-name symbolic all branches?= tags?= absolute-git-dir show-cdup show-prefix is-bare-repository
      git-common-dir is-shallow-repository`,
  },
  describe: {
    long: `tags all always long dirty?= broken?= abbrev?= candidates= exact-match first-parent match= exclude= contains`,
  },
  "for-each-ref": { long: `${branchLong} count= exclude=` },
  "show-ref": { short: "dqs", long: "head heads branches tags dereference verify quiet abbrev?= hash?=" },
  "show-branch": { short: "ar", long: "all remotes current topo-order list independent merge-base color?= no-color" },
  "name-rev": { long: "tags refs= all name-only no-undefined always" },
  "merge-base": { short: "a", long: "all octopus independent is-ancestor fork-point" },
  "check-ignore": { short: "qvnz", long: "quiet verbose stdin non-matching no-index" },
  "count-objects": { short: "vH", long: "verbose human-readable" },
  "hash-object": { short: "t:w", long: "stdin path= no-filters" },
  annotate: { short: "L:ltsfnpewcb" },
  cherry: { short: "v", long: "abbrev?=" },
  fsck: { long: "full strict no-dangling unreachable no-progress connectivity-only root tags" },
  gc: { short: "q", long: "auto quiet prune?= no-prune keep-largest-pack" },
  branch: {
    short: "avrqldmcitu:",
    long: `${branchLong} all remotes verbose delete show-current track?= no-track set-upstream-to= unset-upstream quiet
      move copy abbrev?= no-abbrev`,
  },
  tag: { short: "aldin?m:F@", long: `${branchLong} annotate message= file=@ delete no-sign cleanup= trailer=` },
  stash: {
    short: "uakqSpm:",
    long: `include-untracked all keep-index no-keep-index quiet message= staged index stat patch only-untracked
      oneline format= date= name-only name-status`,
  },
  checkout: { short: "qb:l", long: "quiet track?= no-track progress no-progress guess no-guess" },
  switch: { short: "qc:", long: "quiet create= track?= no-track progress no-progress guess no-guess" },
  restore: { short: "SWq", long: "staged worktree quiet progress no-progress ignore-unmerged" },
  reset: { short: "qN", long: "quiet soft mixed no-refresh refresh intent-to-add" },
  rm: { short: "rfnq", long: "cached dry-run quiet ignore-unmatch force" },
  mv: { short: "fknv", long: "force dry-run verbose" },
  clean: { short: "fdxXnqe:", long: "force dry-run quiet exclude=" },
  init: { short: "qb:", long: "quiet bare initial-branch= object-format=" },
  archive: { short: "vlo@#", long: "format= prefix= list verbose output=@" },
  bundle: { short: "q", long: "all quiet branches?= tags?= progress version=" },
  "format-patch": {
    short: `${diff.short}o@nNksv:`,
    long: `${diffLong} output-directory=@ stdout numbered no-numbered start-number= signoff cover-letter thread?=
      subject-prefix= base= zero-commit rfc`,
  },
  notes: { short: "m:F@fq", long: "message= file=@ ref= force ignore-missing" },
  "commit-tree": { short: "p:m:F@" },
  "symbolic-ref": { short: "qm:", long: "quiet short" },
  worktree: { short: "vz", long: "verbose porcelain expire=" },
  merge: {
    short: "m:qvn",
    long: `ff no-ff ff-only squash no-squash commit no-commit no-edit message= abort continue quit quiet verbose stat
      no-stat log?= no-log autostash no-autostash allow-unrelated-histories signoff no-verify progress no-progress`,
  },
  "cherry-pick": {
    short: "xnsm:",
    long: "no-commit abort continue skip quit mainline= allow-empty ff signoff no-edit keep-redundant-commits",
  },
  revert: { short: "nsm:", long: "no-commit abort continue skip quit mainline= no-edit signoff" },
  fetch: { short: "apqvntj:46", long: fetchLong },
  pull: {
    short: "apqvntj:46r?",
    long: `${fetchLong} rebase?= no-rebase ff no-ff ff-only no-edit autostash no-autostash commit no-commit squash stat
      no-stat`,
  },
  push: {
    short: "uqvnd46",
    long: `set-upstream quiet verbose dry-run tags follow-tags delete atomic no-verify porcelain progress
      force-with-lease?=`,
  },
  clone: {
    short: "qvnb:o:",
    long: `depth= branch= single-branch no-single-branch no-checkout bare quiet verbose no-tags progress shallow-since=
      filter= sparse origin=`,
  },
  remote: { short: "v", long: "verbose" },
  rebase: {
    short: "qv",
    long: `continue abort skip quit onto= autostash no-autostash quiet verbose keep-base no-ff update-refs
      rebase-merges?= stat no-stat`,
  },
  apply: {
    short: "p:vR3C:",
    long: "check stat numstat summary index cached reverse verbose whitespace= 3way recount exclude= include= apply",
  },
  am: { short: "3qks", long: "continue abort skip quit 3way signoff quiet" },
};

function reflog(): Harmless {
  return {
    short: log.short ?? "",
    long: `${log.long} expire= expire-unreachable= updateref rewrite stale-fix dry-run`,
  };
}
