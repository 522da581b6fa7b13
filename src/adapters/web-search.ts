/**
 * `WebSearch` by way of a provider that speaks Brave's JSON: a GET with `q` and `count`, the key in a header of its own.
 * The key leaves only by that header, and only to the address that was configured; what comes back holds no key of the
 * deployment, whatever the provider repeats. [TOOL-17] [TOOL-18] [TOOL-23]
 */
import { z } from "zod";
import { SearchFailure, type WebFound, type WebSearch } from "../agents/ports.ts";
import { limits } from "../limits.ts";
import { whyNoAddress } from "./addresses.ts";
import { type KeyBindings, keyless, keysOf, readKey } from "./model-keys.ts";

export interface SearchAddress {
  readonly url: string;
  readonly key: string;
  /** The deployment's other keys, which no result may hold either. */
  readonly keys?: readonly string[];
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
  return URL.canParse(url) ? whyNoAddress(new URL(url)) : "it is no address";
}

export interface SearchBindings extends KeyBindings {
  readonly WEB_SEARCH_URL?: string;
}

/** Nobody has to search the web: only what is configured by halves, or wrongly, is named. */
export function searchFrom(bindings: SearchBindings, lacks: (name: string, detail: string) => null): WebSearch | null {
  const { WEB_SEARCH_URL: url } = bindings;
  const { key, problem } = readKey(bindings.WEB_SEARCH_KEY);
  const without = "Agents cannot search the web.";
  if (problem !== null) return lacks("WEB_SEARCH_KEY", `${without} WEB_SEARCH_KEY cannot be used: ${problem}.`);
  if (!url && key === null) return null;
  if (!url) return lacks("WEB_SEARCH_URL", `${without} Set WEB_SEARCH_URL to the address of a search provider.`);
  if (key === null) return lacks("WEB_SEARCH_KEY", `${without} Set the secret WEB_SEARCH_KEY.`);
  const why = whyNoSearchUrl(url);
  if (why !== null) return lacks("WEB_SEARCH_URL", `${without} WEB_SEARCH_URL cannot be used: ${why}.`);
  return new HttpWebSearch({ url, key, keys: keysOf(bindings) });
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
      .map(({ title, url, description }) => ({
        title: this.#words(title),
        url: this.#link(url),
        excerpt: this.#words(description),
      }));
  }

  #without(text: string): string {
    return keyless(text, [this.#address.key, ...(this.#address.keys ?? [])]);
  }
  /** Looked at again without the tags: one may stand in the middle of a key. */
  #words(text: string): string {
    return this.#without(words(this.#without(text)));
  }
  /** Also as it is read by whoever opens it. */
  #link(url: string): string {
    const plain = decoded(url);
    const shown = this.#without(plain);
    return shown === plain ? this.#without(url) : shown;
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
function decoded(url: string): string {
  return url.replace(/%([2-7][\da-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
