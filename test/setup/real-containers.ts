/**
 * The platform's own containers on this machine: workerd with Docker behind it. COUNTERSIGN_DOCKER is Docker's socket,
 * such as unix:///var/run/docker.sock. The image `countersign-sandbox:local` has to be there (`docker build -t
 * countersign-sandbox:local .`), and the outbound proxy that the installed version of Miniflare names, or the one of
 * MINIFLARE_CONTAINER_EGRESS_IMAGE. Containers must be allowed to make name spaces.
 */
import { join } from "node:path";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { build } from "vite";
import { HostSandboxes } from "../../src/adapters/host-sandboxes.ts";
import type { GitCredentials } from "../../src/agents/github-port.ts";

export const docker = process.env.COUNTERSIGN_DOCKER;

export interface RealContainers {
  sandboxes(credentials?: GitCredentials): HostSandboxes;
  close(): Promise<void>;
}

export async function realContainers(socketPath: string, gitOrigin: string): Promise<RealContainers> {
  const image = process.env.MINIFLARE_CONTAINER_EGRESS_IMAGE;
  const container = { images: [{ name: "sandbox", image: "countersign-sandbox:local" }] };
  const runtime = new Miniflare(
    convertV4MiniflareOptions({
      name: "countersign-containers",
      modules: true,
      script: await bundled(),
      compatibilityDate: "2026-10-20",
      compatibilityFlags: ["nodejs_compat"],
      bindings: { TEST_GIT_ORIGIN: gitOrigin },
      durableObjects: {
        POOL: { className: "PoolObject", useSQLite: true },
        SANDBOXES: { className: "SandboxObject", useSQLite: true, container },
      },
      containerEngine: {
        localDocker: { socketPath, ...(image === undefined ? {} : { containerEgressInterceptorImage: image }) },
      },
    }),
  );
  const url = String(await runtime.ready);
  return {
    sandboxes: (credentials) =>
      new HostSandboxes({
        url,
        secret: "",
        fetch: (to, init, { id, source }) => {
          const headers = new Headers(init.headers);
          headers.set("x-about", JSON.stringify({ id, source }));
          return fetch(to, { ...init, headers });
        },
        ...(credentials === undefined ? {} : { credentials }),
      }),
    close: () => runtime.dispose(),
  };
}

/** The Worker of these tests as one module. */
async function bundled(): Promise<string> {
  const built = await build({
    configFile: false,
    logLevel: "error",
    ssr: { target: "webworker", noExternal: true, resolve: { conditions: ["workerd", "worker", "import"] } },
    build: {
      ssr: join(import.meta.dirname, "../contract/container-worker.ts"),
      write: false,
      minify: false,
      rolldownOptions: { external: [/^cloudflare:/, /^node:/], output: { codeSplitting: false } },
    },
  });
  const [output] = "output" in built ? built.output : [];
  if (output?.type !== "chunk") throw new Error("the Worker was not bundled");
  return output.code;
}
