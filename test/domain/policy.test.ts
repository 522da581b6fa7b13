import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../src/domain/message.ts";
import type { Grant } from "../../src/domain/plan-shape.ts";
import { defaultPolicy, policySchema, resolve } from "../../src/domain/policy.ts";
import type { Policy } from "../../src/domain/policy.ts";
import { trustOf, trustRoles } from "../../src/domain/policy-call.ts";
import type { CallContext } from "../../src/domain/policy-call.ts";

const grant = (more: Partial<Grant> = {}): Grant => ({ tools: [], paths: [], commands: [], hosts: [], secrets: [], ...more });
const token = (more: Partial<Grant>, steps: string[] = []) => ({ allow: grant(more), steps });
const crew: CallContext = { role: "crew", taint: "member", holds_secret: false, token: null };
const asked = (tool: string, args: JsonValue = {}, context: Partial<CallContext> = {}, policy: Policy = defaultPolicy) => {
  const { decision, rule } = resolve(policy, { tool, args }, { ...crew, ...context });
  return `${decision} ${rule}`;
};
const shell = (command: string, context: Partial<CallContext> = {}, more: Record<string, JsonValue> = {}) => asked("shell_execute", { command, ...more }, context);

describe("the table", () => {
  it("[POL-1] the default policy runs reading tools, asks for changing ones, denies destroying ones, and asks for unknown ones", () => {
    for (const tool of ["file_read", "list_directory", "search_files", "git_diff", "git_log", "git_blame", "git_status", "task_status", "memory_search", "web_search"])
      expect(asked(tool)).toBe(`run tool:${tool}`);
    for (const tool of ["file_write", "file_edit", "python_execute", "skill_execute", "git_add", "git_commit", "git_push", "task_assign", "agent_spawn", "agent_stop"])
      expect(asked(tool)).toBe(`ask tool:${tool}`);
    expect(shell("npm test")).toBe("ask tool:shell_execute");
    for (const tool of ["delete", "file_delete", "force_push"]) expect(asked(tool)).toBe(`deny tool:${tool}`);
    for (const tool of ["rocket_launch", "constructor", "__proto__", "toString", "*", "", "file_read ", "FILE_READ"]) expect(asked(tool)).toBe("ask default");
  });
  it("[POL-2] roles loosen or tighten: mayor, deacon, crew, witness", () => {
    for (const tool of ["task_assign", "agent_spawn", "agent_stop", "git_commit"]) expect(asked(tool, {}, { role: "mayor" })).toBe("run role:mayor");
    expect(asked("task_assign", {}, { role: "deacon" })).toBe("run role:deacon");
    expect(asked("agent_spawn", {}, { role: "deacon" })).toBe("ask tool:agent_spawn");
    for (const tool of ["file_write", "git_commit", "task_assign", "rocket_launch"]) expect(asked(tool, {}, { role: "witness" })).toBe("deny role:witness");
    expect(asked("file_read", {}, { role: "witness" })).toBe("run tool:file_read");
    expect(trustOf).toEqual({ planner: "mayor", proxy: "deacon", executor: "crew", verifier: "witness" });
  });
  it("[POL-3] a policy is data, and data that is no policy is refused", () => {
    expect(policySchema.parse(JSON.parse(JSON.stringify(defaultPolicy)))).toEqual(defaultPolicy);
    expect(policySchema.safeParse({ ...defaultPolicy, extra: 1 }).success).toBe(false);
    expect(policySchema.safeParse({ ...defaultPolicy, tools: { file_read: "allow" } }).success).toBe(false);
    expect(policySchema.safeParse({ ...defaultPolicy, roles: { king: {} } }).success).toBe(false);
    expect(policySchema.safeParse({ ...defaultPolicy, arguments: [{ id: "x", effect: "deny", check: "nothing", params: {} }] }).success).toBe(false);
  });
});

