/** The door's ports made tame: a deployment of fake scopes, whose every token a test can make. */
import { Records } from "../../src/adapters/records.ts";
import type { Source } from "../../src/agents/ports.ts";
import type { Verify } from "../../src/domain/checkpoint.ts";
import { formatToken, scopeMac, secretHash } from "../../src/domain/credential.ts";
import type { AuditView } from "../../src/domain/record-view.ts";
import type { CallerRole } from "../../src/domain/view.ts";
import type { AgentDoor } from "../../src/http/doors.ts";
import type { AuditQuery, DoorPorts, Feature, ScopeRow } from "../../src/http/ports.ts";
import { FakeGithubAdmin } from "./github-admin-door.ts";
import { FakeGithub } from "./github-door.ts";
import { nodeD1 } from "./node-d1.ts";
import { FakeRuntime } from "./runtime-door.ts";
import { at } from "./views.ts";

export const adminToken = "a-deployment-admin-token";
export const home = "abcdefghij012345";
export const elsewhere = "zyxwvutsrq543210";

export class FakeDeployment implements DoorPorts {
  readonly github = new FakeGithub();
  readonly githubAdmin = new FakeGithubAdmin();
  readonly runtimes = new Map<string, FakeRuntime>();
  readonly listed: ScopeRow[] = [];
  readonly stored = new Map<string, Uint8Array>();
  readonly auditAsked: (AuditQuery & { scope_id: string })[] = [];
  readonly auditRows: AuditView[] = [];
  readonly scopeMacKey = new Uint8Array(32).fill(7);
  adminTokenHash = secretHash(adminToken);
  localHost = false;
  gitOrigin: string | null = null;
  webhookLoopback = false;
  executorMind = false;
  clock = 1_000_000;
  /** What the sandbox host answers about any repository. */
  resolving: () => { commit: string; default_branch: string } = () => ({
    commit: "c".repeat(40),
    default_branch: "main",
  });
  auditing: () => void = () => undefined;
  featureList: () => Feature[] = () => [{ name: "sandbox", ok: true, detail: "the local host answers" }];
  resolved: string[] = [];
  /** The scopes that were asked for, beside `resolved`. */
  resolvedFor: string[] = [];
  lastTerminal: Request | null = null;
  readonly artifacts = {
    put: async (key: string, bytes: Uint8Array) => {
      this.stored.set(key, bytes);
    },
    get: async (key: string) => this.stored.get(key) ?? null,
  };
  #random = 0;
  #d1: ReturnType<typeof nodeD1> | null = null;
  #records: Records | null = null;

  constructor() {
    this.runtime(home);
    this.runtime(elsewhere);
  }

  runtime(scope_id: string): FakeRuntime {
    const known = this.runtimes.get(scope_id) ?? new FakeRuntime(scope_id);
    this.runtimes.set(scope_id, known);
    return known;
  }
  agent(_scope: string, _name: string): AgentDoor {
    return {
      fetch: async (request) => {
        this.lastTerminal = request;
        return new Response("a terminal");
      },
      transitions: async () => [],
    };
  }
  async resolveRepo(source: Source, ref: string) {
    this.resolved.push(`${source.url} ${ref}`);
    this.resolvedFor.push(source.scope_id);
    return this.resolving();
  }
  async audit(scope_id: string, query: AuditQuery) {
    this.auditAsked.push({ ...query, scope_id });
    this.auditing();
    return { items: [...this.auditRows], next_cursor: null };
  }
  /** Made when it is first asked: most tests of the doors need no database, and migrating one takes a while. */
  get d1() {
    this.#d1 ??= nodeD1("migrations");
    return this.#d1;
  }
  get records(): Records {
    this.#records ??= new Records(this.d1.db);
    return this.#records;
  }
  verifying: Verify = async () => false;
  verifySignature(...asked: Parameters<Verify>) {
    return this.verifying(...asked);
  }
  async addScope(scope: { scope_id: string; name: string }) {
    this.listed.push({ ...scope, created_at: at });
  }
  async scopes() {
    return this.listed;
  }
  random(): Uint8Array {
    this.#random += 1;
    return new Uint8Array(32).map((_, index) => (this.#random * 31 + index * 7) % 256);
  }
  now(): number {
    return this.clock;
  }
  readonly publicKeys = [
    {
      kty: "OKP",
      crv: "Ed25519",
      x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
      kid: "first",
      alg: "EdDSA",
      use: "sig",
    },
  ];
  async features() {
    return this.featureList();
  }
  async assets(): Promise<Response> {
    return new Response("<!doctype html>", { headers: { "content-type": "text/html" } });
  }

  /** A live token of a role, as `Authorization` wants it. */
  token(role: CallerRole, scope_id: string = home): string {
    const text = formatToken(scope_id, scopeMac(this.scopeMacKey, scope_id), role.padEnd(32, "x"));
    const who = { scope_id, subject: `a ${role}`, role, via: "token" as const, credential_id: `token-${role}` };
    this.runtime(scope_id).credentials.set(secretHash(text), who);
    return text;
  }
}
