/** The flags of `npm start`. Anything else is a usage error. [START-5] */
import { parseArgs } from "node:util";
import { modelProviders } from "../domain/model-list.ts";

export const DEFAULT_MODEL = "default";
export const DEFAULT_PORT = 8787;
export const DEFAULT_STATE = ".countersign/state";

export interface StartFlags {
  readonly port: number;
  readonly state: string;
  readonly seed: boolean;
  readonly json: boolean;
  readonly repoRoots: readonly string[];
  /** The OpenAI-compatible server that every role thinks with; null leaves it to the environment. */
  readonly model: ModelFlags | null;
}
export interface ModelFlags {
  readonly url: string;
  readonly name: string;
  /** The variable of this program's environment that holds the key. */
  readonly keyVariable: string | null;
}

export const usage = `npm start -- [--port N] [--state DIR] [--repo-root DIR]... [--no-seed] [--json]
             [--model-url URL [--model NAME] [--model-key-env VAR]] [--help]

  --port N         port on 127.0.0.1 (default ${DEFAULT_PORT}; 0 takes any free one)
  --state DIR      folder that keeps everything the service stores (default ${DEFAULT_STATE})
  --repo-root DIR  local repositories may be used when they stand below DIR; may be given more than once
                   (default: your home folder and the folder this project stands in)
  --model-url URL  proxy, planner and executor think with the OpenAI-compatible server at URL, such as
                   http://127.0.0.1:11434/v1
  --model NAME     the model's name there (default ${DEFAULT_MODEL})
  --model-key-env VAR  the environment variable that holds its key (default MODEL_API_KEY, if that is set)
  --no-seed        no sample repository and no sample task
  --json           one JSON line {url, token_file, scope} on stdout when ready; everything else on stderr
                   (npm start --silent -- --json, or npm prints its own words before it)
  --help           this text

Without --model-url the models come from the environment: MODEL_PROXY, MODEL_PLANNER and MODEL_EXECUTOR, each a
list of provider/model with commas in between (providers: ${modelProviders.join(", ")}),
with ANTHROPIC_API_KEY, OPENAI_API_KEY, GOOGLE_API_KEY, or MODEL_BASE_URL and MODEL_API_KEY for compatible.
The GitHub App is the one \`countersign github setup\` left in the state folder, unless the environment names another by
GITHUB_APP_ID, GITHUB_APP_SLUG, GITHUB_PRIVATE_KEY and GITHUB_WEBHOOK_SECRET; PUBLIC_URL is the service's own address.`;

export type ParsedFlags =
  | { readonly kind: "start"; readonly flags: StartFlags }
  | { readonly kind: "help" }
  | { readonly kind: "usage"; readonly problem: string };

export function parseFlags(args: readonly string[]): ParsedFlags {
  let values: ReturnType<typeof raw>;
  try {
    values = raw(args);
  } catch (error) {
    return { kind: "usage", problem: error instanceof Error ? error.message : String(error) };
  }
  if (values.help === true) return { kind: "help" };
  const port = values.port === undefined ? DEFAULT_PORT : portOf(values.port);
  if (port === null) return { kind: "usage", problem: `--port wants a number from 0 to 65535, not "${values.port}"` };
  const url = values["model-url"];
  const keyVariable = values["model-key-env"] ?? null;
  if (url === undefined && (values.model !== undefined || keyVariable !== null))
    return { kind: "usage", problem: "--model and --model-key-env want a --model-url beside them" };
  if (keyVariable !== null && !/^[A-Z_][A-Z0-9_]*$/i.test(keyVariable))
    return { kind: "usage", problem: "--model-key-env wants the name of a variable, never the key itself" };
  return {
    kind: "start",
    flags: {
      port,
      state: values.state ?? DEFAULT_STATE,
      seed: values["no-seed"] !== true,
      json: values.json === true,
      repoRoots: values["repo-root"] ?? [],
      model: url === undefined ? null : { url, name: values.model ?? DEFAULT_MODEL, keyVariable },
    },
  };
}

function raw(args: readonly string[]) {
  return parseArgs({
    args: [...args],
    strict: true,
    allowPositionals: false,
    options: {
      port: { type: "string" },
      state: { type: "string" },
      "repo-root": { type: "string", multiple: true },
      "model-url": { type: "string" },
      model: { type: "string" },
      "model-key-env": { type: "string" },
      "no-seed": { type: "boolean" },
      json: { type: "boolean" },
      help: { type: "boolean", short: "h" },
    },
  }).values;
}

function portOf(text: string): number | null {
  return /^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : null;
}
