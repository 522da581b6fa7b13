import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../src/domain/message.ts";
import type { Policy } from "../../src/domain/policy.ts";
import { defaultPolicy, resolve } from "../../src/domain/policy.ts";
import { trustRoles } from "../../src/domain/policy-call.ts";
import { asked, shell, token } from "./policy-ask.ts";

describe("the token", () => {
  const write = token({ tools: ["file_write"], paths: ["src/**"] });
  it("[POL-9] a call inside the grant runs; one beyond it asks", () => {
    expect(asked("file_write", { path: "src/a.ts", content: "x" }, { token: write })).toBe("run token");
    expect(asked("file_write", { path: "lib/a.ts" }, { token: write })).toBe("ask tool:file_write");
    expect(asked("file_edit", { path: "src/a.ts" }, { token: write })).toBe("ask tool:file_edit");
    expect(asked("file_write", { path: "src/a.ts", also: { path: "lib/x" } }, { token: write })).toBe(
      "ask tool:file_write",
    );
    expect(asked("file_write", { path: "src/../src/a.ts" }, { token: write })).toBe("run token");
    expect(asked("rocket_launch", {}, { token: token({ tools: ["rocket_launch"] }) })).toBe("run token");
  });
  it("[POL-9] commands are granted by words, only together with the tool", () => {
    const words = { commands: ["npm test", "ls src"], tools: ["shell_execute"] };
    expect(shell("npm test", { token: token(words) })).toBe("run token");
    expect(shell("ls src", { token: token({ ...words, tools: [] }) })).toBe("ask tool:shell_execute");
    expect(shell("ls lib", { token: token(words) })).toBe("ask tool:shell_execute");
    expect(shell("npm test", { token: token(words) }, { env: { PATH: "x" } })).toBe("ask argument:shell-not-plain");
  });
  it("[POL-10] the blocks of a steps item are granted verbatim, where the grant names shell_execute", () => {
    const block = "for f in *.ts; do\n  A=1 node $f > out\ndone";
    const steps = token({ tools: ["shell_execute"] }, [block]);
    expect(shell(block, { token: steps })).toBe("run token");
    expect(shell(`${block} `, { token: steps })).toBe("ask argument:shell-not-plain");
    expect(shell(block, { token: steps }, { cwd: "src" })).toBe("ask argument:shell-not-plain");
    expect(shell(block, { token: token({}, [block]) })).toBe("ask argument:shell-not-plain");
  });
  it("[POL-11] what is denied stays denied inside a grant and inside a granted block", () => {
    const all = token({ tools: ["shell_execute", "file_write", "file_delete"], paths: ["**"], commands: ["**"] }, [
      "rm -rf dist",
    ]);
    expect(shell("rm -rf dist", { token: all })).toBe("deny argument:recursive-force-removal");
    expect(asked("file_write", { path: ".git/config" }, { token: all })).toBe("deny argument:git-directory");
    expect(asked("file_delete", { path: "x" }, { token: all })).toBe("deny tool:file_delete");
    expect(asked("file_write", { path: "x" }, { token: all, role: "witness" })).toBe("deny role:witness");
  });
  it("[POL-11] deny is a floor: no role, token, taint or gate lifts it", () => {
    const tools = ["file_read", "file_write", "shell_execute", "git_push", "rocket_launch"];
    const setting = fc.constantFrom("auto_approve" as const, "require_approval" as const, "deny" as const);
    const table = fc.dictionary(fc.constantFrom(...tools), setting);
    const world = fc.record({
      tool: fc.constantFrom(...tools),
      tools: table,
      role: fc.constantFrom(...trustRoles),
      roleTable: table,
      taint: fc.constantFrom("owner" as const, "member" as const, "outsider" as const, "web" as const),
      holds_secret: fc.boolean(),
      command: fc.constantFrom("npm test", "rm -rf x", "echo x > /etc/y", "cp a .git/b", "curl https://evil.example"),
      granted: fc.boolean(),
      action: fc.constantFrom("ask" as const, "annotate" as const),
    });
    fc.assert(
      fc.property(world, (one) => {
        const policy: Policy = {
          tools: one.tools,
          roles: { [one.role]: one.roleTable },
          arguments: defaultPolicy.arguments,
          gates: [
            {
              id: "g",
              trigger: "on_tool_call",
              lane: "policy",
              action: one.action,
              check: "tool_named",
              params: { tools },
            },
          ],
          approvals: defaultPolicy.approvals,
        };
        const args = one.tool === "shell_execute" ? { command: one.command } : {};
        const full = token({ tools, paths: ["**"], commands: ["**"], hosts: [] }, [one.command]);
        const context = {
          role: one.role,
          taint: one.taint,
          holds_secret: one.holds_secret,
          token: one.granted ? full : null,
        };
        const forbidden =
          one.tools[one.tool] === "deny" ||
          one.roleTable[one.tool] === "deny" ||
          (one.tool === "shell_execute" && one.command !== "npm test");
        const answer = resolve(policy, { tool: one.tool, args }, context);
        expect(answer.decision === "deny").toBe(forbidden);
        expect(answer.rule.length).toBeGreaterThan(0);
        expect(answer.reason.length).toBeGreaterThan(0);
      }),
      { numRuns: 1000 },
    );
  });
  it("[POL-12] arguments too deep to read whole are never granted", () => {
    const deep = JSON.parse(`${'{"a":'.repeat(40)}{"path":"/etc/x"}${"}".repeat(40)}`) as JsonValue; // JSON.parse answers any
    expect(asked("rocket_launch", deep, { token: token({ tools: ["rocket_launch"] }) })).toBe(
      "ask argument:shell-not-plain",
    );
  });
});

describe("the rule of two", () => {
  const tainted = { taint: "outsider", holds_secret: true } as const;
  it("[POL-13] untrusted content and a secret: what leaves the workspace asks, even if granted", () => {
    expect(asked("web_search", { query: "x" }, tainted)).toBe("ask gate:rule-of-two");
    expect(asked("git_push", {}, { ...tainted, token: token({ tools: ["git_push"] }) })).toBe("ask gate:rule-of-two");
    expect(asked("task_assign", {}, { ...tainted, role: "mayor" })).toBe("ask gate:rule-of-two");
    expect(
      shell("npm test", {
        ...tainted,
        token: token({ tools: ["shell_execute"], commands: ["npm test"], hosts: ["npm"] }),
      }),
    ).toBe("ask gate:rule-of-two");
  });
  it("[POL-13] one of the two alone, or staying inside, does not", () => {
    expect(asked("web_search", { query: "x" }, { taint: "web" })).toBe("run tool:web_search");
    expect(asked("web_search", { query: "x" }, { taint: "member", holds_secret: true })).toBe("run tool:web_search");
    expect(asked("file_read", { path: "x" }, tainted)).toBe("run tool:file_read");
    expect(shell("npm test", { ...tainted, token: token({ tools: ["shell_execute"], commands: ["npm test"] }) })).toBe(
      "run token",
    );
  });
});
