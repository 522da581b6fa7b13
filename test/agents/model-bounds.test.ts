/** What a hostile provider may do with an answer: how much of it is read, what of its counts is believed, what it is called. */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { Hearing } from "../../src/adapters/model-hearing.ts";
import { urlProblem } from "../../src/adapters/model-providers.ts";
import { modelsFrom } from "../../src/adapters/model-roles.ts";
import { mostUsd, usdOf } from "../../src/adapters/prices.ts";
import { ModelFailure, type ModelRequest, usage as usageShape } from "../../src/agents/models.ts";
import { limits } from "../../src/limits.ts";

const look = { name: "look", description: "Looks.", parameters: { type: "object", properties: {} } };
const request: ModelRequest = {
  ...{ role: "executor", attempt: 0, instructions: "You do one thing.", turns: [{ kind: "told", text: "Do it." }] },
  ...{ tools: [look], must_call: false, max_output_tokens: 500, temperature: null },
};
const open: { close(): void; closeAllConnections(): void }[] = [];
afterEach(() => {
  for (const server of open.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});
/** How a call ends when a server answers in this way. */
async function ending(answer: (response: ServerResponse) => void) {
  const server = createServer((_, response) => {
    response.on("error", () => undefined);
    answer(response);
  });
  open.push(server);
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  // A listening TCP server has an address with a port.
  const MODEL_BASE_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const { models } = modelsFrom({ MODEL_EXECUTOR: "compatible/a", MODEL_BASE_URL }, 20_000);
  return models.call(request).catch((error: unknown) => {
    if (error instanceof ModelFailure) return error;
    throw error;
  });
}
const piece = (delta: object, more: object = {}) =>
  `data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta }], ...more })}\n\n`;
function streams(text: string) {
  return (response: ServerResponse) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(text);
  };
}
/** Writes as fast as it is read, and says how much that was. */
function pours(status: number, type: string, most: number) {
  const poured = { bytes: 0 };
  const pour = async (response: ServerResponse) => {
    response.writeHead(status, { "content-type": type });
    response.write("data: ");
    const block = "A".repeat(1024 * 1024);
    for (; poured.bytes < most && !response.destroyed; poured.bytes += block.length) {
      const room = response.write(block);
      if (!room) await Promise.race([new Promise((go) => response.once("drain", go)), sleep(1_000)]);
    }
    response.end();
  };
  return { poured, answer: (response: ServerResponse) => void pour(response) };
}

describe("an answer", () => {
  it("[MODEL-30] that begins more calls than any may hold is ended at the first too many, finished or not", async () => {
    const hearing = new Hearing();
    const begin = (id: number) => hearing.take({ type: "tool-input-start", id: `k${id}`, toolName: "memory_search" });
    for (let id = 0; id < limits.model_answer_calls; id++) begin(id);
    expect(() => begin(64)).toThrow("too many");
    const calls = Array.from({ length: 62_000 }, (_, index) =>
      piece({ tool_calls: [{ index, id: `k${index}`, type: "function", function: { name: "look", arguments: "{" } }] }),
    );
    const began = performance.now();
    expect(await ending(streams(calls.join("")))).toMatchObject({ code: "malformed" });
    expect(performance.now() - began).toBeLessThan(5_000);
  });
  it("[MODEL-30] is as long as its words, its thoughts, its tools' names and their arguments together", () => {
    const half = "x".repeat(limits.model_answer_bytes / 2);
    const parts = [
      { type: "text-delta", id: "1", text: half },
      { type: "reasoning-delta", id: "1", text: half },
      { type: "tool-input-start", id: "1", toolName: half },
      { type: "tool-input-delta", id: "1", delta: half },
      { type: "tool-call", toolCallId: "2", toolName: "a", input: half, dynamic: true },
    ] as const;
    for (const first of parts)
      for (const second of parts) {
        const hearing = new Hearing();
        hearing.take(first);
        expect(() => {
          hearing.take(second);
          hearing.take({ type: "text-delta", id: "1", text: "y" });
        }, `${first.type} ${second.type}`).toThrow("too long");
      }
  });
  it("[MODEL-31] whose bytes do not end is not read on, with or without an end of a line", async () => {
    const { poured, answer } = pours(200, "text/event-stream", 8 * limits.model_wire_bytes);
    const failure = await ending(answer);
    expect(failure).toMatchObject({ code: "malformed", message: expect.stringContaining("too long") });
    await sleep(50);
    expect(poured.bytes).toBeLessThan(3 * limits.model_wire_bytes);
  });
  it("[MODEL-31] of a refusal the beginning is read, and its status says what it is", async () => {
    const { poured, answer } = pours(503, "application/json", 4 * limits.model_wire_bytes);
    expect(await ending(answer)).toMatchObject({ code: "overloaded" });
    await sleep(50);
    expect(poured.bytes).toBeLessThan(limits.model_wire_bytes);
  });
  it("[MODEL-32] nested too deep to be read is malformed, not cut", async () => {
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    expect(await ending(streams(`data: ${deep}\n\n`))).toMatchObject({ code: "malformed" });
    const called = (args: string) =>
      piece({ tool_calls: [{ index: 0, id: "k", type: "function", function: { name: "look", arguments: args } }] });
    const end = `${piece({}, { choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] })}data: [DONE]\n\n`;
    const said = await ending(streams(`${called(`{"query":${deep}}`)}${end}`));
    if (said instanceof ModelFailure) expect(said.code).toBe("malformed");
    else expect(said.calls[0]?.arguments).toContain("[[[[");
  });
});

