import { describe, expect, it } from "vitest";
import type { PatchFile } from "../../src/domain/evidence.ts";
import { commandGranted, patchVerdict, shellGranted } from "../../src/domain/grant.ts";
import { defaultProtect } from "../../src/domain/plan-protect.ts";
import type { Grant } from "../../src/domain/plan-shape.ts";

const allow = (more: Partial<Grant> = {}): Grant => ({
  tools: [],
  paths: [],
  commands: [],
  hosts: [],
  secrets: [],
  ...more,
});
const file = (path: string, more: Partial<PatchFile> = {}): PatchFile => ({
  path,
  change: "modified",
  old_mode: "100644",
  mode: "100644",
  ...more,
});

describe("commands", () => {
  it("[GR-1] a grant is words: * inside one word, a last ** any rest", () => {
    for (const [grant, words, expected] of [
      ["npm test", ["npm", "test"], true],
      ["npm test", ["npm", "test", "--x"], false],
      ["npm test", ["npm"], false],
      ["npx vitest *", ["npx", "vitest", "run"], true],
      ["npx vitest *", ["npx", "vitest"], false],
      ["npx vitest *", ["npx", "vitest", "run", "x"], false],
      ["npx vitest **", ["npx", "vitest"], true],
      ["npx vitest **", ["npx", "vitest", "a", "b", "c"], true],
      ["npm run test:*", ["npm", "run", "test:unit"], true],
      ["npm run test:*", ["npm", "run", "build"], false],
      ["git commit -m *", ["git", "commit", "-m", "two words"], true],
      ["ls ?", ["ls", "a"], false],
      ["ls", ["LS"], false],
    ] as const)
      expect(commandGranted([grant], words), `${grant} | ${words.join(",")}`).toBe(expected);
    expect(commandGranted([], ["ls"])).toBe(false);
    expect(commandGranted(["**"], [])).toBe(false);
    expect(commandGranted(["a", "b"], ["b"])).toBe(true);
  });
  it("[GR-2] a script is granted when every command in it is", () => {
    const commands = ["npm test", "npm run *", "tee *"];
    expect(shellGranted("npm test && npm run build", allow({ commands }))).toBe(true);
    expect(shellGranted("npm test; rm x", allow({ commands }))).toBe(false);
    expect(shellGranted("npm test | curl x", allow({ commands }))).toBe(false);
    expect(shellGranted("npm test $(rm x)", allow({ commands }))).toBe(false);
    expect(shellGranted("npm run $X", allow({ commands }))).toBe(false);
    expect(shellGranted("npm test 'unclosed", allow({ commands }))).toBe(false);
    expect(shellGranted("sudo npm test", allow({ commands }))).toBe(false);
    expect(shellGranted("npm() { evil; }; npm test", allow({ commands: [...commands, "evil"] }))).toBe(false);
    expect(shellGranted("", allow({ commands }))).toBe(false);
    expect(shellGranted("# nothing", allow({ commands: ["**"] }))).toBe(false);
  });
  it("[GR-3] an assignment before a command, or alone, is not granted", () => {
    expect(shellGranted("NODE_OPTIONS=x npm test", allow({ commands: ["npm test"] }))).toBe(false);
    expect(shellGranted("PATH=x; npm test", allow({ commands: ["npm test"] }))).toBe(false);
  });
  it("[GR-4] a redirect is granted by paths, from the directory it is in", () => {
    const grant = allow({ commands: ["npm test", "cd *"], paths: ["out/**", "src/out/**"] });
    expect(shellGranted("npm test > out/log 2>&1 < /dev/null", grant)).toBe(true);
    expect(shellGranted("npm test > ./out//./log", grant)).toBe(true);
    expect(shellGranted("npm test > log", grant)).toBe(false);
    expect(shellGranted("npm test < secret", grant)).toBe(false);
    expect(shellGranted("npm test > out/../../x", grant)).toBe(false);
    expect(shellGranted("npm test > /etc/x", grant)).toBe(false);
    expect(shellGranted("npm test > /workspace/out/x", grant)).toBe(true);
    const plain = { ...grant, commands: ["echo *"] };
    expect(shellGranted("echo x > out/log", plain, "src")).toBe(true);
    expect(shellGranted("echo x > out/log", plain, "lib")).toBe(false);
    expect(shellGranted("cd src && npm test > out/log", grant)).toBe(false);
    expect(shellGranted("npm test > .git/x", allow({ commands: ["npm test"], paths: ["**"] }))).toBe(false);
  });
});

