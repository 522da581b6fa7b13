/** Executors that think, over the sample repository: a model whose answers a test writes down, one entry a call. */
import { crew } from "../../src/agents/crew.ts";
import { executor } from "../../src/agents/executor.ts";
import type { ModelAnswer, ModelCall, Turn } from "../../src/agents/models.ts";
import { canonicalJson } from "../../src/domain/canonical.ts";
import { build } from "../../src/domain/message.ts";
import { researchResult } from "../../src/domain/payloads.ts";
import type { ExecutionOrder, MindOrder } from "../../src/domain/result.ts";
import { world } from "./attempts.ts";
import { testMessage, testScope } from "./messages.ts";
import { attemptMessage, attemptOrder, only, type Sample, source } from "./orders.ts";
import { type Driven, type Driving, drive, runContext } from "./world.ts";

export const aMind: MindOrder = {
  goal: "Greet people.",
  allow: { tools: ["shell_execute", "file_read"], paths: ["src/**"], commands: ["edit"], hosts: [], secrets: [] },
  protect: ["test/**"],
  checks: [["npm", "test"]],
  skills: [],
  touches: ["src/a.txt", "src/gone.txt", "src/*.txt"],
  preset: "DEFAULT",
};
export function loopOrder(main: string, fields: Partial<ExecutionOrder> = {}): ExecutionOrder {
  const words = { title: "Greet", section: "Write the greeting." };
  return attemptOrder(main, { runner: "loop", steps: [], mind: aMind, ...words, ...fields });
}

type Call = readonly [tool: string, args: unknown];
/** What the model answers to one call: its words, and the tools it calls. */
export function says(text: string, ...calls: readonly Call[]): ModelAnswer {
  const made: ModelCall[] = calls.map(([tool, args], index) => ({
    call_id: `c${index}`,
    tool,
    arguments: typeof args === "string" ? args : canonicalJson(args),
  }));
  const usage = { input_tokens: 100, output_tokens: 10, cached_tokens: 0, estimated: false };
  return { model: "test/tame", text, calls: made, finish: made.length > 0 ? "calls" : "stop", usage, usd: 0.01 };
}
export const runs = (command: string): Call => ["shell_execute", { command }];
export const finishes = (summary = "Greeted.", more: object = {}): Call => ["finish", { summary, ...more }];

/** The answers of a whole conversation: which one is next follows from how many stand in it, so a repeated call is answered the same. */
export function scripted(w: Sample, ...answers: readonly ModelAnswer[]): Sample {
  w.models.script = ({ turns }) => {
    const next = answers[turns.filter(({ kind }) => kind === "said").length];
    if (next === undefined) throw new Error("the test wrote no further answer");
    return next;
  };
  return w;
}
export const thinker = (...answers: readonly ModelAnswer[]): Sample => scripted(world(), ...answers);

export function think(w: Sample, order: Partial<ExecutionOrder> = {}, driving: Driving = {}): Promise<Driven> {
  const asked = loopOrder(w.main, order);
  const message = attemptMessage(asked);
  const context = runContext(message, { run_id: `${message.message_id}.${asked.entry}` });
  return drive(executor, context, w.ports, driving);
}
/** Texts that the model was told in its last call, by kind of turn. */
export function toldIn(w: Sample, kind: Turn["kind"]): string[] {
  const turns = w.models.requests.at(-1)?.turns ?? [];
  return turns.flatMap((turn) => (turn.kind === kind && "text" in turn ? [turn.text] : []));
}

export interface Question {
  readonly content?: string;
  readonly max_tokens?: number;
  readonly tools_allowed?: string[];
  readonly answer_by?: number;
}
export function research(w: Sample, question: Question = {}, driving: Driving = {}): Promise<Driven> {
  const { content = "Which words greet?", max_tokens = 500, answer_by = 2_000_000 } = question;
  const tools_allowed = question.tools_allowed ?? ["web_search", "file_read", "search_files", "memory_search"];
  const message = testMessage(3, {
    message_kind: "research_request",
    sender: "planner",
    recipient: "executor_queue",
    task_id: "task-1",
    content,
    constraints: { return_format: "one word", max_tokens, tools_allowed },
    payload: {
      research_id: "research-1-id",
      plan_run_id: "plan-1",
      repo: source,
      commit: w.main,
      answer_by: new Date(answer_by).toISOString(),
    },
  });
  const agent = { agent: "research-1", run_id: `${message.message_id}.3` };
  return drive(crew, runContext(message, agent), w.ports, driving);
}
export function findings({ out }: Driven) {
  const found = only(out);
  const failed = (found.error_code ?? null) !== null;
  const message = build({
    ...found,
    ...{ message_id: "result-1", trace_id: "trace-1-long", scope_id: testScope, sender: "research-1", taint: "owner" },
    task_id: "task-1",
    attempt_number: failed ? 0 : null,
    retryable: failed ? (found.retryable ?? false) : null,
    origin_agent: failed ? "research-1" : null,
    created_at: "2026-01-01T00:00:00.000Z",
  });
  return { message, payload: researchResult.parse(message.payload) };
}
