/** How a call names its files and its tool, and what no name opens. */
import { describe, expect, it } from "vitest";
import { defaultPolicy, type Policy, policySchema } from "../../src/domain/policy.ts";
import { limits } from "../../src/limits.ts";
import { asked, crew, token } from "./policy-ask.ts";

const everyFile = { token: token({ tools: ["file_write", "file_read"], paths: ["**"] }) };

describe("the files of a call", () => {
  it.each([
    "path",
    "Path",
    "filePath",
    "file-path",
    "FILE_PATH",
    "filepath",
    "rootDir",
    "workDirectory",
    "file.name",
    "destPath",
  ])("[WORST-6] stand under %s as under any spelling of it", (key) => {
    expect(asked("file_read", { [key]: "/etc/passwd" })).toBe("deny argument:outside-workspace");
    expect(asked("file_write", { [key]: ".git/config" }, everyFile)).toBe("deny argument:git-directory");
    expect(asked("file_write", { [key]: "AGENTS.md" }, everyFile)).toBe("ask argument:protected-files");
  });
  it.each(["callbackUrl", "base-url", "imageURL", "remoteHost"])("[WORST-6] so do hosts under %s", (key) => {
    expect(asked("web_search", { [key]: "http://169.254.169.254/" })).toBe("deny argument:host-not-allowed");
  });
  it("[WORST-6] must be seen where a grant lets a tool change files", () => {
    expect(asked("file_write", { path: "src/a.ts", content: "x" }, everyFile)).toBe("run token");
    expect(asked("file_write", { content: "x" }, everyFile)).toBe("ask tool:file_write");
    expect(asked("file_write", { wohin: "src/a.ts" }, everyFile)).toBe("ask tool:file_write");
  });
  it("[WORST-6] are so many and so long at most", () => {
    const paths = (count: number) => Array.from({ length: count }, (_, at) => `src/${at}`);
    expect(asked("file_read", { paths: paths(limits.call_paths) }, everyFile)).toBe("run token");
    expect(asked("file_read", { paths: paths(limits.call_paths + 1) }, everyFile)).toBe("deny arguments");
    expect(asked("file_read", { path: "a".repeat(limits.path_chars) }, everyFile)).toBe("run token");
    expect(asked("file_read", { path: "a".repeat(limits.path_chars + 1) }, everyFile)).toBe(
      "deny argument:outside-workspace",
    );
  });
});

describe("the name of a tool", () => {
  const open: Policy = {
    ...defaultPolicy,
    tools: { ...defaultPolicy.tools, "*": "auto_approve" },
    roles: { witness: { "*": "deny" } },
  };
  it.each(["file_read ", "file_dеlete", "File_Write", "file_write\u200b", "__proto__", "*", "", "a".repeat(65)])(
    "[WORST-7] that no policy could hold (%j) is let run by no word for all others",
    (tool) => {
      expect(asked(tool, {}, crew, open)).toBe("ask default");
      expect(asked(tool, {}, { ...crew, role: "witness" }, open)).toBe("deny role:witness");
    },
  );
  it("[WORST-7] that it could hold and does not is what the word for all others says", () => {
    expect(asked("rocket_launch", {}, crew, open)).toBe("run tool:rocket_launch");
  });
});

describe("what a policy makes of every file", () => {
  const rules = (count: number): Policy["arguments"] =>
    Array.from({ length: count }, (_, at) => ({
      ...{ id: `rule-${at}`, effect: "ask", check: "protected_files" },
      params: { also: Array.from({ length: 100 }, (_each, index) => `**/*a*a*a/**/${index}`) },
    }));
  it("[WORST-8] is bounded: so many globs in all its rules and gates", () => {
    const most = limits.policy_globs / 100;
    expect(policySchema.safeParse({ ...defaultPolicy, arguments: rules(most) }).success).toBe(true);
    expect(policySchema.safeParse({ ...defaultPolicy, arguments: rules(most + 1) }).success).toBe(false);
    const gates = [
      {
        id: "g",
        trigger: "on_tool_call",
        lane: "policy",
        action: "ask",
        check: "path_matches",
        params: { globs: ["x"] },
      },
    ];
    expect(policySchema.safeParse({ ...defaultPolicy, arguments: rules(most), gates }).success).toBe(false);
  });
});
