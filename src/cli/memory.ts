/** `countersign memory ...`: what the scope remembers, found by words, and having one forgotten. [MEM-*] */
import { type MemoryView, memoryKinds, memoryView } from "../domain/memory.ts";
import { page } from "../domain/view.ts";
import { visible, visibleLine } from "../domain/visible.ts";
import { type Command, exit, required } from "./command.ts";
import { query } from "./tasks.ts";

const string = { type: "string" } as const;

export const search: Command = {
  usage: `countersign memory search [WORDS] [--kind ${memoryKinds.join("|")}] [--limit N] [--cursor C]`,
  options: { kind: string, limit: string, cursor: string },
  takes: ["[WORDS]"],
  async run(call) {
    const words = call.args[0] ?? "";
    const rest = query(call, ["kind", "limit", "cursor"]);
    const asked = words === "" ? rest : `?q=${encodeURIComponent(words)}${rest.replace("?", "&")}`;
    const found = await call.client.get(`/api/memory${asked}`, page(memoryView));
    if (call.json) call.terminal.out(JSON.stringify(found));
    else call.terminal.out(found.items.length === 0 ? "Nothing here." : found.items.map(shown).join("\n"));
    if (!call.json && found.next_cursor !== null) call.terminal.err(`More: --cursor ${found.next_cursor}`);
    return exit.done;
  },
};

export const forget: Command = {
  usage: "countersign memory forget ID --reason TEXT",
  options: { reason: string },
  takes: ["ID"],
  async run(call) {
    const path = `/api/memory/${encodeURIComponent(call.args[0] ?? "")}`;
    const done = await call.client.remove(path, { reason: required(call, "reason") }, memoryView);
    call.terminal.out(call.json ? JSON.stringify(done) : `Forgotten: ${done.id}`);
    return exit.done;
  },
};

function shown({ id, kind, at, taint, title, excerpt }: MemoryView): string {
  const text = visible(excerpt)
    .split("\n")
    .map((line) => `    ${line}`);
  return [`${id}  ${kind.padEnd(9)}  ${at}  ${taint.padEnd(8)}  ${visibleLine(title)}`, ...text].join("\n");
}
