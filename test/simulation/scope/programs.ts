/** What the sandboxes of the simulation can run: a shell of a few words, checks, and a check that sometimes fails. */

import { MemoryRepo } from "../../fakes/memory-git.ts";
import type { MemoryProcess, MemoryProgram } from "../../fakes/memory-sandboxes.ts";
import { as } from "../platform/actors.ts";
import type { Platform } from "../platform/platform.ts";

export const repo = "file:///repos/sample";

export function installPrograms({ memory, random }: Platform): void {
  const luck = random.fork("programs");
  memory.repos.set(repo, new MemoryRepo({ "README.md": "hello\n", "made/shared": "one\n" }));
  const programs: Record<string, MemoryProgram> = {
    bash: (process) => script(process),
    test: ({ argv, read }) => (read(argv.at(-1) ?? "") === null ? 1 : 0),
    flaky: () => (luck.chance(0.5) ? 0 : 1),
    false: () => 1,
  };
  for (const [name, program] of Object.entries(programs)) memory.programs.set(name, program);
}

async function script(process: MemoryProcess): Promise<number> {
  const host = { name: "a process", alive: true };
  for (const command of (process.argv.at(-1) ?? "").split(/\s*(?:;|&&)\s*/)) {
    const [name = "", ...words] = command.split(/\s+/);
    if (name === "false") return 1;
    if (name === "sleep") await as(host, () => new Promise((resolve) => setTimeout(resolve, Number(words[0]) * 1_000)));
    if (name === "echo") append(process, words);
    process.print(`${command}\n`);
  }
  return 0;
}
/** `echo TEXT >> PATH` */
function append(process: MemoryProcess, words: readonly string[]): void {
  const at = words.indexOf(">>");
  const path = at < 0 ? undefined : words[at + 1];
  if (path !== undefined) process.write(path, `${process.read(path) ?? ""}${words.slice(0, at).join(" ")}\n`);
}
