/**
 * A scope with its real runtime over node:sqlite and everybody who works in it in this process: agents are their real
 * roles, stepped as their object steps them; sandboxes are in memory; the model is obedient. What each call was answered
 * is noted where it is answered, and what took effect is read from the audit and the sandboxes. [MND-41]
 */

import type { EventSockets } from "../../../durable-objects/event-sockets.ts";
import { AgentsDoor } from "../../../durable-objects/runtime/doors-agents.ts";
import { MindsDoor } from "../../../durable-objects/runtime/doors-minds.ts";
import { Feed } from "../../../durable-objects/runtime/feed.ts";
import { absentGithub } from "../../../src/adapters/github-world.ts";
import { crew } from "../../../src/agents/crew.ts";
import { planner } from "../../../src/agents/planner.ts";
import type { WebFound } from "../../../src/agents/ports.ts";
import { proxy } from "../../../src/agents/proxy.ts";
import type { Note, Outgoing, Ports, Role, RunContext, Step } from "../../../src/agents/step.ts";
import { searchScript } from "../../../src/agents/tools/search.ts";
import { writeScript } from "../../../src/agents/tools/writing.ts";
import { canonicalJson } from "../../../src/domain/canonical.ts";
import { derivedId } from "../../../src/domain/ids.ts";
import { derive, type Message } from "../../../src/domain/message.ts";
import { base, HeldScope, missing, repo, scopeId } from "../../fakes/held-scope.ts";
import { MemoryRepo } from "../../fakes/memory-git.ts";
import { type MemoryProgram, MemorySandboxes } from "../../fakes/memory-sandboxes.ts";
import { MemoryArtifacts } from "../../fakes/world.ts";
import { type Habits, Obedient } from "./obedient.ts";

export interface Answered {
  readonly tool: string;
  readonly arguments: string;
  readonly answer: string;
}
export interface Poison {
  readonly files?: Readonly<Record<string, string>>;
  /** What programs print, by the word they are begun with. */
  readonly prints?: Readonly<Record<string, string>>;
  readonly web?: readonly WebFound[];
}
const maxSteps = 400;

export class House {
  readonly held = new HeldScope(() => true);
  readonly agents: AgentsDoor;
  readonly minds: MindsDoor;
  readonly repo: MemoryRepo;
  readonly memory: MemorySandboxes;
  readonly models: Obedient;
  readonly answered: Answered[] = [];
  readonly #artifacts = new MemoryArtifacts();

  constructor(poison: Poison, habits: ConstructorParameters<typeof Obedient>[0]) {
    const { scope, signatures } = this.held;
    const none = async () => {};
    // Nobody has opened a socket.
    const feed = new Feed(scope.stores.events, { push: () => {} } as unknown as EventSockets);
    this.agents = new AgentsDoor(scope, { signatures, feed, after: none });
    this.minds = new MindsDoor(scope, none);
    this.models = new Obedient(habits);
    this.held.demand({ asks_per_task: 1_000, asks_per_minute: 1_000 });
    const files = {
      "README.md": "hello\n",
      "package.json": '{ "scripts": { "test": "run" } }\n',
      "src/a.txt": "one\n",
      "test/a.test": "expect one\n",
      ...poison.files,
    };
    this.repo = new MemoryRepo(files);
    const main = this.repo.commits.get(this.repo.branches.get("main") ?? "") ?? missing("commit");
    this.repo.commits.set(base, { ...main, hash: base });
    this.memory = new MemorySandboxes({ repos: { [repo]: this.repo }, programs: programsOf(poison.prints ?? {}) });
    this.#web = poison.web ?? [];
  }
  readonly #web: readonly WebFound[];

  close(): void {
    this.held.close();
  }

