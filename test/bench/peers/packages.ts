/** The other queues' packages: installed by their own lock file into the cache, never into the project. */
import { execFile } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { readText, sentence } from "../../../src/dev/files.ts";
import { inProject } from "../../../src/dev/project.ts";
import { cache } from "../ground.ts";

const folder = join(cache, "peers");
export const packagesFolder = join(folder, "node_modules");
const installMs = 300_000;

/** Null when they are there, else why they are not. */
export async function installPackages(say: (line: string) => void): Promise<string | null> {
  const lock = readText(inProject("test/bench/package-lock.json"));
  if (lock === null) return "test/bench/package-lock.json is missing";
  const mark = join(folder, "installed-lock.json");
  if (readText(mark) === lock && existsSync(packagesFolder)) return null;
  say("installing the other queues (npm ci, once)");
  mkdirSync(folder, { recursive: true });
  for (const name of ["package.json", "package-lock.json", ".npmrc"])
    copyFileSync(inProject("test/bench", name), join(folder, name));
  try {
    const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
    await promisify(execFile)("npm", args, { cwd: folder, timeout: installMs });
  } catch (error) {
    return `npm ci did not succeed: ${sentence(error).split("\n")[0]}`;
  }
  writeFileSync(mark, lock);
  return null;
}

/** A module of an installed package. Its shape is the caller's claim: the project does not know its types. */
export async function load(name: string): Promise<unknown> {
  const path = createRequire(join(folder, "package.json")).resolve(name);
  return import(pathToFileURL(path).href);
}

export function versionOf(name: string): string {
  const text = readText(join(packagesFolder, name, "package.json"));
  return text === null ? "not installed" : String(JSON.parse(text).version);
}
