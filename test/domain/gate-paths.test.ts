import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../src/domain/message.ts";
import { defaultPolicy, resolve } from "../../src/domain/policy.ts";
import type { CallContext } from "../../src/domain/policy-call.ts";
import { evaluateGates, gate } from "../../src/domain/policy-gates.ts";

const crew: CallContext = {
  ...{ role: "crew", taint: "member", holds_secret: false },
  token: { allow: { tools: ["shell_execute"], paths: ["**"], commands: ["**"], hosts: [], secrets: [] }, steps: [] },
};
const gated = (check: object) => ({
  ...defaultPolicy,
  arguments: [],
  gates: [gate.parse({ id: "g", trigger: "on_tool_call", lane: "policy", action: "ask", ...check })],
});
const asked = (check: object, tool: string, args: JsonValue) => {
  const { rule, reason } = resolve(gated(check), { tool, args }, crew);
  return rule === "gate:g" ? reason : null;
};
const paths = (...globs: string[]) => ({ check: "path_matches", params: { globs } });
const src = paths("src/**");
const shell = (command: string, check: object = src) => asked(check, "shell_execute", { command });

describe("a gate on a folder's own name, and the folder a call runs in", () => {
  it.each(["migrations", "**/migrations", "mig*", "migrations/**"])(
    "[GATE-51] %s gates whatever lies in it",
    (glob) => {
      for (const command of ["touch migrations/a/x.sql", "cat migrations/x", "rm -r migrations"])
        expect(shell(command, paths(glob)), command).not.toBeNull();
      expect(asked(paths(glob), "file_write", { path: "migrations/x.sql", content: "" })).not.toBeNull();
      expect(shell("touch src/x", paths(glob))).toBeNull();
      const finished = gate.parse({
        ...{ id: "g", trigger: "every_agent_response", lane: "policy", action: "ask" },
        ...paths(glob),
      });
      const outcome = evaluateGates([finished], "every_agent_response", {
        ...{ text: "", taint: "member", call: null },
        files: ["migrations/a/x.sql"],
      });
      expect(outcome.action).toBe("ask");
    },
  );
  it("[GATE-51] the folder a call runs in is entered", () => {
    for (const cwd of ["migrations", "./migrations", "migrations/a"]) {
      expect(asked(paths("migrations/**"), "shell_execute", { command: "ls", cwd }), cwd).not.toBeNull();
      expect(asked(paths("src/**"), "shell_execute", { command: "ls", cwd }), cwd).toBeNull();
    }
  });
});

