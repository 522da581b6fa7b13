/** Every file of tests begins with an empty D1 that has its tables. */
import { applyD1Migrations } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll } from "vitest";
import type { Bindings } from "../../src/env.ts";

declare global {
  namespace Cloudflare {
    interface Env extends Bindings {
      readonly TEST_MIGRATIONS: Parameters<typeof applyD1Migrations>[1];
      /** The sample repository of the sandbox host that runs beside the tests. */
      readonly TEST_REPO: string;
    }
  }
}

beforeAll(() => applyD1Migrations(env.DB, env.TEST_MIGRATIONS));
