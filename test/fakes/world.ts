/**
 * A tame world for the agents: a bus whose answers a test chooses, artifacts in memory, a clock that stands still,
 * and a loop that steps a role to its end. Between two steps nothing survives but JSON, as in an object that restarts.
 */

import { absentGithub } from "../../src/adapters/github-world.ts";
import type { AttemptRef, Authorization, Bus, Entry, OpenCall, ToolCall } from "../../src/agents/bus.ts";
import type {
  Asker,
  MayThink,
  MayUse,
  MindBus,
  PastTask,
  Remembered,
  Thought,
  ThoughtRef,
  Use,
} from "../../src/agents/mind-bus.ts";
import {
  type ModelAnswer,
  ModelFailure,
  type ModelRequest,
  type ModelRole,
  type Models,
} from "../../src/agents/models.ts";
import type { Artifacts, CallOutcome, Sandboxes, SandboxFailure } from "../../src/agents/ports.ts";
import type { Effect, Outgoing, Ports, Role, RunContext, Step } from "../../src/agents/step.ts";
import { canonicalJson } from "../../src/domain/canonical.ts";
import type { Message } from "../../src/domain/message.ts";
import { testScope } from "./messages.ts";

export class TameBus implements Bus {
  readonly begun: AttemptRef[] = [];
  readonly asked: { readonly ref: AttemptRef; readonly call: ToolCall }[] = [];
  readonly settled: { readonly call_id: string; readonly outcome: CallOutcome; readonly said?: string }[] = [];
  readonly found: (OpenCall & { readonly outcome: CallOutcome })[] = [];
  publishing: () => boolean = () => true;
  beginning: () => Entry = () => ({ answer: "go" });
  authorizing: (call: ToolCall) => Authorization = () => ({ answer: "run" });

  async begin(ref: AttemptRef): Promise<Entry> {
    this.begun.push(ref);
    return this.beginning();
  }
  async authorize(ref: AttemptRef, call: ToolCall): Promise<Authorization> {
    this.asked.push({ ref, call });
    return this.authorizing(call);
  }
  async settle(_: AttemptRef, call_id: string, outcome: CallOutcome, said = ""): Promise<void> {
    this.settled.push({ call_id, outcome, ...(said === "" ? {} : { said }) });
  }
  async lookedUp(_: AttemptRef, about: OpenCall, outcome: CallOutcome): Promise<void> {
    this.found.push({ ...about, outcome });
  }
  async mayPublish(): Promise<boolean> {
    return this.publishing();
  }
  async heartbeat(): Promise<boolean> {
    return true;
  }
}

export class TameMinds implements MindBus {
  readonly asked: ThoughtRef[] = [];
  readonly charged: Thought[] = [];
  readonly used: Use[] = [];
  readonly said: string[] = [];
  thinking: (ref: ThoughtRef) => MayThink = () => ({ answer: "go", tokens_left: null, usd_left: null });
  using: (use: Use) => MayUse = () => ({ answer: "run" });
  memories: (query: string) => readonly Remembered[] = () => [];

  async mayThink(ref: ThoughtRef): Promise<MayThink> {
    this.asked.push(ref);
    return this.thinking(ref);
  }
  async thought(_: string, done: Thought): Promise<void> {
    if (!this.charged.some((known) => known.thought_id === done.thought_id)) this.charged.push(done);
  }
  async mayUse(use: Use): Promise<MayUse> {
    this.used.push(use);
    return this.using(use);
  }
  async recall(asker: Asker, query: string, limit: number): Promise<readonly Remembered[]> {
    const own = (task_id: string | null) => asker.others_only === true && task_id === asker.task_id;
    return this.memories(query)
      .filter(({ task_id }) => !own(task_id))
      .slice(0, limit);
  }
  past: readonly PastTask[] = [];
  async history(): Promise<readonly PastTask[]> {
    return this.past;
  }
  readonly #ids = new Set<string>();
  async say(_: string, id: string, text: string): Promise<void> {
    if (!this.#ids.has(id)) this.said.push(text);
    this.#ids.add(id);
  }
}

/** Answers what the test wrote down, one entry a call; an error is thrown. */
export class TameModels implements Models {
  readonly requests: ModelRequest[] = [];
  script: (request: ModelRequest, index: number) => ModelAnswer | ModelFailure = () =>
    new ModelFailure("not_configured", "the test wrote no answer", { model: "test/tame" });
  names: readonly string[] = ["test/tame"];
  mostUsd: NonNullable<Models["mostUsd"]> = () => null;

  /** Roles that have no model. */
  without: readonly ModelRole[] = [];

