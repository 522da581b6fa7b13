import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { AttemptRef, ToolCall } from "../../src/agents/bus.ts";
import {
  approvalRequired,
  filtered,
  ownTools,
  prepared,
  researchTools,
  skillTools,
  stepTools,
  toolsFor,
} from "../../src/agents/tools/chain.ts";
import { commandEnvironment } from "../../src/agents/tools/environment.ts";
import { attemptGuard, useGuard } from "../../src/agents/tools/guard.ts";
import { readingTools } from "../../src/domain/policy-call.ts";
import { presets } from "../../src/domain/presets.ts";
import { limits } from "../../src/limits.ts";
import { TameBus, TameMinds } from "../fakes/world.ts";

const ref: AttemptRef = { attempt_id: "p.a.1", entry: 0, lease_id: "l", epoch: 1, agent: "crew-1" };
const all = skillTools(ownTools({ searches_web: true }), ["release"]);
const research = { mode: "research", preset: "READONLY", only: null } as const;
const execution = { mode: "execution", preset: "DEFAULT", only: null } as const;

function call(tool: string, args: unknown): ToolCall {
  return { call_id: "c", step: 0, tool, arguments: JSON.stringify(args), tree: null };
}

describe("the chain of a tool call", () => {
  it("[CHAIN-1] research holds no tool that changes anything; execution holds them all", () => {
    const held = filtered(all, research);
    expect([...held.keys()].sort()).toEqual([...researchTools].sort());
    expect([...held.values()].every((tool) => tool.reads_only && readingTools.includes(tool.name))).toBe(true);
    expect([...filtered(all, execution).keys()]).toEqual([...all.keys()]);
    expect([...filtered(stepTools(), { ...execution, mode: "research" }).keys()]).toEqual([]);
  });
  it("[CHAIN-2] no call may outlast its attempt", async () => {
    const timeout = (minutes: number) =>
      prepared(stepTools(), { minutes }).get("shell_execute")?.spec({ command: "x" })?.timeout_ms;
    expect([timeout(1), timeout(60)]).toEqual([60_000, limits.step_timeout_ms]);
    const edit = prepared(all, { minutes: 1 }).get("file_edit");
    if (edit?.does !== "prepared") throw new Error("an edit is prepared");
    const hands = {
      read: async () => new TextEncoder().encode("one"),
      list: async () => [],
      recall: async () => [],
      search: null,
    };
    const made = await edit.prepare({ path: "a", old_text: "one", new_text: "two" }, hands);
    expect(made).toMatchObject({ spec: { timeout_ms: 60_000, stdin: "two" } });
  });
  it("[TOOL-21] every command finds git's settings that take no ordinary folder for a repository", async () => {
    const made = prepared(all, { minutes: 1 });
    const shell = made.get("shell_execute")?.spec({ command: "x" });
    for (const spec of [shell, made.get("python_execute")?.spec({ code: "x" }), made.get("git_status")?.spec({})])
      expect(spec?.env).toMatchObject({ ...commandEnvironment, GIT_CONFIG_COUNT: "2" });
    const folder = mkdtempSync(join(tmpdir(), "bare-"));
    try {
      const run = (env: Record<string, string>) =>
        spawnSync("git", ["status"], { cwd: folder, env: { PATH: process.env.PATH ?? "", ...env }, encoding: "utf8" });
      for (const name of ["objects", "refs"]) mkdirSync(join(folder, name));
      writeFileSync(join(folder, "HEAD"), "ref: refs/heads/x\n");
      const own = ["bare = false", "worktree = .", "repositoryformatversion = 0", 'fsmonitor = "touch ran && false"'];
      writeFileSync(join(folder, "config"), own.map((line) => `[core] ${line}\n`).join(""));
      expect(run({}).status).toBe(0);
      expect(existsSync(join(folder, "ran"))).toBe(true);
      rmSync(join(folder, "ran"));
      expect(run({ ...shell?.env }).stderr).toContain("bare repository");
      expect(existsSync(join(folder, "ran"))).toBe(false);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
  it("[CHAIN-3] what runs is made from the very arguments that were authorized", async () => {
    const bus = new TameBus();
    const tools = toolsFor({ minutes: 30 }, "execution", bus, ref);
    const shell = { ...call("shell_execute", { command: "npm test" }), step: 3, tree: "t" };
    expect(await tools.authorize(shell)).toEqual({ answer: "run" });
    expect(bus.asked).toEqual([{ ref, call: shell }]);
    expect(tools.spec(shell)?.argv.at(-1)).toBe("npm test");
  });
  it("[CHAIN-4] a tool that is not at hand, and arguments that are not its own, are refused without asking anybody", async () => {
    const bus = new TameBus();
    const none = toolsFor({ minutes: 30 }, "research", bus, ref);
    const refused = { answer: "refused", error_code: "gate_blocked", scope: "call" };
    expect(await none.authorize(call("shell_execute", { command: "x" }))).toMatchObject(refused);
    const tools = approvalRequired(stepTools(), attemptGuard(bus, ref));
    for (const odd of [{}, { command: 1 }, { command: "x", cwd: "/" }, { command: "x", also: 1 }, [], null])
      expect(await tools.authorize(call("shell_execute", odd))).toMatchObject(refused);
    expect(tools.spec(call("rm", {}))).toBeNull();
    expect(bus.asked).toEqual([]);
  });
  it("[CHAIN-5] a skill's scripts can be run only where the order names the skill, and only those beside it", () => {
    expect(skillTools(stepTools(), []).has("skill_execute")).toBe(false);
    expect(skillTools(stepTools(), ["../x", ""]).has("skill_execute")).toBe(false);
    const tool = skillTools(stepTools(), ["release", "../x"]).get("skill_execute");
    const argv = (args: unknown) => tool?.spec(args)?.argv ?? null;
    expect(argv({ skill: "release", script: "make.sh", args: ["-x", "a b"] })).toEqual([
      "bash",
      "./.countersign/skills/release/make.sh",
      "-x",
      "a b",
    ]);
    expect(argv({ skill: "release", script: "make" })?.[0]).toBe("./.countersign/skills/release/make");
    for (const script of ["../make.sh", "a/b.sh", "", ".x", "-c"])
      expect(argv({ skill: "release", script })).toBeNull();
    expect(argv({ skill: "other", script: "make.sh" })).toBeNull();
    expect(argv({ skill: "../x", script: "make.sh" })).toBeNull();
  });
  it("[CHAIN-6] research has what its request lets it use of its own list, and nothing besides, under any preset", () => {
    for (const preset of presets) {
      const only = (names: readonly string[]) => [...filtered(all, { mode: "research", preset, only: names }).keys()];
      expect(only(["file_read", "file_write", "shell_execute", "git_log", "toString"])).toEqual(["file_read"]);
      expect(only([])).toEqual([]);
    }
  });
  it("[CHAIN-6] each call of research is a use that the runtime allows or refuses", async () => {
    const minds = new TameMinds();
    const guard = useGuard(minds, { task_id: "t", run_id: "r", agent: "crew-1", tools_allowed: ["file_read"] });
    expect([guard.mode, guard.only]).toEqual(["research", ["file_read"]]);
    const tools = approvalRequired(filtered(all, research), guard);
    const read = call("file_read", { path: "a" });
    expect(await tools.authorize(read)).toEqual({ answer: "run" });
    const run = { task_id: "t", run_id: "r", agent: "crew-1" };
    expect(minds.used).toEqual([{ ...run, call_id: "c", tool: "file_read", arguments: read.arguments }]);
    minds.using = () => ({ answer: "refused", rule: "tool:file_read", reason: "the policy denies file_read" });
    expect(await tools.authorize(read)).toEqual({
      answer: "refused",
      error_code: "gate_blocked",
      reason: "tool:file_read: the policy denies file_read",
      scope: "call",
    });
  });
  it("[CHAIN-7] under READONLY nothing that changes anything is offered, under any other preset everything is", () => {
    const under = (preset: (typeof presets)[number]) => [...filtered(all, { ...execution, preset }).values()];
    expect(
      under("READONLY")
        .map((tool) => tool.name)
        .sort(),
    ).toEqual([...all.keys()].filter((name) => readingTools.includes(name)).sort());
    for (const preset of ["DEFAULT", "STRICT", "PERMISSIVE"] as const) expect(under(preset).length).toBe(all.size);
  });
});