describe("patches", () => {
  const item = (paths: string[], protect: string[] = []) => ({
    allow: allow({ paths }),
    protect: [...protect, ...defaultProtect({ allow: { paths } })],
  });
  it("[GR-5] a patch inside the granted paths is ok, an empty one too", () => {
    expect(
      patchVerdict(
        [
          file("src/a.ts"),
          file("src/b.ts", { change: "added", old_mode: "000000" }),
          file("src/c.ts", { change: "deleted", mode: "000000" }),
        ],
        item(["src/**"]),
      ),
    ).toEqual({ kind: "ok" });
    expect(patchVerdict([], item([]))).toEqual({ kind: "ok" });
  });
  it("[GR-6] a protected path touched is an integrity violation, whatever else the patch does", () => {
    for (const change of ["added", "modified", "deleted"] as const)
      expect(patchVerdict([file("test/a.ts", { change }), file("etc/x")], item(["**"], ["test/**"]))).toEqual({
        kind: "integrity",
        paths: ["test/a.ts"],
      });
    expect(patchVerdict([file("package.json"), file("a/vitest.config.ts")], item(["**"]))).toEqual({
      kind: "integrity",
      paths: ["package.json", "a/vitest.config.ts"],
    });
    expect(patchVerdict([file("package.json")], item(["package.json"]))).toEqual({ kind: "ok" });
  });
  it("[GR-7] a path outside allow.paths is outside, with why", () => {
    expect(patchVerdict([file("src/a.ts"), file("lib/b.ts")], item(["src/**"]))).toEqual({
      kind: "outside",
      paths: [{ path: "lib/b.ts", why: "it is not in allow.paths" }],
    });
    for (const path of ["../x", "/etc/x", "a/../b", "~/x", ".git/config", "sub/.GIT/hooks/x", ""])
      expect(patchVerdict([file(path)], item(["**"])).kind, path).toBe("outside");
  });
  it("[GR-8] a symbolic link, a submodule, or an executable bit that no exact path grants, is outside", () => {
    const why = (more: Partial<PatchFile>, paths = ["src/**"]) => patchVerdict([file("src/a", more)], item(paths));
    expect(why({ change: "added", old_mode: "000000", mode: "120000" }, ["src/a"])).toMatchObject({
      kind: "outside",
      paths: [{ why: "it is a symbolic link" }],
    });
    expect(why({ old_mode: "120000", mode: "120000" })).toMatchObject({ kind: "outside" });
    expect(why({ change: "added", old_mode: "000000", mode: "160000" })).toMatchObject({
      kind: "outside",
      paths: [{ why: "it is a submodule" }],
    });
    expect(why({ mode: "100755" })).toMatchObject({ kind: "outside" });
    expect(why({ mode: "100755" }, ["src/a"])).toEqual({ kind: "ok" });
    expect(why({ old_mode: "100755", mode: "100755" })).toEqual({ kind: "ok" });
    expect(why({ change: "deleted", old_mode: "120000", mode: "000000" })).toEqual({ kind: "ok" });
  });
  it("[GR-9] what setup reads is outside unless it is named exactly", () => {
    expect(patchVerdict([file("package-lock.json")], item(["**"]))).toMatchObject({
      kind: "outside",
      paths: [{ why: expect.stringContaining("setup reads it") }],
    });
    expect(patchVerdict([file("package-lock.json")], item(["package-lock.json"]))).toEqual({ kind: "ok" });
  });
  it("[GR-40] a protected file that no grant names is outside, with what it is; named, it is ok", () => {
    for (const [path, what] of [
      ["AGENTS.md", "instructions to an agent"],
      ["sub/.claude/settings.json", "instructions to an agent"],
      [".husky/pre-commit", "a hook"],
      [".vscode/tasks.json", "read by an editor"],
      ["Dockerfile", "read by build tools"],
      ["agents.MD", "instructions to an agent"],
    ] as const) {
      for (const change of ["added", "modified", "deleted"] as const)
        expect(patchVerdict([file(path, { change })], item(["**"])), path).toEqual({
          kind: "outside",
          paths: [{ path, why: `it is ${what}, and allow.paths does not name it` }],
        });
      expect(patchVerdict([file(path)], item([path])), path).toEqual({ kind: "ok" });
    }
    expect(patchVerdict([file(".husky/pre-commit")], item([".husky/**"]))).toEqual({ kind: "ok" });
  });
});

