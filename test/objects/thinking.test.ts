/** An agent that thinks, through real objects and a real sandbox: asked about, refused, gone on, verified, published. */
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import type { ModelRequest, Models } from "../../src/agents/models.ts";
import { type Bindings, provideWorld } from "../../src/env.ts";
import {
  agentStub,
  approve,
  audit,
  deny,
  expectSound,
  inObject,
  makeScope,
  must,
  pending,
  type Scope,
  task,
  until,
} from "./scope.ts";

const requests: ModelRequest[] = [];
const answers: readonly (readonly [string, object])[] = [
  ["shell_execute", { command: "mkdir -p made && echo hello > made/hello.txt" }],
  ["file_write", { path: "made/more.txt", content: "more" }],
  ["file_read", { path: "made/hello.txt" }],
  ["finish", { summary: "Made hello.txt.", insights: [{ kind: "pattern", text: "Files are made below made/." }] }],
];
const models: Models = {
  configured: (role) => (role === "executor" ? ["test/scripted"] : []),
  async call(request) {
    const { signal: _, ...asked } = request;
    requests.push(structuredClone(asked));
    const said = request.turns.filter(({ kind }) => kind === "said").length;
    const [tool = "", args = {}] = answers[said] ?? [];
    const usage = { input_tokens: 50, output_tokens: 10, cached_tokens: 0, estimated: false };
    const calls = [{ call_id: `c${said}`, tool, arguments: JSON.stringify(args) }];
    return { model: "test/scripted", text: `Step ${said + 1}.`, calls, finish: "calls", usage, usd: 0 };
  },
};

/** Each object has bindings of its own: the world of each is given the model. */
async function withModel(scope: Scope, ...stubs: readonly DurableObjectStub[]): Promise<void> {
  for (const stub of [scope.stub, ...stubs])
    await inObject<object, void>(stub, async (object) => {
      const bindings: unknown = Reflect.get(object, "env");
      provideWorld(bindings as Bindings, { models }); // what the platform gave it when it was made
    });
}

const plan = `---
title: Say hello
goal: A file says hello
budget: { tokens: 400000, usd: 1 }
items:
  - id: a
    runner: loop
    verify: none
    allow: { tools: [shell_execute, file_read], paths: ['made/**'], commands: ['mkdir **', 'echo **'] }
---
## a
Make made/hello.txt.
`;
async function askedFor(scope: Scope): Promise<string> {
  const repo = { url: env.TEST_REPO, ref: "main" };
  const input = { title: "Say hello", description: "", labels: [], repo, plan, register_repo: true };
  return must(await scope.runtime.createTask(scope.admin, input, null)).body.id;
}
function waitsFor(scope: Scope, id: string, kind: string) {
  return until(async () => (await pending(scope, id)).find((card) => card.kind === kind));
}

it("[MIND-24] it goes the whole road: what a person refuses is told in their words, the rest is done, verified and published", async () => {
  const scope = await makeScope();
  await withModel(scope, agentStub(scope, "crew-1"));
  const id = await askedFor(scope);
  must(await approve(scope, await waitsFor(scope, id, "plan")));
  const card = await waitsFor(scope, id, "tool_call");
  expect(card.card.tool?.arguments).toContain("made/more.txt");
  expect(card.card.facts.join("\n")).toContain("Step 2.");
  must(await deny(scope, card, "one file is enough"));
  const view = await until(async () => {
    const seen = await task(scope, id);
    return seen.ended_at === null ? null : seen;
  });
  expect(view.status).toBe("done");
  const last = requests.at(-1)?.turns ?? [];
  const results = last.flatMap((turn) => (turn.kind === "result" ? [turn.text] : []));
  expect(results[1]).toContain("one file is enough");
  expect(results[2]).toContain("hello");
  expect(requests).toHaveLength(4);
  const intents = (await audit(scope)).filter((link) => link.event_type === "effect" && link.decision === "intent");
  expect(intents.flatMap(({ details }) => (typeof details.call_id === "string" ? [details.call_id] : []))).toEqual([
    "1-1",
    "3-1",
  ]);
  await expectSound(scope);
});
