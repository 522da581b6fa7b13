/**
 * The harmless options of build tools, test runners and compilers: none of them chooses what code is run, takes the place
 * of the files that are named, or takes a word for its value that stands here as one of its own. Each program has a table
 * of its own. Of a runner that does not stand here every option is odd, and so is every option handed on to a program
 * nobody sees. [SH-55] [SH-72]
 */
import type { Harmless } from "./shell-options.ts";

/** None of npm's options that takes its value in the next word: what reads the words otherwise would run that value. */
const npm: Harmless = {
  ...{ alone: true, short: "shqyDEP" },
  like: /^--(?:loglevel=(?:silent|error|warn|notice|http|info|verbose)|(?:omit|include)=(?:dev|optional|peer|prod))$/,
  long: `silent quiet if-present no-audit no-fund no-progress ignore-scripts offline prefer-offline prefer-dedupe dry-run
    json yes no production no-save save-dev save-exact no-color color version help`,
};
const yarn: Harmless = {
  ...{ alone: true, short: "sDE" },
  long: "silent frozen-lockfile immutable offline ignore-scripts json no-progress dev exact version help",
};
const pnpm: Harmless = {
  ...{ alone: true, short: "sDEP" },
  long: `silent if-present frozen-lockfile offline prefer-offline ignore-scripts json save-dev save-exact save-prod
    version help`,
};
/** Not `-d`: beside what installs it takes the next word for its value. */
const bun: Harmless = {
  ...{ alone: true, short: "DE" },
  long: "silent if-present frozen-lockfile production ignore-scripts dev exact no-save dry-run version help",
};
/** Not `-t`, `-o` and `-W`: by them it makes files, or takes others for made. */
const make: Harmless = {
  ...{ alone: true, short: "knqsBrRSwdpij", like: /^-j\d{1,3}$/ },
  long: `keep-going just-print dry-run recon question silent quiet always-make no-builtin-rules no-builtin-variables
    no-keep-going stop print-directory no-print-directory debug print-data-base ignore-errors jobs?= load-average?=
    warn-undefined-variables trace output-sync?= version help`,
};
/** Warnings, levels and folders of headers; not plug-ins, other programs or files of options. */
const gcc: Harmless = {
  short: "o@",
  like: /^-(?:[cSEPvw]|g[\w-]*|O\w*|W(?![apl],|rapper)[\w=+-]*|std=[\w+:]+|pedantic(?:-errors)?|f(?!plugin)[\w-]+(?:=[\w-]+)?|[IDULl].+|m(?!llvm)[\w-]+(?:=[\w.+-]+)?|pthread|pipe|shared|static|MM?D?|ansi)$/,
};
const pip: Harmless = {
  ...{ alone: true, short: "qvU" },
  long: "quiet verbose upgrade no-cache-dir disable-pip-version-check no-input no-color require-hashes no-deps",
};
const gradle: Harmless = {
  ...{ alone: true, short: "qidswS", like: /^--console=(?:plain|auto|rich|verbose)$/ },
  long: `quiet info debug warn stacktrace full-stacktrace no-daemon daemon offline continue parallel no-parallel
    build-cache no-build-cache rerun-tasks dry-run tests= no-scan`,
};
const tests = "ci coverage no-coverage silent verbose runInBand bail";

