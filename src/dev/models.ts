/**
 * The models of a local service: from `--model-url`, or as this program's environment lists them. They reach the
 * Worker in its private file; of the keys only those of providers that are named. [START-36]
 */
import { readKey } from "../adapters/model-keys.ts";
import { urlProblem } from "../adapters/model-providers.ts";
import type { RoleBindings } from "../adapters/model-roles.ts";
import { type ModelProvider, readModelList } from "../domain/model-list.ts";
import { StartError } from "./files.ts";
import type { ModelFlags } from "./flags.ts";

type Name = Exclude<keyof RoleBindings, "AI">;
type Vars = Partial<Record<Name, string>>;

export const keyVariables = ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GOOGLE_API_KEY", "MODEL_API_KEY"] as const;
const lists = ["MODEL_PROXY", "MODEL_PLANNER", "MODEL_EXECUTOR"] as const;
const needs: Readonly<Record<ModelProvider, readonly Name[]>> = {
  "workers-ai": [],
  anthropic: ["ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"],
  openai: ["OPENAI_API_KEY", "OPENAI_BASE_URL"],
  google: ["GOOGLE_API_KEY", "GOOGLE_BASE_URL"],
  compatible: ["MODEL_BASE_URL", "MODEL_API_KEY"],
};

export function modelVars(flags: ModelFlags | null, env: NodeJS.ProcessEnv): Vars {
  const vars = flags === null ? fromEnvironment(env) : fromFlags(flags, env);
  for (const [name, value] of Object.entries(vars))
    if (/['\r\n\0]/.test(value))
      throw new StartError(`${name} holds a quote or a line break, which no key or list does`);
  return vars;
}

function fromFlags({ url, name, keyVariable }: ModelFlags, env: NodeJS.ProcessEnv): Vars {
  const problem = urlProblem(url);
  if (problem !== null) throw new StartError(`--model-url: ${problem}`);
  const model = `compatible/${name}`;
  const { models, problems } = readModelList(model);
  if (models.length !== 1 || problems.length > 0)
    throw new StartError("--model: a model's name is of 1 to 200 letters, digits and @ . : / + ~ _ -");
  const key = keyIn(env, keyVariable ?? "MODEL_API_KEY");
  if (keyVariable !== null && key === null)
    throw new StartError(`--model-key-env: there is nothing in the environment variable ${keyVariable}`);
  return {
    MODEL_PROXY: model,
    MODEL_PLANNER: model,
    MODEL_EXECUTOR: model,
    MODEL_BASE_URL: url,
    ...(key === null ? {} : { MODEL_API_KEY: key }),
  };
}
/** As it will go over the wire; null when nothing is there. */
function keyIn(env: NodeJS.ProcessEnv, name: string): string | null {
  const { key, problem } = readKey(env[name]);
  if (problem !== null) throw new StartError(`${name} cannot be used: ${problem}`);
  return key;
}

function fromEnvironment(env: NodeJS.ProcessEnv): Vars {
  const named = lists.flatMap((list) => readModelList(env[list] ?? "").models.map(({ provider }) => provider));
  const names: readonly Name[] = [...lists, ...new Set(named.flatMap((provider) => needs[provider]))];
  const read = (name: Name) => (isKey(name) ? keyIn(env, name) : env[name]);
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = read(name);
      return value ? [[name, value]] : [];
    }),
  );
}
function isKey(name: Name): boolean {
  return keyVariables.some((key) => key === name);
}

/** One line for whoever starts it; it names no key. Null when nothing thinks. */
export function modelLine(vars: Vars): string | null {
  const { MODEL_PROXY: proxy, MODEL_PLANNER: planner, MODEL_EXECUTOR: executor, MODEL_BASE_URL: url } = vars;
  const told = Object.entries({ proxy, planner, executor }).flatMap(([role, list]) =>
    list === undefined
      ? []
      : [
          `${role} ${
            readModelList(list)
              .models.map(({ provider, model }) => `${provider}/${model}`)
              .join(", ") || "none that can be read"
          }`,
        ],
  );
  if (told.length === 0) return null;
  return `Models: ${told.join("; ")}${url === undefined ? "" : ` (compatible: ${url})`}.`;
}
