import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../src/domain/message.ts";
import { defaultPolicy, policySchema } from "../../src/domain/policy.ts";
import { trustOf } from "../../src/domain/policy-call.ts";
import { asked, shell, token } from "./policy-ask.ts";

describe("the table", () => {
  it("[POL-1] the default policy runs reading tools, asks for changing ones, denies destroying ones, and asks for unknown ones", () => {
    for (const tool of [
      "file_read",
      "list_directory",
      "search_files",
      "git_diff",
      "git_log",
      "git_blame",
      "git_status",
      "task_status",
      "memory_search",
      "web_search",
    ])
      expect(asked(tool)).toBe(`run tool:${tool}`);
    for (const tool of [
      "file_write",
      "file_edit",
      "python_execute",
      "skill_execute",
      "git_add",
      "git_commit",
      "git_push",
      "task_assign",
      "agent_spawn",
      "agent_stop",
    ])
      expect(asked(tool)).toBe(`ask tool:${tool}`);
    expect(shell("ls")).toBe("ask tool:shell_execute");
    for (const tool of ["delete", "file_delete", "force_push"]) expect(asked(tool)).toBe(`deny tool:${tool}`);
    for (const tool of ["rocket_launch", "constructor", "__proto__", "toString", "*", "", "file_read ", "FILE_READ"])
      expect(asked(tool)).toBe("ask default");
  });
  it("[POL-2] roles loosen or tighten: mayor, deacon, crew, witness", () => {
    for (const tool of ["task_assign", "agent_spawn", "agent_stop", "git_commit"])
      expect(asked(tool, {}, { role: "mayor" })).toBe("run role:mayor");
    expect(asked("task_assign", {}, { role: "deacon" })).toBe("run role:deacon");
    expect(asked("agent_spawn", {}, { role: "deacon" })).toBe("ask tool:agent_spawn");
    for (const tool of ["file_write", "git_commit", "task_assign", "rocket_launch"])
      expect(asked(tool, {}, { role: "witness" })).toBe("deny role:witness");
    expect(asked("file_read", {}, { role: "witness" })).toBe("run tool:file_read");
    expect(trustOf).toEqual({ planner: "mayor", proxy: "deacon", executor: "crew", verifier: "witness" });
  });
  it("[POL-3] a policy is data, and data that is no policy is refused", () => {
    expect(policySchema.parse(JSON.parse(JSON.stringify(defaultPolicy)))).toEqual(defaultPolicy);
    expect(policySchema.safeParse({ ...defaultPolicy, extra: 1 }).success).toBe(false);
    expect(policySchema.safeParse({ ...defaultPolicy, tools: { file_read: "allow" } }).success).toBe(false);
    expect(policySchema.safeParse({ ...defaultPolicy, roles: { king: {} } }).success).toBe(false);
    expect(
      policySchema.safeParse({
        ...defaultPolicy,
        arguments: [{ id: "x", effect: "deny", check: "nothing", params: {} }],
      }).success,
    ).toBe(false);
  });
});

