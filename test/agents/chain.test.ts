import { describe, expect, it } from "vitest";
import type { AttemptRef, Bus, ToolCall } from "../../src/agents/bus.ts";
import { approvalRequired, filtered, prepared, skillTools, type Tool, toolsFor } from "../../src/agents/tools/chain.ts";
import { limits } from "../../src/limits.ts";

const ref: AttemptRef = { attempt_id: "p.a.1", entry: 0, lease_id: "l", epoch: 1, agent: "crew-1" };
const look: Tool = { name: "file_read", reads_only: true, spec: () => ({ argv: ["cat"], timeout_ms: 5 }) };

function recorded() {
  const asked: string[] = [];
  const bus: Bus = {
    begin: async () => ({ answer: "go" }),
    authorize: async (_ref, call) => {
      asked.push(call.arguments);
      return { answer: "run" };
    },
    settle: async () => undefined,
    lookedUp: async () => undefined,
    mayPublish: async () => true,
    heartbeat: async () => true,
  };
  return { asked, bus };
}
function call(tool: string, args: unknown): ToolCall {
  return { call_id: "c", step: 0, tool, arguments: JSON.stringify(args), tree: null };
}

describe("the chain of a tool call", () => {
  it("[CHAIN-1] research holds no tool that changes anything; execution holds them all", () => {
    const tools = new Map([...skillTools(), [look.name, look] as const]);
    expect([...filtered(tools, "research").keys()]).toEqual(["file_read"]);
    expect([...filtered(tools, "execution").keys()]).toEqual(["shell_execute", "file_read"]);
  });
  it("[CHAIN-2] no call may outlast its attempt", () => {
    const timeout = (minutes: number) =>
      prepared(skillTools(), { minutes }).get("shell_execute")?.spec({ command: "x" })?.timeout_ms;
    expect([timeout(1), timeout(60)]).toEqual([60_000, limits.step_timeout_ms]);
  });
  it("[CHAIN-3] what runs is made from the very arguments that were authorized", async () => {
    const { asked, bus } = recorded();
    const tools = toolsFor({ minutes: 30 }, "execution", bus, ref);
    const shell = call("shell_execute", { command: "npm test" });
    expect(await tools.authorize(shell)).toEqual({ answer: "run" });
    expect(asked).toEqual([shell.arguments]);
    expect(tools.spec(shell)?.argv.at(-1)).toBe("npm test");
  });
  it("[CHAIN-4] a tool that is not at hand, and arguments that are not its own, are refused without asking anybody", async () => {
    const { asked, bus } = recorded();
    const research = toolsFor({ minutes: 30 }, "research", bus, ref);
    expect(await research.authorize(call("shell_execute", { command: "x" }))).toMatchObject({
      answer: "refused",
      error_code: "gate_blocked",
    });
    const tools = approvalRequired(skillTools(), bus, ref);
    for (const odd of [{}, { command: 1 }, { command: "x", cwd: "/" }, [], null])
      expect(await tools.authorize(call("shell_execute", odd))).toMatchObject({ answer: "refused" });
    expect(tools.spec(call("rm", {}))).toBeNull();
    expect(asked).toEqual([]);
  });
});
