/**
 * Builds the page when its sources are newer than what was built. A build appears whole: readers of the old
 * one are never shown half of the new. [START-9]
 */
import { spawn } from "node:child_process";
import { existsSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { StartError } from "./files.ts";
import { inProject, project } from "./project.ts";

const sources = ["web", "src/domain", "src/limits.ts", "src/limits-minds.ts", "package-lock.json"];

export function pageIsStale(root: string = project): boolean {
  const built = join(root, "web/dist/index.html");
  if (!existsSync(built)) return true;
  const builtMs = statSync(built).mtimeMs;
  return sources.some((source) => newestMs(join(root, source)) > builtMs);
}

function newestMs(path: string): number {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return 0;
  if (!found.isDirectory()) return found.mtimeMs;
  return readdirSync(path)
    .filter((name) => name !== "dist" && name !== "node_modules")
    .reduce((newest, name) => Math.max(newest, newestMs(join(path, name))), 0);
}

export async function buildPage(say: (line: string) => void): Promise<void> {
  if (!pageIsStale()) return;
  say("Building the page ...");
  const draft = inProject("node_modules/.cache", `page-${process.pid}`);
  const old = `${draft}-old`;
  const dist = inProject("web/dist");
  try {
    await vite(draft);
    swap(draft, dist, old);
  } finally {
    for (const path of [draft, old]) rmSync(path, { recursive: true, force: true });
  }
}

function swap(draft: string, dist: string, old: string): void {
  try {
    if (existsSync(dist)) renameSync(dist, old);
    renameSync(draft, dist);
  } catch (error) {
    // Another start built the same page at the same moment, and was faster.
    if (pageIsStale()) throw error;
  }
}

function vite(outDir: string): Promise<void> {
  const args = [
    "node_modules/vite/bin/vite.js",
    "build",
    "web",
    "--outDir",
    outDir,
    "--emptyOutDir",
    "--logLevel",
    "warn",
  ];
  const child = spawn(process.execPath, args, { cwd: project, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (bytes: Buffer) => {
      said = (said + bytes).slice(-4_000);
    });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code) =>
      code === 0
        ? resolve()
        : reject(new StartError(`the page does not build (npm run build shows more): ${said.trim()}`)),
    );
  });
}
