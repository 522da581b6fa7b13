/** Each tool in a real sandbox: what the commands do there, and what they cannot. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { attemptGuard } from "../../src/agents/tools/guard.ts";
import { toolbox } from "../../src/agents/tools/toolbox.ts";
import { canonicalJson } from "../../src/domain/canonical.ts";
import { limits } from "../../src/limits.ts";
import { utf8 } from "../contract/programs.ts";
import { unfenced } from "../fakes/toolboxes.ts";
import { TameBus, TameMinds } from "../fakes/world.ts";
import { World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await World.open();
});
afterAll(() => world?.close());

const ref = { attempt_id: "p.a.1", entry: 0, lease_id: "l", epoch: 1, agent: "crew-1" };

async function hands() {
  const id = await world.fresh();
  const bus = new TameBus();
  let made = 0;
  async function call(tool: string, value: unknown): Promise<string> {
    made += 1;
    let progress: unknown = null;
    for (let looks = 0; looks < 100; looks++) {
      // Made anew for each look, as in an object that restarts.
      const box = toolbox({ minutes: 5, preset: "DEFAULT", skills: ["greet"] }, attemptGuard(bus, ref), {
        sandboxes: world.sandboxes,
        sandbox: id,
        minds: new TameMinds(),
        search: null,
        clock: { now: () => Date.now() },
        asker: { task_id: "t", agent: "crew-1" },
        reads: () => "member",
      });
      const move = await box.run({ call_id: `tool-${made}`, tool, value }, progress);
      if (move.kind === "result") return `${move.is_error ? "error: " : ""}${unfenced(move.text)}`;
      if (move.kind !== "working") throw new Error(`${tool}: ${move.kind}`);
      progress = JSON.parse(canonicalJson(move.progress));
    }
    throw new Error(`${tool} does not end`);
  }
  const content = async (path: string) => new TextDecoder().decode(await world.sandboxes.read(id, path));
  return { id, bus, call, content };
}

describe.concurrent("the tools in a real sandbox", () => {
  it("[TOOL-20] files are written, read, edited, listed and searched as they are told to be", async () => {
    const { id, call, content } = await hands();
    expect(await call("file_read", { path: "a.txt" })).toBe("a.txt, lines 1 to 3 of 3:\n1\tone\n2\ttwo\n3\tthree");
    const odd = "new dir/$(touch x); 'q' \"r\".txt";
    expect(await call("file_write", { path: odd, content: "ü one\n" })).toMatch(/^Created/);
    expect(await call("file_write", { path: odd, content: "-n\n\0$HOME `x`" })).toMatch(/^Replaced/);
    expect(await content(odd)).toBe("-n\n\0$HOME `x`");
    expect(await call("file_write", { path: "/workspace/-rf", content: "dash" })).toMatch(/^Created/);
    expect(await call("file_edit", { path: "a.txt", old_text: "two", new_text: "2" })).toMatch(/^Edited/);
    expect(await content("a.txt")).toBe("one\n2\nthree\n");
    expect(await call("list_directory", { path: "." })).toMatch(/^\.git\/\ndir\/\nnew dir\/\n-rf \(4\)/);
    expect(await call("file_read", { path: "nothing.txt" })).toMatch(/^error: .*does not exist.*In \. there are: /);
    expect(await call("file_write", { path: "dir", content: "" })).toMatch(/^error: .*it is a folder/);
    await world.run(id, "mkdir bin; printf 'x\\n' > bin/run; chmod 755 bin/run");
    await call("file_edit", { path: "bin/run", old_text: "x", new_text: "y" });
    expect((await world.run(id, "stat -c %a bin/run; cat bin/run")).output).toBe("755\ny\n");
    const whole = "z".repeat(limits.tool_file_bytes - 10);
    expect(await call("file_write", { path: "whole", content: whole })).toMatch(/^Created/);
    expect(await content("whole")).toBe(whole);
  });
  it("[TOOL-20] a search finds by expression, name and folder, in no binary file and not in git's own", async () => {
    const { id, call } = await hands();
    await world.run(
      id,
      "printf 'a\\0three\\n' > bin.dat; mkdir -p src node_modules; echo 'Three (x)' > src/b.ts; echo three > node_modules/m; echo three > .git/three",
    );
    const lines = (text: string) => text.split("\n").sort();
    expect(lines(await call("search_files", { pattern: "^t(hree|wo)$" }))).toEqual(["a.txt:2:two", "a.txt:3:three"]);
    expect(await call("search_files", { pattern: "THREE", ignore_case: true, include: "*.ts" })).toBe(
      "src/b.ts:1:Three (x)",
    );
    expect(await call("search_files", { pattern: "-e one", path: "a.txt" })).toMatch(
      /^Nothing in a\.txt matches -e one/,
    );
    expect(await call("search_files", { pattern: "one", path: "a.txt" })).toBe("a.txt:1:one");
    expect(await call("search_files", { pattern: "(" })).toMatch(/^error: grep said: /);
    expect(await call("search_files", { pattern: "x", path: "none" })).toMatch(/^error: grep said: .*No such file/);
    await world.run(id, "seq 1 5000 > numbers");
    const many = (await call("search_files", { pattern: ".", path: "numbers" })).split("\n");
    expect([many.length, many.at(-1)]).toEqual([limits.tool_matches + 1, expect.stringContaining("more lines match")]);
  });
  it("[TOOL-19] no link and no spelling makes file_write or file_edit write outside of the workspace or into git's folder", async () => {
    const { id, call } = await hands();
    await world.run(id, "ln -s /tmp out; ln -s .git way; ln -s /home/x gone; ln -s .git/config cfg; mkdir -p sub/.GIT");
    for (const path of ["out/x", "gone", "/tmp/x", "../x", "way/hooks/pre-commit", "cfg", "sub/.GIT/x", "x/../.git/y"])
      expect(await call("file_write", { path, content: "x" }), path).toMatch(
        /^error: .*(?:out of the workspace|git directory)/,
      );
    expect(await call("file_edit", { path: "cfg", old_text: "bare", new_text: "x" })).toMatch(
      /^error: .*git directory/,
    );
    expect((await world.run(id, "cat .git/config; ls .git/hooks 2>&1 || true")).output).not.toMatch(/pre-commit/);
  });
  it("[TOOL-20] commands, scripts and skills run in the workspace and say how they ended", async () => {
    const { id, call } = await hands();
    expect(await call("shell_execute", { command: "pwd; cat a.txt | head -n 1", cwd: "dir/.." })).toMatch(
      /exit code 0,.*\n\/workspace\none$/,
    );
    expect(await call("shell_execute", { command: "pwd", cwd: "dir" })).toMatch(/\n\/workspace\/dir$/);
    expect(await call("shell_execute", { command: "pwd", cwd: "none" })).toMatch(/^error: /);
    expect(await call("shell_execute", { command: "false | true" })).toMatch(/^error: .*exit code 1/);
    expect(await call("shell_execute", { command: "no-such-program" })).toMatch(
      /^error: .*exit code 127.*was not found/s,
    );
    expect(await call("shell_execute", { command: "sleep 60", timeout_ms: 1_000 })).toMatch(
      /^error: .*still running after 1\.\d s/,
    );
    const flood = await call("shell_execute", { command: "echo BEGIN; seq 1 100000; echo END" });
    expect(flood).toMatch(/BEGIN\n1\n.*bytes left out here.*100000\nEND/s);
    const python = await call("python_execute", { code: "import sys\nopen('made','w').write('1')\nprint(sys.argv)" });
    expect(python).toMatch(/exit code 0,.*\n\['-'\]|There is no python3/);
    await world.run(
      id,
      "mkdir -p .countersign/skills/greet; echo 'echo \"$0: $1, $2\"' > .countersign/skills/greet/hi.sh; printf '#!/bin/sh\\npwd\\n' > .countersign/skills/greet/where; chmod +x .countersign/skills/greet/where",
    );
    expect(await call("skill_execute", { skill: "greet", script: "hi.sh", args: ["a b", "$(x)"] })).toContain(
      "hi.sh: a b, $(x)",
    );
    expect(await call("skill_execute", { skill: "greet", script: "where" })).toMatch(/\n\/workspace$/);
    expect(await call("skill_execute", { skill: "greet", script: "none.sh" })).toMatch(/^error: .*exit code 127/);
  });
  it("[TOOL-20] git works on the sandbox's clone, and what is committed there leaves the published change as it is", async () => {
    const { id, call } = await hands();
    await world.sandboxes.write(id, "a.txt", utf8.encode("one\n2\nthree\n"));
    await world.sandboxes.write(id, "n.txt", utf8.encode("new\n"));
    expect(await call("git_status", {})).toMatch(/^## work\n M a\.txt\n\?\? n\.txt$/m);
    expect(await call("git_diff", {})).toMatch(/^-two\n\+2$/m);
    expect(await call("git_diff", { path: "dir" })).toMatch(/^Nothing differs/);
    expect(await call("git_log", { max_count: 3 })).toMatch(/^[0-9a-f]{7,} \d{4}-\d\d-\d\d t: /);
    expect(await call("git_blame", { path: "a.txt" })).toMatch(/1\) one\n.*Not Committed Yet.*2\) 2\n/);
    expect(await call("git_add", { paths: ["a.txt", "n.txt"] })).toBe("Added a.txt, n.txt.");
    expect(await call("git_diff", { staged: true })).toMatch(/^\+new$/m);
    const before = await world.sandboxes.snapshot(id);
    expect(await call("git_commit", { message: "- words\n\nmore" })).toBe("Committed in the sandbox's clone.");
    expect(await call("git_log", { max_count: 1 })).toContain("agent: - words");
    expect(await call("git_commit", { message: "again" })).toMatch(/^error: There is nothing to commit/);
    expect((await world.sandboxes.snapshot(id)).tree).toBe(before.tree);
    expect(await call("git_add", { paths: [":/"] })).toMatch(/^error: .*did not match/s);
    expect(await call("git_log", { commit: "nowhere" })).toMatch(/^error: /);
    await world.run(id, "rm -rf .git");
    expect(await call("git_status", {})).toMatch(/^error: There is no git repository/);
  });
  it("[TOOL-14] hooks, watchers, pagers and external programs of the repository do not run", async () => {
    const { id, call } = await hands();
    await world.run(
      id,
      `prog='sh -c "touch /workspace/ran; cat" --'
git config core.fsmonitor "$prog"; git config core.pager "$prog"; git config diff.external "$prog"
git config diff.evil.textconv "$prog"; git config diff.evil.command "$prog"; git config gpg.program "$prog"
git config commit.gpgSign true; git config core.hooksPath /workspace/hooks; printf '* diff=evil\\n' > .git/info/attributes
mkdir -p hooks .git/hooks; for h in pre-commit commit-msg post-commit post-index-change; do printf '#!/bin/sh\\ntouch /workspace/ran\\n' > hooks/$h; chmod +x hooks/$h; cp hooks/$h .git/hooks/$h; done
echo more >> a.txt; rm -f ran`,
    );
    for (const [tool, value] of [
      ["git_status", {}],
      ["git_diff", {}],
      ["git_log", { path: "a.txt" }],
      ["git_blame", { path: "a.txt" }],
      ["git_add", { paths: ["a.txt"] }],
      ["git_commit", { message: "m" }],
    ] as const)
      expect(await call(tool, value), tool).not.toMatch(/^error/);
    expect((await world.run(id, "[ -e ran ] && echo ran || echo quiet")).output).toBe("quiet\n");
  });
});
