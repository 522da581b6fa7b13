/**
 * `WebSearch` by way of a provider that speaks Brave's JSON: a GET with `q` and `count`, the key in a header of its own.
 * The key leaves only by that header, and only to the address that was configured. [TOOL-17] [TOOL-18]
 */
import { z } from "zod";
import { SearchFailure, type WebFound, type WebSearch } from "../agents/ports.ts";
import { limits } from "../limits.ts";

export interface SearchAddress {
  readonly url: string;
  readonly key: string;
  readonly fetch?: typeof fetch;
}

const answer = z.object({
  web: z
    .object({
      results: z
        .array(z.object({ title: z.string(), url: z.string(), description: z.string().default("") }))
        .default([]),
    })
    .default({ results: [] }),
});

/** Why no key is sent to this address; null when it may be. */
export function whyNoSearchUrl(url: string): string | null {
  if (!URL.canParse(url)) return "it is no address";
  const { protocol, hostname, username, password } = new URL(url);
  if (username !== "" || password !== "") return "it carries a user; the key belongs in WEB_SEARCH_KEY";
  if (protocol === "https:") return null;
  const loopback = ["127.0.0.1", "localhost", "[::1]"].includes(hostname);
  return protocol === "http:" && loopback ? null : "the key would travel in the open; use https";
}

export class HttpWebSearch implements WebSearch {
  readonly #address: SearchAddress;
  readonly #fetch: typeof fetch;

  constructor(address: SearchAddress) {
    this.#address = address;
    // Called as a plain function: workerd refuses its fetch as a method of something else.
    this.#fetch = address.fetch ?? ((input, init) => fetch(input, init));
  }

  async search(query: string, limit: number): Promise<readonly WebFound[]> {
    const response = await this.#get(query, limit);
    if (!response.ok) {
      await response.body?.cancel();
      const { status } = response;
      throw new SearchFailure(`the search provider answered ${status}`, status === 429 || status >= 500);
    }
    const found = answer.safeParse(await read(response));
    if (!found.success) throw new SearchFailure("the search provider answered in a form nobody here knows", false);
    return found.data.web.results
      .filter(({ url }) => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol))
      .slice(0, limit)
      .map(({ title, url, description }) => ({ title: words(title), url, excerpt: words(description) }));
  }

  async #get(query: string, limit: number): Promise<Response> {
    const address = new URL(this.#address.url);
    address.searchParams.set("q", query);
    address.searchParams.set("count", String(limit));
    const headers = { accept: "application/json", "x-subscription-token": this.#address.key };
    try {
      // A redirect would carry the key to somewhere else.
      const signal = AbortSignal.timeout(limits.web_search_ms);
      return await this.#fetch(address.href, { headers, redirect: "manual", signal });
    } catch (error) {
      throw unreachable(error);
    }
  }
}

async function read(response: Response): Promise<unknown> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const part of response.body ?? []) {
      bytes += part.byteLength;
      if (bytes > limits.web_answer_bytes) throw new SearchFailure("the search provider's answer is too long", false);
      parts.push(part);
    }
  } catch (error) {
    throw error instanceof SearchFailure ? error : unreachable(error);
  }
  const whole = new Uint8Array(bytes);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.byteLength;
  }
  try {
    return JSON.parse(new TextDecoder().decode(whole));
  } catch {
    throw new SearchFailure("the search provider did not answer in JSON", false);
  }
}

function unreachable(error: unknown): SearchFailure {
  const late = error instanceof Error && error.name === "TimeoutError";
  return new SearchFailure(late ? "the search provider took too long" : "the search provider does not answer", true);
}

/** Providers mark what matched with tags. */
function words(text: string): string {
  return text
    .replace(/<\/?(?:strong|b|em|mark)>/gi, "")
    .replace(/\s+/g, " ")
    .trim();
}
