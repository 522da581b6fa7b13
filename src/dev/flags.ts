/** The flags of `npm start`. Anything else is a usage error. [START-5] */
import { parseArgs } from "node:util";

export const DEFAULT_PORT = 8787;
export const DEFAULT_STATE = ".countersign/state";

export interface StartFlags {
  readonly port: number;
  readonly state: string;
  readonly seed: boolean;
  readonly json: boolean;
  readonly repoRoots: readonly string[];
}

export const usage = `npm start -- [--port N] [--state DIR] [--repo-root DIR]... [--no-seed] [--json] [--help]

  --port N         port on 127.0.0.1 (default ${DEFAULT_PORT}; 0 takes any free one)
  --state DIR      folder that keeps everything the service stores (default ${DEFAULT_STATE})
  --repo-root DIR  local repositories may be used when they stand below DIR; may be given more than once
                   (default: your home folder and the folder this project stands in)
  --no-seed        no sample repository and no sample task
  --json           one JSON line {url, token_file, scope} on stdout when ready; everything else on stderr
                   (npm start --silent -- --json, or npm prints its own words before it)
  --help           this text`;

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
  return {
    kind: "start",
    flags: {
      port,
      state: values.state ?? DEFAULT_STATE,
      seed: values["no-seed"] !== true,
      json: values.json === true,
      repoRoots: values["repo-root"] ?? [],
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
      "no-seed": { type: "boolean" },
      json: { type: "boolean" },
      help: { type: "boolean", short: "h" },
    },
  }).values;
}

function portOf(text: string): number | null {
  return /^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : null;
}
