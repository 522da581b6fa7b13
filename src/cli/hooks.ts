/** `countersign hooks ...`: addresses by which others ask for tasks with a signed request. [HOOK-*] */
import { type HookView, hookMade, hookView } from "../domain/hooks.ts";
import { visibleLine } from "../domain/visible.ts";
import { wholeOf } from "./answers.ts";
import { type Call, type Command, exit, required } from "./command.ts";
import { UsageError } from "./target.ts";
import { secret } from "./webhooks.ts";

const string = { type: "string" } as const;

export const list: Command = {
  usage: "countersign hooks list",
  options: {},
  takes: [],
  async run(call) {
    const found = await call.client.get("/api/hooks", wholeOf(hookView));
    if (call.json) call.terminal.out(JSON.stringify(found));
    else call.terminal.out(found.items.length === 0 ? "Nothing here." : found.items.map(row(call)).join("\n"));
    return exit.done;
  },
};

export const add: Command = {
  usage: "countersign hooks add NAME --repo URL [--ref REF] [--title TEMPLATE] [--label LABEL ...] [--max-per-hour N]",
  options: {
    repo: string,
    ref: string,
    title: string,
    label: { type: "string", multiple: true },
    "max-per-hour": string,
  },
  takes: ["NAME"],
  about: "In TEMPLATE {title}, {name} and {id} are filled in: what it is sent, the hook's name, the request's id.",
  async run(call) {
    const most = call.text("max-per-hour");
    if (most !== undefined && !/^[1-9]\d{0,3}$/.test(most))
      throw new UsageError("--max-per-hour is a whole number from 1");
    const given = { ref: call.text("ref"), title: call.text("title"), max_per_hour: most && Number(most) };
    const known = Object.entries(given).filter(([, value]) => value !== undefined);
    const asked = { name: call.args[0], repo: required(call, "repo"), labels: call.texts("label") };
    const made = await call.client.post("/api/hooks", { ...asked, ...Object.fromEntries(known) }, hookMade);
    return shown(call, made);
  },
};
export const rotate: Command = {
  usage: "countersign hooks rotate ID",
  options: {},
  takes: ["ID"],
  run: async (call) => shown(call, await call.client.post(`${path(call)}/rotate`, {}, hookMade)),
};
export const remove: Command = {
  usage: "countersign hooks remove ID",
  options: {},
  takes: ["ID"],
  async run(call) {
    const gone = await call.client.remove(path(call), {}, hookView);
    call.terminal.out(call.json ? JSON.stringify(gone) : `Removed: ${visibleLine(gone.name)}`);
    return exit.done;
  },
};

function path(call: Call): string {
  return `/api/hooks/${encodeURIComponent(call.args[0] ?? "")}`;
}
function shown(call: Call, made: HookView & { secret: string }) {
  call.terminal.out(call.json ? JSON.stringify(made) : `${row(call)(made)}\n${secret(made.secret)}`);
  return exit.done;
}
function row(call: Call) {
  return ({ id, name, repo, ref, max_per_hour, path: at }: HookView): string =>
    `${id}  ${visibleLine(name)}  ${visibleLine(repo)} ${visibleLine(ref)}  at most ${max_per_hour} an hour\n    ${call.client.url}${at}`;
}
