/** From a wish to a plan in review through real objects, queues and a real sandbox host; only the models are a script. */
import { abortAllDurableObjects } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import type { ModelAnswer, ModelRequest, Models } from "../../src/agents/models.ts";
import { type Bindings, provideWorld } from "../../src/env.ts";
import { agentStub, audit, inObject, inRuntime, makeScope, must, onlyCard, type Scope, task, until } from "./scope.ts";

const plan = `---
title: Greet
goal: A greeting stands in made
items:
  - { id: a, title: Greet, runner: steps, verify: none, allow: { tools: [shell_execute], paths: ['made/**'] } }
---
## a

\`\`\`sh
true
\`\`\`
`;

function calls(...made: readonly (readonly [tool: string, args: unknown])[]): ModelAnswer {
  return {
    ...{ model: "test/scripted", text: "", finish: "calls", usd: 0 },
    calls: made.map(([tool, args], index) => ({ call_id: `c${index}`, tool, arguments: JSON.stringify(args) })),
    usage: { input_tokens: 10, output_tokens: 1, cached_tokens: 0, estimated: false },
  };
}
type Script = Readonly<Record<string, readonly ModelAnswer[]>>;
/** By role: the answers of one conversation, in order. */
function scripted(script: Script, requests: ModelRequest[]): Models {
  return {
    configured: (role) => (script[role] === undefined ? [] : ["test/scripted"]),
    call: async (request) => {
      requests.push(request);
      const answer = script[request.role]?.[request.turns.filter(({ kind }) => kind === "said").length];
      return answer ?? calls(["give_up", { reason: "the test wrote no more" }]);
    },
  };
}
async function wished(script: Script): Promise<{ scope: Scope; id: string; requests: ModelRequest[] }> {
  const requests: ModelRequest[] = [];
  const models = scripted(script, requests);
  const scope = await makeScope();
  const stubs = [scope.stub, ...["proxy", "planner", "research-1", "research-2"].map((name) => agentStub(scope, name))];
  provideWorld(env, { models });
  // Each object has its bindings from the platform, which need not be the ones the test has.
  for (const stub of stubs)
    await inObject<{ readonly env: Bindings }, void>(stub, async (object) => provideWorld(object.env, { models }));
  const repo = { url: env.TEST_REPO, ref: "main" };
  const input = { title: "Greet", description: "Greet somebody.", labels: [], repo, register_repo: true };
  return { scope, requests, id: must(await scope.runtime.createTask(scope.admin, input, null)).body.id };
}

const asking = [
  "request_research",
  { task: "What is in README.md?", return_format: "a line", max_tokens: 60 },
] as const;
const researched: Script = {
  proxy: [calls(["route", { route: "planner" }])],
  planner: [calls(asking), calls(["await_research", {}]), calls(["submit_plan", { plan_markdown: plan }])],
  executor: [calls(["file_read", { path: "README.md" }]), calls(["answer", { text: "It greets nobody." }])],
};

describe("a wish in plain words", () => {
  it("[PLR-17] is routed, looked up by the crew, planned and put before a person, each model call charged", async () => {
    const { scope, id, requests } = await wished(researched);
    const card = await until(async () =>
      (await task(scope, id)).pending_approvals.length > 0 ? onlyCard(scope, id) : null,
    );
    expect(card).toMatchObject({ kind: "plan" });
    const seen = await task(scope, id);
    expect(seen).toMatchObject({ status: "waiting", phase: "planning" });
    expect(seen.plan?.markdown).toBe(plan);
    expect(seen.phases.map(({ phase }) => phase)).toContain("context_gathering");
    const told = requests.findLast(({ role }) => role === "planner")?.turns.map((turn) => JSON.stringify(turn)) ?? [];
    expect(told.filter((turn) => turn.includes("It greets nobody."))).toHaveLength(1);
    const rows = await inRuntime(scope, ({ rows }) => ({
      asked: rows.research.ofTask(id),
      thoughts: rows.thoughts.ofTask(id),
    }));
    expect(rows.asked.map(({ state }) => state)).toEqual(["answered"]);
    expect(rows.thoughts.map(({ state }) => state)).toEqual(requests.map(() => "charged"));
    expect((await audit(scope)).filter(({ decision }) => decision === "late_research")).toEqual([]);
  });
  it("[PLR-18] survives that every object dies while its question is looked up: one plan, each question asked once", async () => {
    const { scope, id, requests } = await wished(researched);
    await until(async () => (requests.some(({ role }) => role === "executor") ? true : null));
    await abortAllDurableObjects();
    await scope.runtime.sweep(scope.id);
    const card = await until(async () =>
      (await task(scope, id)).pending_approvals.length > 0 ? onlyCard(scope, id) : null,
    );
    expect(card).toMatchObject({ kind: "plan" });
    const rows = await inRuntime(scope, ({ rows }) => ({
      asked: rows.research.ofTask(id),
      plans: rows.plans.ofTask(id),
      open: rows.thoughts.ofTask(id).filter(({ state }) => state === "open"),
    }));
    expect(rows.asked).toHaveLength(1);
    expect(rows.plans).toHaveLength(1);
    expect(rows.open).toEqual([]);
  });
  it("[PLR-17] that is a question is answered, and its task is done", async () => {
    const { scope, id } = await wished({
      proxy: [calls(["route", { route: "planner" }])],
      planner: [calls(["answer", { text: "Nobody is greeted yet." }])],
    });
    const seen = await until(async () => {
      const now = await task(scope, id);
      return now.ended_at === null ? null : now;
    });
    expect(seen).toMatchObject({ status: "done", phase: "complete", reason: "Nobody is greeted yet.", plan: null });
  });
});