describe("argument rules", () => {
  it("[POL-4] removing recursively by force is denied in any plain spelling, also behind a wrapper", () => {
    for (const command of ["rm -rf x", "rm -fr x", "rm -r -f x", "rm x -Rf", "rm --recursive --force x", "rm --rec --fo x", "/bin/rm -rf x", "\\rm -rf x", "'r'm -rf x", "sudo rm -rf x", "env A=1 rm -rf x", "npm test && rm -rf x", "echo $(rm -rf x)", "sh -c 'rm -rf x'", "eval rm -rf x", "xargs rm -rf", "rm -rf $X", "rm -vrf x", "if a; then rm -rf x; fi"])
      expect(shell(command), command).toBe("deny argument:recursive-force-removal");
    for (const command of ["rm x", "rm -f x", "rm -r x", "rm -- -rf", "echo rm -rf x", "rmdir -rf"]) expect(shell(command), command).toBe("ask tool:shell_execute");
  });
  it("[POL-5] a path outside the workspace is denied, however it is written", () => {
    for (const path of ["/etc/passwd", "../x", "a/../../x", "/workspace/../x", "/workspacex/y", "~/x", "a\0b", ""]) {
      expect(asked("file_write", { path }), path).toBe("deny argument:outside-workspace");
      expect(asked("file_read", { path }), path).toBe("deny argument:outside-workspace");
    }
    for (const path of ["x", "./a/../b", "/workspace/x", ".", "a..b"]) expect(asked("file_read", { path }), path).toBe("run tool:file_read");
    expect(asked("mystery", { deep: [{ file_path: "/etc/x" }] })).toBe("deny argument:outside-workspace");
    expect(asked("file_move", { from: "a", to: "/etc/x" })).toBe("deny argument:outside-workspace");
  });
  it("[POL-5] a shell call that reads, writes or goes outside by its words is denied", () => {
    for (const command of ["echo x > /etc/x", "cat < /etc/passwd", "cp a /etc/x", "tee ../x", "cd / && ls", "sed -i s/a/b/ /etc/x", "dd if=/dev/sda of=x", "mkdir a/../../b", "touch -- /x"])
      expect(shell(command), command).toBe("deny argument:outside-workspace");
    for (const command of ["ls > out 2>/dev/null", "cd packages/a/b && cp ../x ../../y", "sed -i '/a/d' x", "sed -i -e '/a/d' x", "sed -n /a/p /etc/hosts", "tee /dev/null", "chmod 755 x"])
      expect(shell(command), command).toBe("ask tool:shell_execute");
    expect(shell("cp ../a ../b", {}, { cwd: "src" })).toBe("ask tool:shell_execute");
    expect(shell("ls", {}, { cwd: "../x" })).toBe("deny argument:outside-workspace");
  });
  it("[POL-5] what a policy lists as allowed outside is not denied", () => {
    const policy = { ...defaultPolicy, arguments: defaultPolicy.arguments.map((rule) => (rule.check === "outside_workspace" ? { ...rule, params: { ...rule.params, also: ["/tmp/**"] } } : rule)) };
    expect(asked("shell_execute", { command: "ls > /tmp/x" }, {}, policy)).toBe("ask tool:shell_execute");
    expect(asked("shell_execute", { command: "ls > /tmp/../etc/x" }, {}, policy)).toBe("deny argument:outside-workspace");
  });
  it("[POL-6] a write into a git directory is denied; reading there is not", () => {
    for (const path of [".git/config", "a/.git/hooks/x", ".GIT/x", ".git", "git~1/x", "x/../.git/y"]) expect(asked("file_write", { path }), path).toBe("deny argument:git-directory");
    for (const command of ["echo x > .git/config", "cp x .git/hooks/pre-commit", "cd .git && ls", "rm .git/index", "sed -i s/a/b/ .git/config"]) expect(shell(command), command).toBe("deny argument:git-directory");
    expect(asked("file_read", { path: ".git/HEAD" })).toBe("run tool:file_read");
    for (const path of [".gitignore", ".github/x", "a.git/x"]) expect(asked("file_write", { path }), path).toBe("ask tool:file_write");
    expect(shell("cat .git/HEAD")).toBe("ask tool:shell_execute");
  });
  it("[POL-7] a host that nothing allows is denied; the token's hosts are allowed to its calls", () => {
    const open = { token: token({ tools: ["web_fetch"], hosts: ["api.example.com"] }) };
    expect(asked("web_fetch", { url: "https://evil.example/x" })).toBe("deny argument:host-not-allowed");
    expect(asked("web_fetch", { url: "https://api.example.com/x" })).toBe("deny argument:host-not-allowed");
    expect(asked("web_fetch", { url: "https://API.example.com.:8443/x" }, open)).toBe("run token");
    for (const url of ["https://api.example.com@evil.example", "https://api.example.com.evil.example", "http://169.254.169.254/", "http://[::1]/", "http://2130706433/", "file:///etc/passwd", "not a url"])
      expect(asked("web_fetch", { url }, open), url).toBe("deny argument:host-not-allowed");
    for (const command of ["curl https://evil.example", "git clone git@evil.example:a/b", "wget -q http://evil.example/x -O y"]) expect(shell(command), command).toBe("deny argument:host-not-allowed");
    expect(shell("echo https://example.com")).toBe("ask tool:shell_execute");
    expect(asked("git_push", { remote: "origin" })).toBe("ask tool:git_push");
  });
  it("[POL-8] a shell call that is not plain commands asks, even where the policy would run it", () => {
    const policy = { ...defaultPolicy, tools: { ...defaultPolicy.tools, shell_execute: "auto_approve" as const } };
    const plain = (args: JsonValue) => asked("shell_execute", args, {}, policy);
    expect(plain({ command: "npm test" })).toBe("run tool:shell_execute");
    for (const args of [{ command: "npm $X" }, { command: "npm 'x" }, { command: 1 }, {}, { command: "npm test", env: { PATH: "x" } }, "npm test", ["npm test"], null, { command: "f() { x; }; f" }, { script: "npm test" }])
      expect(plain(args), JSON.stringify(args)).toBe("ask argument:shell-not-plain");
  });
});

