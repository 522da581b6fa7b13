/**
 * Where a new App's secrets go: a file that only its owner may read, written whole or not at all, and never over another.
 * A local service reads it at its next start; a deployment is given it by wrangler. [GHL-54] [GHL-55]
 */
import { existsSync, linkSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { MadeApp } from "../domain/github/manifest.ts";
import { visibleLine } from "../domain/visible.ts";
import { UsageError } from "./target.ts";

/** In a local service's state folder. */
export const githubFile = "github.env";

export interface Place {
  readonly kind: "local" | "deployment";
  readonly file: string;
}
/** Known to be free, and its folder to stand, before anything is made at GitHub. */
export function placeFor({ out, state, cwd }: { out?: string; state?: string; cwd: string }): Place {
  if (out !== undefined && state !== undefined) throw new UsageError("give --out or --state, not both");
  if (out !== undefined) return free({ kind: "deployment", file: resolve(cwd, out) });
  const folder = state === undefined ? localState(cwd) : resolve(cwd, state);
  if (folder === null)
    throw new UsageError(
      "no local service has run in this folder: type `npm start` here once, name its folder with --state DIR, or write the secrets for a deployment with --out FILE",
    );
  return free({ kind: "local", file: join(folder, githubFile) });
}
function free(place: Place): Place {
  const { file } = place;
  if (existsSync(file))
    throw new UsageError(
      `${visibleLine(file)} is there already, with the secrets of an App: move it away first, or name another file`,
    );
  if (statSync(dirname(file), { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new UsageError(`there is no folder ${visibleLine(dirname(file))}`);
  return place;
}
function localState(cwd: string): string | null {
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const state = join(folder, ".countersign", "state");
    if (existsSync(state)) return state;
    if (dirname(folder) === folder) return null;
  }
}

export interface Addresses {
  readonly public_url: string;
  /** Null for GitHub itself. */
  readonly own: { readonly url: string; readonly api_url: string } | null;
}

export function writeSecrets({ kind, file }: Place, app: MadeApp, { public_url, own }: Addresses): void {
  const values = {
    GITHUB_APP_ID: String(app.id),
    GITHUB_APP_SLUG: app.slug,
    // Its line breaks spelled out, which every reader of a line takes; the service reads both.
    GITHUB_PRIVATE_KEY: app.pem.replaceAll("\r", "").trim().replaceAll("\n", "\\n"),
    GITHUB_WEBHOOK_SECRET: app.webhook_secret,
    PUBLIC_URL: public_url,
    ...(own === null ? {} : { GITHUB_URL: own.url, GITHUB_API_URL: own.api_url }),
  };
  const lines = Object.entries(values).map(([name, value]) => `${name}='${value}'\n`);
  writeWhole(file, kind === "local" ? lines.join("") : `${JSON.stringify(values, null, 2)}\n`);
}
/** Linked to its name when it is whole, which fails where another has come to stand meanwhile. */
function writeWhole(file: string, text: string): void {
  const draft = `${file}.${process.pid}.draft`;
  try {
    writeFileSync(draft, text, { flag: "wx", mode: 0o600 });
    linkSync(draft, file);
  } finally {
    rmSync(draft, { force: true });
  }
}
