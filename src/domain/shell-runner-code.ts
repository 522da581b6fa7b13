/**
 * Which words of a build tool, a test runner or a package manager bring code: options not known to be harmless, what
 * stands where a subcommand that runs programs does, and files of options. [SH-55] [SH-60] [SH-61]
 */
import { optionTable } from "./shell-option-table.ts";
import { type Harmless, readOptions } from "./shell-options.ts";
import { withoutVersion, wordsIn } from "./shell-peeled.ts";
import { handedOn, runnerOptions } from "./shell-runner-options.ts";

/** Each runs the program that its words name somewhere: no wildcard stands for any of them. */
const launchers = wordsIn(`
  parallel watch script flock su runuser setpriv gosu su-exec pkexec unshare nsenter systemd-run start-stop-daemon
  run-parts at batch crontab screen tmux dtach xvfb-run dbus-run-session xterm entr inotifywait hyperfine perf gdb
  lldb valgrind rr bpftrace prlimit torsocks proxychains firejail bwrap eatmydata ssh mosh rsh docker docker-compose
  podman nerdctl kubectl nodemon concurrently act dotenv direnv wsl cmd cmd.exe choom ssh-agent
`);
/** Each runs the package that its first operand names. */
const packageRunners = wordsIn("npx pnpx bunx uvx pipx corepack");

/** npm takes any abbreviation that tells a subcommand: those known to run only what package.json names. */
const npmKnown = new Set(
  wordsIn(`
    test t tst run start stop restart install i in add ci clean-install ls list la ll outdated audit why explain view
    info show v prune dedupe ddp ping root prefix bin pack uninstall remove rm un update up upgrade rebuild version
  `),
);
const scriptsBeside =
  /^(?:exec|x|dlx|explore|config|c|set|pkg|eval|run-script|node|create|init|link|plugin|workspaces?)$/;
/**
 * Of the others, the subcommands that are known: any further word may be a program, which is run for want of a script
 * of that name.
 */
