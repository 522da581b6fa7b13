/** From words to a command, from its errors to an exit code and one clear message. [CLI-4] */
import { visible } from "../domain/visible.ts";
import * as approvals from "./approvals.ts";
import * as audit from "./audit.ts";
import { type Client, connect, Problem, Unreachable } from "./client.ts";
import {
  aboutIt,
  type Call,
  type Command,
  type ExitCode,
  exit,
  type ParsedCall,
  parseCall,
  type Terminal,
} from "./command.ts";
import * as github from "./github.ts";
import { setup } from "./github-setup.ts";
import * as hooks from "./hooks.ts";
import * as memory from "./memory.ts";
import * as policy from "./policy.ts";
import * as queues from "./queues.ts";
import * as standing from "./standing.ts";
import { findAdminTarget, findTarget, UsageError } from "./target.ts";
import * as tasks from "./tasks.ts";
import * as token from "./token.ts";
import * as webhooks from "./webhooks.ts";

const commands: Readonly<Record<string, Readonly<Record<string, Command>>>> = {
  task: { create: tasks.create, list: tasks.list, show: tasks.show, watch: tasks.watch, cancel: tasks.cancel },
  approvals: { list: approvals.list, show: approvals.show, approve: approvals.approve, deny: approvals.deny },
  policy: { show: policy.show, test: policy.test, set: policy.set, versions: policy.versions },
  standing: { list: standing.list, show: standing.show, create: standing.create, revoke: standing.revoke },
  memory: { search: memory.search, forget: memory.forget },
  webhooks: {
    list: webhooks.list,
    add: webhooks.add,
    show: webhooks.show,
    test: webhooks.test,
    rotate: webhooks.rotate,
    enable: webhooks.enable,
    disable: webhooks.disable,
    remove: webhooks.remove,
    deliveries: webhooks.deliveries,
    redeliver: webhooks.redeliver,
  },
  hooks: { list: hooks.list, add: hooks.add, rotate: hooks.rotate, remove: hooks.remove },
  github: {
    setup,
    status: github.status,
    installations: github.installations,
    assign: github.assign,
    repositories: github.repositories,
    triggers: github.triggers,
  },
  audit: { list: audit.list, export: audit.exportFile, verify: audit.verify },
  token: { verify: token.verify, show: token.show, keys: token.keys },
  queues: {
    list: queues.list,
    show: queues.show,
    "dead-letters": queues.deadLetters,
    requeue: queues.requeue,
    pause: queues.pause,
    resume: queues.resume,
    drain: queues.drain,
  },
};

const common = `Every command takes --json. It talks to the service \`npm start\` runs for this folder, or to COUNTERSIGN_URL
with COUNTERSIGN_TOKEN (what is the deployment's own asks with COUNTERSIGN_ADMIN_TOKEN). Exit codes: 0 done, 1 failed, 2 usage, 3 waiting for a person.`;
export const usage = `countersign: ask for work, and decide what may run

${linesFor(Object.values(commands))}

${common}`;

/** The commands of the group that is named, else of all. */
function helpOn(noun: string | undefined): string {
  const verbs = groupOf(noun);
  return verbs === null ? usage : `${linesFor([verbs])}\n\n${common}`;
}
function groupOf(noun = ""): Readonly<Record<string, Command>> | null {
  return Object.hasOwn(commands, noun) ? (commands[noun] ?? null) : null;
}
function linesFor(groups: readonly Readonly<Record<string, Command>>[]): string {
  return groups
    .flatMap((verbs) => Object.values(verbs))
    .map((command) => `  ${command.usage}${aboutIt(command).replace("\n", "\n      ")}`)
    .join("\n");
}

export async function run(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  terminal: Terminal,
): Promise<ExitCode> {
  const [noun, verb, ...rest] = jsonAfterVerb(argv);
  if (argv.length === 0 || argv.includes("--help") || argv.includes("-h")) {
    terminal.out(helpOn(noun));
    return argv.length === 0 ? exit.usage : exit.done;
  }
  const json = argv.includes("--json");
  try {
    const verbs = groupOf(noun);
    const command = verbs !== null && Object.hasOwn(verbs, verb ?? "") ? verbs[verb ?? ""] : undefined;
    if (command === undefined)
      throw new UsageError(
        `no such command: ${visible([noun, verb].filter((word) => word !== undefined).join(" "))}\n\n${helpOn(noun)}`,
      );
    return await command.run(lazily(parseCall(command, rest), env, terminal));
  } catch (error) {
    return explain(error, json, terminal);
  }
}

/** `--json` may stand before or between the words that name the command. */
function jsonAfterVerb(argv: readonly string[]): readonly string[] {
  const first = argv.findIndex((word) => word !== "--json");
  const words = first === -1 ? [] : argv.slice(first);
  const between = words[1] === "--json";
  const named = between ? words.filter((_, at) => at !== 1) : words;
  return first <= 0 && !between ? argv : [...named.slice(0, 2), "--json", ...named.slice(2)];
}

/** A command that asks no service needs none: the target is looked for when it is first asked. To spread this would ask. */
function lazily(call: ParsedCall, env: Readonly<Record<string, string | undefined>>, terminal: Terminal): Call {
  let made: Client | null = null;
  return {
    ...call,
    terminal,
    env,
    get admin() {
      const { url, token } = findAdminTarget(env, terminal.cwd);
      return connect(url, token);
    },
    get client() {
      const { url, token } = findTarget(env, terminal.cwd);
      made ??= connect(url, token);
      return made;
    },
  };
}

/** With --json the reason is one JSON line on stderr, so that stdout holds answers only. */
function explain(error: unknown, json: boolean, terminal: Terminal): ExitCode {
  const told = (code: string, detail: string, extra: object, as: ExitCode): ExitCode => {
    terminal.err(json ? JSON.stringify({ error: { code, detail, ...extra } }) : visible(detail));
    return as;
  };
  if (error instanceof UsageError) return told("usage", error.message, {}, exit.usage);
  if (error instanceof Problem)
    return told(
      error.code,
      `${error.message}${linesOf(error)}${json ? "" : (nextSteps[error.code] ?? "")}`,
      { status: error.status },
      exit.failed,
    );
  if (error instanceof Unreachable) return told("unreachable", error.message, {}, exit.failed);
  throw error;
}

/** What to type where the service's own words name a route. */
const nextSteps: Readonly<Record<string, string>> = {
  queue_not_found: "\nTheir names: countersign queues list",
};

/** Where in a plan, or in which fields, the trouble stands. */
function linesOf(problem: Problem): string {
  const rows = [problem.body.problems, problem.body.errors].flatMap((list) => (Array.isArray(list) ? list : []));
  return rows
    .slice(0, 50)
    .map((row: unknown) => {
      const { line, column, path, message } = row as {
        line?: unknown;
        column?: unknown;
        path?: unknown;
        message?: unknown;
      }; // all are checked where they are used
      const where =
        typeof line === "number"
          ? `line ${line}${typeof column === "number" ? `, column ${column}` : ""}`
          : String(path ?? "");
      return `\n  ${where}: ${String(message ?? "")}`;
    })
    .join("");
}
