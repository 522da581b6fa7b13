/**
 * What the object of one container does: it makes the sandbox, lets git through for one operation at a time, opens what
 * set-up was granted, hands everything else to the host inside, and forgets. A container that has ended took its files
 * with it: its sandbox is gone, and never silently a fresh one. [CON-3] [CON-6] [CON-7] [CON-8]
 */
import { z } from "zod";
import { SandboxFailure } from "../agents/ports.ts";
import { repoUrl } from "../domain/repo.ts";
import { type Input, type Method, methods, sandboxSpec } from "../host/protocol.ts";
import { limits } from "../limits.ts";
import { ContainerGate } from "./container-gate.ts";
import { endMachine, inTime, keepFor, Late, Line, type Machine, ready, startMachine } from "./container-machine.ts";
import { type ContainerList, gitScopeOf } from "./container-sandboxes.ts";

export interface ContainerParts {
  /** The object's own: a sandbox's id, or what `gitName` makes of a scope. */
  readonly name: string;
  /** Null where the deployment configures no containers. */
  readonly machine: Machine | null;
  readonly outbound: () => Fetcher;
  /** One document; gone after `clear`. */
  readonly keep: { get(): Promise<unknown>; put(document: unknown): Promise<void>; clear(): Promise<void> };
  readonly list: ContainerList;
  readonly fetch: typeof fetch;
  /** The one origin beside https that a repository may have. */
  readonly gitOrigin: string | null;
  /** 64 hexadecimal digits that nobody can guess. */
  readonly newSecret: () => string;
  readonly sleep: (ms: number) => Promise<void>;
}

/** What is remembered of a container while it is there. */
const kept = z.object({
  secret: z.string(),
  /** Null: no sandbox, only git. */
  spec: sandboxSpec.nullable(),
  /** Its host has answered, and its sandbox is made. */
  made: z.boolean(),
  /** What set-up was granted, until something else begins. */
  hosts: z.array(z.string()),
  /** What each preset means in its image, asked before anything of a plan could answer in the host's place. */
  presets: z.record(z.string(), z.array(z.string())).default({}),
});
type Kept = z.infer<typeof kept>;
type Spec = z.infer<typeof sandboxSpec>;
type GitMethod = "checkout" | "resolve" | "publish";

