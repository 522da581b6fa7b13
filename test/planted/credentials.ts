/** Small bugs in who gets git's short-lived credentials, for which address, and for how long. */
import type { Plant } from "./plants.ts";

const broker = { test: "test/agents/git-credentials.test.ts" } as const;
const addresses = { test: "test/http/repo.test.ts" } as const;

export const credentialPlants: readonly Plant[] = [
  {
    id: "credentials-always-write",
    file: "src/adapters/git-credentials.ts",
    find: "{ contents: access }",
    replace: '{ contents: access === "read" ? "write" : access }',
    why: "a clone gets a credential that could push",
    subset: broker,
  },
  {
    id: "credentials-left-open",
    file: "src/adapters/host-sandboxes.ts",
    find: "    } finally {\n      await opened.close();\n    }",
    replace: "    } catch (error) {\n      await opened.close();\n      throw error;\n    }",
    why: "a credential is closed only when its call failed",
    subset: broker,
  },
  {
    id: "credentials-any-port",
    file: "src/adapters/git-credentials.ts",
    find: "given.origin !== top.origin",
    replace: "given.hostname !== top.hostname",
    why: "another port of the same machine, or plain http, is taken for GitHub",
    subset: broker,
  },
  {
    id: "credentials-told",
    file: "src/adapters/git-credentials.ts",
    find: "error instanceof Error ? error.name :",
    replace: "error instanceof Error ? error.message :",
    why: "what an unknown failure says is passed on, whatever it holds",
    subset: broker,
  },
  {
    id: "credentials-old-address",
    file: "src/adapters/host-sandboxes.ts",
    find: "url: moved_to ?? url",
    replace: "url",
    why: "a renamed repository is looked for where it was",
    subset: broker,
  },
  {
    id: "credentials-origin-by-host",
    file: "src/domain/repo.ts",
    find: "url.origin === gitOrigin",
    replace: "gitOrigin.endsWith(url.host)",
    why: "https on a loopback address gets in by the name of the http origin",
    subset: addresses,
  },
  {
    id: "credentials-origin-anywhere",
    file: "src/domain/repo.ts",
    find: "if (!localHost || githubUrl === undefined ||",
    replace: "if (githubUrl === undefined ||",
    why: "a deployment whose sandboxes stand elsewhere lets a loopback address in",
    subset: addresses,
  },
];
