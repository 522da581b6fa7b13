/**
 * The composition root: bindings and variables are parsed once, and the ports are built from them. What is
 * missing disables its feature, and /healthz names it.
 */
import { z } from "zod";
import type { AgentObject } from "../durable-objects/agent-object.ts";
import type { GithubObject } from "../durable-objects/github-object.ts";
import type { PoolObject } from "../durable-objects/pool-object.ts";
import { githubOf, poolOf } from "../durable-objects/remote.ts";
import type { RuntimeObject } from "../durable-objects/runtime-object.ts";
import type { SandboxObject } from "../durable-objects/sandbox-object.ts";
import { absentSandboxes } from "./adapters/absent-sandboxes.ts";
import { blobArtifacts } from "./adapters/blobs.ts";
import { ContainerBox, type ContainerParts } from "./adapters/container-box.ts";
import { type ContainerObjects, containersAddress } from "./adapters/container-sandboxes.ts";
import { gitCredentials } from "./adapters/git-credentials.ts";
import type { GithubBindings, GithubConfig } from "./adapters/github-config.ts";
import type { GithubTokens } from "./adapters/github-tokens.ts";
import { githubFrom } from "./adapters/github-world.ts";
import { HostSandboxes } from "./adapters/host-sandboxes.ts";
import { modelsFrom, type RoleBindings } from "./adapters/model-roles.ts";
import { Records } from "./adapters/records.ts";
import { createSigner, type KeySigner, readSigningKeys } from "./adapters/signer.ts";
import { type SearchBindings, searchFrom } from "./adapters/web-search.ts";
import { webhookPost } from "./adapters/webhook-post.ts";
import type { GitCredentials, Github, GithubApp } from "./agents/github-port.ts";
import type { Models } from "./agents/models.ts";
import type { Artifacts, Sandboxes, WebSearch } from "./agents/ports.ts";
import type { WebhookPost } from "./agents/webhook-port.ts";
import type { Sent } from "./domain/posted.ts";
import type { RecordsBatch } from "./domain/records.ts";
import { gitOriginOf } from "./domain/repo.ts";

export interface Bindings extends RoleBindings, SearchBindings, GithubBindings {
  readonly AGENT: DurableObjectNamespace<AgentObject>;
  readonly RUNTIME: DurableObjectNamespace<RuntimeObject>;
  readonly POOL: DurableObjectNamespace<PoolObject>;
  readonly GITHUB: DurableObjectNamespace<GithubObject>;
  readonly MESSAGES: Queue<Sent>;
  readonly RECORDS: Queue<RecordsBatch>;
  readonly DB: D1Database;
  readonly BLOBS: R2Bucket;
  readonly ASSETS: Fetcher;
  readonly SANDBOXES?: DurableObjectNamespace<SandboxObject>;
  readonly SANDBOX?: string;
  readonly SANDBOX_URL?: string;
  readonly SANDBOX_SECRET?: string;
  readonly COUNTERSIGN_ADMIN_TOKEN?: string;
  readonly SCOPE_MAC_KEY?: string;
  readonly SIGNING_KEYS?: string;
  readonly ALLOW_PERMISSIVE?: string;
  readonly WEBHOOK_LOOPBACK?: string;
}

/** What the object of a container brings itself; the rest is the deployment's. */
type OwnParts = Pick<ContainerParts, "name" | "machine" | "outbound" | "keep">;

export interface World {
  readonly sandboxes: Sandboxes;
  readonly containerBox: (own: OwnParts) => ContainerBox;
  readonly artifacts: Artifacts;
  readonly models: Models;
  /** Null when no provider is configured. */
  readonly search: WebSearch | null;
  /** Every call says what to configure where there is no GitHub App. */
  readonly github: Github;
  readonly githubApp: GithubApp;
  /** Null without an App, as its configuration is: for git's own short-lived credentials. */
  readonly githubTokens: GithubTokens | null;
  readonly githubConfig: GithubConfig | null;
  readonly posts: WebhookPost;
  /** Webhooks may lead to this machine over plain http: for tests, and only where the sandbox host is local. */
  readonly webhookLoopback: boolean;
  readonly records: Records;
  readonly signer: KeySigner | null;
  readonly adminToken: string | null;
  readonly scopeMacKey: Uint8Array | null;
  /** This deployment lets work be done under the preset PERMISSIVE. */
  readonly allowPermissive: boolean;
  /** The sandbox host stands on this machine, so a folder may be a repository. */
  readonly localHost: boolean;
  /** The one origin that git may reach without TLS: this machine's own git server. */
  readonly gitOrigin: string | null;
  /** What is not configured: the variable, and what cannot be done without it. */
  readonly missing: readonly { readonly name: string; readonly detail: string; readonly optional?: boolean }[];
}

const worlds = new WeakMap<Bindings, World>();

/** The same bindings give the same world. */
export function worldOf(bindings: Bindings): World {
  const known = worlds.get(bindings);
  if (known !== undefined) return known;
  const made = build(bindings);
  worlds.set(bindings, made);
  return made;
}

/** For a process that brings ports of its own: what it gives takes the place of what the bindings would make. */
export function provideWorld(bindings: Bindings, own: Partial<World>): void {
  worlds.set(bindings, { ...build(bindings), ...own });
}

