/** The runtime by itself: `workerd serve` on one worker of this folder, objects on disk, no proxy before it. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { builtinModules, createRequire } from "node:module";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { build } from "esbuild";
import { inProject } from "../../src/dev/project.ts";
import { Caller } from "./call.ts";
import type { Ground } from "./ground.ts";

const listensWithinMs = 20_000;

/** A worker ready to be served: the bundle, the configuration, and the folder of its objects. */
export interface Prepared {
  readonly folder: string;
  readonly config: string;
}
export interface Served {
  readonly caller: Caller;
  /** When the process was begun and when it listened, on the clock of `performance.now()`. */
  readonly beganAtMs: number;
  readonly listenedAtMs: number;
  /** SIGKILL, and the wait until it is gone. */
  kill(): Promise<void>;
}
export interface WorkerSpec {
  /** Beside this file, in `worker`. */
  readonly entry: string;
  /** Binding -> class. */
  readonly objects: Readonly<Record<string, string>>;
  /** Folders with packages that the project itself does not have. */
  readonly packages?: readonly string[];
}

export async function prepare(ground: Ground, spec: WorkerSpec): Promise<Prepared> {
  const folder = ground.folder("workerd");
  const packages = [...(spec.packages ?? []), inProject("node_modules")];
  await build({
    entryPoints: [inProject(`test/bench/worker/${spec.entry}`)],
    outfile: join(folder, "worker.js"),
    ...{ bundle: true, format: "esm", target: "es2024", platform: "neutral", logLevel: "error" },
    ...{ mainFields: ["module", "main"], conditions: ["workerd", "worker", "browser"], nodePaths: packages },
    external: ["cloudflare:*", "node:*"],
    alias: {
      ...Object.fromEntries(builtinModules.map((name) => [name, `node:${name}`])),
      "cloudflare:email": inProject("test/bench/worker/no-email.ts"),
    },
    // Packages in the old form ask for Node's own modules by a call that a bundle of today has no word for.
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire("/");' },
  });
  mkdirSync(join(folder, "objects"));
  const config = join(folder, "config.capnp");
  writeFileSync(config, configOf(join(folder, "objects"), spec.objects));
  return { folder, config };
}

export async function serve(ground: Ground, { config }: Prepared): Promise<Served> {
  const beganAtMs = performance.now();
  const child = ground.spawn("workerd", workerdBinary(), ["serve", config, "--control-fd=3", "--experimental"], {
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  });
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  // The fourth stream is the one asked for above.
  const port = await portFrom(child.stdio[3] as Readable, gone, () => ground.tail("workerd"));
  const caller = new Caller(port);
  return {
    ...{ caller, beganAtMs, listenedAtMs: performance.now() },
    async kill() {
      caller.close();
      child.kill("SIGKILL");
      await gone;
    },
  };
}

/** workerd says on its control stream when it listens, and where. */
function portFrom(control: Readable, gone: Promise<void>, tail: () => string): Promise<number> {
  return new Promise((resolve, reject) => {
    let said = "";
    const timer = setTimeout(() => reject(new Error(`workerd does not listen: ${tail()}`)), listensWithinMs);
    void gone.then(() => {
      clearTimeout(timer);
      reject(new Error(`workerd ended: ${tail()}`));
    });
    control.on("data", (part: Buffer) => {
      said += part.toString("utf8");
      const port = /"event":"listen"[^}]*"port":(\d+)/.exec(said)?.[1];
      if (port === undefined) return;
      clearTimeout(timer);
      resolve(Number(port));
    });
  });
}

export function workerdBinary(): string {
  const require = createRequire(import.meta.url);
  const path: unknown = require("workerd").default;
  if (typeof path !== "string") throw new Error("the package workerd does not say where its program is");
  return path;
}

/** The product's own date: what is measured runs as it is deployed. */
function compatibilityDate(): string {
  const found = /^compatibility_date = "([\d-]+)"/m.exec(readFileSync(inProject("wrangler.toml"), "utf8"))?.[1];
  if (found === undefined) throw new Error("wrangler.toml has no compatibility_date");
  return found;
}

function configOf(objects: string, classes: Readonly<Record<string, string>>): string {
  const list = Object.entries(classes);
  const namespaces = list.map(([, name]) => `(className = "${name}", uniqueKey = "bench-${name}", enableSql = true)`);
  const bindings = list.map(([binding, name]) => `(name = "${binding}", durableObjectNamespace = "${name}")`);
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .worker),
    (name = "disk", disk = (path = "${objects}", writable = true)),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const worker :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  compatibilityDate = "${compatibilityDate()}",
  durableObjectNamespaces = [${namespaces.join(", ")}],
  durableObjectStorage = (localDisk = "disk"),
  bindings = [${bindings.join(", ")}],
);
`;
}