  configured(role: ModelRole): readonly string[] {
    return this.without.includes(role) ? [] : this.names;
  }
  async call(request: ModelRequest): Promise<ModelAnswer> {
    const { signal: _, ...asked } = request;
    this.requests.push(structuredClone(asked));
    const answer = this.script(request, this.requests.length - 1);
    if (answer instanceof ModelFailure) throw answer;
    return answer;
  }
}

export class MemoryArtifacts implements Artifacts {
  readonly stored = new Map<string, Uint8Array>();
  async put(key: string, bytes: Uint8Array): Promise<void> {
    this.stored.set(key, bytes.slice());
  }
  async get(key: string): Promise<Uint8Array | null> {
    return this.stored.get(key) ?? null;
  }
}

export interface Asked {
  readonly method: string;
  readonly args: readonly unknown[];
}
/** The same sandboxes, with every call on record, and a failure instead of an answer where the test wants one. */
export function watched(real: Sandboxes) {
  const asked: Asked[] = [];
  type Fault = SandboxFailure | null;
  const faults: { next: (call: Asked) => Fault | Promise<Fault> } = { next: () => null };
  const sandboxes = new Proxy(real, {
    get(target, method) {
      const found: unknown = Reflect.get(target, method);
      if (typeof found !== "function" || typeof method !== "string") return found;
      return async (...args: unknown[]) => {
        const call = { method, args };
        asked.push(call);
        const fault = await faults.next(call);
        if (fault !== null) throw fault;
        return found.apply(target, args);
      };
    },
  });
  return { sandboxes, asked, faults };
}

export function tameWorld(real: Sandboxes) {
  const { sandboxes, asked, faults } = watched(real);
  const bus = new TameBus();
  const minds = new TameMinds();
  const models = new TameModels();
  const artifacts = new MemoryArtifacts();
  const clock = { at: 1_000_000, now: () => clock.at };
  const posts = { post: async () => ({ kind: "failed" as const, why: "nobody is there" }) };
  const shows = { standing: () => Promise.resolve(null) };
  const ports: Ports = {
    sandboxes,
    artifacts,
    bus,
    clock,
    minds,
    models,
    search: null,
    github: absentGithub(),
    shows,
    posts,
  };
  return { ports, bus, minds, models, artifacts, clock, asked, faults };
}

export function runContext(message: Message, fields: Partial<RunContext> = {}): RunContext {
  const lease = { lease_id: "lease-1", epoch: 3 };
  const run = { run_id: message.message_id, turns: [], notes: [], opened_at_ms: 1_000_000 };
  return { scope_id: testScope, agent: "crew-1", message, lease, cancelled: false, ...run, ...fields };
}

export interface Driven {
  readonly out: readonly Outgoing[];
  readonly output: string;
  readonly effects: readonly Effect[];
  readonly waits: readonly number[];
  /** What left while the run went on. */
  readonly sent: readonly (Outgoing & { readonly key: string })[];
  /** The state before each step, oldest first. */
  readonly states: readonly unknown[];
}
export interface Driving {
  /** Every step is done twice from the same stored state: the first time the object dies before it commits. */
  readonly dies?: boolean;
  /** Asked before each step with the stored state: what the object tells the run from now on. */
  readonly before?: (stored: unknown, index: number) => Partial<RunContext> | undefined;
}
const maxSteps = 500;

export async function drive<S>(
  role: Role<S>,
  opened: RunContext,
  ports: Ports,
  driving: Driving = {},
): Promise<Driven> {
  let context = opened;
  let stored = canonicalJson(role.open(context));
  const text = new TextDecoder();
  const [states, effects, waits]: [unknown[], Effect[], number[]] = [[], [], []];
  const sent: (Outgoing & { readonly key: string })[] = [];
  let output = "";
  for (let index = 0; index < maxSteps; index++) {
    const parsed: unknown = JSON.parse(stored);
    states.push(parsed);
    context = { ...context, ...driving.before?.(parsed, index) };
    const take = (): Promise<Step<S>> => role.step(role.parse(JSON.parse(stored)), context, ports);
    if (driving.dies === true) await take();
    const step = await take();
    output += text.decode(step.output);
    effects.push(...(step.effects ?? []));
    sent.push(...(step.send ?? []));
    stored = canonicalJson(step.state);
    context = { ...context, turns: [...context.turns, ...(step.turns ?? [])] };
    if (step.kind === "end") return { out: step.out, output, effects, waits, sent, states };
    if (step.kind === "wait") waits.push(step.wait_ms);
  }
  throw new Error(`the run does not end; it stands at ${stored}`);
}
