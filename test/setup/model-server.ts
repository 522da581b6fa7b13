/**
 * A model server on loopback that answers what a function says, in the formats of Anthropic, OpenAI, Google and the
 * OpenAI-compatible ones. The formats and the failures are aimock's; a door before it keeps every request as it came.
 *
 *   const server = await startModelServer();
 *   server.script((request) =>                              // called once a request; may be set anew at any time
 *     request.system.includes("You route")
 *       ? { calls: [{ tool: "route", arguments: { route: "planner" } }] }
 *       : request.answered("file_read")                     // the texts of that tool's results, oldest first
 *         ? { words: "done", usage: { input: 120, output: 8, cached: 100 } }
 *         : { fails: "overloaded" },                        // or rate_limited, cut, malformed, slow, dropped, status ...
 *   );
 *   bringUp with --model-url server.url (or ANTHROPIC_BASE_URL = server.anthropicUrl); ...
 *   server.journal().map(({ text }) => text)                // each request's body, byte for byte
 *   await server.stop();
 */
import { createServer, request as forward } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type ChatCompletionRequest, type FixtureResponse, LLMock } from "@copilotkit/aimock";
import { z } from "zod";

export interface ScriptedCall {
  readonly tool: string;
  /** A text is sent as it is, so it need not be JSON. */
  readonly arguments: Readonly<Record<string, unknown>> | string;
  readonly id?: string;
}
export type ScriptedFailure =
  | { readonly fails: "rate_limited"; readonly retry_after_s?: number }
  | { readonly fails: "status"; readonly status: number; readonly message?: string }
  /** 503; a body that is no JSON; no answer at all. */
  | { readonly fails: "overloaded" | "malformed" | "dropped" }
  /** The connection ends after a few pieces of the answer. */
  | { readonly fails: "cut"; readonly words?: string }
  | { readonly fails: "slow"; readonly ms: number; readonly words?: string };
export type ScriptedAnswer =
  | {
      readonly words?: string;
      readonly calls?: readonly ScriptedCall[];
      /** `cached` is told in one format only: MODEL_BASE_URL = server.openRouterUrl. */
      readonly usage?: { readonly input: number; readonly output: number; readonly cached?: number };
      /** The answer stops at the token limit. */
      readonly length?: boolean;
      /** It is not given before this is. */
      readonly after?: Promise<unknown>;
    }
  | ScriptedFailure;

/** A request in one shape, whatever the format it came in. */
export interface ScriptedRequest {
  readonly index: number;
  readonly model: string;
  readonly system: string;
  readonly messages: readonly {
    readonly role: string;
    readonly text: string;
    readonly calls: readonly ScriptedCall[];
    readonly call_id: string | null;
  }[];
  readonly tools: readonly string[];
  /** All text of system and messages. */
  readonly all: string;
  /** Texts of the results of one tool's calls, oldest first; null when there is none. */
  answered(tool: string): readonly string[] | null;
}
export type Script = (request: ScriptedRequest) => ScriptedAnswer;

/** What tests look at in a request, in whichever of the formats it was made; all else is there too. */
const requestBody = z.looseObject({
  model: z.string().optional(),
  store: z.boolean().optional(),
  tools: z
    .array(
      z.looseObject({
        name: z.string().optional(),
        function: z.looseObject({ name: z.string() }).optional(),
        functionDeclarations: z.array(z.unknown()).optional(),
      }),
    )
    .default([]),
  tool_choice: z.unknown().optional(),
  toolConfig: z.looseObject({ functionCallingConfig: z.unknown().optional() }).optional(),
});
type RequestBody = z.infer<typeof requestBody>;

export interface JournalEntry {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The body, byte for byte, and as JSON. */
  readonly text: string;
  readonly body: RequestBody;
}
export interface ModelServer {
  /** For OpenAI-compatible clients and for OPENAI_BASE_URL: `http://127.0.0.1:PORT/v1`. */
  readonly url: string;
  readonly anthropicUrl: string;
  readonly googleUrl: string;
  /** OpenAI-compatible too, with a few things more in its answers. */
  readonly openRouterUrl: string;
  script(answer: Script): void;
  journal(): readonly JournalEntry[];
  forget(): void;
  stop(): Promise<void>;
}

/** Short pieces, so that an answer of a few words can be cut in the middle. */
const chunk_chars = 12;
const cut_after = 6;
const long_words = "one two three four five six seven eight nine ten ".repeat(4);

