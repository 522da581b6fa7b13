/**
 * What a container's outbound handler does with a request: git's goes through the passage its ticket belongs to, with
 * the credential put on here, and https goes to the hosts the sandbox was granted. All else ends here. Tickets and
 * credentials are in this memory alone, for as long as one operation takes, and what still passes then is cut.
 * [CON-1] [CON-3] [CON-4] [CON-5] [CON-19]
 */
import { sha256Hex } from "../domain/canonical.ts";
import {
  answerThrough,
  gateOrigin,
  mayReach,
  type Passage,
  type Push,
  pushHeadBytes,
  pushSays,
  wayThrough,
} from "../domain/gate.ts";
import { asksFor, pushTaken, saidBytes, standsAt } from "../domain/gate-said.ts";
import type { Credential } from "../host/protocol.ts";
import { readUpTo } from "./container-bundle.ts";
import { streamed } from "./container-machine.ts";

export interface Opened {
  readonly ticket: string;
  /** Of a push: whether its server said that the branch stands at the commit, after the push that passed or asked now. */
  stands(): Promise<boolean>;
  close(): void;
}

interface Open {
  readonly passage: Passage;
  readonly authorization: string | null;
  /** Aborted when the operation is over. */
  readonly over: AbortSignal;
  /** A push passed, and its server took it. */
  pushed: boolean;
}

export class ContainerGate {
  readonly #fetch: typeof fetch;
  readonly #newTicket: () => string;
  /** By the hash of the ticket: how long a look-up takes tells nothing of the ticket. */
  readonly #open = new Map<string, Open>();

  constructor(parts: { fetch: typeof fetch; newTicket: () => string }) {
    this.#fetch = parts.fetch;
    this.#newTicket = parts.newTicket;
  }

  open(passage: Passage, credential: Credential | undefined): Opened {
    const ticket = this.#newTicket();
    const key = sha256Hex(ticket);
    const pair = credential === undefined ? null : btoa(`${credential.username}:${credential.password}`);
    const ended = new AbortController();
    const authorization = pair === null ? null : `Basic ${pair}`;
    const open: Open = { passage, authorization, over: ended.signal, pushed: false };
    this.#open.set(key, open);
    const close = (): void => {
      this.#open.delete(key);
      ended.abort();
    };
    return { ticket, close, stands: async () => open.pushed || this.#asked(open) };
  }

  /** `over`: the hosts are closed, and what passes to and from them is cut. */
  async carry(request: Request, granted: ReadonlySet<string>, over: AbortSignal): Promise<Response> {
    if (new URL(request.url).origin === gateOrigin) return this.#git(request);
    if (over.aborted || !mayReach(request.url, granted)) return refused();
    const headers = new Headers(request.headers);
    for (const name of ofTheConnection) headers.delete(name);
    const { method } = request;
    const body = request.body === null ? null : cut(readerUntil(request.body, over), over);
    return this.#sent(request.url, { method, headers, body, redirect: "manual", signal: over, ...streamed });
  }

  async #git(request: Request): Promise<Response> {
    const ticket = /^Bearer ([0-9a-f]{64})$/.exec(request.headers.get("authorization") ?? "")?.[1] ?? "";
    const open = this.#open.get(sha256Hex(ticket));
    const { method, url } = request;
    const way = open && wayThrough({ method, url, header: (name) => request.headers.get(name) }, open.passage);
    if (!open || !way) return refused();
    const { over } = open;
    const body = way.push === null ? request.body : await held(request.body, way.push, over);
    // It may have taken its time: what was open when it began is looked at again.
    if (over.aborted || (way.push !== null && body === null)) return refused();
    const shown = open.authorization === null ? {} : { authorization: open.authorization };
    const headers = { ...way.headers, ...shown };
    const init: RequestInit = { method: way.method, headers, redirect: "manual", signal: over, ...streamed };
    const answer = await this.#sent(way.url, way.method === "POST" ? { ...init, body } : init);
    const passed = answerThrough(way, answer.status, answer.headers.get("content-type"));
    if (passed.body) {
      const said = way.push === null ? answer.body : await whole(answer.body);
      if (said === "more") return new Response(null, { status: 502 });
      if (way.push !== null && said instanceof Uint8Array) open.pushed ||= pushTaken(said, way.push);
      return new Response(said, { headers: { "content-type": way.answers } });
    }
    await answer.body?.cancel();
    return new Response(null, { status: passed.status });
  }

