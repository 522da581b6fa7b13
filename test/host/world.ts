/** A host of its own for one test file, with the sample repository, and sandboxes by the dozen. */
import { join } from "node:path";
import { HostSandboxes } from "../../src/adapters/host-sandboxes.ts";
import type { SandboxSpec, Source } from "../../src/agents/ports.ts";
import { finish, shell, spec } from "../contract/programs.ts";
import { type HostFolder, hostFolder, makeSample, type RunningHost, startHost } from "../setup/host.ts";

export class World {
  readonly folder: HostFolder;
  readonly source: string;
  readonly main: string;
  host: RunningHost;
  sandboxes: HostSandboxes;
  readonly #env: NodeJS.ProcessEnv;
  readonly #hear: ((said: string) => void) | undefined;
  #made = 0;

  private constructor(
    folder: HostFolder,
    source: string,
    main: string,
    host: RunningHost,
    env: NodeJS.ProcessEnv,
    hear?: (said: string) => void,
  ) {
    this.folder = folder;
    this.source = source;
    this.main = main;
    this.host = host;
    this.sandboxes = new HostSandboxes(host);
    this.#env = env;
    this.#hear = hear;
  }

  static async open(env: NodeJS.ProcessEnv = {}, hear?: (said: string) => void): Promise<World> {
    const folder = hostFolder();
    const source = join(folder.repos, "sample");
    const { main } = makeSample(source);
    return new World(folder, source, main, await startHost(folder, env, hear), env, hear);
  }

  async close(): Promise<void> {
    await this.host.kill();
    this.folder.remove();
  }

  /** SIGKILL, then another host on the same folder. */
  async restart(): Promise<void> {
    await this.host.kill();
    this.host = await startHost(this.folder, this.#env, this.#hear);
    this.sandboxes = new HostSandboxes(this.host);
  }

  /** A sandbox checked out at `main`. */
  async fresh(more: Partial<SandboxSpec> = {}): Promise<string> {
    const id = await this.empty(more);
    const source = sourceOf(this.source);
    await this.sandboxes.checkout(id, { ...source, scope_id: more.scope_id ?? source.scope_id }, this.main);
    return id;
  }

  async empty(more: Partial<SandboxSpec> = {}): Promise<string> {
    this.#made += 1;
    const id = `box-${this.#made}`;
    await this.sandboxes.create(id, spec(id, more));
    return id;
  }

  /** Place of a sandbox's files on the host. */
  work(id: string): string {
    return join(this.folder.state, spec(id).worktree);
  }

  async run(
    id: string,
    script: string,
    more: { timeout_ms?: number; network?: { hosts: string[]; cache: string[] } } = {},
  ) {
    this.#made += 1;
    const call_id = `call-${this.#made}`;
    await this.sandboxes.exec(id, call_id, { argv: shell(script), timeout_ms: 30_000, ...more });
    return finish(this.sandboxes, id, call_id);
  }
}

/** For the scope that every sandbox of a world belongs to. */
export function sourceOf(url: string): Source {
  return { scope_id: spec("any").scope_id, url };
}

/** Looks again and again until it holds: for what the kernel does in its own time. */
export async function eventually(holds: () => boolean | Promise<boolean>): Promise<boolean> {
  for (let tries = 0; tries < 200; tries += 1) {
    if (await holds()) return true;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  return false;
}
