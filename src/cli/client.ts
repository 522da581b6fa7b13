/**
 * The HTTP API as a program sees it: parsed answers, problems as errors with their code, and the event
 * feed as one unbroken sequence. The token goes to the one address it was given for. [CLI-5] [CLI-6]
 */
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { type EventView, eventView } from "../domain/record-view.ts";
import { serverSentEvents } from "./sse.ts";

const REQUEST_TIMEOUT_MS = 30_000;
const RECONNECT_FIRST_MS = 250;
const RECONNECT_MAX_MS = 4_000;
/** About half a minute without an answer: by then a restarting service is back, and any other is down. */
const RECONNECT_TRIES = 10;

/** What the service refused, in its own words. */
export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  readonly body: Readonly<Record<string, unknown>>;
  constructor(status: number, code: string, detail: string, body: Readonly<Record<string, unknown>>) {
    super(detail);
    this.status = status;
    this.code = code;
    this.body = body;
  }
}
/** Nobody answered, or with something that is not this API. */
export class Unreachable extends Error {}

export interface Client {
  readonly url: string;
  get<T>(path: string, shape: z.ZodType<T>): Promise<T>;
  post<T>(path: string, body: unknown, shape: z.ZodType<T>, key?: string): Promise<T>;
  put<T>(path: string, body: unknown, shape: z.ZodType<T>, headers: Readonly<Record<string, string>>): Promise<T>;
  remove<T>(path: string, body: unknown, shape: z.ZodType<T>): Promise<T>;
  text(path: string): Promise<string>;
  /** The answer's bytes as they come, however long that takes. */
  stream(path: string): Promise<ReadableStream<Uint8Array>>;
  /** Every event with seq > after, in order, for ever; a lost connection is taken up where it broke off. */
  events(after: number, signal: AbortSignal): AsyncGenerator<EventView>;
}

const problemBody = z.looseObject({ code: z.string(), detail: z.string() });

export function connect(url: string, token: string): Client {
  const base = url.replace(/\/+$/, "");

  async function ask(path: string, init: RequestInit, accept = "application/json"): Promise<Response> {
    const headers = { authorization: `Bearer ${token}`, accept, ...init.headers };
    let response: Response;
    try {
      // A redirect would carry the token to an address nobody named.
      response = await fetch(base + path, { ...init, headers, redirect: "error" });
    } catch (error) {
      throw new Unreachable(
        `the service at ${base} does not answer (${reason(error)}): start it with \`npm start\`, or set COUNTERSIGN_URL to where it runs`,
      );
    }
    if (!response.ok) throw await problemOf(base, response);
    return response;
  }
  const timed = (init: RequestInit): RequestInit => ({ ...init, signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) });

  async function* events(after: number, signal: AbortSignal): AsyncGenerator<EventView> {
    let last = after;
    let failures = 0;
    while (!signal.aborted) {
      try {
        const headers = { "last-event-id": String(last) };
        const response = await ask("/api/events", { headers, signal }, "text/event-stream");
        for await (const event of eventsIn(response)) {
          failures = 0;
          if (event.seq <= last) continue;
          last = event.seq;
          yield event;
        }
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof Problem && error.status < 500) throw error;
        if (++failures >= RECONNECT_TRIES) throw error;
      }
      const waitMs = Math.min(RECONNECT_FIRST_MS * 2 ** failures, RECONNECT_MAX_MS);
      await sleep(waitMs, undefined, { signal }).catch(() => undefined);
    }
  }

  return {
    url: base,
    get: async (path, shape) => parsed(base, shape, await ask(path, timed({}))),
    post: async (path, body, shape, key) => {
      const headers = { "content-type": "application/json", ...(key === undefined ? {} : { "idempotency-key": key }) };
      return parsed(base, shape, await ask(path, timed({ method: "POST", headers, body: JSON.stringify(body) })));
    },
    put: async (path, body, shape, more) => {
      const headers = { "content-type": "application/json", ...more };
      return parsed(base, shape, await ask(path, timed({ method: "PUT", headers, body: JSON.stringify(body) })));
    },
    remove: async (path, body, shape) => {
      const headers = { "content-type": "application/json" };
      return parsed(base, shape, await ask(path, timed({ method: "DELETE", headers, body: JSON.stringify(body) })));
    },
    stream: async (path) => {
      const { body } = await ask(path, {}, "*/*");
      if (body === null) throw new Unreachable(`${base} answered with nothing: is this a Countersign service?`);
      return body;
    },
    text: async (path) => (await ask(path, timed({}), "text/plain, text/x-diff, */*")).text(),
    events,
  };
}

async function parsed<T>(base: string, shape: z.ZodType<T>, response: Response): Promise<T> {
  let body: unknown;
  try {
    body = await response.json();
  } catch {
    throw new Unreachable(`${base} answered with something that is not JSON: is this a Countersign service?`);
  }
  const result = shape.safeParse(body);
  if (result.success) return result.data;
  throw new Unreachable(`${base} answered with a shape this version does not know: ${z.prettifyError(result.error)}`);
}

async function problemOf(base: string, response: Response): Promise<Error> {
  const body = problemBody.safeParse(await response.json().catch(() => null));
  if (body.success) return new Problem(response.status, body.data.code, body.data.detail, body.data);
  return new Unreachable(`${base} answered ${response.status}: is this a Countersign service?`);
}

async function* eventsIn(response: Response): AsyncGenerator<EventView> {
  if (response.body === null) return;
  for await (const data of serverSentEvents(response.body)) {
    // What is not an event of ours (a comment's keep-alive, a reset that says old events are gone) has no seq.
    const event = eventView.safeParse(json(data));
    if (event.success) yield event.data;
  }
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function reason(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (cause instanceof Error && "code" in cause && typeof cause.code === "string") return cause.code;
  return cause instanceof Error ? cause.message : String(cause);
}