export class ContainerBox {
  readonly #parts: ContainerParts;
  readonly #gate: ContainerGate;
  #kept: Kept | null | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(parts: ContainerParts) {
    this.#parts = parts;
    this.#gate = new ContainerGate({ fetch: parts.fetch, newTicket: parts.newSecret });
  }

  /** A request of the sandboxes' port, as a host's door takes it; refusals are answered as the host answers them. */
  async answer(request: Request): Promise<Response> {
    try {
      const { pathname, search } = new URL(request.url);
      if (pathname === "/v1/pty") return await (await this.#alive()).attach(search);
      const name = /^\/v1\/(\w+)$/.exec(pathname)?.[1] ?? "";
      if (!Object.hasOwn(methods, name)) throw new SandboxFailure("bad_request", "there is no such method");
      // `hasOwn` has just shown that it is one of the table's names.
      return await this.#do(name as Method, request);
    } catch (error) {
      return Response.json(bodyOf(error), { status: 400 });
    }
  }

  /** For an object that begins beside a container that runs: how long it stays has to be said again. */
  async resume(): Promise<void> {
    const { machine, name } = this.#parts;
    if (!machine?.running) return;
    const spec = gitScopeOf(name) === null ? ((await this.#known())?.spec ?? null) : null;
    await keepFor(machine, idleFor(spec));
  }

  /** A request that came out of the container. */
  async outbound(request: Request): Promise<Response> {
    const known = await this.#known();
    return this.#gate.carry(request, new Set(known?.hosts));
  }

  async #do(method: Method, request: Request): Promise<Response> {
    const ofGit = gitScopeOf(this.#parts.name) !== null;
    if (ofGit !== (method === "resolve" || method === "publish"))
      throw new SandboxFailure("bad_request", `"${method}" is not asked of this container`);
    switch (method) {
      case "checkout":
      case "resolve":
      case "publish":
        return this.#git(method, await request.json());
      case "create": {
        const input = methods.create.input.parse(await request.json());
        return done(this.#inTurn(() => this.#create(input)));
      }
      case "destroy":
        return done(this.#inTurn(() => this.#destroy()));
      case "exec":
        return this.#exec(methods.exec.input.parse(await request.json()));
    }
    return (await this.#alive()).send(method, request.body);
  }

  async #create(input: Input<"create">): Promise<void> {
    const { id, spec } = input;
    const { machine, list } = this.#parts;
    const known = await this.#known();
    if (known?.spec != null) {
      const same = known.spec.worktree === spec.worktree && known.spec.scope_id === spec.scope_id;
      if (!same) throw new SandboxFailure("bad_request", `sandbox "${id}" exists for another work tree or scope`);
      if (known.made && machine?.running) return;
    }
    // Listed before there is anything to forget.
    if (!(await list.keepSandbox({ id, scope_id: spec.scope_id, owner: spec.owner })))
      throw new SandboxFailure("too_many", `${limits.container_sandboxes} sandboxes exist`, true);
    const line = await this.#begin(spec);
    const [presets] = await Promise.all([line.ask("presets", {}), line.ask("create", input)]);
    await this.#note({ presets, made: true });
  }

  /** A crash in between can be repeated: it is forgotten by the list last but for what is kept of it here. */
  async #destroy(): Promise<void> {
    this.#kept = null;
    if (this.#parts.machine?.running) await endMachine(this.#parts.machine);
    await this.#parts.list.forgetSandbox(this.#parts.name);
    await this.#parts.keep.clear();
  }

  /** Set-up is what has a network: when anything without one begins, the hosts it was granted are closed again. */
  async #exec(input: Input<"exec">): Promise<Response> {
    const line = await this.#alive();
    const { network } = input.spec;
    const { hosts = [], presets = {} } = (await this.#known()) ?? {};
    if (network !== undefined) {
      const words = network.hosts.map((word) => word.toLowerCase());
      const meant = words.flatMap((word) => (Object.hasOwn(presets, word) ? (presets[word] ?? []) : [word]));
      await this.#note({ hosts: [...new Set([...hosts, ...meant])] });
    } else if (hosts.length > 0) await this.#note({ hosts: [] });
    return line.send("exec", JSON.stringify(input));
  }

  /** The credential stays here; what goes in is a ticket that is good until the operation's end. */
  async #git(method: GitMethod, body: unknown): Promise<Response> {
    const { credential, pass: _, ...input } = methods[method].input.parse(body);
    const { scope_id, url } = input.source;
    // What is refused starts no container.
    const own = method === "checkout" ? await this.#alive() : null;
    if (scope_id !== (gitScopeOf(this.#parts.name) ?? (await this.#known())?.spec?.scope_id))
      throw new SandboxFailure("bad_request", "the container belongs to another scope than the repository's");
    const address = repoUrl(url, false, this.#parts.gitOrigin);
    if (!address.ok) throw new SandboxFailure("repo_not_allowed", `${url}: ${address.refusal.detail}`);
    const push = "branch" in input ? { branch: input.branch, commit: input.commit } : null;
    const through = async (line: Line): Promise<Response> => {
      const passage = this.#gate.open({ source: address.value, push }, credential);
      try {
        const pass = { ticket: passage.ticket, lent: credential !== undefined };
        const asked = JSON.stringify({ ...input, source: { scope_id, url: address.value }, pass });
        const late = `the container did not answer "${method}" in time`;
        return await inTime(limits.container_git_ms, late, async (signal) => {
          const answer = await line.send(method, asked, signal);
          return new Response(await answer.arrayBuffer(), answer);
        });
      } finally {
        passage.close();
      }
    };
    if (own !== null) return through(own);
    const line = await this.#inTurn(() => this.#forGit());
    try {
      return await through(line);
    } catch (error) {
      if (!(error instanceof SandboxFailure) || error.code !== "unreachable") throw error;
      // It keeps nothing that would be lost, and both of git's operations may be asked again.
      const anew = await this.#inTurn(() => this.#forGit(line));
      if (error instanceof Late) throw error;
      return through(anew);
    }
  }

  /** `silent` is one that did not answer: whoever is first to say so begins another. */
  async #forGit(silent?: Line): Promise<Line> {
    const { machine } = this.#parts;
    const known = await this.#known();
    if (machine?.running && known?.made && known.secret !== silent?.secret) return new Line(machine, known.secret);
    const line = await this.#begin(null);
    await this.#note({ made: true });
    return line;
  }

  /** A fresh container whose host answers. One that was being started when its object died is ended first. */
  async #begin(spec: Spec | null): Promise<Line> {
    const { machine, newSecret, outbound, sleep } = this.#parts;
    if (machine === null)
      throw new SandboxFailure(
        "unreachable",
        "This deployment has no containers: see [[containers]] in wrangler.toml.",
      );
    if (machine.running) await endMachine(machine);
    const secret = newSecret();
    await this.#put({ secret, spec, made: false, hosts: [], presets: {} });
    const memory_mb = spec === null ? limits.container_git_mb : spec.memory_mb;
    await startMachine(machine, { secret, memory_mb, idle_ms: idleFor(spec), outbound: outbound() });
    const line = new Line(machine, secret);
    await ready(line, sleep);
    return line;
  }

  async #alive(): Promise<Line> {
    const { machine, name } = this.#parts;
    const known = await this.#known();
    if (known?.spec == null || !known.made)
      throw new SandboxFailure("no_such_sandbox", `there is no sandbox "${name}"`);
    if (!machine?.running)
      throw new SandboxFailure(
        "no_such_sandbox",
        `the container of sandbox "${name}" has ended, and its files with it`,
      );
    return new Line(machine, known.secret);
  }

  async #known(): Promise<Kept | null> {
    if (this.#kept === undefined) {
      const stored = await this.#parts.keep.get();
      // A call that came meanwhile may know more by now.
      if (this.#kept === undefined) this.#kept = stored === undefined ? null : kept.parse(stored);
    }
    return this.#kept;
  }
  /** Known at once, lest two changes overwrite each other; what could not be kept is not known either. */
  async #put(document: Kept): Promise<void> {
    const before = this.#kept;
    this.#kept = document;
    try {
      await this.#parts.keep.put(document);
    } catch (error) {
      if (this.#kept === document) this.#kept = before;
      throw error;
    }
  }
  async #note(change: Partial<Kept>): Promise<void> {
    const known = await this.#known();
    if (known !== null) await this.#put({ ...known, ...change });
  }

  /** One after another: what makes and ends a container. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work);
    this.#turn = turn.catch(() => {});
    return turn;
  }
}

function idleFor(spec: Spec | null): number {
  return spec === null ? limits.container_git_idle_ms : limits.container_idle_ms;
}

async function done(work: Promise<void>): Promise<Response> {
  await work;
  return Response.json(null);
}

function bodyOf(error: unknown): { code: string; message: string; retryable: boolean } {
  if (error instanceof SandboxFailure) return { code: error.code, message: error.message, retryable: error.retryable };
  if (error instanceof z.ZodError) {
    const [first] = error.issues;
    return { code: "bad_request", message: `${first?.path.join(".") || "body"}: ${first?.message}`, retryable: false };
  }
  console.error(error);
  return { code: "internal", message: error instanceof Error ? error.message : String(error), retryable: true };
}