describe("argument rules", () => {
  it("[POL-4] removing recursively by force is denied in any plain spelling, also behind a wrapper", () => {
    for (const command of [
      "rm -rf x",
      "rm -fr x",
      "rm -r -f x",
      "rm x -Rf",
      "rm --recursive --force x",
      "rm --rec --fo x",
      "/bin/rm -rf x",
      "\\rm -rf x",
      "'r'm -rf x",
      "sudo rm -rf x",
      "env A=1 rm -rf x",
      "npm test && rm -rf x",
      "echo $(rm -rf x)",
      "sh -c 'rm -rf x'",
      "eval rm -rf x",
      "xargs rm -rf",
      "rm -rf $X",
      "rm -vrf x",
      "if a; then rm -rf x; fi",
    ])
      expect(shell(command), command).toBe("deny argument:recursive-force-removal");
    for (const command of ["rm x", "rm -f x", "rm -r x", "rm -- -rf", "echo rm -rf x", "rmdir -p x"])
      expect(shell(command), command).toBe("ask tool:shell_execute");
  });
  it("[POL-5] a path outside the workspace is denied, however it is written", () => {
    for (const path of [
      "/etc/passwd",
      "../x",
      "a/../../x",
      "/workspace/../x",
      "../workspace/x",
      "/workspacex/y",
      "~/x",
      "a\0b",
      "",
    ]) {
      expect(asked("file_write", { path }), path).toBe("deny argument:outside-workspace");
      expect(asked("file_read", { path }), path).toBe("deny argument:outside-workspace");
    }
    for (const path of ["x", "./a/../b", "/workspace/x", ".", "a..b"])
      expect(asked("file_read", { path }), path).toBe("run tool:file_read");
    expect(asked("mystery", { deep: [{ file_path: "/etc/x" }] })).toBe("deny argument:outside-workspace");
    expect(asked("file_move", { from: "a", to: "/etc/x" })).toBe("deny argument:outside-workspace");
  });
  it("[POL-5] a shell call that reads, writes or goes outside by its words is denied", () => {
    for (const command of [
      "echo x > /etc/x",
      "cat < /etc/passwd",
      "cp a /etc/x",
      "tee ../x",
      "cd / && ls",
      "sed -i s/a/b/ /etc/x",
      "dd if=/dev/sda of=x",
      "mkdir a/../../b",
      "touch -- /x",
    ])
      expect(shell(command), command).toBe("deny argument:outside-workspace");
    for (const command of [
      "ls > out 2>/dev/null",
      "sed -i '/a/d' x",
      "sed -i -e '/a/d' x",
      "sed -n /a/p /etc/hosts",
      "tee /dev/null",
      "chmod 755 x",
    ])
      expect(shell(command), command).toBe("ask tool:shell_execute");
    expect(shell("cd packages/a/b && cp ../x ../../y")).toBe("ask argument:protected-files");
    expect(shell("cp ../a ../b", {}, { cwd: "src" })).toBe("ask tool:shell_execute");
    expect(shell("ls", {}, { cwd: "../x" })).toBe("deny argument:outside-workspace");
  });
  it("[POL-5] what a policy lists as allowed outside is not denied", () => {
    const policy = {
      ...defaultPolicy,
      arguments: defaultPolicy.arguments.map((rule) =>
        rule.check === "outside_workspace" ? { ...rule, params: { ...rule.params, also: ["/tmp/**"] } } : rule,
      ),
    };
    expect(asked("shell_execute", { command: "ls > /tmp/x" }, {}, policy)).toBe("ask tool:shell_execute");
    expect(asked("shell_execute", { command: "ls > /tmp/../etc/x" }, {}, policy)).toBe(
      "deny argument:outside-workspace",
    );
  });
  it("[POL-6] a write into a git directory is denied; reading there is not", () => {
    for (const path of [".git/config", "a/.git/hooks/x", ".GIT/x", ".git", "git~1/x", "x/../.git/y"])
      expect(asked("file_write", { path }), path).toBe("deny argument:git-directory");
    for (const command of [
      "echo x > .git/config",
      "cp x .git/hooks/pre-commit",
      "cd .git && ls",
      "rm .git/index",
      "sed -i s/a/b/ .git/config",
    ])
      expect(shell(command), command).toBe("deny argument:git-directory");
    expect(asked("file_read", { path: ".git/HEAD" })).toBe("run tool:file_read");
    for (const path of [".gitignore", "a.git/x"])
      expect(asked("file_write", { path }), path).toBe("ask tool:file_write");
    expect(shell("cat .git/HEAD")).toBe("ask tool:shell_execute");
  });
  it("[POL-7] a host that nothing allows is denied; the token's hosts are allowed to its calls", () => {
    const open = { token: token({ tools: ["web_fetch"], hosts: ["api.example.com"] }) };
    expect(asked("web_fetch", { url: "https://evil.example/x" })).toBe("deny argument:host-not-allowed");
    expect(asked("web_fetch", { url: "https://api.example.com/x" })).toBe("deny argument:host-not-allowed");
    expect(asked("web_fetch", { url: "https://API.example.com.:8443/x" }, open)).toBe("run token");
    for (const url of [
      "https://api.example.com@evil.example",
      "https://api.example.com.evil.example",
      "http://169.254.169.254/",
      "http://[::1]/",
      "http://2130706433/",
      "file:///etc/passwd",
      "not a url",
    ])
      expect(asked("web_fetch", { url }, open), url).toBe("deny argument:host-not-allowed");
    for (const command of [
      "curl https://evil.example",
      "git clone git@evil.example:a/b",
      "wget -q http://evil.example/x -O y",
    ])
      expect(shell(command), command).toBe("deny argument:host-not-allowed");
    expect(shell("echo https://example.com")).toBe("ask tool:shell_execute");
    expect(asked("git_push", { remote: "origin" })).toBe("ask tool:git_push");
  });
  it("[POL-8] a shell call that is not plain commands asks, even where the policy would run it", () => {
    const policy = { ...defaultPolicy, tools: { ...defaultPolicy.tools, shell_execute: "auto_approve" as const } };
    const plain = (args: JsonValue) => asked("shell_execute", args, {}, policy);
    expect(plain({ command: "ls -l src" })).toBe("run tool:shell_execute");
    for (const args of [
      { command: "ls $X" },
      { command: "npm 'x" },
      { command: 1 },
      {},
      { command: "npm test", env: { PATH: "x" } },
      "npm test",
      ["npm test"],
      null,
      { command: "f() { x; }; f" },
      { script: "npm test" },
    ])
      expect(plain(args), JSON.stringify(args)).toBe("ask argument:shell-not-plain");
  });
});
