/**
 * What the object of one container does: it makes the sandbox, lets git through for one operation at a time, opens what
 * set-up was granted, hands everything else to the host inside, and forgets. A container that has ended took its files
 * with it: its sandbox is gone, and never silently a fresh one. [CON-3] [CON-5] [CON-6] [CON-7] [CON-8] [CON-21]
 */
import { z } from "zod";
import { SandboxFailure } from "../agents/ports.ts";
import { repoUrl } from "../domain/repo.ts";
import { type Input, type Method, methods, type sandboxSpec } from "../host/protocol.ts";
import { limits } from "../limits.ts";
import { readCall, shortAnswer, writeCall } from "./container-bundle.ts";
import { ContainerGate } from "./container-gate.ts";
import { GitContainer } from "./container-git.ts";
import { type Keep, Remembered } from "./container-kept.ts";
import { endMachine, keepFor, Line, lateFor, type Machine, ready, startMachine } from "./container-machine.ts";
import { type ContainerList, gitScopeOf } from "./container-sandboxes.ts";
import { inTime } from "./container-time.ts";

export interface ContainerParts {
  /** The object's own: a sandbox's id, or what `gitName` makes of a scope. */
  readonly name: string;
  /** Null where the deployment configures no containers. */
  readonly machine: Machine | null;
  readonly outbound: () => Fetcher;
  readonly keep: Keep;
  readonly list: ContainerList;
  readonly fetch: typeof fetch;
  /** The one origin beside https that a repository may have. */
  readonly gitOrigin: string | null;
  /** 64 hexadecimal digits that nobody can guess. */
  readonly newSecret: () => string;
  readonly sleep: (ms: number) => Promise<void>;
}

type Spec = z.infer<typeof sandboxSpec>;
type GitMethod = "checkout" | "resolve" | "publish";

/** What only asks and waits. Everything else begins something or changes files, and set-up's hosts are closed before. */
const asks: ReadonlySet<Method> = new Set(["wait", "outcome", "read", "list", "readPty"]);
/** What works through all files of a sandbox. */
const throughFiles: ReadonlySet<Method> = new Set(["snapshot", "restore", "merge"]);

export class ContainerBox {
  readonly #parts: ContainerParts;
  readonly #gate: ContainerGate;
  readonly #kept: Remembered;
  readonly #ofGit: GitContainer;
  /** Aborted when the hosts that set-up was granted are closed. */
  #granted = new AbortController();
  #turn: Promise<unknown> = Promise.resolve();

