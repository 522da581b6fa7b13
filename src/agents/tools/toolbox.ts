/**
 * The tools that a loop runs. A call is asked about, and that it may run is stored before anything of it begins; then it
 * is started once, followed to its end, settled, and told to the model. Looked at again it does nothing twice. [TOOL-1] [TOOL-2]
 */
import { z } from "zod";
import { canonicalJson, sha256Hex } from "../../domain/canonical.ts";
import type { Preset } from "../../domain/presets.ts";
import { limits } from "../../limits.ts";
import type { MindTool, ToolMove } from "../mind.ts";
import type { Asker, MindBus } from "../mind-bus.ts";
import {
  type CallOutcome,
  type Clock,
  type ExecSpec,
  type Sandboxes,
  SandboxFailure,
  type WebSearch,
} from "../ports.ts";
import { note, poll } from "../workspace.ts";
import { approvalRequired, filtered, ownTools, prepared, skillTools } from "./chain.ts";
import { fenced, type Reads } from "./fenced.ts";
import type { Guard } from "./guard.ts";
import { printed, saidBy } from "./results.ts";
import type { Hands, Told, Tool } from "./tool.ts";

export interface ToolboxOrder {
  readonly minutes: number;
  readonly preset: Preset;
  readonly skills: readonly string[];
}
export interface ToolboxDeps {
  readonly sandboxes: Sandboxes;
  readonly sandbox: string;
  readonly minds: Pick<MindBus, "recall">;
  readonly search: WebSearch | null;
  readonly clock: Clock;
  readonly asker: Asker;
  /** How far what a call brings back is trusted. */
  readonly reads: Reads;
}
export interface Toolbox {
  readonly tools: readonly MindTool[];
  run(
    call: { readonly call_id: string; readonly tool: string; readonly value: unknown },
    progress: unknown,
  ): Promise<ToolMove>;
}

const execSpec = z.strictObject({
  argv: z.array(z.string()),
  env: z.record(z.string(), z.string()).exactOptional(),
  timeout_ms: z.number(),
  stdin: z.string().exactOptional(),
});
/** What is stored of a call that may run: which one, its arguments included. `spec`: the command, where the arguments alone do not say it. */
const stored = z.strictObject({
  call_id: z.string(),
  hash: z.string(),
  allowed_at_ms: z.number(),
  offset: z.number().int(),
  spec: execSpec.nullable(),
});
type Stored = z.infer<typeof stored>;

/** Looking at a command is a commit each time; a chatty one is looked at a little later. */
const afterOutputMs = 150;