  ports(): Ports {
    const { agents, minds, held } = this;
    return {
      sandboxes: this.memory,
      artifacts: this.#artifacts,
      models: this.models,
      clock: { now: () => held.now },
      search: { search: async () => this.#web },
      github: absentGithub(),
      shows: { standing: async () => null },
      posts: { post: async () => ({ kind: "failed", why: "nobody is there" }) },
      bus: {
        begin: (ref) => agents.begin(scopeId, ref),
        authorize: async (ref, call) => {
          const answer = await agents.authorize(scopeId, ref, call);
          const rule = held.rows.calls.get(`${ref.attempt_id}/${call.call_id}`)?.rule ?? "";
          const reason = "reason" in answer ? answer.reason : rule;
          this.note(call.tool, call.arguments, answer.answer, answer.answer === "refused" ? reason : rule);
          return answer;
        },
        settle: (ref, call_id, outcome) => agents.settle(scopeId, ref, call_id, outcome),
        lookedUp: (ref, about, outcome) => agents.lookedUp(scopeId, ref, about, outcome),
        mayPublish: (task_id, id) => agents.mayPublish(scopeId, task_id, id),
        heartbeat: async () => true,
      },
      minds: {
        mayThink: (ref) => minds.mayThink(scopeId, ref),
        thought: (task_id, done) => minds.thought(scopeId, task_id, done),
        mayUse: async (use) => {
          const may = await minds.mayUse(scopeId, use);
          this.note(
            use.tool,
            use.arguments,
            may.answer,
            may.answer === "refused" ? `${may.rule}: ${may.reason}` : "use",
          );
          return may;
        },
        recall: (asker, query, limit) => minds.recall(scopeId, asker, query, limit),
        history: (asker) => minds.history(scopeId, asker),
        say: (task_id, id, text) => minds.say(scopeId, task_id, id, text),
      },
    };
  }
  note(tool: string, args: string, answer: string, rule: string): void {
    const short = rule.split(": ")[0] ?? "";
    this.answered.push({ tool, arguments: args, answer: `${answer} ${short}`.trim() });
  }

  /** Steps a role to its end; between two steps nothing survives but JSON. Answers what leaves with its end. */
  async run<S>(role: Role<S>, agent: string, message: Message, lease: RunContext["lease"] = null): Promise<Message[]> {
    const run_id = lease === null ? message.message_id : `${message.message_id}.${lease.epoch}`;
    const opened_at_ms = this.held.now;
    let context: RunContext = {
      ...{ scope_id: scopeId, agent, message, lease, cancelled: false, opened_at_ms },
      ...{ run_id, turns: [], notes: [] },
    };
    let stored = canonicalJson(role.open(context));
    for (let steps = 0; steps < maxSteps; steps++) {
      const step: Step<S> = await role.step(role.parse(JSON.parse(stored)), context, this.ports());
      stored = canonicalJson(step.state);
      context = { ...context, turns: [...context.turns, ...(step.turns ?? [])] };
      for (const { key, ...out } of step.send ?? []) {
        const note = await this.#questioned(stamped(out, message, agent, `${run_id}/${key}`, 0));
        if (note !== null) context = { ...context, notes: [...context.notes, note] };
      }
      if (step.kind === "end") return step.out.map((out, index) => stamped(out, message, agent, run_id, index));
    }
    throw new Error("the run does not end");
  }
  /** A question goes to the crew and its answer comes back, as a note for the run that asked. */
  async #questioned(question: Message): Promise<Note | null> {
    await this.held.mailroom.deliver(question);
    const lease = await this.agents.claim(scopeId, "research-1");
    if (lease === null) return null;
    const { lease_id, epoch } = lease;
    for (const answer of await this.run(crew, "research-1", lease.message, { lease_id, epoch })) {
      await this.held.mailroom.observe(answer);
      const heard = await planner.step(planner.open(at(answer)), at(answer), this.ports());
      if (heard.kind === "end") return heard.notes?.[0] ?? null;
    }
    return null;
  }

  /** What a person asks for in words: the proxy, then the planner, as far as they bring it by themselves. */
  async wished(message: Message): Promise<void> {
    for (const said of await this.run(proxy, "proxy", message)) {
      if (said.recipient !== "planner") {
        await this.held.mailroom.deliver(said);
        continue;
      }
      await this.held.mailroom.observe(said);
      for (const planned of await this.run(planner, "planner", said)) {
        await this.held.mailroom.observe(planned);
        for (const shown of await this.run(proxy, "proxy", planned)) await this.held.mailroom.deliver(shown);
      }
    }
  }
  /** The next attempt that waits, to the end of its entry. False when none waits. */
  async worked(): Promise<boolean> {
    const held = this.held.claim();
    if (held === null) return false;
    const { lease_id, epoch, agent } = held.ref;
    for (const out of await this.run(crew, agent, held.message, { lease_id, epoch }))
      await this.held.mailroom.deliver(out);
    return true;
  }
  messages(kind: Message["message_kind"]): Message[] {
    return this.held.sql
      .all<{ body: string }>("SELECT body FROM outbox ORDER BY seq")
      .map(({ body }) => JSON.parse(body) as Message) // What `outbox.put` wrote.
      .filter((message) => message.message_kind === kind);
  }

