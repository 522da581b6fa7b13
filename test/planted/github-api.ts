/** Small bugs in how GitHub's API is called: whose things are whose, what a token may, what is told of a failure. */
import type { Plant } from "./plants.ts";

const calls = { test: "test/agents/github-adapter.test.ts" } as const;
const settings = { test: "test/agents/github-config.test.ts" } as const;

export const githubApiPlants: readonly Plant[] = [
  {
    id: "github-token-of-all",
    file: "src/adapters/github-tokens.ts",
    find: "...(repo.id === null ? {} : { repository_ids: [repo.id] }),",
    replace: "",
    why: "each token opens every repository of the installation",
    subset: calls,
  },
  {
    id: "github-token-of-another",
    file: "src/adapters/github-tokens.ts",
    find: '    id ?? "all",\n',
    replace: "",
    why: "a token of one repository is used for another",
    subset: calls,
  },
  {
    id: "github-anybodys-marker",
    file: "src/adapters/github.ts",
    find: "data.find((one) => this.#wrote(one) && one.body?.includes(marker) === true)",
    replace: "data.find((one) => one.body?.includes(marker) === true)",
    why: "a stranger's comment with our marker is taken for ours",
    subset: calls,
  },
  {
    id: "github-forks-pull",
    file: "src/adapters/github.ts",
    find: "one.same_repository && one.head_branch === head_branch",
    replace: "one.head_branch === head_branch",
    why: "a fork's pull request is taken for ours",
    subset: calls,
  },
  {
    id: "github-first-page",
    file: "src/adapters/github.ts",
    find: 'throw tooMany("comments in the thread");',
    replace: "return null;",
    why: "a thread too long to be looked through gets a second comment",
    subset: calls,
  },
  {
    id: "github-follows-anywhere",
    file: "src/adapters/github-line.ts",
    find: "next === null || next.origin !== origin",
    replace: "next === null",
    why: "a redirect carries the token to another host",
    subset: calls,
  },
  {
    id: "github-role-by-name",
    file: "src/adapters/github-shapes.ts",
    find: 'if (permission === "write" && role_name === "maintain") return "maintain";',
    replace: 'if (role_name === "maintain") return "maintain";',
    why: "a role that an organization made up under a known name counts for more than it may",
    subset: calls,
  },
  {
    id: "github-open-line",
    file: "src/adapters/github-config.ts",
    find: "return loopback && localHost ? null",
    replace: "return loopback || localHost ? null",
    why: "tokens travel in the open to any address once the sandbox host is on this machine",
    subset: settings,
  },
];
