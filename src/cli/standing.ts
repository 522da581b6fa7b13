/**
 * `countersign standing ...`: what was approved in advance, inside which bounds; make one, take one back. [CLI-45] to
 * [CLI-49]
 */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { keyTwice } from "../domain/json-twice.ts";
import { type StandingView, standingInput, standingView } from "../domain/standing-shape.ts";
import { boundsInWords } from "../domain/standing-words.ts";
import { page } from "../domain/view.ts";
import { visible, visibleLine } from "../domain/visible.ts";
import { limits } from "../limits.ts";
import { aboutIt, type Call, type Command, exit, required } from "./command.ts";
import { countOf } from "./counts.ts";
import { UsageError } from "./target.ts";
import { query } from "./tasks.ts";

const string = { type: "string" } as const;

export const list: Command = {
  usage: "countersign standing list [--limit N] [--cursor C]",
  options: { limit: string, cursor: string },
  takes: [],
  async run(call) {
    const found = await call.client.get(
      `/api/standing-approvals${query(call, ["limit", "cursor"])}`,
      page(standingView),
    );
    if (call.json) call.terminal.out(JSON.stringify(found));
    else call.terminal.out(found.items.length === 0 ? "Nothing here." : found.items.map(row).join("\n"));
    if (!call.json && found.next_cursor !== null) call.terminal.err(`More: --cursor ${found.next_cursor}`);
    return exit.done;
  },
};

export const show: Command = {
  usage: "countersign standing show ID",
  options: {},
  takes: ["ID"],
  async run(call) {
    return answer(call, await call.client.get(path(call), standingView));
  },
};

export const create: Command = {
  usage: "countersign standing create --file FILE [--yes]",
  options: { file: string, yes: { type: "boolean" } },
  takes: [],
  about:
    'FILE is JSON. docs/policy.md describes every key; a whole one to begin from stands there under "An approval in advance".',
  async run(call) {
    const name = call.text("file");
    if (name === undefined || name === "")
      throw new UsageError(`--file is required\nusage: ${this.usage}${aboutIt(this)}`);
    const input = fromFile(call, name);
    if (!call.json)
      call.terminal.out(
        `${visibleLine(input.name)}: ${countOf(input.uses, "use")} until ${input.until}\n${inWords(input)}`,
      );
    if (!(await confirmed(call))) {
      call.terminal.err("Nothing was made.");
      return exit.failed;
    }
    // One key for the one request, so that a repeated answer never makes two.
    const made = await call.client.post("/api/standing-approvals", input, standingView, randomUUID());
    call.terminal.out(call.json ? JSON.stringify(made) : `In force: ${made.id}`);
    return exit.done;
  },
};

export const revoke: Command = {
  usage: "countersign standing revoke ID --reason TEXT",
  options: { reason: string },
  takes: ["ID"],
  async run(call) {
    return answer(call, await call.client.remove(path(call), { reason: required(call, "reason") }, standingView));
  },
};

function path(call: Call): string {
  return `/api/standing-approvals/${encodeURIComponent(call.args[0] ?? "")}`;
}
function answer(call: Call, standing: StandingView) {
  call.terminal.out(call.json ? JSON.stringify(standing) : text(standing));
  return exit.done;
}

function fromFile(call: Call, name: string) {
  let bytes: Buffer;
  try {
    bytes = readFileSync(resolve(call.terminal.cwd, name));
  } catch {
    throw new UsageError(`${name} cannot be read`);
  }
  if (bytes.length > limits.request_body_bytes) throw new UsageError(`${name} is larger than a request may be`);
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString("utf8"));
  } catch {
    throw new UsageError(`${name} is not JSON`);
  }
  const twice = keyTwice(bytes.toString("utf8"));
  if (twice !== null) throw new UsageError(`${name} has the key "${visibleLine(twice)}" twice: leave one out`);
  const read = standingInput.safeParse(value);
  if (read.success) return read.data;
  const lines = read.error.issues.slice(0, 20).map((issue) => `  ${issue.path.join(".")}: ${issue.message}`);
  throw new UsageError(`${name} is no standing approval\n${lines.join("\n")}`);
}

async function confirmed(call: Call): Promise<boolean> {
  if (call.flag("yes")) return true;
  const { ask } = call.terminal;
  if (ask === null || call.json) throw new UsageError("nobody is here to confirm: read the bounds, then add --yes");
  return (await ask('\nType "approve" to approve such plans in advance: ')).trim() === "approve";
}

function row({ id, status, uses_left, uses, until, name }: StandingView): string {
  return `${id}  ${status.padEnd(8)}  ${uses_left} of ${uses} left  until ${until}  ${visibleLine(name)}`;
}
function text(standing: StandingView): string {
  const { reason, made_by, made_at, ended, used } = standing;
  const uses = used.map(({ at, task_id, approval_id }) => `  ${at}  ${task_id}  ${approval_id}`);
  return [
    row(standing),
    `made by   ${visibleLine(made_by)} at ${made_at}`,
    `reason    ${visible(reason)}`,
    ...(ended === null ? [] : [`ended by  ${visibleLine(ended.by)} at ${ended.at}: ${visible(ended.reason)}`]),
    inWords(standing),
    ...(uses.length === 0
      ? [standing.uses_left === standing.uses ? "used      not yet" : "used      long ago: countersign audit"]
      : ["used for", ...uses]),
  ].join("\n");
}
function inWords(standing: Pick<StandingView, "bounds">): string {
  return boundsInWords(standing.bounds)
    .map(({ what, is }) => `${what.padEnd(24)}  ${visibleLine(is)}`)
    .join("\n");
}
