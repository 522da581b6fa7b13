/** The in-memory sandboxes keep the contract, with the suite's programs scripted. */
import { describe, expect, it } from "vitest";
import { scripts, spec } from "../contract/programs.ts";
import { sandboxContract } from "../contract/sandboxes.ts";
import { MemoryRepo } from "../fakes/memory-git.ts";
import { type MemoryProgram, MemorySandboxes, memoryCannot } from "../fakes/memory-sandboxes.ts";

const programs: Record<string, MemoryProgram> = {
  [scripts.speak]: (process) => {
    process.print("out\nerr\nend\n");
    return 0;
  },
  [scripts.fail]: () => 7,
  [scripts.count]: (process) => {
    process.write("count.txt", `${process.read("count.txt") ?? ""}x\n`);
    return 0;
  },
  [scripts.greet]: (process) => {
    process.print(process.env.GREETING ?? "");
    return 0;
  },
  [scripts.where]: (process) => {
    process.print(`/workspace/${process.cwd}\n`);
    return 0;
  },
  [scripts.echo]: (process) => {
    process.print(process.stdin);
    return 0;
  },
  [scripts.linger]: () => new Promise(() => {}),
  [scripts.flood]: (process) => {
    process.print("x".repeat(9_000_000));
    return 0;
  },
  [scripts.edit]: (process) => {
    process.write("a.txt", "one\ntwo\n3\n");
    process.write("new.txt", "new\n");
    process.remove("dir/b.txt");
    process.write("ignored/x", "x\n");
    return 0;
  },
  [scripts.clash]: (process) => {
    process.write("a.txt", "uno\ntwo\nthree\n");
    return 0;
  },
};

sandboxContract(
  "in memory",
  async () => {
    const files = { "a.txt": "one\ntwo\nthree\n", "dir/b.txt": "b\n", ".gitignore": "ignored/\n" };
    const repo = new MemoryRepo(files, ["ignored"]);
    const main = repo.branches.get("main") ?? "";
    const other = repo.commit(main, { ...files, "a.txt": "ONE\ntwo\nthree\n" });
    repo.branches.set("other", other);
    const sandboxes = new MemorySandboxes({ repos: { "/repos/sample": repo }, programs });
    const tip = async (branch: string) => repo.branches.get(branch) ?? null;
    return { sandboxes, source: "/repos/sample", main, other, tip, close: async () => {} };
  },
  memoryCannot,
);

describe("what only memory can do", () => {
  it("[SBX-5] a call that is lost on purpose is unknown, as after a restart of a host", async () => {
    const sandboxes = new MemorySandboxes({ programs });
    await sandboxes.create("a", spec("a"));
    await sandboxes.exec("a", "c", { argv: ["bash", "-c", scripts.linger], timeout_ms: 60_000 });
    sandboxes.lose("a", "c");
    expect(await sandboxes.outcome("a", "c")).toEqual({ state: "unknown" });
    expect(sandboxes.begun).toHaveLength(1);
    await sandboxes.destroy("a");
  });
});
