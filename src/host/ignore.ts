/**
 * Which untracked files of a workspace belong to its patch. The rules are the .gitignore files of the commit that was
 * checked out, not those in the workspace: what a person approved may hide files from the patch (what setup installed),
 * what an agent wrote may not. The price: what a task newly ignores still shows up in its patch, and is held to its grant.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { must, type WorkOptions, workGit } from "./git.ts";
import type { Host } from "./host.ts";
import type { Sandbox } from "./sandbox.ts";

/** In the sandbox's git directory. */
export const ignoreFile = "countersign-ignore";

/** Reads the commit's rules once, when it is checked out. */
export async function keepIgnoreRules(
  host: Host,
  sandbox: Sandbox,
  commit: string,
  options: WorkOptions,
): Promise<void> {
  writeFileSync(join(sandbox.git, ignoreFile), excludeList(await ignoreFiles(host, sandbox, commit, options)), {
    mode: 0o644,
  });
}

async function ignoreFiles(
  host: Host,
  sandbox: Sandbox,
  commit: string,
  options: WorkOptions,
): Promise<{ path: string; text: string }[]> {
  const listing = workGit(host, sandbox, ["ls-tree", "-r", "-z", commit], { ...options, max_bytes: 64 * 1024 * 1024 });
  const rows = (await must(listing, "listing the baseline")).toString().split("\0");
  const found = rows.flatMap((row) => {
    const [, mode, hash, path] = /^(\d+) \w+ ([0-9a-f]+)\t(.*)$/s.exec(row) ?? [];
    if (hash === undefined || path === undefined || mode === "120000") return [];
    return path === ".gitignore" || path.endsWith("/.gitignore") ? [{ hash, path }] : [];
  });
  if (found.length === 0) return [];
  const stdin = `${found.map((file) => file.hash).join("\n")}\n`;
  const batch = await must(
    workGit(host, sandbox, ["cat-file", "--batch"], { ...options, stdin }),
    "reading ignore rules",
  );
  let at = 0;
  return found.map(({ path }) => {
    const end = batch.indexOf("\n", at);
    const size = Number(batch.subarray(at, end).toString().split(" ")[2]);
    at = end + 1 + size + 1;
    return { path, text: batch.subarray(end + 1, end + 1 + size).toString() };
  });
}

/** One list of patterns, anchored at the top, that means what the files mean in their folders. Later lines win, so deeper files come later. */
export function excludeList(files: readonly { readonly path: string; readonly text: string }[]): string {
  const depth = (path: string) => path.split("/").length;
  const sorted = [...files].sort((a, b) => depth(a.path) - depth(b.path));
  return sorted.map(({ path, text }) => anchored(path.split("/").slice(0, -1).join("/"), text)).join("");
}

function anchored(folder: string, text: string): string {
  const lines = text.replace(/^\uFEFF/, "").split("\n");
  return lines.map((line) => rule(folder, line.replace(/\r$/, ""))).join("");
}

function rule(folder: string, line: string): string {
  if (line.startsWith("#") || line.trim() === "") return "";
  if (folder === "") return `${line}\n`;
  const negated = line.startsWith("!");
  const pattern = negated ? line.slice(1) : line;
  // A slash at the start or in the middle ties a pattern to its folder; without one it holds at any depth below.
  const bare = pattern.replace(/[ ]+$/, "").replace(/\/$/, "");
  const tied = bare.includes("/") ? pattern.replace(/^\//, "") : `**/${pattern}`;
  return `${negated ? "!" : ""}/${folder.replace(/[\\*?[\]]/g, "\\$&")}/${tied}\n`;
}
