import { array, assert, constantFrom, property } from "fast-check";
import { describe, expect, it } from "vitest";
import { type FailedCall, failed, failureOf } from "../../src/adapters/model-failures.ts";
import { isSecret, keyless, readKey, withoutKeys } from "../../src/adapters/model-keys.ts";
import { messagesOf } from "../../src/adapters/model-messages.ts";
import { pricesTakenOn, usdOf } from "../../src/adapters/prices.ts";
import type { Turn } from "../../src/agents/models.ts";

const said = (text: string, ...ids: readonly string[]): Turn => ({
  kind: "said",
  text,
  calls: ids.map((call_id) => ({ call_id, tool: "file_read", arguments: `{"path":"${call_id}"}` })),
  model: "m",
});
const result = (call_id: string, text: string, is_error = false): Turn => ({
  kind: "result",
  call_id,
  tool: "file_read",
  text,
  is_error,
});
const told = (text: string): Turn => ({ kind: "told", text });
const shape = (turns: readonly Turn[]) =>
  messagesOf(turns).map(({ role, content }) => [
    role,
    typeof content === "string"
      ? content
      : content.map((part) => {
          if (part.type === "tool-result")
            return `${part.toolCallId}=${"value" in part.output ? part.output.value : ""}`;
          return part.type === "tool-call" ? part.toolCallId : part.type === "text" ? part.text : part.type;
        }),
  ]);

describe("a conversation", () => {
  it("[MODEL-11] has each call answered right behind it, whatever came between", () => {
    const turns = [told("go"), said("both", "a", "b"), result("b", "B"), told("notice"), result("a", "A"), said("end")];
    expect(shape(turns)).toEqual([
      ["user", "go"],
      ["assistant", ["both", "a", "b"]],
      ["tool", ["a=A", "b=B"]],
      ["user", "notice"],
      ["assistant", ["end"]],
    ]);
  });

  it("[MODEL-11] has no call without a result, no result without a call, no empty text", () => {
    expect(shape([told(" "), said(" \n"), said("", "a"), result("z", "Z"), said("x", "c"), result("c", "")])).toEqual([
      ["assistant", ["a"]],
      ["tool", ["a=No result is known."]],
      ["user", "Result of file_read:\nZ"],
      ["assistant", ["x", "c"]],
      ["tool", ["c=(no output)"]],
    ]);
  });

  it("[MODEL-11] has ids and names every provider takes, each id once, and arguments that are objects", () => {
    const odd: Turn = {
      kind: "said",
      text: "",
      calls: [
        { call_id: "ü/1", tool: "do it!", arguments: "[1]" },
        { call_id: "a", tool: "", arguments: '{"x":' },
        { call_id: "a", tool: "t", arguments: '{"x":1}' },
      ],
      model: "m",
    };
    const [assistant, tool] = messagesOf([odd, result("ü/1", "1"), result("a", "2", true), result("a", "3")]);
    const calls = Array.isArray(assistant?.content) ? assistant.content : [];
    expect(
      calls.map((part) => (part.type === "tool-call" ? [part.toolCallId, part.toolName, part.input] : [])),
    ).toEqual([
      ["call_1_again", "do_it_", { malformed_arguments: "[1]" }],
      ["a", "unnamed", { malformed_arguments: '{"x":' }],
      ["call_3_again", "t", { x: 1 }],
    ]);
    const results = Array.isArray(tool?.content) ? tool.content : [];
    expect(results.map((part) => (part.type === "tool-result" ? [part.toolCallId, part.output] : []))).toEqual([
      ["call_1_again", { type: "text", value: "1" }],
      ["a", { type: "error-text", value: "2" }],
      ["call_3_again", { type: "text", value: "3" }],
    ]);
  });

  it("[MODEL-12] that was cut says which results are left out, and keeps everything else", () => {
    const turns = [told("go"), said("", "a"), result("a", "long text"), said("", "b"), result("b", "B")];
    const short = "[left out to keep this conversation short; call the tool again if it is needed]";
    const cut = shape([...turns, { kind: "cut", before: 4, why: "context" }]);
    expect(cut).toEqual([
      ["user", "go"],
      ["assistant", ["a"]],
      ["tool", [`a=${short}`]],
      ["assistant", ["b"]],
      ["tool", ["b=B"]],
    ]);
    const twice: Turn[] = [...turns, { kind: "cut", before: 5, why: "" }, { kind: "cut", before: 2, why: "" }];
    expect(JSON.stringify(shape(twice))).not.toContain("long text");
    expect(shape(twice).at(-1)).toEqual(["tool", [`b=${short}`]]);
  });
});

