/** Opens the network for one process: its own proxy with its own list, and the scope's package caches. */
import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Bind } from "./bubble.ts";
import { openEgress } from "./egress.ts";
import { HostFailure } from "./failure.ts";
import type { Host } from "./host.ts";
import { type Preset, preset, presetNames } from "./presets.ts";
import type { Sandbox } from "./sandbox.ts";
import { forwardPath } from "./stage.ts";

export interface OpenNetwork {
  /** Stands before the command. */
  readonly prefix: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly binds: readonly Bind[];
  close(): void;
}
const inside = {
  node: "/run/countersign/node",
  forward: "/run/countersign/forward.ts",
  socket: "/run/countersign/proxy.sock",
};
const port = "3128";
const proxyEnv = Object.fromEntries(
  ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"].map((name) => [name, `http://127.0.0.1:${port}`]),
);
// Certificates of the machine, where programs are told of them by environment and the file can be seen inside.
const certificateVariables = [
  "NODE_EXTRA_CA_CERTS",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "CURL_CA_BUNDLE",
  "PIP_CERT",
  "REQUESTS_CA_BUNDLE",
];

export async function openNetwork(
  host: Host,
  sandbox: Sandbox,
  wanted: { hosts: string[]; cache: string[] },
): Promise<OpenNetwork> {
  const trusted = new Set<string>();
  const named = new Set<string>();
  const env: Record<string, string> = {
    ...proxyEnv,
    no_proxy: "127.0.0.1,localhost",
    NODE_USE_ENV_PROXY: "1",
    ...certificates(),
  };
  for (const word of wanted.hosts) {
    const found = await preset(word);
    if (found?.hosts.length === 0) {
      throw new HostFailure(
        "bad_request",
        `this machine's configuration names no host for "${word}"; name the hosts themselves`,
      );
    }
    // In a container every address is judged by what takes the connection outside; a name may have none inside.
    if (found === null) (host.config.gate === null ? named : trusted).add(word.toLowerCase());
    else for (const name of found.hosts) trusted.add(name.toLowerCase());
    Object.assign(env, found?.env);
  }
  const caches = await openCaches(host, sandbox, wanted.cache);
  const socket = join(host.scratch, `${randomBytes(8).toString("hex")}.sock`);
  const egress = await openEgress(socket, { trusted, named, upstream: upstream(process.env) });
  chmodSync(socket, 0o666); // Whoever can see it may use it, and only this process's bubble can.
  return {
    prefix: [inside.node, "--disable-warning=ExperimentalWarning", inside.forward, inside.socket, port],
    env: { ...env, ...caches.env },
    binds: [
      { source: process.execPath, dest: inside.node, writable: false },
      { source: forwardPath, dest: inside.forward, writable: false },
      { source: socket, dest: inside.socket, writable: false },
      ...caches.binds,
    ],
    close() {
      egress.close();
      rmSync(socket, { force: true });
    },
  };
}

/** Once anything but setup has written to a sandbox, its cache is a folder of its own that ends with the process. */
async function openCaches(
  host: Host,
  sandbox: Sandbox,
  names: readonly string[],
): Promise<{ env: Record<string, string>; binds: Bind[] }> {
  const env: Record<string, string> = {};
  const binds: Bind[] = [];
  for (const name of names) {
    const found: Preset | null = await preset(name);
    if (found === null)
      throw new HostFailure("bad_request", `"${name}" is no cache; choose of ${presetNames.join(", ")}`);
    const place = sandbox.record.touched ? `/tmp/cache/${name}` : `/cache/${name}`;
    Object.assign(env, found.cache(place));
    if (sandbox.record.touched) continue;
    const source = join(host.config.root, "caches", sandbox.record.spec.scope_id, name);
    mkdirSync(source, { recursive: true, mode: 0o755 });
    host.give(sandbox, source);
    binds.push({ source, dest: place, writable: true });
  }
  return { env, binds };
}

function upstream(env: NodeJS.ProcessEnv): URL | null {
  const text = env.HTTPS_PROXY ?? env.https_proxy ?? "";
  if (text === "") return null;
  return new URL(text.includes("://") ? text : `http://${text}`);
}

function certificates(): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of certificateVariables) {
    const path = process.env[name];
    if (path !== undefined && /^\/(etc\/ssl\/certs|usr|opt)(\/|$)/.test(path) && existsSync(path)) found[name] = path;
  }
  return found;
}
