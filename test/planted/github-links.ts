/** Bugs of how repositories come to scopes, of lost deliveries, of the App's doors and of how it is made. */
import type { Plant } from "./plants.ts";

const links = { test: "test/domain/github-installations.test.ts" } as const;
const rows = { test: "test/agents/github-rows.test.ts" } as const;
const doors = { test: "test/http/github-admin.test.ts" } as const;
const setup = { test: "test/cli/github-setup.test.ts" } as const;

export const githubLinkPlants: readonly Plant[] = [
  {
    id: "github-two-scopes",
    file: "src/domain/github/installations.ts",
    find: "if (told !== null && told.scope_id !== wanted)",
    replace: "if (told !== null && wanted === null)",
    why: "a repository that moves is linked to the next scope while the first one still has it",
    subset: links,
  },
  {
    id: "github-redelivers-all",
    file: "src/domain/github/redelivery.ts",
    find: "arrived.has(one.guid) ? []",
    replace: "one.ok ? []",
    why: "what came at the second try is asked for again",
    subset: links,
  },
  {
    id: "github-event-overtaken",
    file: "durable-objects/github/rows.ts",
    find: "const again = before.version === asked.version ? null : now;",
    replace: "const again = before.version >= asked.version ? null : now;",
    why: "what an event tells while GitHub is being asked is never looked at",
    subset: rows,
  },
  {
    id: "github-delivery-is-news",
    file: "durable-objects/github/rows.ts",
    find: "next_at = CASE WHEN tries > 0 THEN coalesce(next_at, ?2) ELSE ?2 END",
    replace: "next_at = ?2",
    why: "an installation that is too big is listed again with each delivery",
    subset: rows,
  },
  {
    id: "github-lost-each-time",
    file: "durable-objects/github/tries.ts",
    find: "this.#lost ??= lostOf(this.#known());",
    replace: "this.#lost = lostOf(this.#known());",
    why: "after an outage whoever asks how it stands keeps every delivery waiting",
    subset: { test: "test/agents/github-deliveries.test.ts" },
  },
  {
    id: "github-scope-invented",
    file: "src/http/github-admin.ts",
    find: "if (scope_id === null || (await ports.githubAdmin.scopeStands(scope_id))) return;",
    replace: 'if (scope_id === null || scope_id !== "") return;',
    why: "an installation is given to a scope that is not there, and its work waits for ever",
    subset: doors,
  },
  {
    id: "github-other-installation",
    file: "durable-objects/github/rows.ts",
    find: "row.repository.installation_id !== installation_id) return null;",
    replace: 'row.repository.full_name === "") return null;',
    why: "a repository is assigned by way of an installation that does not cover it",
    subset: rows,
  },
  {
    id: "github-any-state",
    file: "src/cli/github-page.ts",
    find: 'if (!sameText(query.get("state") ?? "", ask.state) ||',
    replace: 'if (!ask.state.startsWith(query.get("state") ?? "") ||',
    why: "a page of somebody else's brings the code of their own App",
    subset: setup,
  },
  {
    id: "github-secrets-shared",
    file: "src/cli/github-secrets.ts",
    find: 'writeFileSync(draft, text, { flag: "wx", mode: 0o600 });',
    replace: 'writeFileSync(draft, text, { flag: "wx" });',
    why: "the App's private key can be read by everybody on the machine",
    subset: setup,
  },
  {
    id: "github-half-and-half",
    file: "src/dev/github.ts",
    find: "const app = named.some((name) => env[name]) ? env : stored;",
    replace: "const app = { ...stored, ...env };",
    why: "one App's number goes with another's key",
    subset: { test: "test/cli/github-start.test.ts" },
  },
];
