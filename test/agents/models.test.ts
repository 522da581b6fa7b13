import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { modelsFrom, type RoleBindings } from "../../src/adapters/model-roles.ts";
import { ModelFailure, type ModelRequest, type Models } from "../../src/agents/models.ts";
import { type ModelServer, type Script, startModelServer } from "../setup/model-server.ts";

const keys = {
  ANTHROPIC_API_KEY: "sk-ant-hush-1111-aaaa",
  OPENAI_API_KEY: "sk-oai-hush-2222-bbbb",
  GOOGLE_API_KEY: "AIza-hush-3333-cccc",
  MODEL_API_KEY: "own-hush-4444-Dddd",
};
let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.stop());
beforeEach(() => server.forget());

function modelsOf(list: string, more: RoleBindings = {}, timeout_ms?: number): Models {
  const urls = {
    ANTHROPIC_BASE_URL: server.anthropicUrl,
    OPENAI_BASE_URL: server.url,
    GOOGLE_BASE_URL: server.googleUrl,
    MODEL_BASE_URL: server.url,
  };
  return modelsFrom({ ...keys, ...urls, ...more, MODEL_EXECUTOR: list }, timeout_ms).models;
}

const read = {
  name: "file_read",
  description: "Reads a file.",
  parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
};
function asking(fields: Partial<ModelRequest> = {}): ModelRequest {
  return {
    role: "executor",
    attempt: 0,
    instructions: "You do one thing.",
    turns: [{ kind: "told", text: "The order: mend the last page of the list." }],
    tools: [read],
    must_call: false,
    max_output_tokens: 500,
    temperature: null,
    ...fields,
  };
}
async function failureOf(models: Models, fields: Partial<ModelRequest> = {}): Promise<ModelFailure> {
  const failure = await models.call(asking(fields)).then(
    (answer) => new Error(`answered ${JSON.stringify(answer)}`),
    (error: unknown) => error,
  );
  if (failure instanceof ModelFailure) return failure;
  throw failure;
}
const scripted = (answer: ReturnType<Script>) => server.script(() => answer);

const wires = ["anthropic/claude-sonnet-5", "openai/gpt-5.4", "google/gemini-2.5-flash", "compatible/local"];