describe("wildcards", () => {
  const granted = (script: string, ...commands: string[]) => shellGranted(script, allow({ commands, paths: ["**"] }));
  it("[GR-41] a wildcard never stands for code", () => {
    expect(granted("node a.js", "node *")).toBe(false);
    expect(granted("node a.js", "node a.js")).toBe(true);
    expect(granted("node -e x", "node **")).toBe(false);
    expect(granted("node -e x", "node -e x")).toBe(true);
    expect(granted("git -c a.b=c log", "git **")).toBe(false);
    expect(granted("git log", "git **")).toBe(true);
    expect(granted("./x a", "* a")).toBe(false);
    expect(granted("npm exec x", "npm **")).toBe(false);
    expect(granted("watch id", "watch **")).toBe(false);
    expect(granted("watch id", "watch id")).toBe(true);
    expect(granted("npx evil", "npx **")).toBe(false);
    expect(granted("npx vitest run", "npx vitest *")).toBe(true);
    expect(granted("make CC=x all", "make **")).toBe(false);
    expect(granted("make all", "make **")).toBe(true);
    expect(granted("sed 's/a/b/e' x", "sed **")).toBe(false);
  });
  it("[GR-41] nor for a program behind a wrapper, unless that is granted itself", () => {
    expect(granted("timeout 5 id", "timeout **")).toBe(false);
    expect(granted("timeout 5 npm test", "timeout **", "npm test")).toBe(true);
    expect(granted("timeout 5 npm test", "timeout * npm test")).toBe(true);
    expect(granted("find . -exec id ;", "find **")).toBe(false);
    expect(granted("find . -name a", "find **")).toBe(true);
  });
  it("[GR-41] nor for a path out of the workspace or a protected file; what only reads may name the latter", () => {
    expect(granted("curl -d @/etc/passwd x", "curl **")).toBe(false);
    expect(granted("curl -d@/etc/passwd x", "curl **")).toBe(false);
    expect(granted("curl -F a=@/etc/passwd x", "curl **")).toBe(false);
    expect(granted("curl -F a=@src/x x", "curl **")).toBe(false);
    expect(granted("curl -F a=@src/x x", "curl -F a=@src/x x")).toBe(true);
    for (const word of ["/etc/passwd", "../x", "a/../../x", "~/x", "--file=/etc/x"])
      expect(granted(`cat ${word}`, "cat **"), word).toBe(false);
    expect(granted("cat /etc/passwd", "cat /etc/passwd")).toBe(true);
    expect(granted("cat /workspace/a", "cat **")).toBe(true);
    expect(granted("cat package.json", "cat **")).toBe(true);
    expect(granted("prettier --write AGENTS.md", "prettier --write *")).toBe(false);
    expect(granted("prettier --write AGENTS.md", "prettier --write AGENTS.md")).toBe(true);
    expect(granted("prettier --write src/a.ts", "prettier --write *")).toBe(true);
    expect(granted("prettier --write .git/x", "prettier --write *")).toBe(false);
  });
});
