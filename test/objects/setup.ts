/**
 * Every file of tests begins with an empty D1 that has its tables, and without the objects of the files before it: the
 * alarms and messages of hundreds of scopes that nobody looks at any more took ten times the time of what is tested.
 */
import { applyD1Migrations, reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll } from "vitest";
import type { Bindings } from "../../src/env.ts";

declare global {
  namespace Cloudflare {
    interface Env extends Bindings {
      readonly TEST_MIGRATIONS: Parameters<typeof applyD1Migrations>[1];
      /** The sample repository of the sandbox host that runs beside the tests. */
      readonly TEST_REPO: string;
      /** A model server (test/setup/models.ts). */
      readonly TEST_MODEL_URL: string;
      readonly TEST_GITHUB: string;
    }
  }
}

beforeAll(async () => {
  await reset();
  await applyD1Migrations(env.DB, env.TEST_MIGRATIONS);
});