describe.each(wires)("%s", (model) => {
  it("[MODEL-4] gives words and calls, what they cost, and who spoke", async () => {
    scripted({ words: "It is done.", usage: { input: 1000, output: 20 } });
    const words = await modelsOf(model).call(asking());
    expect(words).toMatchObject({ model, text: "It is done.", calls: [], finish: "stop" });
    expect(words.usage).toEqual({ input_tokens: 1000, output_tokens: 20, cached_tokens: 0, estimated: false });
    if (model.startsWith("compatible")) expect(words.usd).toBeNull();
    else expect(words.usd).toBeGreaterThan(0);

    scripted({
      words: "I look at both.",
      calls: [
        { tool: "file_read", arguments: { path: "a.ts" } },
        { tool: "file_read", arguments: { path: "b.ts" } },
      ],
      usage: { input: 10, output: 5 },
    });
    const { text, calls, finish } = await modelsOf(model).call(asking());
    expect([text, finish]).toEqual(["I look at both.", "calls"]);
    expect(calls.map((call) => [call.tool, call.arguments])).toEqual([
      ["file_read", '{"path":"a.ts"}'],
      ["file_read", '{"path":"b.ts"}'],
    ]);
    expect(new Set(calls.map(({ call_id }) => call_id)).size).toBe(2);
  });

  it("[MODEL-4] is told the instructions, the conversation and the tools, once, and to keep to its bounds", async () => {
    scripted({ words: "ok" });
    await modelsOf(model).call(asking({ turns: [...asking().turns, { kind: "told", text: "And quickly." }] }));
    const [sent, ...more] = server.journal();
    expect(more).toEqual([]);
    for (const text of ["You do one thing.", "mend the last page", "And quickly.", "file_read", "Reads a file.", "500"])
      expect(sent?.text).toContain(text);
    // Nothing that the provider would run by itself, and nothing it would keep.
    expect(sent?.body.tools.flatMap((one): unknown[] => one.functionDeclarations ?? [one])).toHaveLength(1);
    if (model.startsWith("openai")) expect(sent?.body.store).toBe(false);
  });

  it("[MODEL-5] must call when it is told to; one that answers in words all the same is heard", async () => {
    scripted({ words: "I would rather talk." });
    const answer = await modelsOf(model).call(asking({ must_call: true }));
    expect([answer.text, answer.finish]).toEqual(["I would rather talk.", "stop"]);
    await modelsOf(model).call(asking());
    const choices = server.journal().map(({ body }) => body.tool_choice ?? body.toolConfig?.functionCallingConfig);
    const forced: Record<string, unknown> = { anthropic: { type: "any" }, google: { mode: "ANY" } };
    expect(choices[0]).toEqual(forced[model.split("/")[0] ?? ""] ?? "required");
    expect(choices[1]).not.toEqual(choices[0]);
  });

  it("[MODEL-6] may call a tool that nobody offered: the name comes through", async () => {
    scripted({ calls: [{ tool: "read_file", arguments: { path: 1 } }] });
    const { calls } = await modelsOf(model).call(asking());
    expect(calls.map((call) => [call.tool, call.arguments])).toEqual([["read_file", '{"path":1}']]);
  });

  it("[MODEL-7] fails in one of our own words, says whether to come back and when, and asks once", async () => {
    const cases: [ReturnType<Script>, string, boolean, number | null][] = [
      [{ fails: "rate_limited", retry_after_s: 7 }, "rate_limited", true, 7000],
      [{ fails: "overloaded" }, "overloaded", true, null],
      [{ fails: "status", status: 500 }, "overloaded", true, null],
      [{ fails: "status", status: 529, message: "Overloaded" }, "overloaded", true, null],
      [{ fails: "status", status: 401 }, "unauthorized", false, null],
      [{ fails: "status", status: 404, message: "model: nothing of that name" }, "rejected", false, null],
      [{ fails: "status", status: 400, message: "prompt is too long: 9 tokens > 8 maximum" }, "too_long", false, null],
      [{ fails: "status", status: 429, message: "insufficient_quota: check your billing" }, "rejected", false, null],
      [{ fails: "dropped" }, "unreachable", true, null],
      [{ fails: "malformed" }, "malformed", true, null],
    ];
    for (const [answer, code, retryable, wait_ms] of cases) {
      server.forget();
      scripted(answer);
      const failure = await failureOf(modelsOf(model));
      const seen = { code: failure.code, retryable: failure.retryable, model: failure.model };
      expect(seen, JSON.stringify(answer)).toEqual({ code, retryable, model });
      if (wait_ms !== null) expect(failure.wait_ms).toBe(wait_ms);
      // What was refused has cost nothing; what was answered with anything may have.
      expect(failure.spent === null, failure.code).toBe(code !== "malformed");
      expect(server.journal()).toHaveLength(1);
    }
  });

  it("[MODEL-8] that is cut off, or too slow, is charged as estimated", async () => {
    scripted({ fails: "cut" });
    const cut = await failureOf(modelsOf(model));
    expect([cut.code, cut.retryable, cut.spent?.usage.estimated]).toEqual(["cut", true, true]);
    expect(cut.spent?.usage.input_tokens).toBeGreaterThan(20);
    scripted({ fails: "slow", ms: 5_000 });
    const began = Date.now();
    const slow = await failureOf(modelsOf(model, {}, 100));
    expect([slow.code, slow.retryable, slow.spent?.usage.estimated]).toEqual(["timeout", true, true]);
    expect(Date.now() - began).toBeLessThan(2_000);
  });

  it("[MNB-4] that nobody waits for any more ends at once, and is charged as estimated", async () => {
    scripted({ fails: "slow", ms: 5_000 });
    const calledOff = new AbortController();
    const began = Date.now();
    setTimeout(() => calledOff.abort(), 100);
    const late = await failureOf(modelsOf(model), { signal: calledOff.signal });
    const never = await failureOf(modelsOf(model), { signal: AbortSignal.abort() });
    for (const failure of [late, never]) {
      expect([failure.code, failure.spent?.usage.estimated]).toEqual(["timeout", true]);
      expect(failure.message).toContain("it was called off");
    }
    expect(Date.now() - began).toBeLessThan(2_000);
  });

  it("[MODEL-37] takes the keys out of an answer that repeats them", async () => {
    const key = Object.values(keys).join(" ");
    scripted({ words: `You sent ${key}.`, calls: [{ tool: "file_read", arguments: { path: `notes/${key}` } }] });
    const repeats = await modelsOf(model).call(asking());
    for (const one of Object.values(keys)) expect(JSON.stringify(repeats)).not.toContain(one);
    expect(repeats.text).toBe("You sent [key] [key] [key] [key].");
    expect(repeats.calls).toMatchObject([{ arguments: '{"path":"notes/[key] [key] [key] [key]"}', holds_key: true }]);
  });
  it("[MODEL-39] takes out its key as the header carries it, whatever blanks stand at the ends of what was set", async () => {
    const set = Object.fromEntries(Object.entries(keys).map(([name, key]) => [name, ` ${key}\r\n`]));
    const echoed = Object.values(keys).join(" ");
    scripted({ words: echoed, calls: [{ tool: "file_read", arguments: { path: echoed } }] });
    const { text, calls } = await modelsOf(model, set).call(asking());
    expect([text, calls[0]?.arguments]).toEqual(["[key] [key] [key] [key]", '{"path":"[key] [key] [key] [key]"}']);
    scripted({ fails: "status", status: 401, message: `bad: ${echoed}` });
    const { message } = await failureOf(modelsOf(model, set));
    for (const key of Object.values(keys)) expect(message).not.toContain(key);
    const sent = JSON.stringify(server.journal().map(({ headers }) => headers));
    expect(Object.values(keys).filter((key) => sent.includes(key))).toHaveLength(1);
  });
  it("[MODEL-38] alters no call for the word that stands in a local server's key", async () => {
    scripted({ words: "ollama", calls: [{ tool: "file_read", arguments: { path: "ollama/serve" } }] });
    const { text, calls } = await modelsOf(model, { MODEL_API_KEY: "ollama" }).call(asking());
    expect([text, calls.map((call) => call.arguments)]).toEqual(["ollama", ['{"path":"ollama/serve"}']]);
    expect(calls[0]).not.toHaveProperty("holds_key");
  });
  it("[MODEL-9] keeps its key out of what is said of it", async () => {
    const echoed = Object.values(keys).map((key) => `Incorrect API key provided: ${key}.`);
    scripted({ fails: "status", status: 401, message: echoed.join(" ") });
    const failure = await failureOf(modelsOf(model));
    scripted({ words: "ok" });
    const answer = await modelsOf(model).call(asking());
    const said = JSON.stringify([failure.message, failure.stack, { ...failure }, answer]);
    expect(failure.message).toContain("Incorrect API key provided: [key]");
    for (const key of Object.values(keys)) {
      expect(said).not.toContain(key);
      expect(
        server
          .journal()
          .map(({ text, path }) => path + text)
          .join(),
      ).not.toContain(key);
    }
    // It goes with the request to its own provider, and no other does.
    const headers = server.journal().map((sent) => JSON.stringify(sent.headers));
    for (const sent of headers) expect(Object.values(keys).filter((key) => sent.includes(key))).toHaveLength(1);
  });
});