const call: FailedCall = {
  model: "openai/x",
  answered: false,
  others: false,
  keys: ["Hush-hush-hush-1", "ollama"],
  sent: "You are told a long secret story about the merger of two companies.\nIn two lines.\nThrice as long.",
  spent: { usage: { input_tokens: 1, output_tokens: 0, cached_tokens: 0, estimated: true }, usd: null },
  now_ms: Date.parse("2026-11-22T12:00:00Z"),
};
const api = (statusCode: number, message: string, responseHeaders: Record<string, string> = {}) =>
  Object.assign(new Error(message), { name: "AI_APICallError", statusCode, responseHeaders });

describe("keys in an answer", () => {
  const secret = "sk-a/TOPSECRETKEY0123456789";
  const taken = (args: string, keys = [secret], tool = "file_write") =>
    withoutKeys({ text: "", finish: "calls", calls: [{ call_id: "1", tool, arguments: args }] }, keys).calls[0];
  it("[MODEL-37] whatever has 16 characters is a secret; a shorter one only when it is no word, and none below 8", () => {
    for (const key of [
      ...[secret, "AIzaSyA1234567890abcdef", "d41d8cd98f00b204e9800998ecf8427e", "internationalization"],
      ...["sk-no-key-required", "deadbeefcafef00d", "Sk-1234567890ab", "sk-12345", "0a1b2c3d4e", "AbCdEfGhIjKl"],
    ])
      expect([key, isSecret(key)]).toEqual([key, true]);
    for (const key of ["ollama", "lm-studio", "no-key", "not-needed", "dummy-key", "Dummy-Key", "local", "", "Sk-1234"])
      expect([key, isSecret(key)]).toEqual([key, false]);
  });
  it("[MODEL-37] no random key of 16 characters or more is missed, whatever it is made of", () => {
    const alphabets = [
      "0123456789abcdef",
      "abcdefghijklmnopqrstuvwxyz",
      "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
      "0123456789",
    ];
    const mixed = `${alphabets.join("")}-_+/=.~!$()*,'<>&\\"`;
    const key = constantFrom(...alphabets, mixed).chain((alphabet) =>
      array(constantFrom(...alphabet), { minLength: 16, maxLength: 64 }).map((chars) => chars.join("")),
    );
    const blanks = constantFrom("", " ", "\n", "\r\n", "\t", " \n ");
    assert(
      property(key, blanks, blanks, (made, before, after) => {
        const read = readKey(`${before}${made}${after}`);
        expect(read).toEqual({ key: made, problem: null });
        // What a header carries of the text as it was set is what is looked for.
        expect(new Headers({ key: `${before}${made}${after}` }).get("key")).toBe(read.key);
        expect(keyless(`It is ${made}.`, [`${before}${made}${after}`])).toBe("It is [key].");
      }),
    );
  });
  it("[MODEL-39] a key with white space or anything unseen inside is none, and what is said of it holds no part of it", () => {
    for (const middle of [" ", "\n", "\r\n", "\t", "\0", "\u00a0", "\u200b", "\u2028", "\u007f", "é"]) {
      const { key, problem } = readKey(`sk-FIRSTHALF${middle}SECONDHALF99`);
      expect([middle, key]).toEqual([middle, null]);
      expect(problem).toMatch(/^a key is of visible ASCII/);
    }
    for (const nothing of [undefined, "", " \n"]) expect(readKey(nothing)).toEqual({ key: null, problem: null });
  });
  it("[MODEL-38] a call that holds one is marked, however it is escaped, and holds it no more", () => {
    const escaped = [...secret].map((char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
    expect(taken(`{"a":{"b":["say ${escaped}"]},"n":1}`)).toEqual({
      ...{ call_id: "1", tool: "file_write", holds_key: true },
      arguments: '{"a":{"b":["say [key]"]},"n":1}',
    });
    const slashed = secret.replace("/", "\\/");
    for (const args of [
      `{"a":"${slashed}"}`,
      `{"${secret}":1}`,
      `{"a":"${escaped}","a":"x"}`,
      `{"a":"${escaped}`,
      secret,
    ]) {
      const call = taken(args);
      expect([args, call?.holds_key]).toEqual([args, true]);
      expect(call?.arguments).not.toMatch(/TOPSECRET|u0054|a\\\//);
    }
    expect(taken("{}", [secret], `Bearer ${secret}`)).toMatchObject({ tool: "Bearer [key]", holds_key: true });
  });
  it("[MODEL-38] any other call comes through as it was written, also with a dummy key's word in it", () => {
    for (const args of ['{"content": "Start it with: ollama serve\\u0021"}', '{"path":', ""]) {
      const call = { call_id: "1", tool: "file_write", arguments: args };
      expect([taken(args, [secret]), taken(args, ["ollama", secret])]).toEqual([call, call]);
    }
  });
});

describe("a failure's words", () => {
  it("[MODEL-9] hold no key, nothing that looks like one, and nothing of what was sent", () => {
    const words = (message: string) => failureOf(api(400, message), call).message;
    expect(words("key Hush-hush-hush-1 (Hush-hush-hush-1) and Bearer abc.def and sk-proj-12345678 are bad")).toBe(
      "The model's provider refuses the call: key [key] ([key]) and [key] and [key] are bad",
    );
    expect(words("no ollama here")).toBe("The model's provider refuses the call: no ollama here");
    for (const repeated of [
      "'a long secret story about   the merger of two'",
      "two companies. In two lines. Thrice as long.",
    ])
      expect(words(`bad input ${repeated}`)).toBe(
        "The model's provider refuses the call: its words repeat what was sent and are left out",
      );
  });
  it("[MODEL-9] are short and cannot hide anything", () => {
    expect(failureOf(api(400, `a\u202eb ${"long ".repeat(500)}`), call).message).toHaveLength(
      "The model's provider refuses the call: ".length + 300,
    );
    expect(failureOf(api(400, "a\u202eb\nc"), call).message).toContain("a⟦U+202E⟧b c");
  });
  it("[MODEL-9] do not repeat an answer that could not be read", () => {
    const error = Object.assign(new Error("Text: the model's private words"), { name: "AI_JSONParseError" });
    const { code, message } = failureOf(error, { ...call, answered: true });
    expect([code, message]).toEqual(["malformed", "The model's answer is not of its provider's format."]);
  });
  it("[MODEL-7] come with the provider's wait, in whichever way it says it, a quarter of an hour at most", () => {
    const waits = [
      { "retry-after": "2" },
      { "retry-after-ms": "250", "retry-after": "9" },
      { "retry-after": "Sun, 22 Nov 2026 12:00:05 GMT" },
      { "retry-after": "Sun, 22 Nov 2026 11:00:00 GMT" },
      { "retry-after": "99999999" },
      { "retry-after": "soon" },
      {},
    ].map((headers) => failureOf(api(429, "", headers as Record<string, string>), call).wait_ms);
    expect(waits).toEqual([2_000, 250, 5_000, 0, 900_000, null, null]);
  });
  it("[MODEL-7] of an error nobody knows say that nothing was reached, or that the answer broke off", () => {
    expect(failureOf("thrown", call)).toMatchObject({ code: "unreachable", spent: null });
    expect(failureOf("thrown", call).message).toBe("The model's provider cannot be reached: thrown");
    expect(failureOf(undefined, { ...call, answered: true })).toMatchObject({ code: "cut", spent: call.spent });
    expect(failed("timeout", "", call).spent).toEqual(call.spent);
  });
});

describe("prices", () => {
  const tokens = { input: 1_000_000, cached: 0, written: 0, output: 0 };
  it("[MODEL-3] are per million tokens, of what was cached apart", () => {
    expect(usdOf("anthropic/claude-sonnet-4-6", { ...tokens, output: 1_000_000 })).toBe(18);
    expect(usdOf("anthropic/claude-sonnet-4-6", { ...tokens, cached: 1_000_000 })).toBeCloseTo(0.3);
    expect(usdOf("anthropic/claude-sonnet-4-6", { ...tokens, cached: 500_000, written: 500_000 })).toBeCloseTo(2.025);
    expect(usdOf("openai/gpt-4o", { input: 10, cached: 99, written: 99, output: 0 })).toBeCloseTo(12.5e-6);
    expect(pricesTakenOn).toMatch(/^\d{4}-\d{2}-\d{2}$/);
  });
  it("[MODEL-3] of a model with a date or a preview are its family's; another model's are not", () => {
    const priced = ["openai/gpt-4o-2024-08-06", "google/gemini-3.1-pro-preview", "anthropic/claude-haiku-4-5-20251001"];
    expect(priced.map((model) => usdOf(model, tokens))).toEqual([2.5, 4, 1]);
    for (const model of ["openai/gpt-5.4-pro", "compatible/gpt-4o", "anthropic/claude-sonnet-5-5", "openai/", ""])
      expect(usdOf(model, tokens), model).toBeNull();
  });
  it("[MODEL-3] rise where a provider takes more for long input", () => {
    const long = (input: number) => usdOf("openai/gpt-5.4", { input, cached: 0, written: 0, output: 1_000 });
    expect(long(272_000)).toBeCloseTo(0.272 * 2.5 + 0.015);
    expect(long(272_001)).toBeCloseTo(0.272001 * 5 + 0.0225);
  });
});
