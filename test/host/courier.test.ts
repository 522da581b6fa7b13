/** The courier over the real adapter, against a GitHub that holds every call to GitHub's own description. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { githubFrom } from "../../src/adapters/github-world.ts";
import { courier } from "../../src/agents/courier.ts";
import { type GithubRepository, githubRequest, githubShown, type Happening } from "../../src/domain/github/shapes.ts";
import type { GithubStanding } from "../../src/domain/github/standing.ts";
import { syncOrder } from "../fakes/courier.ts";
import { doneStanding, standingOf, waitingStanding } from "../fakes/github.ts";
import { MemorySandboxes } from "../fakes/memory-sandboxes.ts";
import { testMessage } from "../fakes/messages.ts";
import { only, stamped } from "../fakes/orders.ts";
import { drive, runContext, tameWorld } from "../fakes/world.ts";
import type { FaultKind } from "../setup/github/faults.ts";
import { type GithubServer, startGithubServer } from "../setup/github-server.ts";

const name = () => `acme/courier${counter}`;
let counter = 0;
let server: GithubServer;
let repository: GithubRepository;
let number: number;

beforeAll(async () => {
  server = await startGithubServer();
});
afterAll(() => server.stop());
beforeEach(async () => {
  counter += 1;
  const branches = { main: "a".repeat(40), "countersign/tabcdefgh2345678": "c".repeat(40) };
  const made = server.owners.makeRepo({ full_name: name(), branches, people: { alice: "write", bob: "read" } });
  const installation_id = server.state.installationOf(made)?.id ?? 0;
  repository = { id: made.id, installation_id, full_name: name(), private: false, default_branch: "main" };
  number = await server.people.openIssue({ repo: name(), by: "bob", title: "Slow", body: "It is." });
});

async function sync(fields: Partial<GithubStanding>, shown: GithubStanding["shown"], dies: boolean) {
  const { github } = githubFrom(server.bindings(), true, { timeout_ms: 2_000 });
  const standing = standingOf({
    repository,
    thread: { kind: "issue", number },
    base_commit: "a".repeat(40),
    shown,
    ...fields,
  });
  const { ports } = tameWorld(new MemorySandboxes({}));
  const shows = { standing: async () => standing };
  const ended = await drive(courier, runContext(syncOrder()), { ...ports, github, shows }, { dies });
  return githubShown.parse(stamped(only(ended.out), "courier").payload);
}
const stands = () => [
  server.ownComments(name(), number).length,
  server.ownChecks(name()).length,
  server.ownPulls(name()).length,
];

describe("the courier and GitHub's own description", () => {
  it("[GHO-24] from the plan that waits to the pull request every call is right, and each thing stands once though the object dies after every call", async () => {
    const waiting = await sync(waitingStanding, null, true);
    expect(server.ownChecks(name())).toMatchObject([{ conclusion: "action_required" }]);
    const working = await sync({ phase: "coding" }, waiting, true);
    const done = await sync(doneStanding, working, true);
    expect([waiting.failed, working.failed, done.failed]).toEqual([null, null, null]);
    expect(stands()).toEqual([1, 1, 1]);
    expect(server.ownChecks(name())).toMatchObject([{ status: "completed", conclusion: "success" }]);
    expect(server.ownPulls(name())).toMatchObject([{ draft: true, title: "Make it faster" }]);
    expect(server.violations()).toEqual([]);
  });
  it.each(["comments", "check-runs", "pulls"])(
    "[GHO-24] an answer to what makes one of the %s that is cut off, a limit or a page of a proxy makes no second",
    async (what) => {
      const route = what === "comments" ? "issues/{issue_number}/comments" : what;
      const kinds: FaultKind[] = ["cut_after", "5xx_after", "secondary_limit", "5xx_before"];
      for (const kind of kinds) server.fault({ kind, only: `POST /repos/{owner}/{repo}/${route}` });
      expect((await sync(doneStanding, null, false)).failed).toBeNull();
      expect(stands()).toEqual([1, 1, 1]);
      server.clearFaults();
      expect(server.violations()).toEqual([]);
    },
  );
  it("[GHO-24] who may do it is asked as GitHub takes it", async () => {
    const { github } = githubFrom(server.bindings(), true, { timeout_ms: 2_000 });
    const person = (login: string) => ({ id: 1, login, is_bot: false });
    const happening: Happening = {
      ...{ kind: "wish", trigger: "label", by: person("alice"), labels: [], follows: null, comment_id: null },
      thread: { kind: "issue", number, title: "Slow", url: "https://github.com/x", head: null },
      texts: [{ by: person("bob"), text: "It is.", cut: false }],
    };
    const payload = JSON.parse(JSON.stringify({ delivery_id: "d-1", repository, happening }));
    const message = testMessage(1, { message_kind: "github_event", sender: "runtime", recipient: "courier", payload });
    const { ports } = tameWorld(new MemorySandboxes({}));
    const { out } = await drive(courier, runContext(message), { ...ports, github });
    expect(githubRequest.parse(stamped(only(out), "courier").payload).people).toEqual({ alice: "write", bob: "read" });
    expect(server.violations()).toEqual([]);
  });
});