export function toolbox(order: ToolboxOrder, guard: Guard, deps: ToolboxDeps): Toolbox {
  const brought = skillTools(ownTools({ searches_web: deps.search !== null }), order.skills);
  const there = filtered(prepared(brought, order), { mode: guard.mode, preset: order.preset, only: guard.only });
  const guarded = approvalRequired(there, guard);
  const hands: Hands = {
    read: (path) => deps.sandboxes.read(deps.sandbox, path),
    list: (path) => deps.sandboxes.list(deps.sandbox, path),
    recall: (query, limit) => deps.minds.recall(deps.asker, query, limit),
    search: deps.search,
  };

  async function ask(call: { call_id: string; tool: string }, args: string, hash: string): Promise<ToolMove> {
    const answer = await guarded.authorize({ ...call, arguments: args, step: 0, tree: null });
    if (answer.answer === "wait") return { kind: "asks" };
    if (answer.answer === "run") {
      const { call_id } = call;
      const progress: Stored = { call_id, hash, allowed_at_ms: deps.clock.now(), offset: 0, spec: null };
      return { kind: "working", progress, wait_ms: 0, output: note(call.tool) };
    }
    if (answer.answer === "refused" && answer.scope === "call")
      return { kind: "result", text: refusedText(call.tool, answer.reason), is_error: true };
    return { kind: "stopped", entry: answer };
  }

  async function goOn(tool: Tool, value: unknown, at: Stored): Promise<ToolMove> {
    if (tool.does === "look") return tellLook(tool, value, at, await tool.look(value, hands));
    if (tool.does === "command") {
      const spec = tool.spec(value);
      if (spec === null) throw new Error(`the stored arguments of ${tool.name} are not its own`);
      return follow(tool, value, at, spec);
    }
    if (at.spec !== null) return follow(tool, value, at, at.spec);
    const made = await tool.prepare(value, hands);
    // Stored before it is begun: the file it was made from is another one afterwards.
    if ("spec" in made) return { kind: "working", progress: { ...at, spec: made.spec }, wait_ms: 0 };
    return tellLook(tool, value, at, made);
  }

  async function follow(
    tool: Extract<Tool, { tell: unknown }>,
    value: unknown,
    at: Stored,
    spec: ExecSpec,
  ): Promise<ToolMove> {
    const { sandboxes, sandbox } = deps;
    const seen = await once(() => poll(sandboxes, sandbox, { call_id: at.call_id, offset: at.offset }, spec));
    if ("reason" in seen) return end(tool, value, at, seen, () => tool.tell(value, { ended: seen, output: "" }));
    const { ended } = seen;
    if (ended === null) {
      const wait_ms = seen.output.byteLength > 0 ? afterOutputMs : 0;
      return { kind: "working", progress: { ...at, offset: seen.call.offset }, wait_ms, output: seen.output };
    }
    if (ended.state === "unknown") {
      await guarded.settle(at.call_id, ended);
      return { kind: "lost", detail: `what became of a call of ${tool.name} is not known` };
    }
    const output = await printed(sandboxes, sandbox, at.call_id, seen.call.offset);
    const said = await saidBy(sandboxes, sandbox, at.call_id, seen.call.offset);
    return end(tool, value, at, ended, () => tool.tell(value, { ended, output }), said);
  }

  async function tellLook(tool: Tool, value: unknown, at: Stored, told: Told): Promise<ToolMove> {
    const duration_ms = Math.max(0, deps.clock.now() - at.allowed_at_ms);
    const outcome = { state: "exited", exit_code: told.is_error ? 1 : 0, signal: null, duration_ms } as const;
    return end(tool, value, at, outcome, () => told, told.text.slice(0, limits.said_characters));
  }
  async function end(
    { name }: Tool,
    value: unknown,
    at: Stored,
    outcome: CallOutcome,
    tell: () => Told,
    said = "",
  ): Promise<ToolMove> {
    await guarded.settle(at.call_id, outcome, said);
    return {
      kind: "result",
      ...fenced(tell(), name, deps.reads({ tool: name, args: JSON.parse(canonicalJson(value)) })),
    };
  }

  return {
    tools: [...there.values()].map(({ offer, read }) => ({ offer, read, ends: false })),
    async run({ call_id, tool: name, value }, progress) {
      const args = canonicalJson(value);
      const at = progress === null ? null : stored.parse(progress);
      const tool = there.get(name);
      // What is stored of another call lets nothing of this one run.
      const hash = sha256Hex(`${call_id}\n${name}\n${args}`);
      if (at === null || at.hash !== hash || tool === undefined) return ask({ call_id, tool: name }, args, hash);
      return goOn(tool, JSON.parse(args), at);
    },
  };
}

type NeverStarted = Extract<CallOutcome, { state: "never_started" }>;
/** What the host does not take as a command at all never started; any other failure is not this call's. */
async function once<T>(work: () => Promise<T>): Promise<T | NeverStarted> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof SandboxFailure) || error.code !== "bad_request") throw error;
    return { state: "never_started", reason: error.message };
  }
}

function refusedText(tool: string, reason: string): string {
  return `${tool} was not run: ${reason}. Do not ask for the same again; find another way, or end with what you have.`;
}