describe("tokens a provider counted", () => {
  const ends = (usage: unknown) =>
    streams(
      `${piece({ content: "It is done." })}${piece({}, { choices: [{ index: 0, delta: {}, finish_reason: "stop" }], usage })}data: [DONE]\n\n`,
    );
  it.each([
    { prompt_tokens: 1e300, completion_tokens: 1e18 },
    { prompt_tokens: 1.5, completion_tokens: 0.25 },
    { prompt_tokens: 2 ** 53 + 2, completion_tokens: 10 },
    { prompt_tokens: limits.call_tokens + 1, completion_tokens: 10 },
    { prompt_tokens: -100000000, completion_tokens: -5000000, prompt_tokens_details: { cached_tokens: -1000000 } },
  ])("[MODEL-33] that cannot be are not believed, but estimated: %o", async (usage) => {
    const answer = await ending(ends({ total_tokens: 3, ...usage }));
    if (answer instanceof ModelFailure) throw answer;
    expect(usageShape.safeParse(answer.usage).success).toBe(true);
    expect(answer.usage).toMatchObject({ estimated: true, cached_tokens: 0 });
    expect(answer.usage.input_tokens).toBeGreaterThan(0);
    expect(answer.usage.input_tokens).toBeLessThan(100);
    expect(answer.usage.output_tokens).toBeGreaterThan(0);
    expect(answer.usage.output_tokens).toBeLessThan(100);
  });
  it("[MODEL-33] are the provider's up to the most that is believed", async () => {
    const answer = await ending(ends({ prompt_tokens: limits.call_tokens, completion_tokens: 7, total_tokens: 1 }));
    expect(answer).toMatchObject({ usage: { input_tokens: limits.call_tokens, output_tokens: 7, estimated: false } });
  });
  it("[MODEL-34] never make a price that is less than nothing", () => {
    const none = { input: 0, cached: 0, written: 0, output: 0 };
    for (const part of ["input", "cached", "written", "output"] as const)
      expect(usdOf("openai/gpt-5.6", { ...none, [part]: -1_000_000 })).toBe(0);
    const one = { ...none, input: 100, output: 10 };
    const plain = usdOf("openai/gpt-5.6", one);
    expect(usdOf("openai/gpt-5.6", { ...one, written: -1_000_000, cached: -1_000_000 })).toBe(plain);
  });
});

describe("the most a call may cost", () => {
  it("[MODEL-35] is the whole input, kept or not, and the whole answer, at the dearest of the role's prices", () => {
    expect(mostUsd("anthropic/claude-opus-4-5", 1_000_000, 1_000_000)).toBeCloseTo(6.25 + 25);
    expect(mostUsd("compatible/a", 1, 1)).toBeNull();
    const of = (list: string) => {
      const keys = { OPENAI_API_KEY: "a", MODEL_BASE_URL: "https://a.example/v1" };
      return modelsFrom({ ...keys, MODEL_EXECUTOR: list }).models.mostUsd?.("executor", 1_000, 1_000);
    };
    expect(of("compatible/a")).toBeNull();
    expect(of("")).toBeNull();
    expect(of("openai/gpt-5-nano, openai/gpt-4o, compatible/a")).toBeCloseTo(0.0125);
  });
});

describe("a server's address", () => {
  it("[MODEL-36] is not one where a cloud keeps a machine's secrets, however it is written", () => {
    const bad = [
      "https://169.254.169.254/v1",
      "https://0xa9fea9fe/v1",
      "https://2852039166/v1",
      "https://169.254.1.1:8443/v1",
      "https://[fe80::1]/",
      "https://[febf::1]/",
      "https://[::ffff:169.254.169.254]/",
      "https://[fd00:ec2::254]/",
      "https://[::169.254.169.254]/",
      "https://[64:ff9b::169.254.169.254]/",
      "https://[::ffff:100.100.100.200]/",
      "https://[::ffff:168.63.129.16]/",
      "https://[::ffff:0.0.0.0]/",
      "https://0.0.0.0/",
      "https://[::]/",
      "https://metadata/",
      "https://metadata.google.internal./v1",
      "https://100.100.100.200/",
    ];
    expect(bad.filter((url) => urlProblem(url) === null)).toEqual([]);
    const good = [
      "https://10.0.0.1/v1",
      "https://[fd12::1]/",
      "https://[::1]/",
      "https://models.internal/",
      "https://169.254.example/",
    ];
    expect(good.filter((url) => urlProblem(url) !== null)).toEqual([]);
  });
});