describe("any provider", () => {
  it("[MODEL-4] says what it read before, and that the answer was too long", async () => {
    scripted({ words: "yes", usage: { input: 100, output: 2, cached: 80 } });
    const { usage } = await modelsOf("compatible/local", { MODEL_BASE_URL: server.openRouterUrl }).call(asking());
    expect(usage).toEqual({ input_tokens: 100, output_tokens: 2, cached_tokens: 80, estimated: false });
    scripted({ words: "yes", length: true });
    expect((await modelsOf("anthropic/claude-sonnet-5").call(asking())).finish).toBe("length");
  });

  it("[MODEL-6] may write arguments that are no JSON: they come through as written", async () => {
    for (const model of ["openai/gpt-5.4", "compatible/local"]) {
      scripted({ calls: [{ tool: "file_read", arguments: '{"path": "a.ts' }] });
      const { calls, finish } = await modelsOf(model).call(asking());
      expect([finish, calls.map((call) => [call.tool, call.arguments])]).toEqual([
        "calls",
        [["file_read", '{"path": "a.ts']],
      ]);
    }
  });

  it("[MODEL-8] that counts nothing is estimated, and so is its price", async () => {
    scripted({ words: "no usage at all" });
    const { usage, usd } = await modelsOf("anthropic/claude-sonnet-5").call(asking());
    expect(usage.estimated).toBe(true);
    expect([usage.input_tokens > 20, usage.output_tokens, usd !== null && usd > 0]).toEqual([true, 4, true]);
  });

  it("[MODEL-10] is taken in the list's order, round and round, and others give a refused call another chance", async () => {
    const models = modelsOf("anthropic/claude-sonnet-5, openai/gpt-5.4");
    scripted({ words: "ok" });
    const spoke: string[] = [];
    for (const attempt of [0, 1, 2, 3]) spoke.push((await models.call(asking({ attempt }))).model);
    expect(spoke).toEqual([...models.configured("executor"), ...models.configured("executor")]);
    scripted({ fails: "status", status: 401 });
    const tries = await Promise.all([0, 1, 2].map((attempt) => failureOf(models, { attempt })));
    expect(tries.map(({ retryable }) => retryable)).toEqual([true, false, false]);
  });

  it("[MODEL-10] that is not configured is told as such", async () => {
    const failure = await failureOf(modelsOf(""));
    expect([failure.code, failure.retryable, failure.message]).toEqual([
      "not_configured",
      false,
      "No model is configured for the executor.",
    ]);
  });
});
