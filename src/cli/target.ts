/**
 * Which service the command talks to: the one named by COUNTERSIGN_URL and COUNTERSIGN_TOKEN, else the local
 * one whose state folder stands in this folder or one above it. [CLI-2] [CLI-3]
 */
import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
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
  const local = findLocal(cwd);
  if (local === null)
    throw new UsageError(
      "no local service runs for this folder: start one with `npm start`, or set COUNTERSIGN_URL and COUNTERSIGN_TOKEN",
    );
  return local;
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

function findLocal(cwd: string): Target | null {
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const found = readService(join(folder, ".countersign", "state", "service.json"));
    if (found !== null) return found;
    if (dirname(folder) === folder) return null;
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
