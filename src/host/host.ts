/** The host: the sandboxes it keeps below its root, and what a bubble of one of them is made of. */
import { execFile } from "node:child_process";
import { chownSync, existsSync, mkdirSync, readdirSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { z } from "zod";
import { bounds } from "./bounds.ts";
import { type Bind, plainEnv } from "./bubble.ts";
import { Cgroups } from "./cgroup.ts";
import type { HostConfig } from "./config.ts";
import { HostFailure } from "./failure.ts";
import type { Bubble } from "./launch.ts";
import type { Input } from "./protocol.ts";
import { load, type SandboxRecord, sandboxRecord, save } from "./record.ts";
import { Sandbox } from "./sandbox.ts";
import type { Places } from "./sources.ts";
import { onStage, stagedFolders } from "./stage.ts";

const run = promisify(execFile);
const own = ["sandboxes", ...stagedFolders] as const;
const etcFiles = {
  passwd: "root:x:0:0:root:/nonexistent:/usr/sbin/nologin\nagent:x:1000:1000:agent:/home:/bin/bash\n",
  group: "root:x:0:\nagent:x:1000:\n",
  "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
  hosts: "127.0.0.1 localhost sandbox\n::1 localhost\n",
  gitconfig:
    "[user]\n\tname = agent\n\temail = agent@localhost\n[init]\n\tdefaultBranch = main\n[advice]\n\tdetachedHead = false\n",
};

export interface BubbleParts {
  readonly argv: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly binds?: readonly Bind[];
}

export class Host {
  readonly config: HostConfig;
  readonly scratch: string;
  /** Where it listens; known once it does. */
  port = 0;
  readonly #groups: Cgroups;
  readonly #sandboxes = new Map<string, Sandbox>();
  readonly #destroying = new Map<string, Promise<void>>();
  #uids: Record<string, number>;

  constructor(config: HostConfig) {
    this.config = config;
    this.scratch = join(config.root, "scratch");
    mkdirSync(config.root, { recursive: true, mode: 0o700 });
    for (const folder of own) mkdirSync(join(config.root, folder), { recursive: true, mode: 0o755 });
    // Emptied, not made anew: the folder itself already stands on the stage.
    for (const name of readdirSync(this.scratch)) rmSync(join(this.scratch, name), { recursive: true, force: true });
    for (const [name, text] of Object.entries(etcFiles)) writeFileSync(join(config.root, "etc", name), text);
    this.#groups = new Cgroups(config.root, config.uid_base !== null);
    this.#uids = load(join(config.root, "uids.json"), z.record(z.string(), z.number())) ?? {};
    for (const name of readdirSync(join(config.root, "sandboxes"))) this.#remember(name);
  }

  get places(): Places {
    const { repo_roots, root, git_origin, gate } = this.config;
    return { roots: repo_roots, own: root, git_origin, gate };
  }

  get(id: string): Sandbox {
    const sandbox = this.#sandboxes.get(id);
    if (sandbox === undefined || sandbox.gone) throw new HostFailure("no_such_sandbox", `there is no sandbox "${id}"`);
    return sandbox;
  }

  all(): Sandbox[] {
    return [...this.#sandboxes.values()];
  }

  create({ id, spec }: Input<"create">): void {
    const known = this.#sandboxes.get(id);
    if (known?.gone) throw new HostFailure("bad_request", `sandbox "${id}" is being destroyed`, true);
    if (known !== undefined) {
      const same = known.record.spec.worktree === spec.worktree && known.record.spec.scope_id === spec.scope_id;
      if (!same) throw new HostFailure("bad_request", `sandbox "${id}" exists for another work tree or scope`);
      return;
    }
    if (this.#sandboxes.size >= bounds.sandboxes)
      throw new HostFailure("too_many", `${bounds.sandboxes} sandboxes exist`, true);
    this.#mustBeFree(spec.worktree);
    const record: SandboxRecord = {
      id,
      spec,
      uid: this.#uid(spec.scope_id),
      checkout: null,
      restored: [],
      touched: false,
    };
    const sandbox = new Sandbox(this.config.root, record);
    for (const folder of [sandbox.folder, sandbox.git, sandbox.work])
      mkdirSync(folder, { recursive: true, mode: 0o755 });
    for (const folder of [sandbox.git, sandbox.work]) this.give(sandbox, folder);
    sandbox.update({});
    this.#sandboxes.set(id, sandbox);
  }

  /** The sandbox's own user may write what it is given. */
  give(sandbox: Sandbox, path: string): void {
    if (sandbox.record.uid !== null) chownSync(path, sandbox.record.uid, sandbox.record.uid);
  }

  /** Ends every process first, then removes the files, and forgets it last: a crash in between can be repeated. */
  async destroy(id: string): Promise<void> {
    const sandbox = this.#sandboxes.get(id);
    if (sandbox === undefined) return;
    const going = this.#destroying.get(id) ?? this.#end(sandbox).finally(() => this.#destroying.delete(id));
    this.#destroying.set(id, going);
    await going;
  }

  /** A process of the agent: inside the sandbox's group, with its limits. */
  agentBubble(sandbox: Sandbox, parts: BubbleParts): Bubble {
    const { spec, uid } = sandbox.record;
    const groups = this.#groups.enter(sandbox.id, spec);
    const data_mb = this.#groups.usable ? null : spec.memory_mb;
    const limits = { processes: spec.processes, file_mb: spec.file_mb, data_mb };
    const binds = [
      { source: sandbox.work, dest: "/workspace", writable: true },
      ...this.#etc(),
      ...(parts.binds ?? []),
    ];
    const cwd = `/workspace/${parts.cwd ?? "."}`;
    return {
      binds: this.#staged(binds),
      env: { ...plainEnv, ...parts.env },
      cwd,
      argv: parts.argv,
      limits,
      system: "whole",
      groups,
      uid,
    };
  }

  /** A process of the host on the sandbox's files: not in its group, so that an agent at its limits cannot stop it. */
  helperBubble(sandbox: Sandbox, parts: BubbleParts): Bubble {
    const limits = { processes: 64, file_mb: sandbox.record.spec.file_mb, data_mb: bounds.git_memory_mb };
    const env = { ...plainEnv, ...parts.env };
    const binds = this.#staged(parts.binds ?? []);
    return {
      binds,
      env,
      cwd: parts.cwd ?? "/",
      argv: parts.argv,
      limits,
      system: "programs",
      groups: [],
      uid: sandbox.record.uid,
    };
  }

  async #end(sandbox: Sandbox): Promise<void> {
    sandbox.close();
    for (const helper of sandbox.helpers) helper.kill("SIGKILL");
    await Promise.all([...sandbox.calls].map((call) => call.kill()));
    await sandbox.quiet();
    await this.#emptyGroup(sandbox.id);
    this.#groups.remove(sandbox.id);
    // An agent may take its own right to list a folder; a host without root needs it back to remove what is in it.
    if (sandbox.record.uid === null) await run("chmod", ["-R", "u+rwX", "--", sandbox.work]).catch(() => {});
    await run("rm", ["-rf", "--", sandbox.work, sandbox.git]);
    await run("rm", ["-rf", "--", sandbox.folder]);
    this.#removeEmptyParents(sandbox.work);
    this.#sandboxes.delete(sandbox.id);
  }

  /** Folders that stood only for this work tree. */
  #removeEmptyParents(work: string): void {
    const top = join(this.config.root, ".runtime");
    try {
      for (let folder = dirname(work); folder.startsWith(`${top}/`); folder = dirname(folder)) rmdirSync(folder);
    } catch {
      // Another work tree stands there.
    }
  }

  async #emptyGroup(id: string): Promise<void> {
    for (let tries = 0; tries < 50; tries += 1) {
      if (this.#groups.kill(id)) return;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    throw new HostFailure("internal", `processes of sandbox "${id}" could not be ended`, true);
  }

  #staged(binds: readonly Bind[]): Bind[] {
    return binds.map((bind) => ({ ...bind, source: onStage(this.config, bind.source) }));
  }

  #etc(): Bind[] {
    const folder = join(this.config.root, "etc");
    return Object.keys(etcFiles).map((name) => ({ source: join(folder, name), dest: `/etc/${name}`, writable: false }));
  }

  /** A sandbox of an earlier host: its files stand, its processes must not. */
  #remember(name: string): void {
    const folder = join(this.config.root, "sandboxes", name);
    const record = load(join(folder, "sandbox.json"), sandboxRecord);
    this.#groups.kill(name);
    if (record === null) rmSync(folder, { recursive: true, force: true });
    else this.#sandboxes.set(record.id, new Sandbox(this.config.root, record));
  }

  #mustBeFree(worktree: string): void {
    if (!worktree.startsWith(".runtime/")) throw new HostFailure("bad_request", "a work tree stands in .runtime/");
    const inUse = this.all().some((other) => overlap(other.record.spec.worktree, worktree));
    if (inUse || existsSync(join(this.config.root, worktree))) {
      throw new HostFailure("bad_request", `the work tree "${worktree}" belongs to another sandbox`);
    }
  }

  /** One user a scope: files of its caches keep their owner, and another scope's files have another. */
  #uid(scope_id: string): number | null {
    if (this.config.uid_base === null) return null;
    const known = this.#uids[scope_id];
    if (known !== undefined) return this.config.uid_base + known;
    const next = Object.keys(this.#uids).length;
    this.#uids = { ...this.#uids, [scope_id]: next };
    save(join(this.config.root, "uids.json"), this.#uids);
    return this.config.uid_base + next;
  }
}

function overlap(a: string, b: string): boolean {
  return `${a}/`.startsWith(`${b}/`) || `${b}/`.startsWith(`${a}/`);
}