export const runnerOptions: Readonly<Record<string, Harmless>> = {
  ...{ npm, yarn, pnpm, bun, make, gmake: make, pip },
  ...{ gcc, "g++": gcc, cc: gcc, "c++": gcc, clang: gcc, "clang++": gcc },
  deno: { ...{ alone: true, short: "q" }, long: "check quiet" },
  go: {
    ...{ single: true },
    long: `v run= count= short race cover bench= benchmem timeout= parallel= p= cpu= failfast json list= shuffle= skip=
      tags= trimpath x n a o=@ u`,
  },
  cargo: {
    ...{ alone: true, short: "qvp:j:F:r", like: /^-(?:vv|j\d{1,3})$/ },
    long: `release all all-targets all-features workspace verbose quiet locked offline frozen package= lib bins bin=
      test= bench= example= examples benches tests doc no-run no-fail-fast jobs= features= no-default-features
      message-format= keep-going color= check edition=`,
  },
  pytest: {
    ...{ alone: true, short: "qvxslk:m:n:r:" },
    like: /^(?:--cov(?:=\w[\w-]*(?:\/[\w-]+)*)?|-(?:vvv?|qq|xv|vx|xq|qx|sv|vs|xs|sx|xvs|xsv|vxs|vsx|svx|sxv|xvv|vvs|svv)|-r[a-zA-Z]{1,8}|-n(?:\d{1,3}|auto))$/,
    long: `quiet verbose exitfirst maxfail= lf last-failed ff failed-first sw stepwise tb= no-header no-summary
      collect-only durations= color= capture= disable-warnings numprocesses= strict-markers`,
  },
  vitest: {
    ...{ alone: true, short: "t:u" },
    like: /^--(?:watch=false|no-watch|reporter=(?:default|verbose|dot|json|junit|tap|tap-flat|basic)|(?:bail|testTimeout|retry)=\d+|shard=\d+\/\d+)$/,
    long: "run coverage silent passWithNoTests testNamePattern= update project=",
  },
  jest: {
    ...{ alone: true, short: "it:" },
    like: /^--(?:(?:watchAll|watch|cache)=false|maxWorkers=\d+%?|shard=\d+\/\d+)$/,
    long: `${tests} testNamePattern= passWithNoTests testPathPattern= testPathPatterns= testPathIgnorePatterns=
      forceExit detectOpenHandles onlyChanged noStackTrace`,
  },
  mocha: {
    ...{ alone: true, short: "bg:t:s:" },
    like: /^--reporter=(?:spec|dot|min|list|tap|json)$/,
    long: "bail exit grep= timeout= slow= recursive forbid-only forbid-pending parallel no-color color check-leaks",
  },
  eslint: {
    like: /^--format=(?:stylish|json|html|json-with-metadata)$/,
    long: "fix fix-dry-run quiet max-warnings= ext= cache color no-color no-error-on-unmatched-pattern",
  },
  prettier: {
    ...{ alone: true, short: "wclu" },
    long: `write check list-different ignore-unknown no-error-on-unmatched-pattern log-level= loglevel= single-quote
      print-width= tab-width= use-tabs no-semi trailing-comma= prose-wrap= end-of-line= no-color`,
  },
  // Not `--staged` and `--changed`: they take the place of the files that are named.
  biome: {
    long: `write fix unsafe no-errors-on-unmatched error-on-warnings colors= max-diagnostics= diagnostic-level=
      verbose`,
  },
  tsc: { long: "noEmit pretty skipLibCheck strict listFiles showConfig noUnusedLocals noUnusedParameters" },
  cmake: {
    ...{ alone: true, short: "j", like: /^-j\d{1,3}$/ },
    long: "parallel?= config= target= verbose clean-first",
  },
  mvn: {
    like: /^-(?:[qBoeXUNV]|am|amd|ntp|nsu|fae|ff|fn|T\d{1,3}C?|DskipTests|Dmaven\.test\.skip=true)$/,
    ...{ alone: true, short: "T:" },
    long: "batch-mode quiet offline errors debug show-version no-transfer-progress threads= fail-at-end fail-fast",
  },
  gradle,
  gradlew: gradle,
  terraform: {
    ...{ single: true, like: /^-?-(?:input|lock|refresh|backend|upgrade)(?:=(?:true|false))?$/ },
    long: "check diff recursive json no-color compact-warnings detailed-exitcode write=",
  },
};
/** What the program behind `cargo test --` may be told; a script of the project is told no option. */
export const handedOn: Harmless = { long: "nocapture" };
