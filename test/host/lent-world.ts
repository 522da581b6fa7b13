/** A host, a git server over HTTP beside it, and a broker between them that lends credentials for one repository. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { gitCredentials } from "../../src/adapters/git-credentials.ts";
import { HostSandboxes } from "../../src/adapters/host-sandboxes.ts";
import type { SandboxFailure, Source } from "../../src/agents/ports.ts";
import { utf8 } from "../contract/programs.ts";
import { type GitRequest, GitServer, type Verdict } from "../setup/git-server.ts";
import { git } from "../setup/host.ts";
import { Lender } from "./lender.ts";
import { sourceOf, World } from "./world.ts";

export const repository = "acme/widgets";

export class LentWorld {
  readonly root: string;
  readonly server: GitServer;
  readonly lender: Lender;
  /** The linked repository, for the scope that is linked to it. */
  readonly widgets: Source;
  readonly #heard: string[];
  world: World;
  /** Of the host that runs now. */
  sandboxes: HostSandboxes;

  private constructor(root: string, server: GitServer, lender: Lender, world: World, heard: string[]) {
    this.root = root;
    this.server = server;
    this.lender = lender;
    this.world = world;
    this.#heard = heard;
    this.widgets = sourceOf(`${server.url}/${repository}`);
    this.sandboxes = this.#connected();
  }

  /** `also` answers for repositories of the test's own; null where the lender shall. */
  static async open(also: (asked: GitRequest) => Verdict | null = () => null): Promise<LentWorld> {
    const root = mkdtempSync(join(tmpdir(), "countersign-git-"));
    const lender = new Lender();
    const server = await GitServer.open({ root, allow: (asked) => also(asked) ?? lender.allow(asked) });
    const heard: string[] = [];
    const world = await World.open({ GIT_ORIGIN: server.url }, (said) => heard.push(said));
    const lent = new LentWorld(root, server, lender, world, heard);
    lent.bare(repository);
    lent.bare("acme/open");
    lender.open.add("acme/open");
    return lent;
  }
  async close(): Promise<void> {
    await this.world.close();
    await this.server.close();
    rmSync(this.root, { recursive: true, force: true });
  }
  async restart(): Promise<void> {
    await this.world.restart();
    this.sandboxes = this.#connected();
  }
  /** As the server and the lender were at first. */
  calm(): void {
    this.server.slow = null;
    this.server.redirect = null;
    this.server.saying = () => "no\n";
    this.lender.broken = false;
    this.lender.readOnly = false;
  }

  /** Another copy of the sample on the server: its folder. */
  bare(name: string): string {
    const folder = join(this.root, `${name}.git`);
    mkdirSync(join(folder, ".."), { recursive: true });
    git(this.world.folder.repos, "clone", "--quiet", "--bare", this.world.source, folder);
    return folder;
  }
  tip(branch: string): string | null {
    const folder = join(this.root, `${repository}.git`);
    return git(folder, "for-each-ref", "--format=%(objectname)", `refs/heads/${branch}`) || null;
  }
  /** What the server was shown since then, one entry a request. */
  shownSince(from: number): boolean[] {
    return this.server.journal.slice(from).map(({ shown }) => shown !== null);
  }
  /** A sandbox checked out at `main`. */
  async fresh(source: Source = this.widgets): Promise<string> {
    const id = await this.world.empty();
    await this.sandboxes.checkout(id, source, this.world.main);
    return id;
  }
  /** A commit on `main` with a new file, and the bundle that carries it, ready to be published. */
  async work(name: string) {
    const { main } = this.world;
    const id = await this.fresh();
    await this.sandboxes.write(id, name, utf8.encode(`${name}\n`));
    const { patch } = await this.sandboxes.snapshot(id);
    const built = await this.sandboxes.merge(id, { baseline: main, parent: main, patch, message: name, at_s: 7 });
    if (!built.ok) throw new Error("it does not merge");
    return { source: this.widgets, branch: `countersign/${name}`, commit: built.commit, bundle: built.bundle };
  }

  /** Looks through everything that stays: the host's folder, what it said, every command line; and nothing lent is alive. */
  expectNothingLeft(): void {
    const { lender } = this;
    expect(lender.lent.size).toBeGreaterThan(0);
    expect(lender.filesIn(this.world.folder.state)).toEqual([]);
    expect(lender.in(this.#heard.join(""))).toBe(false);
    expect(lender.processesWith("cmdline")).toEqual([]);
    expect([...lender.lent.values()].filter(({ alive }) => alive)).toEqual([]);
  }

  /** Sandboxes whose broker links whichever scope asks. */
  linkedToAll(): HostSandboxes {
    return this.#through(async () => ({ id: 1, installation_id: 2, full_name: repository }));
  }
  #connected(): HostSandboxes {
    const { scope_id, url } = this.widgets;
    const repo = { id: 1, installation_id: 2, full_name: repository };
    return this.#through(async (scope, address) => (scope === scope_id && address === url ? repo : null));
  }
  #through(linked: Parameters<typeof gitCredentials>[0]["linked"]): HostSandboxes {
    const credentials = gitCredentials({ base: this.server.url, tokens: this.lender, linked });
    return new HostSandboxes({ ...this.world.host, credentials });
  }
}

export async function failureOf(work: Promise<unknown>): Promise<SandboxFailure> {
  try {
    await work;
  } catch (error) {
    // The port promises that it throws nothing else.
    return error as SandboxFailure;
  }
  throw new Error("it did not fail");
}
