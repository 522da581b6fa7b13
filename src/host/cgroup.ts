/**
 * Memory and process limits of a whole sandbox by the kernel's control groups, version 1 or 2. Where the host may
 * not make groups (it is not root), there are none and the limits of each process must do.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface GroupLimits {
  readonly memory_mb: number;
  readonly processes: number;
}
const mount = "/sys/fs/cgroup";

export class Cgroups {
  readonly #name: string;
  /** Folders that hold one group a sandbox: two under version 1, one under version 2, none when unusable. */
  readonly #parents: readonly string[];

  /** The name is the root's own, so that two hosts on one machine never touch each other's groups. */
  constructor(root: string, usable: boolean) {
    this.#name = createHash("sha256").update(root).digest("hex").slice(0, 16);
    this.#parents = usable ? parents(this.#name) : [];
  }

  get usable(): boolean {
    return this.#parents.length > 0;
  }

  /** Makes the sandbox's group and returns the files a process writes its id into to join it. */
  enter(id: string, limits: GroupLimits): string[] {
    // They go with the last sandbox.
    if (!this.#parents.every((parent) => existsSync(parent))) parents(this.#name);
    return this.#parents.map((parent) => {
      const group = join(parent, id);
      mkdirSync(group, { recursive: true });
      const bytes = String(limits.memory_mb * 1024 * 1024);
      set(group, "memory.limit_in_bytes", bytes);
      set(group, "memory.memsw.limit_in_bytes", bytes);
      set(group, "memory.max", bytes);
      set(group, "memory.swap.max", "0");
      set(group, "pids.max", String(limits.processes));
      return join(group, "cgroup.procs");
    });
  }

  /** Kills whatever is left in the group. True when nothing was. */
  kill(id: string): boolean {
    let empty = true;
    for (const parent of this.#parents) {
      for (const pid of members(join(parent, id))) {
        empty = false;
        try {
          process.kill(pid, "SIGKILL");
        } catch {
          // It ended by itself in between.
        }
      }
    }
    return empty;
  }

  remove(id: string): void {
    for (const parent of this.#parents) {
      try {
        rmdirSync(join(parent, id));
        rmdirSync(parent);
      } catch {
        // Never made, or a dying process or another sandbox still stands in it: an empty group costs nothing.
      }
    }
  }
}

function parents(name: string): string[] {
  try {
    const roots = existsSync(join(mount, "cgroup.controllers"))
      ? [mount]
      : ["memory", "pids"].map((kind) => join(mount, kind));
    return roots.map((root) => {
      const all = join(root, "countersign");
      const own = join(all, name);
      mkdirSync(own, { recursive: true });
      for (const folder of [root, all, own]) set(folder, "cgroup.subtree_control", "+memory +pids");
      if (!existsSync(join(own, "pids.max")) && !existsSync(join(own, "memory.limit_in_bytes")))
        throw new Error("no controllers");
      return own;
    });
  } catch {
    return [];
  }
}

function set(group: string, file: string, value: string): void {
  const path = join(group, file);
  if (!existsSync(path)) return;
  try {
    writeFileSync(path, value);
  } catch {
    // Swap accounting may be off, and a controller already on: the other limits still hold.
  }
}

function members(group: string): number[] {
  try {
    return readFileSync(join(group, "cgroup.procs"), "utf8").split("\n").filter(Boolean).map(Number);
  } catch {
    return [];
  }
}
