/**
 * A question of a planner, looked up in a checkout by tools that only read: no set-up, no network, nothing of it kept but
 * the answer. What the answer rests on is said with it, so that it is trusted no further than that. [MIND-*]
 */
import { z } from "zod";
import { assemble } from "../domain/context.ts";
import { type ErrorCode, errorCode, joinTaint, taint } from "../domain/message.ts";
import { researchRequest, type researchResult } from "../domain/payloads.ts";
import { sandboxId } from "../domain/result.ts";
import { estimatedTokens } from "../domain/token-count.ts";
import { limits } from "../limits.ts";
import { bracketed, type UnderWay } from "./effects.ts";
import { endingTool } from "./ending-tool.ts";
import { openLoop, stepLoop } from "./loop.ts";
import { loopState, type Mind } from "./mind.ts";
import type { MindBus } from "./mind-bus.ts";
import type { WebSearch } from "./ports.ts";
import { readProject } from "./project-files.ts";
import { promptOf } from "./prompts/registry.ts";
import type { Ports, Role, RunContext, Step } from "./step.ts";
import { useGuard } from "./tools/guard.ts";
import { toolbox } from "./tools/toolbox.ts";
import { afterFailure, firstOf } from "./workspace.ts";

export const researchState = z.strictObject({
  kind: z.literal("research"),
  at: z.enum(["create", "checkout", "work", "close", "answer"]),
  mind: loopState.nullable(),
  failures: z.number().int(),
  /** Of all that was read for it so far. */
  taint,
  found: z.strictObject({ text: z.string(), cut: z.boolean(), error_code: errorCode.nullable() }).nullable(),
});
export type ResearchState = z.infer<typeof researchState>;

interface Scene {
  readonly state: ResearchState;
  readonly context: RunContext;
  readonly ports: Ports;
  readonly asked: z.infer<typeof researchRequest>;
  readonly max_tokens: number;
  readonly sandbox: string;
}

export const research: Role<ResearchState> = {
  open: ({ message }) => ({
    kind: "research",
    at: "create",
    mind: null,
    failures: 0,
    // Members wrote what lies in a repository, at best.
    taint: joinTaint(message.taint, "member"),
    found: null,
  }),
  parse: (stored) => researchState.parse(stored),
  async step(state, context, ports) {
    if (context.lease === null) throw new Error("a question is looked up under a lease");
    const { message } = context;
    const asked = researchRequest.parse(message.payload);
    const max_tokens = message.constraints?.max_tokens ?? limits.research_tokens;
    const sandbox = sandboxId(context.scope_id, message.message_id, context.lease.epoch);
    const scene: Scene = { state, context, ports, asked, max_tokens, sandbox };
    const closing = state.at === "close" || state.at === "answer";
    const over = Date.parse(asked.answer_by) <= ports.clock.now();
    if (!closing && (context.cancelled || over))
      return left(scene, failed(scene, "timeout", "it was not found out in time"), "unknown");
    try {
      const next = await steps[state.at](scene);
      const calm = next.kind === "end" ? next : { ...next, state: { ...next.state, failures: 0 } };
      return left(scene, calm, "done");
    } catch (error) {
      const after = afterFailure(error, state.failures);
      if (after.again)
        return { kind: "wait", wait_ms: after.wait_ms, state: { ...state, failures: state.failures + 1 } };
      if (closing) return left(scene, to(scene, { at: "answer" }), "unknown");
      return left(scene, failed(scene, "tool_failure", after.failure.message), "failed");
    }
  },
};

const steps: Record<ResearchState["at"], (scene: Scene) => Promise<Step<ResearchState>>> = {
  async create(scene) {
    const { context, ports, sandbox } = scene;
    const { message_id } = context.message;
    await ports.sandboxes.create(sandbox, {
      scope_id: context.scope_id,
      owner: message_id,
      worktree: `.runtime/worktrees/${context.scope_id}/research/${message_id}-${context.lease?.epoch ?? 0}`,
      memory_mb: limits.sandbox_memory_mb,
      processes: limits.sandbox_processes,
      file_mb: limits.sandbox_file_mb,
    });
    return to(scene, { at: "checkout" });
  },
  async checkout(scene) {
    const { context, ports, asked, sandbox } = scene;
    await ports.sandboxes.checkout(sandbox, { scope_id: context.scope_id, url: asked.repo }, asked.commit);
    return to(scene, { at: "work" });
  },
  async work(scene) {
    const { state, context, ports } = scene;
    if (state.mind === null) return begin(scene);
    const read = { taint: state.taint };
    const moved = await stepLoop(state.mind, mindOf(scene, read), { context, ports });
    const after: Scene = { ...scene, state: { ...state, mind: moved.state, taint: read.taint } };
    const more = {
      turns: moved.turns,
      ...(moved.output === undefined ? {} : { output: moved.output }),
      ...(moved.effects === undefined ? {} : { effects: moved.effects }),
    };
    switch (moved.kind) {
      case "on":
        return { kind: "wait", wait_ms: moved.wait_ms, state: after.state, ...more };
      case "answered":
        return { ...to(after, { at: "close", found: cutTo(answering.parse(moved.value).text, scene) }), ...more };
      case "stopped":
        return { ...failed(after, "gate_blocked", moved.entry.reason), ...more };
      case "asks":
        return { ...failed(after, "gate_blocked", "a question cannot wait for a person"), ...more };
      case "failed":
        return { ...failed(after, moved.error_code, moved.detail), ...more };
      case "stuck":
      case "lost":
        return { ...failed(after, "tool_failure", moved.detail), ...more };
    }
  },
  async close(scene) {
    await scene.ports.sandboxes.destroy(scene.sandbox);
    return to(scene, { at: "answer" });
  },
  async answer({ state, context, asked }) {
    const { found } = state;
    if (found === null || context.lease === null) throw new Error("a question is answered after it was looked up");
    const payload: z.infer<typeof researchResult> = {
      research_id: asked.research_id,
      plan_run_id: asked.plan_run_id,
      ...context.lease,
      taint: state.taint,
      cut: found.cut,
    };
    const failure = found.error_code === null ? {} : { error_code: found.error_code, retryable: true };
    const { sender } = context.message;
    const result = { message_kind: "research_result", recipient: sender, content: found.text, payload } as const;
    return { kind: "end", state, out: [{ ...result, ...failure }] };
  },
};