export async function startModelServer(port = 0): Promise<ModelServer> {
  let script: Script = () => ({ fails: "status", status: 400, message: "the test wrote no answer" });
  let asked = 0;
  const journal: JournalEntry[] = [];
  const decided = new WeakMap<ChatCompletionRequest, ScriptedAnswer>();
  const decide = (request: ChatCompletionRequest): ScriptedAnswer => {
    const known = decided.get(request);
    if (known !== undefined) return known;
    const answer = script(readRequest(request, asked++));
    decided.set(request, answer);
    return answer;
  };
  const failing = (how: string) => (request: ChatCompletionRequest) => {
    const answer = decide(request);
    return "fails" in answer && answer.fails === how;
  };
  const respond = (request: ChatCompletionRequest) => responseOf(decide(request));
  // aimock chooses a fixture, and with it how an answer breaks, before it asks the function for the answer.
  const mock = new LLMock({ host: "127.0.0.1", port: 0, chunkSize: chunk_chars, journalMaxEntries: 1 })
    .on({ predicate: failing("malformed") }, respond, { chaos: { malformedRate: 1 } })
    .on({ predicate: failing("dropped") }, respond, { chaos: { disconnectRate: 1 } })
    .on({ predicate: failing("cut") }, respond, { truncateAfterChunks: cut_after, latency: 5 })
    .on({ predicate: () => true }, respond);
  const inner = await mock.start();

  const door = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    const bytes = Buffer.concat(chunks);
    const text = bytes.toString("utf8");
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    journal.push({
      path: request.url ?? "",
      headers,
      text,
      body: requestBody.parse(text === "" ? {} : JSON.parse(text)),
    });
    const { method, url } = request;
    const onward = forward(`${inner}${url}`, { method, headers: request.headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.on("data", (chunk) => response.write(chunk));
      answer.on("end", () => response.end());
      // What had come first goes through first.
      answer.on("error", () => setTimeout(() => response.destroy(), 20));
    });
    onward.on("error", () => response.destroy());
    response.on("close", () => onward.destroy());
    response.on("error", () => undefined);
    onward.end(bytes);
  });
  await new Promise<void>((ready) => door.listen(port, "127.0.0.1", ready));
  // A listening TCP server has an address with a port.
  const root = `http://127.0.0.1:${(door.address() as AddressInfo).port}`;
  return {
    url: `${root}/v1`,
    anthropicUrl: `${root}/v1`,
    googleUrl: `${root}/v1beta`,
    openRouterUrl: `${root}/api/v1`,
    script: (answer) => {
      script = answer;
    },
    journal: () => journal,
    forget: () => {
      journal.length = 0;
      asked = 0;
    },
    stop: async () => {
      door.closeAllConnections();
      await new Promise<void>((ended) => door.close(() => ended()));
      await mock.stop();
    },
  };
}

async function responseOf(answer: ScriptedAnswer): Promise<FixtureResponse> {
  if (!("fails" in answer)) {
    await answer.after;
    return spoken(answer);
  }
  switch (answer.fails) {
    case "rate_limited":
      return error(429, "too many requests", { retryAfter: answer.retry_after_s ?? 1 });
    case "overloaded":
      return error(503, "overloaded");
    case "status":
      return error(answer.status, answer.message ?? `status ${answer.status}`);
    case "slow":
      await sleep(answer.ms);
      return { content: answer.words ?? "late" };
    default:
      return { content: ("words" in answer ? answer.words : undefined) ?? long_words };
  }
}

function error(status: number, message: string, more: { retryAfter?: number } = {}): FixtureResponse {
  return { error: { message, type: "scripted" }, status, ...more };
}

function spoken(answer: Exclude<ScriptedAnswer, ScriptedFailure>): FixtureResponse {
  const toolCalls = (answer.calls ?? []).map(({ tool, id, arguments: given }) => ({
    name: tool,
    arguments: typeof given === "string" ? given : JSON.stringify(given),
    ...(id === undefined ? {} : { id }),
  }));
  const more = {
    ...(answer.usage === undefined ? {} : { usage: usageOf(answer.usage) }),
    ...(answer.length === true ? { finishReason: "length" } : {}),
  };
  if (toolCalls.length === 0) return { content: answer.words ?? "", ...more };
  return answer.words === undefined ? { toolCalls, ...more } : { content: answer.words, toolCalls, ...more };
}

/** Each format takes the names it knows. */
function usageOf({ input, output, cached = 0 }: { input: number; output: number; cached?: number }) {
  return {
    prompt_tokens: input,
    completion_tokens: output,
    input_tokens: input,
    output_tokens: output,
    promptTokenCount: input,
    candidatesTokenCount: output,
    total_tokens: input + output,
    totalTokenCount: input + output,
    ...(cached === 0 ? {} : { prompt_tokens_details: { cached_tokens: cached } }),
  };
}

function readRequest(request: ChatCompletionRequest, index: number): ScriptedRequest {
  const read = request.messages.map(({ role, content, tool_calls = [], tool_call_id }) => ({
    role,
    text: typeof content === "string" ? content : (content ?? []).map((part) => part.text ?? "").join(""),
    calls: tool_calls.map(({ id, function: { name, arguments: given } }) => ({ id, tool: name, arguments: given })),
    call_id: tool_call_id ?? null,
  }));
  const isSystem = (role: string) => role === "system" || role === "developer";
  const tools = new Map(read.flatMap(({ calls }) => calls.map(({ id, tool }) => [id, tool] as const)));
  const system = read
    .filter(({ role }) => isSystem(role))
    .map(({ text }) => text)
    .join("\n");
  return {
    index,
    model: request.model,
    system,
    messages: read.filter(({ role }) => !isSystem(role)),
    tools: (request.tools ?? []).map((tool) => tool.function.name),
    all: read.map(({ text, calls }) => [text, ...calls.map((call) => call.arguments)].join("\n")).join("\n"),
    answered: (name) => {
      const texts = read.flatMap(({ call_id, text }) =>
        call_id !== null && tools.get(call_id) === name ? [text] : [],
      );
      return texts.length === 0 ? null : texts;
    },
  };
}
