import { describe, expect, it } from "vitest";
import { shellGranted } from "../../src/domain/grant.ts";
import { plan } from "../../src/domain/plan-shape.ts";
import { defaultPolicy, resolve } from "../../src/domain/policy.ts";
import { shell, token } from "./policy-ask.ts";

const granted = (script: string, commands: readonly string[], cwd = ".", paths = ["src/**"]) =>
  shellGranted(script, { tools: [], paths, commands: [...commands], hosts: [], secrets: [] }, cwd);

describe("what depends on the folder", () => {
  it.each([
    "sh scripts/gen.sh",
    "bash scripts/gen.sh",
    "./run.sh",
    "node scripts/gen.js",
    "python3 -m tools.x",
    "make build",
    "npm test",
    "npx vitest run",
    "git status",
    "git add -A",
    "timeout 60 git status",
    "timeout 60 npm test",
    "unheard-of check",
  ])("[GR-60] [GR-61] %s is granted at the root, and in no other folder, even by its own words", (script) => {
    const commands = [script, "timeout *", "cd *", "mkdir **", "echo **"];
    expect(granted(script, commands)).toBe(true);
    expect(granted(`cd . && ${script}`, commands)).toBe(true);
    for (const cwd of ["src", "./src", "src/..", "src/a/../.."])
      expect(granted(script, commands, cwd), cwd).toBe(false);
    for (const move of ["cd src", "pushd src", "cd src/..", "cd . . "]) {
      expect(granted(`${move} && ${script}`, [...commands, move]), move).toBe(false);
      expect(granted(`${script}; ${move}`, [...commands, move]), move).toBe(false);
    }
    expect(granted(`env -C src ${script}`, [...commands, "env **"])).toBe(false);
    expect(granted(`sh -c 'cd src; ${script}'`, [...commands, "sh -c *", `sh -c cd`])).toBe(false);
  });
  it("[GR-60] plain commands go on in a folder; after a move only what writes nothing there does", () => {
    expect(granted("mkdir a", ["mkdir **"], "src")).toBe(true);
    expect(granted("cat a | wc -l", ["cat *", "wc *"], "src")).toBe(true);
    expect(granted("cd src && ls && cat a", ["cd *", "ls", "cat *"])).toBe(true);
    for (const script of ["touch pre-commit", "cp a b", "tee a", "sed -i s/a/b/ x", "sort -o x y", "mktemp -p ."])
      expect(granted(`cd .husky && ${script}`, ["cd *", script]), script).toBe(false);
  });
  it("[GR-60] a block that a person approved runs as it stands", () => {
    const script = "cd src && npm test && git status";
    const held = { token: token({ tools: ["shell_execute"] }, [script]) };
    expect(shell(script, held)).toBe("run token");
    expect(shell(script, held, { cwd: "src" })).not.toBe("run token");
  });
  it("[GR-61] no policy takes git in another folder for plain", () => {
    const policy = { ...defaultPolicy, tools: { ...defaultPolicy.tools, shell_execute: "auto_approve" as const } };
    const answer = (command: string, cwd = ".") =>
      resolve(
        policy,
        { tool: "shell_execute", args: { command, cwd } },
        { role: "crew", taint: "member", holds_secret: false, token: null },
      ).rule;
    expect(answer("git status")).toBe("tool:shell_execute");
    expect(answer("cd . && git status")).toBe("tool:shell_execute");
    expect(answer("cd src && git status")).toBe("argument:shell-not-plain");
    expect(answer("git status", "src")).toBe("argument:shell-not-plain");
  });
});

