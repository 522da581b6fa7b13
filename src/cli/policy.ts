/**
 * `countersign policy ...`: read the policy, try one out, and put another in force for exactly the version it was made
 * from. [CLI-50] to [CLI-54]
 */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { z } from "zod";
import { keyTwice } from "../domain/json-twice.ts";
import { taints } from "../domain/message.ts";
import { policySchema } from "../domain/policy.ts";
import { trustRoles } from "../domain/policy-call.ts";
import { diffPolicies } from "../domain/policy-change.ts";
import { readPolicy } from "../domain/policy-document.ts";
import { evaluationView, policyChanged, policyVersion, policyView, replayView } from "../domain/policy-shapes.ts";
import { page } from "../domain/view.ts";
import { visibleLine } from "../domain/visible.ts";
import { Problem } from "./client.ts";
import { type Call, type Command, type ExitCode, exit, required } from "./command.ts";
import { answerText, moveRow, policyText, replayText, versionRow } from "./show-policy.ts";
import { UsageError } from "./target.ts";
import { query } from "./tasks.ts";

const string = { type: "string" } as const;
const flag = { type: "boolean" } as const;

export const show: Command = {
  usage: "countersign policy show [--version N]",
  options: { version: string },
  takes: [],
  async run(call) {
    const version = call.text("version");
    const path = version === undefined ? "" : `/versions/${encodeURIComponent(version)}`;
    const found = await call.client.get(`/api/policy${path}`, policyView);
    call.terminal.out(call.json ? JSON.stringify(found) : policyText(found));
    return exit.done;
  },
};

export const versions: Command = {
  usage: "countersign policy versions [--limit N] [--cursor C]",
  options: { limit: string, cursor: string },
  takes: [],
  async run(call) {
    const found = await call.client.get(`/api/policy/versions${query(call, ["limit", "cursor"])}`, page(policyVersion));
    call.terminal.out(call.json ? JSON.stringify(found) : found.items.map(versionRow).join("\n"));
    if (!call.json && found.next_cursor !== null) call.terminal.err(`More: --cursor ${found.next_cursor}`);
    return exit.done;
  },
};

export const test: Command = {
  usage:
    "countersign policy test (--tool T [--args JSON|@FILE] [--role R] [--taint T] [--secret] [--policy FILE] | --task ID --policy FILE)",
  options: { tool: string, args: string, role: string, taint: string, secret: flag, policy: string, task: string },
  takes: [],
  async run(call) {
    const [tool, task] = [call.text("tool"), call.text("task")];
    if ((tool === undefined) === (task === undefined))
      throw new UsageError(`name one call with --tool, or a task with --task\nusage: ${this.usage}`);
    const file = call.text("policy");
    const policy = file === undefined ? {} : { policy: readPolicyFile(call, file).policy };
    if (task !== undefined) return replay(call, { task_id: task, ...policy });
    const [role, taint] = [oneOf(call, "role", trustRoles), oneOf(call, "taint", taints)];
    if (!/^[a-z][a-z0-9_]{0,63}$/.test(tool ?? ""))
      throw new UsageError("--tool is the name of a tool: a-z, 0-9 and _, at most 64 of them");
    const asked = {
      call: { tool, args: argsOf(call) },
      ...(role === undefined ? {} : { role }),
      ...(taint === undefined ? {} : { taint }),
      ...(call.flag("secret") ? { holds_secret: true } : {}),
      ...policy,
    };
    const answer = await call.client.post("/api/policy/evaluate", asked, evaluationView);
    call.terminal.out(call.json ? JSON.stringify(answer) : answerText(answer));
    return { run: exit.done, ask: exit.waiting, deny: exit.failed }[answer.decision];
  },
};
/** A word that is none of them would be answered with a refusal, which reads like a denial. */
function oneOf(call: Call, name: string, words: readonly string[]): string | undefined {
  const value = call.text(name);
  if (value !== undefined && !words.includes(value)) throw new UsageError(`--${name} is one of ${words.join(", ")}`);
  return value;
}
async function replay(call: Call, asked: { task_id: string; policy?: unknown }): Promise<ExitCode> {
  required(call, "policy");
  const found = await call.client.post("/api/policy/evaluate", asked, replayView);
  call.terminal.out(call.json ? JSON.stringify(found) : replayText(found));
  return exit.done;
}

