/**
 * `Sandboxes` by way of a sandbox host: one POST a method, answers parsed, every failure a SandboxFailure. Where git
 * goes to a repository that wants a credential, one is opened for that one call, sent in its request, and closed after
 * it whatever happened. Runs in workerd and in Node. [CRED-1]
 */
import type { GitCredentials } from "../agents/github-port.ts";
import type {
  CallOutcome,
  ExecSpec,
  MergeAnswer,
  MergeInput,
  PublishInput,
  Sandboxes,
  SandboxSpec,
  Snapshot,
  Source,
  WaitAnswer,
} from "../agents/ports.ts";
import { SandboxFailure } from "../agents/ports.ts";
import { failureBody, fromBase64, type Input, type Method, methods, type Output, toBase64 } from "../host/protocol.ts";

export interface HostAddress {
  readonly url: string;
  readonly secret: string;
  /** Left out, the platform's own. What is asked about says to whom it goes, where there is not one host for all. */
  readonly fetch?: (url: string, init: RequestInit, about: About) => Promise<Response>;
  /** Left out, git goes without credentials everywhere. Throws SandboxFailure only. */
  readonly credentials?: GitCredentials;
}

/** The sandbox, or else the source, that a call is about. */
export interface About {
  readonly id?: string;
  readonly source?: Source;
}

export class HostSandboxes implements Sandboxes {
  readonly #url: string;
  readonly #secret: string;
  readonly #fetch: NonNullable<HostAddress["fetch"]>;
  readonly #credentials: GitCredentials | null;

  constructor(address: HostAddress) {
    this.#url = address.url.replace(/\/$/, "");
    this.#secret = address.secret;
    this.#credentials = address.credentials ?? null;
    // Called as a plain function: workerd refuses its fetch as a method of something else.
    this.#fetch = address.fetch ?? ((url, init) => fetch(url, init));
  }

