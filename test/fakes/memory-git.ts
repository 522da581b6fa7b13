/** Just enough of git for the in-memory sandboxes: commits with whole trees, merged file by file. */
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { z } from "zod";
import type { PatchFile } from "../../src/domain/evidence.ts";

/** Path to content, base64: two trees are equal when their JSON is. */
export type Tree = ReadonlyMap<string, string>;
export interface Commit {
  readonly hash: string;
  readonly parent: string | null;
  readonly tree: Tree;
}

export function hashOf(value: unknown): string {
  return bytesToHex(sha256(utf8ToBytes(JSON.stringify(value)))).slice(0, 40);
}
export function sorted(tree: Tree): [string, string][] {
  return [...tree].sort(([a], [b]) => (a < b ? -1 : 1));
}
export function treeHash(tree: Tree): string {
  return hashOf(sorted(tree));
}
export function commitOf(parent: string | null, tree: Tree, message: string, at_s: number): Commit {
  return { hash: hashOf([parent, sorted(tree), message, at_s]), parent, tree };
}

const change = z.strictObject({ path: z.string(), old: z.string().nullable(), now: z.string().nullable() });
const patchDocument = z.strictObject({ memory_patch: z.array(change) });
export type Change = z.infer<typeof change>;

export function difference(from: Tree, to: Tree): Change[] {
  const paths = [...new Set([...from.keys(), ...to.keys()])].sort();
  return paths.flatMap((path) => {
    const [old, now] = [from.get(path) ?? null, to.get(path) ?? null];
    return old === now ? [] : [{ path, old, now }];
  });
}
export function filesOf(changes: readonly Change[]): PatchFile[] {
  const mode = (content: string | null) => (content === null ? "000000" : "100644");
  return changes.map(({ path, old, now }) => ({
    path,
    change: old === null ? "added" : now === null ? "deleted" : "modified",
    old_mode: mode(old),
    mode: mode(now),
  }));
}
export function writePatch(changes: readonly Change[]): Uint8Array {
  return changes.length === 0 ? new Uint8Array() : utf8ToBytes(JSON.stringify({ memory_patch: changes }));
}
/** Null when the bytes are no patch of this module. */
export function readPatch(patch: Uint8Array): Change[] | null {
  if (patch.byteLength === 0) return [];
  try {
    return patchDocument.parse(JSON.parse(new TextDecoder().decode(patch))).memory_patch;
  } catch {
    return null;
  }
}
/** The tree with the changes, and the paths where it was neither as the patch expects nor as it leaves it. */
export function applyTo(tree: Tree, changes: readonly Change[]): { tree: Tree; conflicts: string[] } {
  const next = new Map(tree);
  const conflicts: string[] = [];
  for (const { path, old, now } of changes) {
    const here = tree.get(path) ?? null;
    if (here !== old && here !== now) conflicts.push(path);
    else if (now === null) next.delete(path);
    else next.set(path, now);
  }
  return { tree: next, conflicts };
}

const bundleDocument = z.array(
  z.strictObject({ hash: z.string(), parent: z.string().nullable(), tree: z.array(z.tuple([z.string(), z.string()])) }),
);
export function writeBundle(commits: readonly Commit[]): Uint8Array {
  return utf8ToBytes(JSON.stringify(commits.map((each) => ({ ...each, tree: sorted(each.tree) }))));
}
export function readBundle(bundle: Uint8Array): Commit[] {
  const commits = bundleDocument.parse(JSON.parse(new TextDecoder().decode(bundle)));
  return commits.map((each) => ({ ...each, tree: new Map(each.tree) }));
}

/** A repository tests hold in their hands: its commits and branches. */
export class MemoryRepo {
  readonly commits = new Map<string, Commit>();
  readonly branches = new Map<string, string>();
  readonly default_branch = "main";
  /** Folders whose content is never in a patch. */
  readonly ignored: readonly string[];

  constructor(files: Readonly<Record<string, string>>, ignored: readonly string[] = []) {
    this.ignored = ignored;
    this.branches.set("main", this.commit(null, files));
  }
  /** A commit that holds exactly these files; the branch that shall name it is set by the test. */
  commit(parent: string | null, files: Readonly<Record<string, string>>, message = "commit"): string {
    const tree = new Map(
      Object.entries(files).map(([path, content]) => [path, btoa(String.fromCharCode(...utf8ToBytes(content)))]),
    );
    const made = commitOf(parent, tree, message, 0);
    this.commits.set(made.hash, made);
    return made.hash;
  }
}
