/**
 * One loop of so many steps, each a call of the same mock model and a call of a tool that answers at once: ours over the
 * object's own rows, as an agent runs it, and the AI SDK's own in memory. The mock is asked through the SDK by both.
 */
import { DurableObject } from "cloudflare:workers";
import { generateText, isStepCount, jsonSchema, type ModelMessage, type ToolSet, tool } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { AgentRecords } from "../../../durable-objects/agent/records.ts";
import type { AgentRemotes } from "../../../durable-objects/agent/remotes.ts";
import { SharedWork } from "../../../durable-objects/agent/shared.ts";
import type { Shown } from "../../../durable-objects/agent/shown.ts";
import { Steps } from "../../../durable-objects/agent/steps.ts";
import { inbox, openStores } from "../../../durable-objects/agent/stores.ts";
import { durableSql } from "../../../durable-objects/sql.ts";
import { messagesOf } from "../../../src/adapters/model-messages.ts";
import { openLoop, stepLoop } from "../../../src/agents/loop.ts";
import { loopState, type Mind, type MindTool } from "../../../src/agents/mind.ts";
import type { ModelAnswer, ModelRequest, Models } from "../../../src/agents/models.ts";
import type { Ports, Role, Step } from "../../../src/agents/step.ts";
import { build } from "../../../src/domain/message.ts";
import type { LoopEnv } from "./loop-entry.ts";

const scope_id = "benchloopbench00";
const parameters = { type: "object", properties: { path: { type: "string" } }, required: ["path"] } as const;
const instructions = "You look at files, one after the other, and say what they hold. ".repeat(20);
const order = "Look at every file. ".repeat(50);
const found = (path: string): string => `${path}: ${"a line of a file, as long as lines are\n".repeat(20)}`;
const usage = {
  inputTokens: { total: 100, noCache: 100, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 10, text: 10, reasoning: undefined },
};
const far = 3_600_000;

/** Calls `look` until the conversation holds so many answers, then `finish`. */
function mock(steps: number): MockLanguageModelV4 {
  const model = new MockLanguageModelV4({
    doGenerate: async ({ prompt }) => {
      const at = prompt.filter(({ role }) => role === "assistant").length;
      const toolName = at < steps ? "look" : "finish";
      // Paths without numbers: results that differ only in numbers would be taken for a loop.
      const path = [...String(at)].map((digit) => "ghijklmnop".charAt(Number(digit))).join("");
      const asked = { type: "tool-call" as const, toolCallId: `call-${at}`, toolName, input: JSON.stringify({ path }) };
      model.doGenerateCalls.length = 0;
      return { content: [asked], finishReason: { unified: "tool-calls", raw: "tool_calls" }, usage, warnings: [] };
    },
  });
  return model;
}
const offers = ["look", "finish"].map((name) => ({ name, description: `what ${name} does`, parameters }));
const tools: readonly MindTool[] = offers.map((offer) => ({
  offer,
  ends: offer.name === "finish",
  read: (value) => ({ ok: true, value }),
}));

export class LoopObject extends DurableObject<LoopEnv> {
  readonly #stores = openStores(durableSql(this.ctx));
  readonly #records = new AgentRecords(this.#stores);

