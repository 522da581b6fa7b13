/**
 * The GitHub App of a local service: as this program's environment names it, else as `countersign github setup` left it in
 * the state folder. It reaches the Worker in its private file. [GHL-60] [GHL-61]
 */
import { chmodSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseEnv } from "node:util";
import { githubFile } from "../cli/github-secrets.ts";
import { readText, StartError } from "./files.ts";

/** What makes an App: all of it from one place, for half of one and half of another is none. */
const named = ["GITHUB_APP_ID", "GITHUB_APP_SLUG", "GITHUB_PRIVATE_KEY", "GITHUB_WEBHOOK_SECRET"] as const;
const where = ["GITHUB_URL", "GITHUB_API_URL"] as const;
/** Each for itself. */
const beside = ["GITHUB_WEBHOOK_SECRET_OLD", "GITHUB_SCOPE", "PUBLIC_URL"] as const;
/** No process that is started needs these once they stand in the Worker's file. */
export const githubVariables = [...named, ...where, ...beside] as const;

type Vars = Partial<Record<(typeof githubVariables)[number], string>>;

export function githubVars(state: string, env: Readonly<Record<string, string | undefined>>): Vars {
  const stored = readStored(join(resolve(state), githubFile));
  const app = named.some((name) => env[name]) ? env : stored;
  if (!named.some((name) => app[name])) return {};
  const vars: Vars = {
    ...picked(app, [...named, ...where]),
    ...picked(stored, beside),
    ...picked(env, beside),
  };
  const key = vars.GITHUB_PRIVATE_KEY;
  if (key !== undefined) vars.GITHUB_PRIVATE_KEY = key.replaceAll("\r", "").trim().replaceAll("\n", "\\n");
  for (const [name, value] of Object.entries(vars))
    if (/['$\r\n\0]/.test(value))
      throw new StartError(`${name} holds a quote, a dollar sign or a line break, which no such value does`);
  return vars;
}

function readStored(file: string): Readonly<Record<string, string | undefined>> {
  const text = readText(file);
  if (text === null) return {};
  chmodSync(file, 0o600);
  return parseEnv(text);
}
function picked(from: Readonly<Record<string, string | undefined>>, names: readonly (keyof Vars)[]): Vars {
  return Object.fromEntries(names.flatMap((name) => (from[name] ? [[name, from[name]]] : [])));
}

/** One line for whoever starts it; it names no secret. Null without an App. */
export function githubLine({ GITHUB_APP_SLUG: slug, PUBLIC_URL: url }: Vars): string | null {
  return slug === undefined ? null : `GitHub: the App ${slug}${url === undefined ? "" : `, which posts to ${url}`}.`;
}
