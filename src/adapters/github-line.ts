/**
 * One call of GitHub's API: bounded in time and bytes, never following a redirect to another origin, answered in our own
 * shapes or failed in our own words. It repeats nothing. Runs in workerd and in Node. [GHA-5] [GHA-10] [GHA-11]
 */
import { request } from "@octokit/request";
import type { z } from "zod";
import { limits } from "../limits.ts";
import { failed, failureOf, type SentCall, Unreadable } from "./github-failures.ts";

export interface LineSpec {
  /** Without a slash at its end. */
  readonly api_url: string;
  readonly fetch?: typeof fetch;
  readonly now_ms?: () => number;
  readonly timeout_ms?: number;
}
export type Parameters = Readonly<Record<string, unknown>>;
export interface Answer<T> {
  readonly data: T;
  /** Address of the next page, by the `link` header; null at the last. */
  readonly next: URL | null;
  /** By GitHub's own clock (ISO 8601); null when it did not say. */
  readonly at: string | null;
}
export interface Bounds {
  readonly timeout_ms?: number;
  readonly most_bytes?: number;
}
type Sent = typeof request;
/** What signs a call: gets a sender that must be used for it, once or, where nothing was done, again. */
export type Signing = (send: Sent, route: string, parameters: Parameters) => Promise<Awaited<ReturnType<Sent>>>;

export class GithubLine {
  readonly now_ms: () => number;
  readonly #send: Sent;
  readonly #fetch: typeof fetch;
  readonly #origin: string;
  readonly #timeout_ms: number;

  constructor(spec: LineSpec) {
    this.now_ms = spec.now_ms ?? (() => Date.now());
    this.#timeout_ms = spec.timeout_ms ?? limits.github_call_ms;
    this.#origin = new URL(spec.api_url).origin;
    // Called as a plain function: workerd refuses its fetch as a method of something else.
    this.#fetch = spec.fetch ?? ((input, init) => fetch(input, init));
    this.#send = request.defaults({
      baseUrl: spec.api_url,
      headers: {
        accept: "application/vnd.github+json",
        "user-agent": "countersign",
        "x-github-api-version": "2022-11-28",
      },
      request: { log: { debug: quiet, info: quiet, warn: quiet, error: quiet } },
    });
  }

  /** `route` as GitHub writes it: `GET /repos/{owner}/{repo}`. What the shape does not know is dropped. */
  async call<T>(
    route: string,
    parameters: Parameters,
    shape: z.ZodType<T>,
    signing: Signing | { readonly token: string },
    { timeout_ms = this.#timeout_ms, most_bytes = limits.github_answer_bytes }: Bounds = {},
  ): Promise<Answer<T>> {
    const sent: SentCall = { secrets: "token" in signing ? [signing.token] : [], now_ms: this.now_ms() };
    const send = this.#send.defaults({
      request: {
        signal: AbortSignal.timeout(timeout_ms),
        fetch: (url: string, init: RequestInit) => bounded(this.#fetch, this.#origin, url, init, most_bytes),
      },
    });
    let response: Awaited<ReturnType<Sent>>;
    try {
      response = await ("token" in signing
        ? send(route, { ...parameters, headers: { authorization: `token ${signing.token}` } })
        : signing(send, route, parameters));
    } catch (error) {
      throw failureOf(error, sent);
    }
    const read = shape.safeParse(response.data);
    if (!read.success) throw failed("unavailable", "its answer is in a form nobody here knows", sent, response.status);
    return { data: read.data, next: nextOf(response.headers.link), at: timeOf(response.headers.date) };
  }
}

const quiet = () => undefined;

function nextOf(link: string | undefined): URL | null {
  const found = /<([^<>]{1,2048})>;\s*rel="next"/.exec(link ?? "")?.[1];
  return found !== undefined && URL.canParse(found) ? new URL(found) : null;
}

function timeOf(date: string | undefined): string | null {
  const at_ms = Date.parse(date ?? "");
  return Number.isNaN(at_ms) ? null : new Date(at_ms).toISOString();
}

/** The whole answer, or Unreadable: what is sent on elsewhere would carry the token there. */
async function bounded(
  plain: typeof fetch,
  origin: string,
  url: string,
  init: RequestInit,
  most_bytes: number,
): Promise<Response> {
  let at = url;
  for (let hops = 0; ; hops++) {
    const response = await plain(at, { ...init, redirect: "manual" });
    const { status } = response;
    if (status < 300 || status === 304 || status >= 400) return whole(response, most_bytes);
    await response.body?.cancel();
    const location = response.headers.get("location") ?? "";
    const next = URL.canParse(location, at) ? new URL(location, at) : null;
    // 301 and 302 may turn a POST into a GET, which is another call.
    const same = init.method === "GET" || status === 307 || status === 308;
    if (next === null || next.origin !== origin) throw new Unreadable("it sends the call on to another host");
    if (!same || hops >= limits.github_redirects) throw new Unreadable("it sends the call on and on");
    at = next.href;
  }
}

async function whole(response: Response, most_bytes: number): Promise<Response> {
  const { status, headers } = response;
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body ?? []) {
    bytes += part.byteLength;
    if (bytes > most_bytes) throw new Unreadable("its answer is too long");
    parts.push(part);
  }
  const content = new Uint8Array(bytes);
  let at = 0;
  for (const part of parts) {
    content.set(part, at);
    at += part.byteLength;
  }
  const bodiless = status === 204 || status === 205 || status === 304;
  return new Response(bodiless ? null : content, { status, headers });
}