  constructor(parts: ContainerParts) {
    this.#parts = parts;
    this.#gate = new ContainerGate({ fetch: parts.fetch, newTicket: parts.newSecret });
    this.#kept = new Remembered(parts.keep);
    this.#ofGit = new GitContainer({
      machine: parts.machine,
      kept: this.#kept,
      inTurn: (work) => this.#inTurn(work),
      begin: () => this.#begin(null),
    });
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
    const ofGit = gitScopeOf(name) !== null;
    await keepFor(machine, idleFor(ofGit ? null : ((await this.#kept.known())?.spec ?? null)));
    if (ofGit) await this.#ofGit.tidy();
  }

  /** A request that came out of the container. */
  async outbound(request: Request): Promise<Response> {
    // Before it is known what is granted: what is closed meanwhile was closed for this one too.
    const { signal } = this.#granted;
    const known = await this.#kept.known();
    return this.#gate.carry(request, new Set(known?.hosts), signal);
  }

  async #do(method: Method, request: Request): Promise<Response> {
    const ofGit = gitScopeOf(this.#parts.name) !== null;
    if (ofGit !== (method === "resolve" || method === "publish"))
      throw new SandboxFailure("bad_request", `"${method}" is not asked of this container`);
    switch (method) {
      case "checkout":
      case "resolve":
      case "publish":
        return this.#git(method, request);
      // Their turn comes before they are read: what was asked first is done first.
      case "create":
        return done(this.#inTurn(async () => this.#create(methods.create.input.parse(await documentOf(request)))));
      case "destroy":
        return done(this.#inTurn(() => this.#destroy()));
      case "exec":
        return this.#exec(methods.exec.input.parse(await documentOf(request)));
      case "wait":
      case "readPty": {
        const input = methods[method].input.parse(await documentOf(request));
        const line = await this.#alive();
        return line.call(method, JSON.stringify(input), input.wait_ms + limits.container_call_ms);
      }
    }
    const line = await this.#alive();
    if (!asks.has(method)) await this.#close(method === "openPty");
    // Whoever asks what became of a call must be told if it is silent, which half an answer does not say.
    if (method === "outcome" || method === "kill")
      return line.whole(method, JSON.stringify(await documentOf(request)), limits.container_call_ms);
    const limit_ms = throughFiles.has(method) ? limits.container_files_ms : limits.container_call_ms;
    return line.call(method, request.body, limit_ms);
  }

  async #create(input: Input<"create">): Promise<void> {
    const { id, spec } = input;
    const { machine, list } = this.#parts;
    const known = await this.#kept.known();
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
    await this.#kept.note(() => ({ presets, made: true }));
  }

  /**
   * From here on there is no sandbox to anybody, also when its container does not end. A crash in between can be
   * repeated: it is forgotten by the list last but for what is kept of it here.
   */
  async #destroy(): Promise<void> {
    const { machine, list, name } = this.#parts;
    await this.#kept.note(() => ({ made: false, hosts: [], closed: true }));
    this.#cut();
    if (machine?.running) await endMachine(machine);
    await list.forgetSandbox(name);
    await this.#kept.clear();
  }

  /** Set-up is what has a network. Asked again after something else began, it is handed on and nothing is opened. */
  async #exec(input: Input<"exec">): Promise<Response> {
    const line = await this.#alive();
    const { network } = input.spec;
    if (network === undefined) await this.#close(true);
    else
      await this.#kept.note(({ made, closed, hosts, presets }) => {
        if (!made || closed) return null;
        const words = network.hosts.map((word) => word.toLowerCase());
        const meant = words.flatMap((word) => (Object.hasOwn(presets, word) ? (presets[word] ?? []) : [word]));
        return { hosts: [...new Set([...hosts, ...meant])] };
      });
    return line.call("exec", JSON.stringify(input), limits.container_call_ms);
  }
  /** For good, once something was open or what an agent says has run: the files before set-up are laid out without it. */
  async #close(ran: boolean): Promise<void> {
    const anew = await this.#kept.note(({ closed, hosts }) =>
      closed || (hosts.length === 0 && !ran) ? null : { hosts: [], closed: true },
    );
    if (anew) this.#cut();
  }
  #cut(): void {
    this.#granted.abort();
    this.#granted = new AbortController();
  }

  /** The credential stays here; what goes in is a ticket that is good until the operation's end. */
  async #git(method: GitMethod, request: Request): Promise<Response> {
    const { document, bundle } = await inTime(limits.container_call_ms, lateFor(method), () => readCall(request));
    const { credential, pass: _, ...input } = methods[method].input.parse(document);
    const { scope_id, url } = input.source;
    // What is refused starts no container.
    const own = method === "checkout" ? await this.#alive() : null;
    if (scope_id !== (gitScopeOf(this.#parts.name) ?? (await this.#kept.known())?.spec?.scope_id))
      throw new SandboxFailure("bad_request", "the container belongs to another scope than the repository's");
    const address = repoUrl(url, false, this.#parts.gitOrigin);
    if (!address.ok) throw new SandboxFailure("repo_not_allowed", `${url}: ${address.refusal.detail}`);
    const push = "branch" in input ? { branch: input.branch, commit: input.commit } : null;
    const through = async (line: Line): Promise<Response> => {
      const passage = this.#gate.open({ source: address.value, push }, credential);
      try {
        const pass = { ticket: passage.ticket, lent: credential !== undefined };
        const asked = { ...input, source: { scope_id, url: address.value }, pass };
        return await inTime(limits.container_git_ms, lateFor(method), async (signal) => {
          const answer = await shortAnswer(await line.send(method, writeCall(asked, bundle), signal), method);
          if (push === null) return answer;
          // What was asked twice may be refused because the first push went through.
          const late = `its server did not say in time where "${push.branch}" stands`;
          const stands = await inTime(limits.container_call_ms, late, passage.stands).catch(() => false);
          if (answer.ok && !stands) throw unseen(push.branch);
          return stands ? Response.json(null) : answer;
        });
      } finally {
        passage.close();
      }
    };
    if (own === null) return this.#ofGit.use(method === "publish", through);
    await this.#close(false);
    return through(own);
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
    await this.#kept.begin({ secret, spec });
    const memory_mb = spec === null ? limits.container_git_mb : spec.memory_mb;
    await startMachine(machine, { secret, memory_mb, idle_ms: idleFor(spec), outbound: outbound() });
    const line = new Line(machine, secret);
    await ready(line, sleep);
    return line;
  }

  async #alive(): Promise<Line> {
    const { machine, name } = this.#parts;
    const known = await this.#kept.known();
    if (known?.spec == null || !known.made)
      throw new SandboxFailure("no_such_sandbox", `there is no sandbox "${name}"`);
    if (!machine?.running)
      throw new SandboxFailure(
        "no_such_sandbox",
        `the container of sandbox "${name}" has ended, and its files with it`,
      );
    return new Line(machine, known.secret);
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

function unseen(branch: string): SandboxFailure {
  const why = `the container says that "${branch}" was pushed, and its server does not say so`;
  return new SandboxFailure("internal", why, true);
}

/** Callers send what they have at once. One that does not keeps nothing waiting behind it. */
function documentOf(request: Request): Promise<unknown> {
  return inTime(limits.container_call_ms, "the call was not sent in time", () => request.json());
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