describe("redirects and links", () => {
  it.each([
    ["echo x > Makefile", false],
    ["echo x >> sub/.github/workflows/a.yml", false],
    ["echo x > AGENTS.md", false],
    ["sh -c 'echo x > Makefile'", false],
    ["echo x > src/a", true],
    ["cat < Makefile", true],
  ])("[GR-62] %s within a grant of everything: %s", (script, expected) => {
    expect(granted(script, ["echo **", "cat", "sh **", script.slice(0, 8)], ".", ["**"])).toBe(expected);
  });
  it("[GR-62] a protected file that the grant names is written", () => {
    expect(granted("echo x > Makefile", ["echo *"], ".", ["Makefile"])).toBe(true);
    expect(granted("echo x > .husky/a", ["echo *"], ".", [".husky/**"])).toBe(true);
  });
  it.each([
    "ln -s /workspace src/l",
    "ln -s /workspace/src src/l",
    "ln -s /etc src/l",
    "ln -s . src/l",
    "ln -s .. src/l",
    "ln -s ../lib src/l",
    "ln -s a/../.. src/l",
    "ln -sfn /workspace src/l",
    "ln -s lib src",
    "ln -rs lib src/l",
    "ln -st src /workspace",
    "ln --sym /workspace src/l",
    "ln -s /workspace",
    "ln scripts/gen.sh src/g",
    "link scripts/gen.sh src/g",
    "cp -s /workspace/lib src/l",
    "cp -rs lib src/l",
    "cp -l scripts/gen.sh src/g",
    "cp --link scripts/gen.sh src/g",
    "timeout 5 ln -s /workspace src/l",
    "ln -s a src/l",
    "ln -sf sub/a src/l",
    "ln src/a src/b",
    "ln -s index.js src/link",
    "ln -s cypress l",
    "ln -s support cypress/l",
  ])("[GR-63] a wildcard does not stand for the words of %s; spelled out it is granted", (script) => {
    const program = script.replace("timeout 5 ", "").split(" ")[0] ?? "";
    expect(granted(script, [`${program} **`, `timeout 5 ${program} **`])).toBe(false);
    expect(granted(script, [`${program} *`, script])).toBe(true);
  });
});

describe("a `..` behind what may be a link", () => {
  const commands = ["echo **", "tee **", "touch **", "npm test", "bash -c *", "cat", "ls"];
  it.each([
    "echo x > src/linkdir/../scripts/build.js",
    "echo x >> src/linkdir/../README.md",
    "npm test > src/linkdir/../README.md",
    "npm test 2> src/l/../x",
    "npm test &> src/l/../x",
    "bash -c 'echo x > src/l/../x'",
    "echo x > src/linkdir/../tasks.py",
    "echo x > 'src/l/../x'",
    "echo x > /workspace/src/l/../x",
    "cat < src/l/../x",
    "cat <> src/l/../x",
    "echo x > src/..",
  ])("[GR-100] no grant covers %s, nor its own words", (script) => {
    const own = [...commands, script.replace(/ \d?[<>&].*/, ""), "bash -c **"];
    for (const paths of [["src/**"], ["**"]]) expect(granted(script, own, ".", paths)).toBe(false);
  });
  it.each(["src/linkdir/..", "./src/l/..", "src/l/../", "src/l/../a", "..", "src//l/.//../b"])(
    "[GR-100] nor a call in the folder %s, where a word is elsewhere than it says",
    (cwd) => {
      const scripts = [
        "tee README.md",
        "touch x",
        "tee -a scripts/build.js",
        "echo x > tasks.py",
        "echo x | tee t.txt",
      ];
      for (const script of [...scripts, "ls", "echo x > src/a"]) {
        expect(granted(script, [...commands, script], cwd, ["**"]), script).toBe(false);
        const held = { token: token({ tools: ["shell_execute"], paths: ["**"], commands: [...commands, script] }) };
        expect(shell(script, held, { cwd }), script).not.toBe("run token");
      }
    },
  );
  it("[GR-100] a folder and a file that are named straight are covered, and so are dots in a name", () => {
    expect(granted("tee a.md", commands, "src")).toBe(true);
    expect(granted("echo x > a", commands, "./src")).toBe(true);
    expect(granted("echo x > ./src/a..b", commands)).toBe(true);
    expect(granted("echo x > src/..a", commands)).toBe(true);
    expect(granted("echo x > b", commands, "src/a..b")).toBe(true);
    const held = { token: token({ tools: ["shell_execute"], paths: ["src/**"], commands }) };
    expect(shell("touch x", held, { cwd: "src" })).toBe("run token");
  });
});

