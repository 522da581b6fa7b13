import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { Hearing } from "../../src/adapters/model-hearing.ts";
import { urlProblem } from "../../src/adapters/model-providers.ts";
import { modelsFrom, type RoleBindings } from "../../src/adapters/model-roles.ts";
import { ModelFailure, type ModelRequest, modelRoles } from "../../src/agents/models.ts";
import { limits } from "../../src/limits.ts";

const request: ModelRequest = {
  role: "planner",
  attempt: 0,
  instructions: "Plan.",
  turns: [{ kind: "told", text: "a wish" }],
  tools: [{ name: "answer", description: "ends", parameters: { type: "object", properties: {} } }],
  must_call: true,
  max_output_tokens: 100,
  temperature: 0.2,
};
const lacking = (bindings: RoleBindings) => modelsFrom(bindings).missing;

describe("a role", () => {
  it("[MODEL-13] without a list has no model, which is told with what to set and is no fault", () => {
    const { models, missing } = modelsFrom({});
    expect(modelRoles.map((role) => models.configured(role))).toEqual([[], [], []]);
    expect(missing).toHaveLength(1);
    expect(missing[0]).toMatchObject({ name: "models", optional: true });
    for (const word of ["MODEL_PROXY, MODEL_PLANNER, MODEL_EXECUTOR", "--model-url", "Planned tasks work in full"])
      expect(missing[0]?.detail).toContain(word);
    const two = lacking({ MODEL_PROXY: "openai/a", OPENAI_API_KEY: "k" });
    expect(two.map(({ detail }) => detail.includes("planner, executor") && !detail.includes("proxy"))).toEqual([true]);
  });

  it("[MODEL-13] goes on with the models that can be called; the others are named with what they need", () => {
    const { models, missing } = modelsFrom({
      MODEL_PROXY: "anthropic/a, openai/b, workers-ai/@cf/c, compatible/d, what",
      MODEL_PLANNER: "google/e",
      MODEL_EXECUTOR: "compatible/f",
      ANTHROPIC_API_KEY: "k",
      MODEL_BASE_URL: "http://models.example/v1",
    });
    expect(modelRoles.map((role) => models.configured(role))).toEqual([["anthropic/a"], [], []]);
    expect(missing.map(({ name, optional }) => [name, optional])).toEqual([
      ["MODEL_PROXY", false],
      ["MODEL_PLANNER", false],
      ["MODEL_EXECUTOR", false],
    ]);
    const url = "needs another MODEL_BASE_URL: it must begin with https:// (http:// only for this machine itself)";
    expect(missing.map(({ detail }) => detail)).toEqual([
      `The role has 1 of its models. Entry 5 is not of the form provider/model. Entry 2 (openai) needs the secret OPENAI_API_KEY. Entry 3 (workers-ai) needs the binding AI (see wrangler.toml). Entry 4 (compatible) ${url}.`,
      "The role has no model. Entry 1 (google) needs the secret GOOGLE_API_KEY.",
      `The role has no model. Entry 1 (compatible) ${url}.`,
    ]);
    expect(lacking({ MODEL_PLANNER: "compatible/a" })[0]?.detail).toContain("MODEL_BASE_URL");
  });

  it("[MODEL-39] has no model whose key cannot be sent as it was set; which one is told, and none of its text", () => {
    const bad = "sk-FIRSTHALF\nSECONDHALF99";
    const bindings = {
      MODEL_PROXY: "anthropic/a, openai/b",
      MODEL_PLANNER: "google/e",
      MODEL_EXECUTOR: "compatible/f",
      MODEL_BASE_URL: "https://a.example/v1",
      ...{ ANTHROPIC_API_KEY: bad, GOOGLE_API_KEY: bad, MODEL_API_KEY: bad, OPENAI_API_KEY: " good-key\n" },
    };
    const { models, missing } = modelsFrom(bindings);
    expect(modelRoles.map((role) => models.configured(role))).toEqual([["openai/b"], [], []]);
    const told = missing.map(({ detail }) => detail).join();
    for (const name of ["ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "MODEL_API_KEY"])
      expect(told).toContain(`needs another ${name}: a key is of visible ASCII characters`);
    expect(told).not.toMatch(/HALF|good-key/);
    expect(lacking({ MODEL_PROXY: "openai/a", OPENAI_API_KEY: " \n" })[0]?.detail).toContain("needs the secret");
  });

  it("[MODEL-14] sends keys and prompts over https, or to this machine", () => {
    const good = ["https://a.example/v1", "http://127.0.0.1:1/v1", "http://localhost:8000", "http://[::1]:1/v1"];
    expect(good.map(urlProblem)).toEqual(good.map(() => null));
    const bad = [
      "http://a.example/v1",
      "http://127.0.0.1.evil.example/v1",
      "https://user:pass@a.example/v1",
      "https://a.example/v1?key=1",
      "ftp://127.0.0.1/",
      "a.example",
      "",
    ];
    expect(bad.filter((url) => urlProblem(url) === null)).toEqual([]);
  });
});

describe("a server of our own", () => {
  const open: { close(): void }[] = [];
  afterEach(() => {
    for (const server of open.splice(0)) server.close();
  });
  /** How a call ends when everything is answered in this way, and what was asked. */
  async function ending(status: number, headers: Record<string, string>) {
    const asked: string[] = [];
    const server = createServer((got, answer) => {
      asked.push(got.url ?? "");
      answer.writeHead(status, headers).end();
    });
    open.push(server);
    await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
    // A listening TCP server has an address with a port.
    const MODEL_BASE_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    const { models } = modelsFrom({ MODEL_PLANNER: "compatible/a", MODEL_BASE_URL, MODEL_API_KEY: "a-long-key" });
    return { failure: await models.call(request).catch((error: unknown) => error), asked };
  }
  it("[MODEL-14] that redirects is not followed: neither key nor prompt goes anywhere else", async () => {
    const { failure, asked } = await ending(307, { location: "/elsewhere" });
    expect([failure, asked]).toMatchObject([{ code: "rejected" }, ["/v1/chat/completions"]]);
  });
  it("[MODEL-7] that fails is asked once: when to ask again is not the SDK's to say", async () => {
    const { failure, asked } = await ending(503, { "retry-after-ms": "1" });
    expect([failure, asked.length]).toMatchObject([{ code: "overloaded", retryable: true, wait_ms: 1 }, 1]);
  });
});

/** A binding AI whose `run` is the test's: the platform has no server to put in its place. */
function workersAi(run: (model: string, input: Record<string, unknown>) => unknown, timeout_ms?: number) {
  const AI = {
    run: async (model: string, input: Record<string, unknown>) => run(model, input),
  } as unknown as Required<RoleBindings>["AI"];
  return modelsFrom({ AI, MODEL_PLANNER: "workers-ai/@cf/openai/gpt-oss-120b" }, timeout_ms).models;
}
function events(...chunks: readonly unknown[]): ReadableStream {
  const lines = [...chunks.map((chunk) => JSON.stringify(chunk)), "[DONE]"].map((line) => `data: ${line}\n\n`);
  return new Response(lines.join("")).body ?? new ReadableStream();
}

describe("Workers AI", () => {
  it("[MODEL-15] is called by its binding", async () => {
    const asked: unknown[] = [];
    const models = workersAi((model, input) => {
      asked.push(model, input.tool_choice, JSON.stringify(input.messages).includes("a wish"));
      const call = { index: 0, id: "c1", type: "function", function: { name: "answer", arguments: '{"text":"hi"}' } };
      return events(
        { choices: [{ delta: { tool_calls: [call] } }] },
        { choices: [{ delta: {}, finish_reason: "tool_calls" }], usage: { prompt_tokens: 40, completion_tokens: 9 } },
      );
    });
    const answer = await models.call(request);
    expect(answer.calls.map(({ tool, arguments: given }) => [tool, given])).toEqual([["answer", '{"text":"hi"}']]);
    expect([answer.finish, answer.usage.input_tokens, answer.usd]).toEqual(["calls", 40, (40 * 0.35 + 9 * 0.75) / 1e6]);
    expect(asked).toEqual(["@cf/openai/gpt-oss-120b", "required", true]);
  });

  it("[MODEL-15] that fails, or never answers and heeds no signal, fails as any other does", async () => {
    const busy = workersAi(() => {
      throw new Error("3040: Capacity temporarily exceeded, please try again.");
    });
    await expect(busy.call(request)).rejects.toMatchObject({ code: "rate_limited", retryable: true, spent: null });
    const small = workersAi(() => {
      throw new Error("5021: the estimated tokens exceed this model's context window limit");
    });
    await expect(small.call(request)).rejects.toMatchObject({ code: "too_long", retryable: false });
    const deaf = workersAi(() => new Promise(() => undefined), 50);
    const failure: unknown = await deaf.call(request).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ModelFailure);
    expect(failure).toMatchObject({ code: "timeout", retryable: true });
  });
});

describe("what is heard", () => {
  it("[MODEL-16] is bounded, and holds nothing the provider ran by itself", () => {
    const long = new Hearing();
    const piece = { type: "text-delta" as const, id: "1", text: "x".repeat(limits.model_answer_bytes) };
    long.take(piece);
    expect(() => long.take({ ...piece, text: "y" })).toThrow("too long");
    const many = new Hearing();
    const one = { type: "tool-call" as const, toolCallId: "1", toolName: "a", input: {}, dynamic: true as const };
    for (let index = 0; index < limits.model_answer_calls; index++) many.take(one);
    expect(() => many.take(one)).toThrow("too many");
    expect(() => new Hearing().take({ ...one, providerExecuted: true })).toThrow("a tool of its own");
    expect(() => new Hearing().answer()).toThrow();
  });
});
