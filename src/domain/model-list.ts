/**
 * The models of a role, as one variable lists them: `provider/model, provider/model`, best first. What cannot be read
 * is left out and told by its place only: a key that was pasted into the wrong variable must not be repeated. [MODEL-*]
 */
import { limits } from "../limits.ts";

export const modelProviders = ["workers-ai", "anthropic", "openai", "google", "compatible"] as const;
export type ModelProvider = (typeof modelProviders)[number];

export interface ModelName {
  readonly provider: ModelProvider;
  /** As the provider calls it; may hold slashes. */
  readonly model: string;
  /** Its place in the list, from 1. */
  readonly place: number;
}

export interface ModelList {
  readonly models: readonly ModelName[];
  readonly problems: readonly string[];
}

const modelForm = /^[\w@.:/+~-]{1,200}$/;

/** An empty text is an empty list. */
export function readModelList(text: string): ModelList {
  if (text.trim() === "") return { models: [], problems: [] };
  const models: ModelName[] = [];
  const problems: string[] = [];
  for (const [index, raw] of text.split(",").entries()) {
    const place = index + 1;
    const entry = raw.trim();
    const slash = entry.indexOf("/");
    const provider = modelProviders.find((name) => name === entry.slice(0, slash));
    const model = entry.slice(slash + 1);
    if (entry === "") problems.push(`entry ${place} is empty`);
    else if (slash < 1) problems.push(`entry ${place} is not of the form provider/model`);
    else if (provider === undefined)
      problems.push(`entry ${place} names none of the providers ${modelProviders.join(", ")}`);
    else if (!modelForm.test(model))
      problems.push(
        `entry ${place} has no model name of 1 to 200 letters, digits and @ . : / + ~ _ - after its provider`,
      );
    else if (models.some((known) => known.provider === provider && known.model === model))
      problems.push(`entry ${place} names a model for the second time`);
    else if (models.length >= limits.models_per_role) {
      problems.push(`entry ${place} and those behind it are too many: a role has at most ${limits.models_per_role}`);
      break;
    } else models.push({ provider, model, place });
  }
  return { models, problems };
}

/** As it is configured, shown and recorded. */
export function nameOf(model: Pick<ModelName, "provider" | "model">): string {
  return `${model.provider}/${model.model}`;
}
