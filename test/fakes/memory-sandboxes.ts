/**
 * `Sandboxes` in memory: a real file tree for each, and a table of scripted programs instead of processes. It cannot
 * offer terminals nor patches in git's own format (`memoryCannot`); everything else of the contract holds here too.
 */
import {
  type CallOutcome,
  type ExecSpec,
  type MergeAnswer,
  type MergeInput,
  type PublishInput,
  type Sandboxes,
  SandboxFailure,
  type SandboxSpec,
  type Snapshot,
  type Source,
  type WaitAnswer,
} from "../../src/agents/ports.ts";
import type { Clause } from "../contract/programs.ts";
import * as git from "./memory-git.ts";
import {
  base64,
  bytesOf,
  chunkBytes,
  inside,
  type MemoryCall,
  type MemoryProgram,
  runProgram,
  sleep,
} from "./memory-process.ts";

export type { MemoryProcess, MemoryProgram } from "./memory-process.ts";

export const memoryCannot: readonly Clause[] = ["terminal", "git-format"];

interface MemorySandbox {
  readonly spec: SandboxSpec;
  readonly calls: Map<string, MemoryCall>;
  readonly commits: Map<string, git.Commit>;
  readonly restored: Set<string>;
  files: Map<string, string>;
  at: { source: string; commit: string } | null;
}
export class MemorySandboxes implements Sandboxes {
  /** Programs by their whole command line, by the script after `-c`, or by their name. Tests may change it. */
  readonly programs: Map<string, MemoryProgram>;
  readonly repos: Map<string, git.MemoryRepo>;
  readonly #live = new Map<string, MemorySandbox>();
  /** Every process that was really begun, oldest first. */
  readonly begun: { id: string; call_id: string; argv: readonly string[] }[] = [];

  constructor(
    parts: {
      repos?: Readonly<Record<string, git.MemoryRepo>>;
      programs?: Readonly<Record<string, MemoryProgram>>;
    } = {},
  ) {
    this.repos = new Map(Object.entries(parts.repos ?? {}));
    this.programs = new Map(Object.entries(parts.programs ?? {}));
  }