const known: Readonly<Record<string, readonly string[]>> = {
  yarn: wordsIn("run test install add remove up upgrade why list info audit outdated dedupe version"),
  pnpm: wordsIn("run test t install i add remove rm un up update list ls why audit outdated dedupe prune rebuild rb"),
  bun: wordsIn("run test install i add remove rm update outdated audit why"),
  deno: wordsIn("test fmt lint check bench"),
  go: wordsIn("build test vet fmt list mod version doc"),
  cargo: wordsIn("build b check c test t bench clippy fmt doc d tree metadata clean update fetch"),
  biome: wordsIn("check lint format ci"),
};
/** Names of scripts that are no program anywhere. */
const scripts = /^(?:build|test|lint|format|types|typecheck|type-check|dev|start)$|^[\w-]+:[\w:.-]+$/;
const builds = "(?:\\./)?(?:build|_build|out|cmake-build-[\\w-]+)/?";
/** Words that run a command, or set what is run, where a subcommand stands. */
const running: Readonly<Record<string, RegExp>> = {
  cmake: new RegExp(`^(?!(?:\\./?|${builds})$)`),
  ...{ yarn: scriptsBeside, pnpm: scriptsBeside, lerna: /^(?:exec|init|create)$/, nx: /^(?:exec|generate|g)$/ },
  bun: /^(?:exec|x|create|c|init|link|repl|pm)$|[./]/,
  deno: /^(?:eval|repl|x|install|task|compile|jupyter)$|:/,
  ...{ pip: /^config$/, uv: /^(?:run|tool|x|pip|python)$/, poetry: /^(?:run|config|shell|self|init)$/ },
  ...{ pipenv: /^(?:run|shell)$/, pdm: /^(?:run|config|plugin|self|use|init)$/, conda: /^(?:run|config|init|env)$/ },
  ...{
    tox: /^(?:exec|e|devenv)$/,
    bundle: /^(?:exec|ex?|config|console|open|plugin)$/,
    bundler: /^(?:exec|e|config)$/,
  },
  ...{ gem: /^(?:exec|open|sources?)$/, composer: /^(?:exec|config|run-script|run|global|create-project|init)$/ },
  mix: /^(?:cmd|run|eval|do|escript\.|archive\.|local\.|profile\.)/,
  ...{ cabal: /exec$|repl$/, stack: /^(?:exec|eval|ghci|runghc|runhaskell|repl|script|config)$/ },
  ...{
    sbt: /^!|eval|^set\b|console|alias|[;{]/,
    lein: /^(?:do|run|update-in|exec|eval|repl|trampoline|with-profiles?)$/,
  },
  ...{ gh: /^(?:alias|extensions?|ext|config|codespace|api|auth)$/, go: /^(?:env|tool)$/, mvn: /^exec:|^[^:]+:[^:]+:/ },
};
/** Of these every word is looked at: what stands before a subcommand may be a value or another subcommand. */
const everywhere = wordsIn("sbt mix lein mvn deno cmake");
/** `NAME=value` sets what they run. */
const setters = wordsIn("make gmake just task rake scons ant sbt go npm yarn pnpm bun");
/** Where `@word` is a package's scope, and no file of options. */
const scoped = wordsIn("npm npx yarn pnpm pnpx bun bunx corepack lerna turbo nx uvx pipx deno docker podman prisma");
/** What they install by a path or an address is no published package. */
const installers = wordsIn("npm yarn pnpm bun pip uv poetry pdm pipenv gem conda");
const installing = /^(?:i|in|install|add|ci|clean-install|up|update|upgrade|rebuild|dlx)$/;
const unpublished = /^[.~]|:|\/|\.(?:tgz|gz|whl|zip|gem|tar)$/;
/** Options that are harmless with some words only. */
const pairs: Readonly<Record<string, RegExp>> = {
  tsc: /^(?:(?:-p|--project) (?:\.\/?|(?:\.\/)?tsconfig(?:\.[\w-]+)?\.json)|(?:-b|--build) (?:\.\/?)?)$/,
  vitest: /^--reporter (?:default|verbose|dot|json|junit|tap|tap-flat|basic)$/,
  cmake: new RegExp(`^(?:(?:--build|-B) ${builds}|-S \\./?)$`),
};

/** Options not known to be harmless, each with the word after it; the package that is run, and the words of it. */
export function codeWords(name: string, rest: readonly string[]): readonly string[] {
  if (launchers.includes(name)) return rest;
  const first = packageRunners.includes(name) ? rest.findIndex((word) => !word.startsWith("-")) : -1;
  const values = new Set(packageRunners.includes(name) ? rest.slice(0, first < 0 ? undefined : first + 1) : []);
  const inner = first < 0 ? name : programOf(rest[first] ?? "");
  const words = rest.slice(first + 1);
  const end = words.indexOf("--");
  const own = end < 0 ? words : words.slice(0, end);
  const script = scriptAt(inner, own);
  const read = readOptions(harmlessOf(inner), own);
  const pair = Object.hasOwn(pairs, inner) ? pairs[inner] : undefined;
  const odd = read.odd.filter((at) => pair?.test(`${own[at] ?? ""} ${own[at + 1] ?? ""}`) !== true);
  for (const at of odd) {
    const word = own[at] ?? "";
    values.add(word);
    const next = own[at + 1];
    if (!word.includes("=") && next !== undefined) values.add(next);
  }
  const behind = end < 0 ? [] : words.slice(end + 1);
  const passed = [...(script < 0 ? [] : own.slice(script + 1)), ...behind];
  for (const at of readOptions(inner === "make" ? {} : handedOn, passed).odd) values.add(passed[at] ?? "");
  // Many of them take no value that looks like an option: it is one.
  for (const { at, in: index, value } of read.values) if (index !== at && /^-[^\d]/.test(value)) values.add(value);
  const taken = new Set(read.values.flatMap((one) => (one.in === one.at ? [] : [one.in])));
  const before = own.filter((word, at) => !word.startsWith("-") && !taken.has(at));
  // Where no command or script stands before `--`, what follows is one.
  const unsaid = before.length === 0 || (before.length === 1 && before[0] === "run");
  const operands = unsaid ? [...before, ...behind] : before;
  const known = odd.length === 0 && !everywhere.includes(inner);
  for (const word of subcommands(inner, known ? operands.slice(0, 1) : operands)) values.add(word);
  // Behind an option that is not known any word may be the script, and a program for want of one.
  const named = operands[0] === "run" ? operands.slice(1, odd.length === 0 ? 2 : undefined) : [];
  if (withScripts.test(inner)) for (const word of named) if (!scripts.test(word)) values.add(word);
  for (const word of words) {
    if (word.startsWith("@") && !scoped.includes(inner)) values.add(word);
    if (setters.includes(inner) && /^[^-].*=/s.test(word)) values.add(word);
    if (inner === "cargo" && word.startsWith("+")) values.add(word);
  }
  if (installers.includes(inner) && operands.some((word) => installing.test(word)))
    for (const word of [...operands, ...behind])
      if (unpublished.test(word.replace(/^@[\w.-]+\//, ""))) values.add(word);
  // Its second word is a program in its own language, which runs commands and writes files.
  if (sqlite.test(inner)) for (const word of operands.slice(1)) values.add(word);
  return [...values];
}
function subcommands(name: string, words: readonly string[]): readonly string[] {
  if (name === "npm") return words.filter((word, at) => (at === 0 ? !npmKnown.has(word) : scriptsBeside.test(word)));
  const first = Object.hasOwn(known, name) ? known[name] : undefined;
  if (first !== undefined && words[0] !== undefined && !first.includes(words[0]) && !isScript(name, words[0]))
    return words.slice(0, 1).concat(words.slice(1).filter((word) => running[name]?.test(word) === true));
  const pattern = Object.hasOwn(running, name) ? running[name] : undefined;
  return pattern === undefined ? [] : words.filter((word) => pattern.test(word));
}
const withScripts = /^(?:yarn|pnpm|bun)$/;
/** Where the script stands whose program gets whatever follows, options too; below 0 where there is none. */
function scriptAt(name: string, own: readonly string[]): number {
  if (!withScripts.test(name)) return -1;
  const at = own.findIndex((word) => !word.startsWith("-"));
  if (own[at] !== "run") return own[at] === "test" || isScript(name, own[at] ?? "") ? at : -1;
  return own.findIndex((word, index) => index > at && !word.startsWith("-"));
}
/** Whether the runner has a command of that name. */
export function knowsCommand(name: string, word: string): boolean {
  return name === "npm" ? npmKnown.has(word) : Object.hasOwn(known, name) && known[name]?.includes(word) === true;
}
function isScript(name: string, word: string): boolean {
  return /^(?:yarn|pnpm)$/.test(name) && scripts.test(word);
}
function harmlessOf(name: string): Harmless {
  for (const one of [name, withoutVersion(name)])
    for (const table of [runnerOptions, optionTable]) {
      const found = Object.hasOwn(table, one) ? table[one] : undefined;
      if (found !== undefined) return found;
    }
  return {};
}
/** `vitest@3`, `@scope/tool`: the name without its version. */
export function programOf(word: string): string {
  return word.replace(/(?!^)@.*$/, "");
}

const sqlite = /^sqlite3?$/;
const always = wordsIn("ed ex");
const queried = wordsIn("sqlite sqlite3 psql mysql mongo mongosh redis-cli");
/** Whether it runs what its input holds: an editor of lines, or a shell of a database that no word gives a text. */
export function readsInput(name: string, rest: readonly string[]): boolean {
  if (always.includes(name)) return true;
  if (!queried.includes(name)) return false;
  return sqlite.test(name)
    ? codeWords(name, rest).length === 0
    : !rest.some((word) => /^-[a-zA-Z]*[cfe]|^--[cfe]/.test(word));
}