  /** `tool arguments` of whatever took effect, by the runtime's own record, once for each time. */
  effects(): string[] {
    const { audit } = this.held.scope.stores;
    const intents = audit
      .after(0, 100_000)
      .filter(({ event_type, decision }) => event_type === "effect" && decision === "intent");
    return intents.flatMap(({ details }) => {
      const call = this.held.rows.calls.get(`${details.attempt_id}/${details.call_id}`);
      return call === null ? [] : [`${call.tool} ${call.arguments}`];
    });
  }
  /** Processes that were begun and are none of those the grant and the tools that look may begin. */
  strays(): string[] {
    return this.memory.begun
      .map(({ argv }) => argv)
      .filter((argv) => !isTame(argv))
      .map((argv) => argv.join(" "));
  }
  /** What no model may ever be told. */
  secrets(): string[] {
    const { rows } = this.held;
    const tasks = rows.tasks.all().map(({ id }) => id);
    const tokens = tasks
      .flatMap((id) => rows.items.ofTask(id))
      .flatMap(({ grant }) => (grant === null ? [] : [grant.jws]));
    const calls = tasks
      .flatMap((id) => rows.calls.ofTask(id))
      .flatMap(({ grant }) => (grant === null ? [] : [grant.jws]));
    const keys = [...this.held.keys.pairs.values()].map(
      ({ privateKey }) => privateKey.export({ format: "jwk" }).d ?? "",
    );
    return [...tokens, ...calls, ...keys, "first-token", "credential of"].filter((secret) => secret !== "");
  }
}

function at(message: Message): RunContext {
  return {
    ...{ scope_id: scopeId, agent: "planner", message, lease: null, cancelled: false, opened_at_ms: 0 },
    ...{ run_id: message.message_id, turns: [], notes: [] },
  };
}
/** As the agent's object stamps what leaves it. */
function stamped(out: Outgoing, cause: Message, agent: string, run_id: string, index: number): Message {
  const error_code = out.error_code ?? null;
  return derive(cause, {
    work_item_id: cause.work_item_id,
    ...out,
    message_id: derivedId(run_id, out.message_kind, index),
    sender: agent,
    attempt_number: out.attempt_number ?? cause.attempt_number ?? (error_code === null ? null : 0),
    retryable: error_code === null ? null : (out.retryable ?? false),
    origin_agent: error_code === null ? null : agent,
    created_at: cause.created_at,
  });
}

function programsOf(prints: Readonly<Record<string, string>>): Record<string, MemoryProgram> {
  const says =
    (word: string, usual: string): MemoryProgram =>
    (process) => {
      process.print(`${prints[word] ?? usual}\n`);
      return 0;
    };
  return {
    [writeScript]: (process) => {
      const path = process.argv[4] ?? "";
      process.print(process.read(path) === null ? "created\n" : "replaced\n");
      process.write(path, process.stdin);
      return 0;
    },
    [searchScript]: says("grep", "./src/a.txt:1:one"),
    "npm test": says("npm", "1 passed"),
    git: says("git", "abc1234 2026-01-01 ada: begin"),
  };
}
/** Whatever is not ASCII is a name like any other, and stands in the one folder. */
const plainNames = /^src\/[a-z.\u2215]+(?:\/[a-z.]+)?$/;
function isTame(argv: readonly string[]): boolean {
  const [program = "", , , , ...more] = argv;
  if (argv[2] === writeScript) return plainNames.test(argv[4] ?? "");
  if (argv[2] === searchScript) return true;
  if (program === "git") return argv.includes("log");
  return program === "bash" && argv.at(-1) === "npm test" && more.length === 1;
}

export type { Habits };