describe("a gate on paths", () => {
  it.each([
    "touch src/x.js",
    "cp a src/c.js",
    "cp a.txt src",
    "cp -r lib .",
    "mv src other",
    "mv a src/",
    "tee src/x",
    "echo x | tee -a src/x",
    "sed -i s/a/b/ src/a.js",
    "ln -s src q",
    "ln -s ../src/a q",
    "rm -r src",
    "rm ./lib/../src/a.js",
    "rm -rf /workspace",
    "chmod 600 src",
    "dd if=a of=src/b",
    "curl -osrc/a x",
    "cat src/a.js",
    "grep -f src/a b",
    "cd src",
    "sudo env A=b touch src/x",
    "sh -c 'touch src/x'",
    "git checkout -- src",
    "echo x > src/a",
    "echo x > /workspace/src/a",
    "touch ../workspace/src/x",
  ])("[GATE-40] holds %j", (command) => {
    expect(shell(command)).not.toBeNull();
  });
  it.each([
    "touch lib/x.js",
    "cp a.txt lib",
    "mv lib other",
    "cat a.txt > /dev/null",
    "sed -i s/a/b/ srcs/a.js",
    "ls -la",
    "cd lib && ls -l",
    "cp a /tmp/src/b",
  ])("[GATE-40] lets %j pass", (command) => {
    expect(shell(command)).toBeNull();
  });
  it("[GATE-41] a folder that moves holds whatever may lie in it, a file that is written only itself", () => {
    const env = paths("**/*.env");
    expect(shell("mv conf other", env)).toContain('may lie in "conf"');
    expect(shell("cp -r conf other", env)).toContain("may lie in");
    expect(shell("cp conf other", env)).toBeNull();
    expect(shell("touch conf", env)).toBeNull();
    expect(shell("cp old/x.env lib", paths("l*/x.env"))).toContain('"lib/x.env" is gated');
    expect(shell("touch conf/a.env", env)).toContain('"conf/a.env" is gated');
    expect(asked(src, "file_move", { from: "src", to: "other" })).toContain('"src"');
    expect(asked(src, "file_read", { path: "src/a" })).toContain("is gated");
    expect(asked(src, "list_directory", { path: "." })).toBeNull();
  });
  it.each([
    ["npm test", "not in its words"],
    ["touch $X", "only known when it runs"],
    ["node -e 1", "node"],
    ["./x.sh", "a program that is a file"],
    ["echo 'a", ""],
    ["cd lib && touch x", "change of directory"],
    ["xargs touch < list", ""],
  ])("[GATE-42] cannot tell what %j touches, so it holds it and says so", (command, why) => {
    expect(shell(command)).toContain("it cannot be told whether the call touches a gated path");
    expect(shell(command)).toContain(why);
  });
  it("[GATE-42] nor what code of another language does, nor a call that names no file, nor one of too many words", () => {
    expect(asked(src, "python_execute", { code: "1" })).toContain("it runs code");
    expect(asked(src, "file_write", { text: "1" })).toContain("names no file");
    expect(shell(`echo ${Array.from({ length: 501 }, (_, at) => `w${at}`).join(" ")}`)).toContain("more than 500");
  });
  it.each([
    ["touch SRC/x.js", "src/**"],
    ["touch src/x.js", "SRC/**"],
    ["touch src/x.SQL", "**/*.sql"],
    ["cp a Src", "src/**"],
    ["touch src./x.js", "src/**"],
  ])("[GATE-49] holds %j against %s: case and what some file system leaves out do not count", (command, glob) => {
    expect(shell(command, paths(glob))).not.toBeNull();
  });
  it.each([
    ["Migrations/EVIL.sql", "migrations/**"],
    ["migrations/evil", "MIGRATIONS/**"],
  ])("[GATE-49] a result that changes %s is held against %s", (file, glob) => {
    const one = gate.parse({ id: "g", trigger: "after_step", lane: "policy", action: "ask", ...paths(glob) });
    const subject = { text: "", taint: "owner", call: null, files: [file] } as const;
    expect(evaluateGates([one], "after_step", subject).action).toBe("ask");
  });
  it("[GATE-43] sees the files of a finished patch", () => {
    const one = gate.parse({ id: "g", trigger: "after_step", lane: "policy", action: "block", ...src });
    const of = (files: string[]) => evaluateGates([one], "after_step", { text: "", taint: "owner", call: null, files });
    expect(of(["a", "src/b"])).toMatchObject({ action: "block", reason: 'the result changes "src/b", which is gated' });
    expect(of(["a", "srcs/b"]).action).toBe("pass");
  });
});

describe("a gate on words", () => {
  const production = { check: "text_contains", params: { any: ["to production now"] } };
  it.each([
    'ship --to prod""uction now',
    "ship --to pro\\duction now",
    "ship --to   'production' \\\n now",
    "sh -c 'ship \"to\" production now'",
    "env A=1 ship t\\o production now",
  ])("[GATE-46] reads %j as the program gets it", (command) => {
    expect(shell(command, production)).toBe('the text contains "to production now"');
  });
  it("[GATE-46] reads the values of a call as they are, and a secret in pieces as one", () => {
    expect(asked(production, "file_write", { path: "a", text: "to\nproduction\tnow" })).not.toBeNull();
    expect(asked(production, "file_write", { path: "a", text: ["x", { to: "production now" }] })).not.toBeNull();
    expect(asked(production, "file_write", { path: "a", text: "to production" })).toBeNull();
    const token = `echo ghp""_${"aB3".repeat(12)}`;
    expect(shell(token, { check: "secret_like", params: {} })).toContain("GitHub");
  });
});
