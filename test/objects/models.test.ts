import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { modelsFrom } from "../../src/adapters/model-roles.ts";
import type { ModelRequest } from "../../src/agents/models.ts";

const url = env.TEST_MODEL_URL;
const models = [`anthropic/claude-sonnet-5`, "openai/gpt-5.4", "compatible/local"];

it.each(models)("[MODEL-17] %s is called from within workerd as from Node", async (model) => {
  const bindings = { ANTHROPIC_API_KEY: "a", ANTHROPIC_BASE_URL: url, OPENAI_API_KEY: "b", OPENAI_BASE_URL: url };
  const role = modelsFrom({ ...bindings, MODEL_BASE_URL: url, MODEL_PLANNER: model }, 1_000).models;
  const ask = (text: string) => {
    const request: ModelRequest = {
      role: "planner",
      attempt: 0,
      instructions: "Answer.",
      turns: [{ kind: "told", text }],
      tools: [{ name: "file_read", description: "reads", parameters: { type: "object", properties: {} } }],
      must_call: false,
      max_output_tokens: 100,
      temperature: null,
    };
    return role.call(request);
  };
  expect(await ask("hello")).toMatchObject({ text: "heard: hello", usage: { input_tokens: 30, estimated: false } });
  expect((await ask("call")).calls[0]).toMatchObject({ tool: "file_read", arguments: '{"path":"a.ts"}' });
  await expect(ask("cut")).rejects.toMatchObject({ code: "cut", spent: { usage: { estimated: true } } });
  await expect(ask("wait")).rejects.toMatchObject({ code: "rate_limited", wait_ms: 3_000 });
  await expect(ask("slow")).rejects.toMatchObject({ code: "timeout" });
});