describe("settings that only say how to print", () => {
  it("[GR-64] CI, NODE_ENV and colours may be set before a granted command, and in the words of a grant", () => {
    for (const set of ["CI=1", "NODE_ENV=test", "CI=1 NO_COLOR=1", "FORCE_COLOR=0"]) {
      expect(granted(`${set} npm test`, ["npm test"]), set).toBe(true);
      expect(granted(`${set} npm test`, [`${set} npm test`]), set).toBe(true);
    }
    for (const set of ["PATH=x", "NODE_OPTIONS=x", "a=1", "CI=1 PATH=x", "LOCPATH=x"])
      for (const grant of ["npm test", `${set} npm test`]) expect(granted(`${set} npm test`, [grant]), set).toBe(false);
    for (const set of ["TZ=UTC", "LANG=C", "LC_ALL=C.UTF-8", "CI=1 TZ=UTC"]) {
      expect(granted(`${set} npm test`, [`${set} npm test`]), set).toBe(true);
      for (const grant of ["npm test", "npm **", `${set.replace(/=\S+$/, "=*")} npm test`, `${set}x npm test`])
        expect(granted(`${set} npm test`, [grant]), `${set} under ${grant}`).toBe(false);
      expect(granted(`TZ=x ${set} npm test`, [`${set} npm test`]), set).toBe(false);
    }
    expect(granted("env TZ=UTC npm test", ["env TZ=UTC npm test"])).toBe(true);
    expect(granted("env TZ=UTC npm test", ["env ** ", "npm test"])).toBe(false);
    for (const set of ["NODE_ENV=../../src/evil", "NODE_ENV=src/x", "NODE_ENV=..", "CI=a.b", "NO_COLOR=~"]) {
      expect(granted(`${set} npm test`, ["npm test", "npm **"]), set).toBe(false);
      expect(granted(`env ${set} npm test`, ["env **", "npm test"]), set).toBe(false);
      expect(granted(`env -S ' ${set} npm test'`, ["env **", "npm test"]), set).toBe(false);
      if (!set.includes("~")) expect(granted(`${set} npm test`, [`${set} npm test`]), set).toBe(true);
    }
    expect(granted("CI=$(id) npm test", ["npm test"])).toBe(false);
    expect(granted("CI=1; npm test", ["npm test"])).toBe(false);
  });
  it.each(["npm test &", "npm test & wait", "(npm test &)", "echo a & npm test", "sh -c 'npm test &'"])(
    "[GR-92] %s is granted by no word, but by a block that a person read",
    (script) => {
      expect(granted(script, [script, "npm test", "echo **", "wait", "sh **", "sh -c *"])).toBe(false);
      expect(shell(script, { token: token({ tools: ["shell_execute"] }, [script]) })).toBe("run token");
    },
  );
  it("[GR-92] nor does a wildcard stand for what takes a session of its own", () => {
    expect(granted("setsid -f npm test", ["setsid **", "npm test"])).toBe(false);
    expect(granted("setsid npm test", ["setsid **", "npm test"])).toBe(false);
    expect(granted("nohup npm test", ["nohup **", "npm test"])).toBe(true);
  });
  it("[GR-65] a grant with a quote is refused, and says what to write", () => {
    const grant = plan.shape.items.element.shape.allow;
    const empty = { tools: [], paths: [], hosts: [], secrets: [] };
    for (const command of ["git commit -m 'a b'", 'echo "a b"'])
      expect(grant.safeParse({ ...empty, commands: [command] }).error?.issues[0]?.message).toContain("write *");
  });
});
