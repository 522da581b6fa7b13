import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";

/** `node` is pure and fast; `host` needs bubblewrap; `workerd` runs the objects; `road` starts the whole service. */
export default defineConfig({
  test: {
    projects: [
      { test: { name: "node", include: ["test/{domain,agents,http,cli}/**/*.test.ts"] } },
      { test: { name: "host", include: ["test/host/**/*.test.ts"], testTimeout: 60_000, hookTimeout: 60_000 } },
      {
        plugins: [
          cloudflareTest(async () => ({
            wrangler: { configPath: "./wrangler.toml" },
            miniflare: { bindings: { TEST_MIGRATIONS: await readD1Migrations("./migrations") } },
          })),
        ],
        test: {
          name: "workerd",
          include: ["test/objects/**/*.test.ts"],
          setupFiles: ["test/objects/setup.ts"],
          globalSetup: ["test/setup/host.ts"],
          testTimeout: 60_000,
        },
      },
      {
        test: {
          name: "road",
          include: ["test/{journeys,web}/**/*.test.ts"],
          testTimeout: 240_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