describe("the token", () => {
  const write = token({ tools: ["file_write"], paths: ["src/**"] });
  it("[POL-9] a call inside the grant runs; one beyond it asks", () => {
    expect(asked("file_write", { path: "src/a.ts", content: "x" }, { token: write })).toBe("run token");
    expect(asked("file_write", { path: "lib/a.ts" }, { token: write })).toBe("ask tool:file_write");
    expect(asked("file_edit", { path: "src/a.ts" }, { token: write })).toBe("ask tool:file_edit");
    expect(asked("file_write", { path: "src/a.ts", also: { path: "lib/x" } }, { token: write })).toBe("ask tool:file_write");
    expect(asked("file_write", { path: "src/../src/a.ts" }, { token: write })).toBe("run token");
    expect(asked("rocket_launch", {}, { token: token({ tools: ["rocket_launch"] }) })).toBe("run token");
  });
  it("[POL-9] commands are granted by words, only together with the tool", () => {
    const words = { commands: ["npm test"], tools: ["shell_execute"] };
    expect(shell("npm test", { token: token(words) })).toBe("run token");
    expect(shell("npm test", { token: token({ ...words, tools: [] }) })).toBe("ask tool:shell_execute");
    expect(shell("npm run x", { token: token(words) })).toBe("ask tool:shell_execute");
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
    const all = token({ tools: ["shell_execute", "file_write", "file_delete"], paths: ["**"], commands: ["**"] }, ["rm -rf dist"]);
    expect(shell("rm -rf dist", { token: all })).toBe("deny argument:recursive-force-removal");
    expect(asked("file_write", { path: ".git/config" }, { token: all })).toBe("deny argument:git-directory");
    expect(asked("file_delete", { path: "x" }, { token: all })).toBe("deny tool:file_delete");
    expect(asked("file_write", { path: "x" }, { token: all, role: "witness" })).toBe("deny role:witness");
  });
  it("[POL-11] [INV-07] deny is a floor: no role, token, taint or gate lifts it", () => {
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
          gates: [{ id: "g", trigger: "on_tool_call", lane: "policy", action: one.action, check: "tool_named", params: { tools } }],
        };
        const args = one.tool === "shell_execute" ? { command: one.command } : {};
        const full = token({ tools, paths: ["**"], commands: ["**"], hosts: [] }, [one.command]);
        const context = { role: one.role, taint: one.taint, holds_secret: one.holds_secret, token: one.granted ? full : null };
        const forbidden = one.tools[one.tool] === "deny" || one.roleTable[one.tool] === "deny" || (one.tool === "shell_execute" && one.command !== "npm test");
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
    expect(asked("rocket_launch", deep, { token: token({ tools: ["rocket_launch"] }) })).toBe("ask argument:shell-not-plain");
  });
});

describe("the rule of two", () => {
  const tainted = { taint: "outsider", holds_secret: true } as const;
  it("[POL-13] untrusted content and a secret: what leaves the workspace asks, even if granted", () => {
    expect(asked("web_search", { query: "x" }, tainted)).toBe("ask gate:rule-of-two");
    expect(asked("git_push", {}, { ...tainted, token: token({ tools: ["git_push"] }) })).toBe("ask gate:rule-of-two");
    expect(asked("task_assign", {}, { ...tainted, role: "mayor" })).toBe("ask gate:rule-of-two");
    expect(shell("npm test", { ...tainted, token: token({ tools: ["shell_execute"], commands: ["npm test"], hosts: ["npm"] }) })).toBe("ask gate:rule-of-two");
  });
  it("[POL-13] one of the two alone, or staying inside, does not", () => {
    expect(asked("web_search", { query: "x" }, { taint: "web" })).toBe("run tool:web_search");
    expect(asked("web_search", { query: "x" }, { taint: "member", holds_secret: true })).toBe("run tool:web_search");
    expect(asked("file_read", { path: "x" }, tainted)).toBe("run tool:file_read");
    expect(shell("npm test", { ...tainted, token: token({ tools: ["shell_execute"], commands: ["npm test"] }) })).toBe("run token");
  });
});