const answering = z.strictObject({ text: z.string().min(1) });
const answer = endingTool("answer", "The answer to the question, in the form it asks for. Ends the work.", answering);

async function begin(scene: Scene): Promise<Step<ResearchState>> {
  const { state, context, ports, sandbox, max_tokens } = scene;
  const { message } = context;
  const form = message.constraints?.return_format ?? "a few sentences";
  const text = `${message.content}\n\nForm of the answer: ${form}. At most ${max_tokens} tokens; what is longer is cut off.`;
  const rules = await readProject(ports.sandboxes, sandbox, { skills: [], taint: state.taint });
  const source = "the planner";
  const question = { kind: "item", title: "Question", text, taint: message.taint, source } as const;
  const brief = assemble([question, ...rules], limits.context_tokens);
  const turns = [{ kind: "told", text: brief.text }] as const;
  const mind = openLoop(ports.clock.now());
  return { ...to(scene, { mind, taint: joinTaint(state.taint, brief.taint) }), turns };
}

function mindOf(scene: Scene, read: { taint: ResearchState["taint"] }): Mind {
  const { context, ports, sandbox, max_tokens } = scene;
  const { agent, run_id, message } = context;
  const task_id = message.task_id ?? "";
  const guard = useGuard(ports.minds, {
    task_id,
    run_id,
    agent,
    tools_allowed: message.constraints?.tools_allowed ?? null,
  });
  const box = toolbox({ minutes: limits.research_timeout_ms / 60_000, preset: "READONLY", skills: [] }, guard, {
    sandboxes: ports.sandboxes,
    sandbox,
    minds: { recall: remembering(ports.minds, read) },
    search: searching(ports.search, read),
    clock: ports.clock,
    asker: { task_id, agent },
    reads: () => read.taint,
  });
  const tools = [...box.tools, answer];
  const names = tools.map(({ offer }) => offer.name);
  const prompt = promptOf("executor", "research", { tools: names, max_tokens });
  return {
    role: "executor",
    prompt: prompt.name,
    instructions: prompt.instructions,
    simpler: prompt.simpler,
    tools,
    payer: { kind: "task", task_id, why: "research" },
    max_output_tokens: limits.research_output_tokens,
    temperature: null,
    max_steps: limits.research_steps,
    run: box.run,
  };
}
/** What is read from elsewhere counts, whether or not the answer rests on it: nobody could tell. */
function remembering(minds: MindBus, read: { taint: ResearchState["taint"] }): MindBus["recall"] {
  return async (asker, query, limit) => {
    const found = await minds.recall(asker, query, limit);
    read.taint = joinTaint(read.taint, ...found.map((entry) => entry.taint));
    return found;
  };
}
function searching(search: WebSearch | null, read: { taint: ResearchState["taint"] }): WebSearch | null {
  if (search === null) return null;
  return {
    search(query, limit) {
      read.taint = joinTaint(read.taint, "web");
      return search.search(query, limit);
    },
  };
}

/** What is longer than was asked for ends, and says so. */
function cutTo(text: string, { max_tokens }: Scene): NonNullable<ResearchState["found"]> {
  if (estimatedTokens(text) <= max_tokens) return { text: text.toWellFormed(), cut: false, error_code: null };
  const notice = `\n[cut: the answer was longer than ${max_tokens} tokens]`;
  let kept = text.slice(0, max_tokens * bytesPerToken).toWellFormed();
  while (estimatedTokens(kept) > max_tokens) kept = kept.slice(0, Math.floor(kept.length * 0.9)).toWellFormed();
  return { text: `${kept}${notice}`, cut: true, error_code: null };
}
const bytesPerToken = 4;
const whyMax = 1_000;

function to(
  scene: Scene,
  change: Partial<ResearchState>,
): { readonly kind: "continue"; readonly state: ResearchState } {
  return { kind: "continue", state: { ...scene.state, ...change } };
}
function failed(scene: Scene, error_code: ErrorCode, why: string) {
  return to(scene, { at: "close", found: { text: firstOf(why, whyMax), cut: false, error_code } });
}
/** Its sandbox is on record as every sandbox is. */
function left({ state, sandbox, asked }: Scene, next: Step<ResearchState>, how: "done" | "failed" | "unknown") {
  const underWay = ({ at }: ResearchState): UnderWay[] => {
    const details = { sandbox };
    if (at === "create") return [{ kind: "sandbox_create", id: sandbox, details }];
    if (at === "checkout")
      return [{ kind: "sandbox_checkout", id: sandbox, details: { ...details, commit: asked.commit } }];
    return at === "close" ? [{ kind: "sandbox_destroy", id: sandbox, details }] : [];
  };
  return bracketed(underWay(state), underWay(next.state), next, how);
}