  async create(id: string, spec: SandboxSpec): Promise<void> {
    await this.#ask("create", { id, spec });
  }
  async checkout(id: string, source: Source, commit: string, bundle?: Uint8Array): Promise<void> {
    const brought = bundle === undefined ? {} : { bundle: toBase64(bundle) };
    await this.#with(source, "read", (shown) => this.#ask("checkout", { id, commit, ...brought, ...shown }));
  }
  async exec(id: string, call_id: string, { argv, env, network, ...rest }: ExecSpec): Promise<void> {
    const open = network === undefined ? {} : { network: { hosts: [...network.hosts], cache: [...network.cache] } };
    await this.#ask("exec", {
      id,
      call_id,
      spec: { ...rest, argv: [...argv], ...(env === undefined ? {} : { env: { ...env } }), ...open },
    });
  }
  async wait(id: string, call_id: string, offset: number, wait_ms: number): Promise<WaitAnswer> {
    return seen(await this.#ask("wait", { id, call_id, offset, wait_ms: Math.min(wait_ms, 20_000) }));
  }
  async outcome(id: string, call_id: string): Promise<CallOutcome> {
    return this.#ask("outcome", { id, call_id });
  }
  async kill(id: string, call_id: string): Promise<void> {
    await this.#ask("kill", { id, call_id });
  }
  async read(id: string, path: string): Promise<Uint8Array> {
    return fromBase64(await this.#ask("read", { id, path }));
  }
  async write(id: string, path: string, content: Uint8Array): Promise<void> {
    await this.#ask("write", { id, path, content: toBase64(content) });
  }
  async list(id: string, path: string): Promise<Output<"list">> {
    return this.#ask("list", { id, path });
  }
  async remove(id: string, path: string): Promise<void> {
    await this.#ask("remove", { id, path });
  }
  async openPty(
    id: string,
    pty_id: string,
    spec: { argv: readonly string[]; cols: number; rows: number; timeout_ms: number },
  ): Promise<void> {
    await this.#ask("openPty", { id, pty_id, spec: { ...spec, argv: [...spec.argv] } });
  }
  async writePty(id: string, pty_id: string, data: Uint8Array): Promise<void> {
    await this.#ask("writePty", { id, pty_id, data: toBase64(data) });
  }
  async resizePty(id: string, pty_id: string, cols: number, rows: number): Promise<void> {
    await this.#ask("resizePty", { id, pty_id, cols, rows });
  }
  async readPty(id: string, pty_id: string, offset: number, wait_ms: number): Promise<WaitAnswer> {
    return seen(await this.#ask("readPty", { id, pty_id, offset, wait_ms: Math.min(wait_ms, 20_000) }));
  }
  /** The upgrade's response (in workerd: `webSocket`): binary frames both ways, text `{resize}` in and `{exit}` out. */
  async attachPty(id: string, pty_id: string, offset: number): Promise<Response> {
    const query = new URLSearchParams({ sandbox: id, pty: pty_id, from: String(offset) });
    return this.#send(`/v1/pty?${query}`, { headers: { upgrade: "websocket", ...this.#authority() } }, { id });
  }
  async snapshot(id: string): Promise<Snapshot> {
    const taken = await this.#ask("snapshot", { id });
    return { ...taken, patch: fromBase64(taken.patch) };
  }
  async restore(id: string, patch: Uint8Array): Promise<void> {
    await this.#ask("restore", { id, patch: toBase64(patch) });
  }
  async merge(id: string, input: MergeInput): Promise<MergeAnswer> {
    const merged = await this.#ask("merge", { id, ...input, patch: toBase64(input.patch) });
    return merged.ok ? { ...merged, bundle: fromBase64(merged.bundle), patch: fromBase64(merged.patch) } : merged;
  }
  async destroy(id: string): Promise<void> {
    await this.#ask("destroy", { id });
  }
  async sandboxes(): Promise<Output<"sandboxes">> {
    return this.#ask("sandboxes", {});
  }
  async resolve(source: Source, ref: string): Promise<Output<"resolve">> {
    return this.#with(source, "read", (shown) => this.#ask("resolve", { ref, ...shown }));
  }
  async publish(input: PublishInput): Promise<void> {
    const { branch, commit } = input;
    await this.#with(input.source, "write", (shown) =>
      this.#ask("publish", { branch, commit, bundle: toBase64(input.bundle), ...shown }),
    );
  }

  /** The credential lives as long as the one call it was opened for. */
  async #with<T>({ scope_id, url }: Source, access: "read" | "write", call: (shown: Shown) => Promise<T>): Promise<T> {
    const opened = (await this.#credentials?.open(scope_id, url, access)) ?? null;
    if (opened === null) return call({ source: { scope_id, url } });
    const { username, password, moved_to } = opened;
    try {
      return await call({ source: { scope_id, url: moved_to ?? url }, credential: { username, password } });
    } finally {
      await opened.close();
    }
  }

  async #ask<M extends Method>(method: M, input: Input<M>): Promise<Output<M>> {
    const headers = { "content-type": "application/json", ...this.#authority() };
    const response = await this.#send(`/v1/${method}`, { method: "POST", headers, body: JSON.stringify(input) }, input);
    const body = await json(response);
    if (response.ok) {
      const answer = methods[method].output.safeParse(body);
      // The schema was taken from the same M, which the compiler cannot follow through a lookup.
      if (answer.success) return answer.data as Output<M>;
      throw new SandboxFailure(
        "internal",
        `the sandbox host answered "${method}" in a shape this version does not know`,
      );
    }
    const failure = failureBody.safeParse(body);
    if (!failure.success) throw new SandboxFailure("unreachable", `the sandbox host answered ${response.status}`, true);
    throw new SandboxFailure(failure.data.code, failure.data.message, failure.data.retryable);
  }

  async #send(path: string, init: RequestInit, about: About): Promise<Response> {
    try {
      return await this.#fetch(this.#url + path, init, about);
    } catch (error) {
      if (error instanceof SandboxFailure) throw error;
      const why = error instanceof Error ? error.message : String(error);
      throw new SandboxFailure("unreachable", `the sandbox host does not answer: ${why}`, true);
    }
  }

  #authority(): Record<string, string> {
    return { authorization: `Bearer ${this.#secret}` };
  }
}

type Shown = Pick<Input<"resolve">, "source" | "credential">;

function seen(answer: Output<"wait">): WaitAnswer {
  return { ...answer, chunk: fromBase64(answer.chunk) };
}

async function json(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new SandboxFailure("unreachable", `the sandbox host's answer was cut short: ${why}`, true);
  }
}
