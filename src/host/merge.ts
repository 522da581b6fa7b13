/**
 * The candidate: a patch made against one commit, merged three-way onto another, as one commit that is the same
 * whenever it is built. No work tree is touched, and no merge driver or attribute of the repository has a say.
 */
import { z } from "zod";
import { bounds } from "./bounds.ts";
import { tipsPath } from "./checkout.ts";
import { HostFailure } from "./failure.ts";
import { lastLines, must, signature, type WorkOptions, workGit, workScript } from "./git.ts";
import type { Host } from "./host.ts";
import type { Input } from "./protocol.ts";
import { load } from "./record.ts";
import type { Sandbox } from "./sandbox.ts";
import { baseline, difference, diffOptions, type Taken, withIndex } from "./snapshot.ts";

export type Merged =
  | {
      readonly ok: true;
      readonly commit: string;
      readonly bundle: Buffer;
      readonly patch: Buffer;
      readonly files: Taken["files"];
    }
  | { readonly ok: false; readonly conflicts: string[] };
const candidate = "refs/heads/countersign/candidate";
const listBytes = 64 * 1024 * 1024;

const missing = 41;
const refused = 42;
const treeScript = `for commit in "$1" "$2"; do git cat-file -e "$commit^{commit}" || { echo "$commit"; exit ${missing}; }; done
git read-tree "$1"
[ "$3" = empty ] || git apply --cached --binary --whitespace=nowarn - || exit ${refused}
exec git write-tree`;
// Exit code 1 is a conflict: then the tree's name is followed by the paths.
const mergeScript = `theirs=$(git commit-tree "$2" -p "$1" -m patch)
exec git merge-tree --write-tree -z --name-only --no-messages "$3" "$theirs"`;
const commitScript = `commit=$(git commit-tree "$2" -p "$1" -F -)
git update-ref ${candidate} "$commit"
printf '%s\\0' "$commit"
exec git diff-tree -r -z --raw ${diffOptions} "$1" "$commit"`;

export async function merge(host: Host, input: Input<"merge">, patch: Uint8Array): Promise<Merged> {
  const sandbox = host.get(input.id);
  return sandbox.inLine(async () => {
    baseline(sandbox);
    const changed = await withIndex(sandbox, (index) => treeOf(host, sandbox, input, patch, index));
    const merged = await mergeTrees(host, sandbox, input, changed);
    if (typeof merged !== "string") return { ok: false, conflicts: merged };
    const options = { env: signature(input.at_s), stdin: input.message, max_bytes: listBytes };
    const made = workScript(host, sandbox, commitScript, [input.parent, merged], options);
    const said = (await must(made, "making the commit")).toString();
    const [commit = ""] = said.split("\0", 1);
    const { patch: whole, files } = await difference(
      host,
      sandbox,
      input.parent,
      commit,
      said.slice(commit.length + 1),
    );
    return { ok: true, commit, bundle: await bundleOf(host, sandbox), patch: whole, files };
  });
}

async function treeOf(
  host: Host,
  sandbox: Sandbox,
  input: Input<"merge">,
  patch: Uint8Array,
  index: string,
): Promise<string> {
  const args = [input.baseline, input.parent, patch.length === 0 ? "empty" : "patch"];
  const options: WorkOptions = { env: { GIT_INDEX_FILE: index }, stdin: patch };
  const answer = await workScript(host, sandbox, treeScript, args, options);
  const said = answer.stdout.toString().trim();
  if (answer.code === missing) {
    throw new HostFailure(
      "ref_not_found",
      `this sandbox does not have commit ${said}; check it out, with its bundle, in a new one`,
    );
  }
  if (answer.code === refused) {
    throw new HostFailure(
      "patch_failed",
      `the patch does not apply to ${input.baseline}: git said: ${lastLines(answer.stderr)}`,
    );
  }
  return (await must(Promise.resolve(answer), "applying the patch")).toString().trim();
}

/** The merged tree, or the paths in conflict. */
async function mergeTrees(
  host: Host,
  sandbox: Sandbox,
  input: Input<"merge">,
  tree: string,
): Promise<string | string[]> {
  if (input.parent === input.baseline) return tree;
  const options = { env: signature(input.at_s), max_bytes: listBytes };
  const answer = await workScript(host, sandbox, mergeScript, [input.baseline, tree, input.parent], options);
  const [merged = "", ...rest] = answer.stdout.toString().split("\0");
  if (answer.code === 0) return merged;
  if (answer.code !== 1 || rest.length === 0) {
    throw new HostFailure("patch_failed", `the merge cannot be made: git said: ${lastLines(answer.stderr)}`);
  }
  return [...new Set(rest.filter(Boolean))].sort();
}

/** Everything since what the source has by itself, so that a fresh clone of it and this bundle are enough. */
async function bundleOf(host: Host, sandbox: Sandbox): Promise<Buffer> {
  const tips = load(tipsPath(sandbox), z.array(z.string())) ?? [];
  const stdin = [candidate, ...tips.map((tip) => `^${tip}`), ""].join("\n");
  const args = ["bundle", "create", "--quiet", "-", "--stdin"];
  return must(workGit(host, sandbox, args, { stdin, max_bytes: bounds.bundle_bytes }), "writing the bundle");
}
