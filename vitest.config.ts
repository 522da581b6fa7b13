import { generateKeyPairSync, randomBytes } from "node:crypto";
import { pathToFileURL } from "node:url";
import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";

/** What a deployment keeps as secrets, made anew for each run. */
function secrets() {
  const pair = generateKeyPairSync("ed25519");
  const key = { private: pair.privateKey.export({ format: "jwk" }), public: pair.publicKey.export({ format: "jwk" }) };
  return {
    SIGNING_KEYS: JSON.stringify({ active: "test", keys: { test: key } }),
    SCOPE_MAC_KEY: randomBytes(32).toString("hex"),
    COUNTERSIGN_ADMIN_TOKEN: randomBytes(32).toString("base64url"),
  };
}

/**
 * `node` is pure and fast; `simulation` runs the objects over a simulated platform; `host` needs bubblewrap; `workerd`
 * runs the objects for real; `road` starts the whole service.
 */
export default defineConfig({
  test: {
    projects: [
      // Files share what they load: nothing there keeps anything from one test to the next, and loading was half the time.
      {
        test: {
          name: "node",
          include: ["test/{domain,agents,http,cli}/**/*.test.ts"],
          isolate: false,
          maxWorkers: 2,
          testTimeout: 20_000,
        },
      },
      {
        resolve: {
          alias: {
            "cloudflare:workers": new URL("./test/simulation/platform/cloudflare-workers.ts", import.meta.url).pathname,
          },
        },
        test: {
          name: "simulation",
          include: ["test/simulation/**/*.test.ts", "test/faults/**/*.test.ts"],
          maxWorkers: 2,
          testTimeout: 600_000,
        },
      },
      { test: { name: "host", include: ["test/host/**/*.test.ts"], testTimeout: 60_000, hookTimeout: 60_000 } },
      {
        plugins: [
          cloudflareTest(async ({ inject }) => ({
            wrangler: { configPath: "./wrangler.toml" },
            miniflare: {
              bindings: {
                ...secrets(),
                SANDBOX_URL: inject("hostUrl"),
                SANDBOX_SECRET: inject("hostSecret"),
                TEST_MODEL_URL: inject("modelUrl"),
                TEST_GITHUB: inject("github"),
                TEST_REPO: pathToFileURL(inject("hostRepo")).href,
                TEST_MIGRATIONS: await readD1Migrations("./migrations"),
                TEST_EVICTIONS: process.env.COUNTERSIGN_EVICTIONS ?? "80",
                TEST_SEED: process.env.COUNTERSIGN_SEED ?? "",
              },
            },
          })),
        ],
        test: {
          name: "workerd",
          include: ["test/objects/**/*.test.ts"],
          setupFiles: ["test/objects/setup.ts"],
          globalSetup: ["test/setup/host.ts", "test/setup/models.ts", "test/setup/github.ts"],
          testTimeout: 120_000,
          // Each scope is a test's own, so files may share one workerd, which takes seconds to start.
          isolate: false,
          maxWorkers: 1,
        },
      },
      {
        test: {
          name: "road",
          include: ["test/{journeys,web}/**/*.test.ts"],
          testTimeout: 240_000,
          hookTimeout: 120_000,
          // A journey waits more than it works: for alarms, polls and starts.
          maxWorkers: 3,
        },
      },
    ],
  },
});
