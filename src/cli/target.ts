/**
 * Which service the command talks to: the one named by COUNTERSIGN_URL and COUNTERSIGN_TOKEN, else the local
 * one whose state folder stands in this folder or one above it. [CLI-2] [CLI-3]
 */
import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseEnv } from "node:util";
import { z } from "zod";

/** Something the person typed or set is wrong: exit code 2. */
export class UsageError extends Error {}

export interface Target {
  readonly url: string;
  readonly token: string;
}

const record = z.object({ url: z.string(), token_file: z.string() });

export function findTarget(env: Readonly<Record<string, string | undefined>>, cwd: string): Target {
  const { COUNTERSIGN_URL: url, COUNTERSIGN_TOKEN: token } = env;
  if (url !== undefined && url !== "") {
    if (token === undefined || token === "")
      throw new UsageError("COUNTERSIGN_URL is set, COUNTERSIGN_TOKEN is not: set both");
    return { url: checkedUrl(url), token };
  }
  if (token !== undefined && token !== "")
    throw new UsageError("COUNTERSIGN_TOKEN is set, COUNTERSIGN_URL is not: set both");
  const local = localService(cwd);
  if (local === null)
    throw new UsageError(
      "no local service runs for this folder: start one with `npm start`, or set COUNTERSIGN_URL and COUNTERSIGN_TOKEN",
    );
  return local.target;
}

/** The deployment's admin: of a local service, by the secret that `npm start` made for it. */
export function findAdminTarget(env: Readonly<Record<string, string | undefined>>, cwd: string): Target {
  const { COUNTERSIGN_URL: url, COUNTERSIGN_ADMIN_TOKEN: given } = env;
  if (url !== undefined && url !== "") {
    if (given === undefined || given === "")
      throw new UsageError(
        "this is asked as the deployment's admin: set COUNTERSIGN_ADMIN_TOKEN beside COUNTERSIGN_URL",
      );
    return { url: checkedUrl(url), token: given };
  }
  const local = localService(cwd);
  if (local === null)
    throw new UsageError(
      "no local service runs for this folder: start one with `npm start`, or set COUNTERSIGN_URL and COUNTERSIGN_ADMIN_TOKEN",
    );
  const { folder, target } = local;
  const secrets = join(folder, "secrets.env");
  try {
    const token = parseEnv(readFileSync(secrets, "utf8")).COUNTERSIGN_ADMIN_TOKEN;
    if (token !== undefined) return { ...target, token };
  } catch {
    // Told below.
  }
  throw new UsageError(`${secrets} cannot be read: run as the user who typed \`npm start\``);
}

/** A token is sent in clear only to this machine. */
export function checkedUrl(text: string, name = "COUNTERSIGN_URL"): string {
  if (!URL.canParse(text)) throw new UsageError(`${name} is not a URL: ${text}`);
  const url = new URL(text);
  if (url.username !== "" || url.password !== "")
    throw new UsageError(`${name} holds a user name or password: leave it out`);
  const loopback = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && loopback))
    throw new UsageError(`${name} must begin with https:// (http:// is for this machine only)`);
  return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
}

function localService(cwd: string): { readonly folder: string; readonly target: Target } | null {
  for (let at = resolve(cwd); ; at = dirname(at)) {
    const folder = join(at, ".countersign", "state");
    const target = readService(join(folder, "service.json"));
    if (target !== null) return { folder, target };
    if (dirname(at) === at) return null;
  }
}

function readService(file: string): Target | null {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    return null;
  }
  try {
    const { url, token_file } = record.parse(JSON.parse(text));
    return { url: checkedUrl(url), token: readFileSync(token_file, "utf8").trim() };
  } catch {
    throw new UsageError(`${file} or the token it names cannot be read: run as the user who typed \`npm start\``);
  }
}