const hexKey = z.string().regex(/^[0-9a-f]{64}$/);

function build(bindings: Bindings): World {
  const thinking = modelsFrom(bindings);
  const localHost = bindings.SANDBOX !== "container" && isLoopback(bindings.SANDBOX_URL ?? "");
  const { missing: unset, ...github } = githubFrom(bindings, localHost);
  const missing: { name: string; detail: string; optional?: boolean }[] = [...thinking.missing, ...unset];
  const lacks = (name: string, detail: string): null => {
    missing.push({ name, detail });
    return null;
  };
  const gitOrigin = gitOriginOf(bindings.GITHUB_URL, localHost);
  const webhookLoopback = localHost && bindings.WEBHOOK_LOOPBACK === "true";
  return {
    sandboxes: sandboxesOf(bindings, gitCredentialsOf(bindings, github), lacks),
    containerBox: (own) => new ContainerBox({ ...own, ...containerWorld(bindings), gitOrigin }),
    artifacts: blobArtifacts(bindings.BLOBS),
    models: thinking.models,
    search: searchFrom(bindings, lacks),
    ...github,
    posts: webhookPost({ key: keyOf(bindings.SCOPE_MAC_KEY), loopback: webhookLoopback }),
    webhookLoopback,
    records: new Records(bindings.DB),
    signer: signerOf(bindings.SIGNING_KEYS, lacks),
    adminToken:
      bindings.COUNTERSIGN_ADMIN_TOKEN ||
      lacks("COUNTERSIGN_ADMIN_TOKEN", "No scope can be made. Set the secret COUNTERSIGN_ADMIN_TOKEN."),
    scopeMacKey:
      keyOf(bindings.SCOPE_MAC_KEY) ??
      lacks("SCOPE_MAC_KEY", "No API token is accepted. Set the secret SCOPE_MAC_KEY to 64 hexadecimal digits."),
    allowPermissive: bindings.ALLOW_PERMISSIVE === "true",
    localHost,
    gitOrigin,
    missing,
  };
}

/** A sandbox host of one's own, or a container for each sandbox. */
function sandboxesOf(
  bindings: Bindings,
  lent: { credentials?: GitCredentials },
  lacks: (name: string, detail: string) => null,
): Sandboxes {
  const { SANDBOX = "local", SANDBOX_URL: url, SANDBOX_SECRET: secret, SANDBOXES } = bindings;
  const absent = (name: string, how: string): Sandboxes => {
    lacks(name, `Nothing can be executed or verified. ${how}`);
    return absentSandboxes(how);
  };
  if (SANDBOX === "container") {
    if (SANDBOXES === undefined) return absent("SANDBOX", "Bind SANDBOXES to the class SandboxObject.");
    // Its stub's `fetch` is the platform's, which takes what this one is given.
    const objects = SANDBOXES as unknown as ContainerObjects;
    return new HostSandboxes({ ...containersAddress(objects, poolOf(bindings)), ...lent });
  }
  if (SANDBOX !== "local") return absent("SANDBOX", 'Set SANDBOX to "local" or to "container".');
  if (url && secret) return new HostSandboxes({ url, secret, ...lent });
  return absent("SANDBOX_URL", "Set SANDBOX_URL and the secret SANDBOX_SECRET of a sandbox host.");
}

function containerWorld(bindings: Bindings): Omit<ContainerParts, keyof OwnParts | "gitOrigin"> {
  return {
    list: poolOf(bindings),
    fetch: (input, init) => fetch(input, init),
    newSecret: () => hexOf(crypto.getRandomValues(new Uint8Array(32))),
    sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  };
}
function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Keys that cannot be trusted are as good as none, and the reason is told: it names keys and holds none. */
function signerOf(text: string | undefined, lacks: (name: string, detail: string) => null): KeySigner | null {
  const without = "Nothing can be approved, what was approved before does not stand, and the audit is not signed.";
  if (!text) return lacks("SIGNING_KEYS", `${without} Set the secret SIGNING_KEYS.`);
  const read = readSigningKeys(text);
  if (read.ok) return createSigner(read.keys);
  return lacks("SIGNING_KEYS", `${without} The secret SIGNING_KEYS cannot be used: ${read.why}.`);
}
function keyOf(text: string | undefined): Uint8Array | null {
  const hex = hexKey.safeParse(text);
  return hex.success ? Uint8Array.from(hex.data.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16)) : null;
}
function isLoopback(url: string): boolean {
  return URL.canParse(url) && ["127.0.0.1", "localhost", "[::1]"].includes(new URL(url).hostname);
}

/** Git goes without credentials where there is no GitHub App. Whose repository it is, each scope's own runtime says. */
function gitCredentialsOf(
  bindings: Bindings,
  { githubTokens: tokens, githubConfig: config }: Pick<World, "githubTokens" | "githubConfig">,
): { credentials?: GitCredentials } {
  if (tokens === null || config === null) return {};
  const linked = (scope_id: string, url: string) => githubOf(bindings, scope_id).githubRepository(scope_id, url);
  return { credentials: gitCredentials({ base: config.url, tokens, linked }) };
}