  /** Through the object's own steps. `sync`: what was committed is on disk before the model is called, as it is when the model is far away. */
  async ours({ series, steps, sync }: { series: string; steps: number; sync: boolean }): Promise<number> {
    const stores = this.#stores;
    const ports = { models: this.#models(steps, sync), minds: willing, clock: { now: () => Date.now() } };
    const remotes = { ports: () => ports } as unknown as AgentRemotes; // all that a loop asks for
    const shown = { show: async () => undefined } as unknown as Shown;
    const parts = { records: this.#records, remotes, shared: new SharedWork(stores, remotes), shown };
    const runner = new Steps(stores, { ...parts, roleOf: () => looking(steps) });
    const now = Date.now();
    stores.self.start({ scope: scope_id, name: "planner" }, now);
    const message = build({
      ...{
        message_id: series,
        trace_id: `trace-${series}-long`,
        scope_id,
        message_kind: "plan_request",
        content: order,
      },
      ...{ sender: "proxy", recipient: "planner", taint: "member", task_id: "task-1" },
      ...{ created_at: new Date(now).toISOString(), payload: { repo: "file:///r", ref: "HEAD" } },
    });
    stores.queue.enqueue(inbox, message, {}, now);
    const request = { holder: "planner", lease_id: `lease-${series}`, lease_ms: far, many: true };
    const { lease } = stores.queue.lease(inbox, request, now);
    if (lease === null) throw new Error("nothing to lease");
    stores.sql.transaction(() => runner.open(series, message, lease, now));
    if (!(await runner.drive(series, now + far))) throw new Error("the run did not end");
    if (sync) await this.ctx.storage.sync();
    return steps;
  }
  /** The SDK's own loop: nothing is kept. */
  async theirs({ steps }: { steps: number }): Promise<number> {
    const look = tool({
      ...{ description: "what look does", inputSchema: jsonSchema<{ path: string }>(parameters) },
      execute: async ({ path }) => found(path),
    });
    const both: ToolSet = {
      look,
      finish: tool({ description: "what finish does", inputSchema: jsonSchema(parameters) }),
    };
    const { steps: made } = await generateText({
      ...{ model: mock(steps), instructions, prompt: order, tools: both, toolChoice: "required" },
      stopWhen: isStepCount(steps + 1),
    });
    if (made.length !== steps + 1) throw new Error(`it made ${made.length} steps`);
    return steps;
  }

  #models(steps: number, sync: boolean): Models {
    const model = mock(steps);
    const named: ToolSet = Object.fromEntries(
      offers.map(({ name, description }) => [name, tool({ description, inputSchema: jsonSchema(parameters) })]),
    );
    return {
      configured: () => ["bench/mock"],
      call: async (request: ModelRequest): Promise<ModelAnswer> => {
        if (sync) await this.ctx.storage.sync();
        const messages: ModelMessage[] = messagesOf(request.turns);
        const answer = await generateText({
          ...{
            model,
            instructions: request.instructions,
            messages,
            tools: named,
            toolChoice: "required",
            maxRetries: 0,
          },
        });
        const calls = answer.toolCalls.map(({ toolCallId, toolName, input }) => ({
          ...{ call_id: toolCallId, tool: toolName, arguments: JSON.stringify(input) },
        }));
        const said = { model: "bench/mock", text: answer.text, calls, finish: "calls" as const, usd: 0 };
        return { ...said, usage: { input_tokens: 100, output_tokens: 10, cached_tokens: 0, estimated: false } };
      },
    };
  }
}

/** A runtime that is next door and always says yes: what is measured is the loop. */
const willing = {
  mayThink: async () => ({ answer: "go", tokens_left: null, usd_left: null }) as const,
  thought: async () => undefined,
} as unknown as Ports["minds"];

function looking(steps: number): Role<unknown> {
  const mind: Mind = {
    ...{ role: "planner", prompt: "bench@1", instructions, simpler: instructions, tools, temperature: null },
    ...{ payer: { kind: "task", task_id: "task-1", why: "plan" }, max_output_tokens: 1_000, max_steps: steps + 2 },
    // What stands there was offered just above.
    run: async ({ value }) => ({ kind: "result", text: found((value as { path: string }).path), is_error: false }),
  };
  return {
    open: ({ opened_at_ms }) => openLoop(opened_at_ms),
    parse: (stored) => loopState.parse(stored),
    async step(state, context, ports): Promise<Step<unknown>> {
      if (context.turns.length === 0) return { kind: "continue", state, turns: [{ kind: "told", text: order }] };
      const move = await stepLoop(loopState.parse(state), mind, { context, ports });
      if (move.kind === "on") return { ...move, kind: "continue" };
      if (move.kind !== "answered") throw new Error(`the loop ended with ${move.kind}`);
      return { kind: "end", state: move.state, out: [] };
    },
  };
}
