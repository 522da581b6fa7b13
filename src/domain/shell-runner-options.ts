/**
 * The harmless options of build tools, test runners and compilers: none of them chooses what code is run. Of a runner
 * that does not stand here every option is odd, and so is every option handed on to a program nobody sees. [SH-55]
 */
import type { Harmless } from "./shell-options.ts";

const npm: Harmless = {
  short: "shqyDEP",
  long: `silent quiet loglevel= if-present no-audit no-fund no-progress ignore-scripts offline prefer-offline
    prefer-dedupe dry-run json yes no omit= include= production frozen-lockfile immutable no-save save-dev save-exact
    no-color color version help`,
};
const make: Harmless = {
  short: "knqstBrRSwdpij?l?o:W:",
  long: `keep-going just-print dry-run recon question silent quiet touch always-make no-builtin-rules
    no-builtin-variables no-keep-going stop print-directory no-print-directory debug?= print-data-base ignore-errors
    jobs?= load-average?= old-file= what-if= warn-undefined-variables trace output-sync?= version help`,
};
/** Warnings, levels and folders of headers; not plug-ins, other programs or files of options. */
const gcc: Harmless = {
  short: "o@",
  like: /^-(?:[cSEPvw]|g[\w-]*|O\w*|W(?![apl],|rapper)[\w=+-]*|std=[\w+:]+|pedantic(?:-errors)?|f(?!plugin)[\w-]+(?:=[\w-]+)?|[IDULl].+|m(?!llvm)[\w-]+(?:=[\w.+-]+)?|pthread|pipe|shared|static|MM?D?|ansi)$/,
};
const pip: Harmless = {
  short: "qvU",
  long: "quiet verbose upgrade no-cache-dir disable-pip-version-check no-input no-color require-hashes no-deps",
};
const gradle: Harmless = {
  short: "qidswSa",
  long: `quiet info debug warn stacktrace full-stacktrace scan no-daemon daemon offline continue parallel no-parallel
    build-cache no-build-cache rerun-tasks dry-run tests= console= no-scan`,
};
const tests = "ci coverage no-coverage silent verbose runInBand bail";

export const runnerOptions: Readonly<Record<string, Harmless>> = {
  ...{ npm, yarn: npm, pnpm: npm, bun: npm, make, gmake: make, pip },
  ...{ gcc, "g++": gcc, cc: gcc, "c++": gcc, clang: gcc, "clang++": gcc },
  go: {
    ...{ single: true },
    long: `v run= count= short race cover bench= benchmem timeout= parallel= p= cpu= failfast json list= shuffle= skip=
      tags= trimpath x n a i o=@ w l s d u`,
  },
  cargo: {
    short: "qvp:j:F:r",
    long: `release all all-targets all-features workspace verbose quiet locked offline frozen package= lib bins bin=
      test= bench= example= examples benches tests doc no-run no-fail-fast jobs= features= no-default-features
      message-format= keep-going color= check edition=`,
  },
  pytest: {
    short: "qvxslk:m:n:r:",
    like: /^--cov(?:=[\w-]+(?:\/[\w-]+)*)?$/,
    long: `quiet verbose exitfirst maxfail= lf last-failed ff failed-first sw stepwise tb= no-header no-summary
      collect-only durations= color= capture= disable-warnings numprocesses= strict-markers`,
  },
  vitest: {
    short: "t:u",
    like: /^--(?:watch=false|no-watch|reporter=(?:default|verbose|dot|json|junit|tap|tap-flat|basic))$/,
    long: `run coverage silent passWithNoTests testNamePattern= bail?= changed?= shard= testTimeout= retry= update
      project=`,
  },
  jest: {
    short: "it:",
    like: /^--(?:watchAll|watch|cache)=false$/,
    long: `${tests} testNamePattern= passWithNoTests testPathPattern= testPathPatterns= testPathIgnorePatterns=
      maxWorkers= shard= forceExit detectOpenHandles onlyChanged noStackTrace`,
  },
  mocha: {
    short: "bg:t:s:",
    like: /^--reporter=(?:spec|dot|min|list|tap|json)$/,
    long: "bail exit grep= timeout= slow= recursive forbid-only forbid-pending parallel no-color color check-leaks",
  },
  eslint: {
    like: /^--format=(?:stylish|json|html|json-with-metadata)$/,
    long: "fix fix-dry-run quiet max-warnings= ext= cache color no-color no-error-on-unmatched-pattern",
  },
  prettier: {
    short: "wclu",
    long: `write check list-different ignore-unknown no-error-on-unmatched-pattern log-level= loglevel= single-quote
      print-width= tab-width= use-tabs no-semi trailing-comma= prose-wrap= end-of-line= no-color`,
  },
  biome: {
    long: `write fix unsafe no-errors-on-unmatched error-on-warnings colors= max-diagnostics= diagnostic-level=
      verbose staged changed`,
  },
  tsc: {
    short: "w",
    long: "noEmit pretty skipLibCheck strict listFiles showConfig noUnusedLocals noUnusedParameters watch",
  },
  cmake: { short: "j?", long: "parallel?= config= target= verbose clean-first" },
  mvn: {
    like: /^-(?:[qBoeXUNV]|am|amd|ntp|nsu|fae|ff|fn|DskipTests|Dmaven\.test\.skip=true)$/,
    short: "T:",
    long: "batch-mode quiet offline errors debug show-version no-transfer-progress threads= fail-at-end fail-fast",
  },
  gradle,
  gradlew: gradle,
  terraform: {
    ...{ single: true, like: /^-?-(?:input|lock|refresh|backend|upgrade)(?:=(?:true|false))?$/ },
    long: "check diff recursive json no-color compact-warnings detailed-exitcode write=",
  },
};
/** What the program behind `npm test --` and its like may be told. */
export const handedOn: Harmless = {
  like: /^--(?:(?:watch|watchAll)=false|reporter=(?:default|verbose|dot|json|spec|tap|list|min))$/,
  long: `${tests} run nocapture fix check quiet color no-color`,
};
