/**
 * The workspace as a patch, computed from its files by the host's git with an index of its own. Nothing of the
 * agent's `.git` is read. Repositories inside the repository are refused by name: their files would be hidden.
 */
import { randomBytes } from "node:crypto";
import { lstatSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { PatchFile } from "../domain/evidence.ts";
import { bounds } from "./bounds.ts";
import { HostFailure } from "./failure.ts";
import { lastLines, must, type WorkOptions, workGit, workScript } from "./git.ts";
import type { Host } from "./host.ts";
import { ignoreFile } from "./ignore.ts";
import type { Input } from "./protocol.ts";
import type { Sandbox } from "./sandbox.ts";

export interface Taken {
  readonly patch: Buffer;
  readonly tree: string;
  readonly files: PatchFile[];
}
export const diffOptions = "--no-ext-diff --no-textconv --no-renames --no-color";

export async function snapshot(host: Host, { id }: Input<"snapshot">): Promise<Taken> {
  const sandbox = host.get(id);
  return sandbox.inLine(() => withIndex(sandbox, (index) => take(host, sandbox, index)));
}

/** The commit a sandbox stands on; without one there is nothing to compare with. */
export function baseline(sandbox: Sandbox): string {
  const { checkout } = sandbox.record;
  if (checkout === null) throw new HostFailure("bad_request", `sandbox "${sandbox.id}" has no checkout yet`);
  return checkout.commit;
}

/** An index that ends with the work, under a name nothing else uses. */
export async function withIndex<T>(sandbox: Sandbox, work: (index: string) => Promise<T>): Promise<T> {
  const name = `index-${randomBytes(6).toString("hex")}`;
  try {
    return await work(`/git/${name}`);
  } finally {
    for (const rest of ["", ".lock"]) rmSync(join(sandbox.git, name + rest), { force: true });
  }
}

// The list is made twice: sizes are looked at before anything is read, and what replaces a tracked file shows only after it is gone.
const listScript = `git read-tree "$1"
exec git ls-files -z --others --modified --deduplicate --exclude-from=/git/${ignoreFile}`;
const updateScript = `git add --update -- .
exec git ls-files -z --others --exclude-from=/git/${ignoreFile}`;
const addScript = "git add --force --pathspec-from-file=- --pathspec-file-nul";
const treeScript = `tree=$(git write-tree)
printf '%s\\0' "$tree"
exec git diff-tree -r -z --raw ${diffOptions} "$1" "$tree"`;
const listBytes = 64 * 1024 * 1024;

async function take(host: Host, sandbox: Sandbox, index: string): Promise<Taken> {
  const from = baseline(sandbox);
  const env = { GIT_INDEX_FILE: index, GIT_WORK_TREE: "/workspace", GIT_LITERAL_PATHSPECS: "1" };
  const options: WorkOptions = { workspace: "read", max_bytes: listBytes, env };
  const listed = await must(workScript(host, sandbox, listScript, [from], options), "listing changes");
  refuseTooLarge(sandbox, names(listed));
  const untracked = names(await added(workScript(host, sandbox, updateScript, [], options)));
  refuseNested(untracked.filter((name) => name.endsWith("/")).map((name) => name.slice(0, -1)));
  const script = untracked.length === 0 ? treeScript : `${addScript}\n${treeScript}`;
  const stdin = untracked.map((name) => `${name}\0`).join("");
  const said = (await added(workScript(host, sandbox, script, [from], { ...options, stdin }))).toString();
  const end = said.indexOf("\0");
  return difference(host, sandbox, from, said.slice(0, end), said.slice(end + 1));
}

/** The patch between two trees or commits, whose raw difference is known; refused when too large or when it holds a repository. */
export async function difference(host: Host, sandbox: Sandbox, from: string, to: string, raw: string): Promise<Taken> {
  const files = changes(raw);
  refuseNested(files.filter((file) => file.mode === "160000").map((file) => file.path));
  if (files.length === 0) return { patch: Buffer.alloc(0), tree: to, files };
  const full = ["diff-tree", "-r", "-p", "--binary", "--full-index", ...diffOptions.split(" "), from, to];
  const answer = await workGit(host, sandbox, full, { max_bytes: bounds.patch_bytes });
  if (answer.overflow) throw tooLarge(`the patch is larger than ${bounds.patch_bytes} bytes`);
  return { patch: await must(Promise.resolve(answer), "writing the patch"), tree: to, files };
}

/** What a script that adds files to the index says; a file git does not take is named. */
async function added(answer: ReturnType<typeof workScript>): Promise<Buffer> {
  const { code, stdout, stderr } = await answer;
  if (code === 0) return stdout;
  const nested = /error: '(.+)\/' does not have a commit checked out/.exec(stderr)?.[1];
  if (nested !== undefined) refuseNested([nested]);
  throw new HostFailure("patch_refused", `a file of the workspace cannot be taken: ${lastLines(stderr)}`);
}

function refuseNested(paths: readonly string[]): void {
  if (paths.length === 0) return;
  const named = paths.slice(0, 5).join(", ");
  throw new HostFailure(
    "patch_refused",
    `repositories inside the repository are not taken (their files would be hidden): ${named}`,
  );
}

/** Sizes only are looked at, so a link swapped in meanwhile gives nothing away. */
function refuseTooLarge(sandbox: Sandbox, paths: readonly string[]): void {
  let sum = 0;
  for (const path of paths) {
    sum += lstatSync(join(sandbox.work, path), { throwIfNoEntry: false })?.size ?? 0;
    if (sum > bounds.changed_bytes)
      throw tooLarge(`the changed files are larger than ${bounds.changed_bytes} bytes, "${path}" among them`);
  }
}

function tooLarge(why: string): HostFailure {
  return new HostFailure("patch_too_large", `${why}; remove or ignore what does not belong to the change`);
}

/** `:100644 100755 <hash> <hash> M\0path\0` and so on. */
function changes(raw: string): PatchFile[] {
  const parts = raw.split("\0");
  const files: PatchFile[] = [];
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [old = "", mode = "", , , letter = ""] = (parts[at] ?? "").replace(/^:/, "").split(" ");
    const change = letter === "A" ? "added" : letter === "D" ? "deleted" : "modified";
    files.push({ path: parts[at + 1] ?? "", change, old_mode: old, mode });
  }
  return files;
}

function names(listed: Buffer): string[] {
  return listed.toString().split("\0").filter(Boolean);
}