  async create(id: string, spec: SandboxSpec): Promise<void> {
    if (this.#live.has(id)) return;
    this.#live.set(id, { spec, calls: new Map(), commits: new Map(), restored: new Set(), files: new Map(), at: null });
  }
  async checkout(id: string, from: Source, commit: string, bundle?: Uint8Array): Promise<void> {
    const box = this.#get(id);
    const source = from.url;
    if (from.scope_id !== box.spec.scope_id) throw new SandboxFailure("bad_request", "the checkout is another scope's");
    if (box.at?.source === source && box.at.commit === commit) return;
    if (box.at !== null) throw new SandboxFailure("bad_request", "checked out already");
    for (const each of this.#repo(source).commits.values()) box.commits.set(each.hash, each);
    for (const each of bundle === undefined ? [] : git.readBundle(bundle)) box.commits.set(each.hash, each);
    box.files = new Map(commitIn(box, commit).tree);
    box.at = { source, commit };
  }
  async exec(id: string, call_id: string, spec: ExecSpec): Promise<void> {
    const box = this.#get(id);
    const command = JSON.stringify([spec.argv, spec.cwd ?? ".", spec.stdin ?? "", spec.network ?? null]);
    const known = box.calls.get(call_id);
    if (known !== undefined) {
      if (known.command !== command) throw new SandboxFailure("call_mismatch", "another command");
      return;
    }
    const call: MemoryCall = {
      command,
      stop: new AbortController(),
      output: new Uint8Array(),
      outcome: { state: "running" },
      over: Promise.resolve(),
    };
    box.calls.set(call_id, call);
    this.begun.push({ id, call_id, argv: spec.argv });
    call.over = runProgram(this.programs, () => box.files, call, spec);
  }
  async wait(id: string, call_id: string, offset: number, wait_ms: number): Promise<WaitAnswer> {
    const call = this.#get(id).calls.get(call_id);
    if (call === undefined) return { outcome: { state: "unknown" }, chunk: new Uint8Array(), next_offset: offset };
    if (call.output.byteLength <= offset)
      await Promise.race([call.over, sleep(Math.min(wait_ms, 20_000), call.stop.signal)]);
    const chunk = call.output.slice(offset, offset + chunkBytes);
    return { outcome: call.outcome, chunk, next_offset: offset + chunk.byteLength };
  }
  async outcome(id: string, call_id: string): Promise<CallOutcome> {
    return this.#get(id).calls.get(call_id)?.outcome ?? { state: "unknown" };
  }
  async kill(id: string, call_id: string): Promise<void> {
    const call = this.#get(id).calls.get(call_id);
    if (call?.outcome.state !== "running") return;
    call.stop.abort("killed");
    await call.over;
  }
  /** As a host that was restarted while the call ran: nobody knows what became of it. */
  lose(id: string, call_id: string): void {
    const call = this.#get(id).calls.get(call_id);
    if (call !== undefined) call.outcome = { state: "unknown" };
  }

  async read(id: string, path: string): Promise<Uint8Array> {
    const content = this.#get(id).files.get(inside(path));
    if (content === undefined) throw new SandboxFailure("bad_request", `"${path}" is no file`);
    return bytesOf(content);
  }
  async write(id: string, path: string, content: Uint8Array): Promise<void> {
    this.#get(id).files.set(inside(path), base64(content));
  }
  async list(id: string, path: string) {
    const folder = inside(path);
    const prefix = folder === "" ? "" : `${folder}/`;
    const entries = new Map<string, { name: string; kind: "file" | "directory"; size: number }>();
    for (const [file, content] of this.#get(id).files) {
      if (!file.startsWith(prefix)) continue;
      const [name = "", ...deeper] = file.slice(prefix.length).split("/");
      if (deeper.length > 0) entries.set(name, { name, kind: "directory", size: 0 });
      else entries.set(name, { name, kind: "file", size: bytesOf(content).byteLength });
    }
    if (entries.size === 0 && folder !== "") throw new SandboxFailure("bad_request", `"${path}" is no folder`);
    return [...entries.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }
  async remove(id: string, path: string): Promise<void> {
    const gone = inside(path);
    if (gone === "") throw new SandboxFailure("bad_request", "the workspace itself cannot be removed");
    const { files } = this.#get(id);
    for (const file of [...files.keys()]) if (file === gone || file.startsWith(`${gone}/`)) files.delete(file);
  }

  async openPty(): Promise<void> {
    throw new SandboxFailure("bad_request", "there are no terminals in memory");
  }
  async writePty(): Promise<void> {
    throw new SandboxFailure("no_such_call", "there are no terminals in memory");
  }
  async resizePty(): Promise<void> {
    throw new SandboxFailure("no_such_call", "there are no terminals in memory");
  }
  async readPty(): Promise<WaitAnswer> {
    throw new SandboxFailure("no_such_call", "there are no terminals in memory");
  }

  async snapshot(id: string): Promise<Snapshot> {
    const box = this.#get(id);
    if (box.at === null) throw new SandboxFailure("bad_request", "no checkout yet");
    const { ignored } = this.#repo(box.at.source);
    const base = commitIn(box, box.at.commit).tree;
    const kept = [...box.files].filter(
      ([path]) => base.has(path) || !ignored.some((folder) => path.startsWith(`${folder}/`)),
    );
    const tree = new Map(kept);
    const changes = git.difference(base, tree);
    return { patch: git.writePatch(changes), tree: git.treeHash(tree), files: git.filesOf(changes) };
  }
  async restore(id: string, patch: Uint8Array): Promise<void> {
    const box = this.#get(id);
    const key = base64(patch);
    if (box.restored.has(key)) return;
    const changes = git.readPatch(patch);
    const applied = changes === null ? null : git.applyTo(box.files, changes);
    if (applied === null || applied.conflicts.length > 0) throw new SandboxFailure("patch_failed", "it does not apply");
    box.files = new Map(applied.tree);
    box.restored.add(key);
  }
  async merge(id: string, input: MergeInput): Promise<MergeAnswer> {
    const box = this.#get(id);
    const parent = commitIn(box, input.parent);
    const changes = git.readPatch(input.patch);
    const made = changes === null ? null : git.applyTo(commitIn(box, input.baseline).tree, changes);
    if (changes === null || made === null || made.conflicts.length > 0)
      throw new SandboxFailure("patch_failed", "it does not apply");
    const { tree, conflicts } = git.applyTo(parent.tree, changes);
    if (conflicts.length > 0) return { ok: false, conflicts };
    const commit = git.commitOf(parent.hash, tree, input.message, input.at_s);
    box.commits.set(commit.hash, commit);
    const whole = git.difference(parent.tree, tree);
    const bundle = git.writeBundle([...box.commits.values()]);
    return { ok: true, commit: commit.hash, bundle, patch: git.writePatch(whole), files: git.filesOf(whole) };
  }
  async destroy(id: string): Promise<void> {
    const box = this.#live.get(id);
    for (const call of box?.calls.values() ?? []) {
      call.stop.abort("killed");
      await call.over;
    }
    this.#live.delete(id);
  }
  async sandboxes() {
    return [...this.#live].map(([id, { spec }]) => ({ id, scope_id: spec.scope_id, owner: spec.owner }));
  }

  async resolve({ url: source }: Source, ref: string): Promise<{ commit: string; default_branch: string }> {
    const repo = this.#repo(source);
    const { default_branch } = repo;
    const commit = repo.branches.get(ref === "HEAD" ? default_branch : ref) ?? repo.commits.get(ref)?.hash;
    if (commit === undefined) throw new SandboxFailure("ref_not_found", `${source} has no "${ref}"`);
    return { commit, default_branch };
  }
  async publish({ source, branch, commit, bundle }: PublishInput): Promise<void> {
    if (!/^countersign\/[A-Za-z0-9][A-Za-z0-9_-]*$/.test(branch))
      throw new SandboxFailure("bad_request", `"${branch}" is not ours`);
    const repo = this.#repo(source.url);
    const tip = repo.branches.get(branch);
    if (tip === commit) return;
    const commits = new Map([...repo.commits, ...git.readBundle(bundle).map((each) => [each.hash, each] as const)]);
    const ancestors: string[] = [];
    for (let at = commits.get(commit); at !== undefined; at = commits.get(at.parent ?? "")) ancestors.push(at.hash);
    if (ancestors.length === 0) throw new SandboxFailure("bad_request", "the bundle does not hold the commit");
    if (tip !== undefined && !ancestors.includes(tip)) throw new SandboxFailure("not_fast_forward", "the branch moved");
    for (const each of commits.values()) if (ancestors.includes(each.hash)) repo.commits.set(each.hash, each);
    repo.branches.set(branch, commit);
  }

  #get(id: string): MemorySandbox {
    const box = this.#live.get(id);
    if (box === undefined) throw new SandboxFailure("no_such_sandbox", `there is no sandbox "${id}"`);
    return box;
  }
  #repo(source: string): git.MemoryRepo {
    if (/^https:\/\/[^/]*@/.test(source)) throw new SandboxFailure("repo_not_allowed", `${source} carries a user`);
    const repo = this.repos.get(source);
    if (repo === undefined) throw new SandboxFailure("repo_unreachable", `there is no repository at ${source}`);
    return repo;
  }
}

function commitIn(box: MemorySandbox, hash: string): git.Commit {
  const commit = box.commits.get(hash);
  if (commit === undefined) throw new SandboxFailure("ref_not_found", `there is no commit ${hash}`);
  return commit;
}