export const set: Command = {
  usage: "countersign policy set FILE [--reason TEXT] [--yes]",
  options: { reason: string, yes: flag },
  takes: ["FILE"],
  about:
    'FILE is JSON: begin with `countersign policy show --json > policy.json`. docs/policy.md describes every key; a whole one stands there under "A policy".',
  async run(call) {
    const file = readPolicyFile(call, call.args[0] ?? "");
    const now = await call.client.get("/api/policy", policyView);
    if (!shownChanges(call, file.policy, now.policy)) return exit.failed;
    if (!(await confirmed(call))) {
      call.terminal.err("Nothing was changed.");
      return exit.failed;
    }
    const reason = call.text("reason");
    const body = { policy: file.policy, ...(reason === undefined ? {} : { reason }) };
    try {
      // What was taken from an earlier version must not undo what came after it.
      const seen = { "if-match": `"${file.policy_hash ?? now.policy_hash}"` };
      const made = await call.client.put("/api/policy", body, policyChanged, seen);
      if (call.json) call.terminal.out(JSON.stringify(made));
      else
        call.terminal.out(
          made.changed
            ? `Version ${made.version} is in force.`
            : `Version ${made.version} says the same: nothing was changed.`,
        );
      return exit.done;
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== "precondition_failed" || call.json) throw error;
      call.terminal.err(
        `${error.message}\nNothing was changed. Take what is in force with \`policy show --json\`, change that, and set it again.`,
      );
      return exit.failed;
    }
  },
};

/** False when the file holds no policy, and then that was said. */
function shownChanges(call: Call, policy: unknown, inForce: unknown): boolean {
  const read = readPolicy(policy);
  if (!read.ok) {
    const lines = read.problems.map(({ path, message }) => `\n  ${path}: ${message}`);
    throw new UsageError(`this is not a policy: ${lines.join("")}`);
  }
  const before = policySchema.safeParse(inForce);
  if (!before.success) {
    call.terminal.err("The policy in force is of a newer version than this command: use that one.");
    return false;
  }
  const moves = diffPolicies(before.data, read.policy);
  if (!call.json) call.terminal.out(moves.length === 0 ? "No change." : `Changes:\n${moves.map(moveRow).join("\n")}`);
  return true;
}

async function confirmed(call: Call): Promise<boolean> {
  if (call.flag("yes")) return true;
  const { ask } = call.terminal;
  if (ask === null || call.json) throw new UsageError("nobody is here to confirm: look at the file, then add --yes");
  return (await ask('\nType "change" to put this in force: ')).trim() === "change";
}

/** A policy, or what `policy show --json` said: then it is known which version it was taken from. */
const taken = z.looseObject({ policy_hash: z.string(), policy: z.unknown() });
function readPolicyFile(call: Call, file: string): { policy: unknown; policy_hash: string | null } {
  const value = readJson(call, file, "the policy");
  const view = taken.safeParse(value);
  return view.success ? view.data : { policy: value, policy_hash: null };
}
function argsOf(call: Call): unknown {
  const text = call.text("args") ?? "{}";
  if (text.startsWith("@")) return readJson(call, text.slice(1), "--args");
  return parsed(text, "--args");
}
function readJson(call: Call, file: string, what: string): unknown {
  let text: string;
  try {
    text = readFileSync(resolve(call.terminal.cwd, file), "utf8");
  } catch (error) {
    throw new UsageError(`${what} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
  return parsed(text, what);
}
function parsed(text: string, what: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new UsageError(`${what} is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  const twice = keyTwice(text);
  if (twice !== null) throw new UsageError(`${what} has the key "${visibleLine(twice)}" twice: leave one out`);
  return value;
}
