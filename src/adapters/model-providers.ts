/**
 * The providers as the deployment's bindings name them: what is needed for each, and how a model of it is opened. Keys
 * stay in here: they leave in the one request they are for, and follow no redirect. [MODEL-*]
 */
import type { LanguageModel } from "ai";
import type { ModelName, ModelProvider } from "../domain/model-list.ts";
import { whyNoAddress } from "./addresses.ts";
import { type KeyBindings, keysOf, readKey } from "./model-keys.ts";

export interface ModelBindings extends KeyBindings {
  readonly ANTHROPIC_BASE_URL?: string;
  readonly OPENAI_BASE_URL?: string;
  readonly GOOGLE_BASE_URL?: string;
  readonly MODEL_BASE_URL?: string;
  readonly AI?: Ai;
}

interface Way {
  readonly url: string;
  /** Null: the server asks for none. */
  readonly key: string | null;
}

const publicUrls = {
  anthropic: "https://api.anthropic.com/v1",
  openai: "https://api.openai.com/v1",
  google: "https://generativelanguage.googleapis.com/v1beta",
} as const;

export class Providers {
  readonly #bindings: ModelBindings;
  constructor(bindings: ModelBindings) {
    this.#bindings = bindings;
  }

  /** Null when the provider can be called, else what to set. */
  lacks(provider: ModelProvider): string | null {
    if (provider === "workers-ai") return this.#bindings.AI ? null : "needs the binding AI (see wrangler.toml)";
    const way = this.#way(provider);
    return typeof way === "string" ? way : null;
  }

  /** Every key there is, for whoever must see to it that none is repeated. */
  keys(): string[] {
    return keysOf(this.#bindings);
  }

  /** Loaded only when it is called: most of the time nobody thinks. Throws when `lacks` says something. */
  async open({ provider, model }: ModelName, fetch: typeof globalThis.fetch): Promise<LanguageModel> {
    if (provider === "workers-ai") {
      const { createWorkersAI } = await import("workers-ai-provider");
      if (this.#bindings.AI === undefined) throw new Error("there is no binding AI");
      return createWorkersAI({ binding: this.#bindings.AI })(model);
    }
    const way = this.#way(provider);
    if (typeof way === "string") throw new Error(way);
    const settings = { baseURL: way.url, apiKey: way.key ?? "", fetch };
    switch (provider) {
      case "anthropic": {
        const { createAnthropic } = await import("@ai-sdk/anthropic");
        return createAnthropic(settings)(model);
      }
      case "openai": {
        const { createOpenAI } = await import("@ai-sdk/openai");
        return createOpenAI(settings).responses(model);
      }
      case "google": {
        const { createGoogle } = await import("@ai-sdk/google");
        return createGoogle(settings)(model);
      }
      case "compatible": {
        const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
        const { baseURL } = settings;
        const key = way.key === null ? {} : { apiKey: way.key };
        return createOpenAICompatible({ name: "compatible", baseURL, includeUsage: true, fetch, ...key })(model);
      }
    }
  }

  /** A text says why there is no way. */
  #way(provider: Exclude<ModelProvider, "workers-ai">): Way | string {
    const own = this.#bindings;
    if (provider === "compatible") {
      if (!own.MODEL_BASE_URL) return "needs the variable MODEL_BASE_URL";
      const { key, problem } = readKey(own.MODEL_API_KEY);
      if (problem !== null) return `needs another MODEL_API_KEY: ${problem}`;
      return wayTo("MODEL_BASE_URL", own.MODEL_BASE_URL, key);
    }
    const name = provider === "anthropic" ? "ANTHROPIC" : provider === "openai" ? "OPENAI" : "GOOGLE";
    const { key, problem } = readKey(own[`${name}_API_KEY`]);
    if (problem !== null) return `needs another ${name}_API_KEY: ${problem}`;
    if (key === null) return `needs the secret ${name}_API_KEY`;
    return wayTo(`${name}_BASE_URL`, own[`${name}_BASE_URL`] || publicUrls[provider], key);
  }
}

function wayTo(variable: string, text: string, key: string | null): Way | string {
  const why = urlProblem(text);
  return why === null ? { url: text.replace(/\/+$/, ""), key } : `needs another ${variable}: ${why}`;
}

/** Null when prompts and keys may be sent there. */
export function urlProblem(text: string): string | null {
  if (!URL.canParse(text)) return "it is no URL";
  const url = new URL(text);
  return url.search !== "" || url.hash !== "" ? "it must end with its path" : whyNoAddress(url);
}
