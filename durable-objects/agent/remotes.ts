/** Whom an agent calls: the scope's runtime, the deployment's pool, and the ports its role works through. */
import type { Ports } from "../../src/agents/step.ts";
import { type Bindings, worldOf } from "../../src/env.ts";
import { poolOf, type RemotePool, type RemoteRuntime, runtimeOf } from "../remote.ts";
import type { AgentSelf } from "./self.ts";

/** Functions, because a stub is of no use after it has failed once: each call takes a fresh one. */
export interface AgentRemotes {
  runtime(): RemoteRuntime;
  pool(): RemotePool;
  ports(): Ports;
}

export function remotesOf(bindings: Bindings, self: AgentSelf): AgentRemotes {
  const runtime = () => runtimeOf(bindings, self.identity().scope);
  return {
    runtime,
    pool: () => poolOf(bindings),
    ports: () => portsOf(bindings, runtime(), self.identity().scope),
  };
}

function portsOf(bindings: Bindings, runtime: RemoteRuntime, scope: string): Ports {
  const { sandboxes, artifacts, models, search, github, posts } = worldOf(bindings);
  return {
    sandboxes,
    artifacts,
    models,
    search,
    github,
    shows: { standing: (task_id) => runtime.githubStanding(scope, task_id) },
    posts,
    clock: { now: () => Date.now() },
    bus: {
      begin: (ref) => runtime.begin(scope, ref),
      authorize: (ref, call) => runtime.authorize(scope, ref, call),
      settle: (ref, call_id, outcome, said) => runtime.settle(scope, ref, call_id, outcome, said),
      lookedUp: (ref, about, outcome) => runtime.lookedUp(scope, ref, about, outcome),
      mayPublish: (task_id, verification_id) => runtime.mayPublish(scope, task_id, verification_id),
      heartbeat: (ref) => runtime.heartbeat(scope, ref.agent, ref, ref.attempt_id),
    },
    minds: {
      mayThink: (ref) => runtime.mayThink(scope, ref),
      thought: (task_id, done) => runtime.thought(scope, task_id, done),
      mayUse: (use) => runtime.mayUse(scope, use),
      recall: (asker, query, limit) => runtime.recall(scope, asker, query, limit),
      history: (asker) => runtime.history(scope, asker),
      say: (task_id, id, text) => runtime.say(scope, task_id, id, text),
    },
  };
}