  /** Where the branch stands, in the way the operation's own requests are made. */
  async #asked({ passage: { source, push }, authorization, over }: Open): Promise<boolean> {
    if (push === null) return false;
    const name = "git-upload-pack";
    const headers = {
      accept: "*/*",
      "user-agent": "git/countersign",
      "git-protocol": "version=2",
      "content-type": `application/x-${name}-request`,
      ...(authorization === null ? {} : { authorization }),
    };
    const init: RequestInit = { method: "POST", headers, body: asksFor(push), redirect: "manual", signal: over };
    const answer = await this.#sent(`${source}/${name}`, init);
    const ours = answer.status === 200 && answer.headers.get("content-type") === `application/x-${name}-result`;
    const said = ours ? await whole(answer.body) : await answer.body?.cancel();
    return said instanceof Uint8Array && standsAt(said, push);
  }

  /** What a failure says may hold what was sent. */
  async #sent(url: string, init: RequestInit): Promise<Response> {
    try {
      return await this.#fetch(url, init);
    } catch {
      return new Response(null, { status: 502 });
    }
  }
}

// They speak of the way from the container to here.
const ofTheConnection = ["host", "connection", "upgrade", "expect", "transfer-encoding", "content-length"];

/** The request went astray: nothing is said of why, for whoever sent it may not be the host. */
function refused(): Response {
  return new Response(null, { status: 421 });
}

/** The body of a push from its first byte on, once its head shows that it changes what it may; null when it does not. */
async function held(
  body: ReadableStream<Uint8Array> | null,
  push: Push,
  over: AbortSignal,
): Promise<ReadableStream<Uint8Array> | null> {
  if (body === null) return null;
  const reader = readerUntil(body, over);
  let head = new Uint8Array(0);
  let says = pushSays(head, push);
  for (; says === "more" || says === "empty"; says = pushSays(head, push)) {
    const { done, value } = head.length <= pushHeadBytes ? await reader.read() : nothing;
    if (done || value === undefined) break;
    head = joined(head, value);
  }
  // One that changes nothing has been read to its end by now.
  if (says !== "yes" && says !== "empty") {
    await reader.cancel();
    return null;
  }
  return cut(reader, over, head);
}
const nothing = { done: true, value: undefined } as const;

/** Whoever waits for a piece that never comes is let go. */
function readerUntil(body: ReadableStream<Uint8Array>, over: AbortSignal): ReadableStreamDefaultReader<Uint8Array> {
  const reader = body.getReader();
  over.addEventListener("abort", () => void reader.cancel().catch(() => {}), { once: true });
  return reader;
}
/** What comes after the end goes nowhere. */
function cut(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  over: AbortSignal,
  head?: Uint8Array,
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    start: (controller) => head && controller.enqueue(head),
    async pull(controller) {
      const { done, value } = await reader.read();
      if (over.aborted) controller.error(new Error("it is over"));
      else if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/** A short answer of a server's, read to its end; "more" when it is not short, or does not come whole. */
async function whole(body: ReadableStream<Uint8Array> | null): Promise<Uint8Array<ArrayBuffer> | "more"> {
  try {
    const pieces = await readUpTo(body, saidBytes);
    return pieces === null ? "more" : pieces.reduce<Uint8Array<ArrayBuffer>>(joined, new Uint8Array(0));
  } catch {
    return "more";
  }
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}
