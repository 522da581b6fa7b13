/**
 * The whole service joined to a GitHub of this machine: its API is the contract server, its git is git's own server
 * behind the tokens that the API gave out, and people do there what people do. What stands there is looked at from there.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseEnv } from "node:util";
import { connect } from "../../src/cli/client.ts";
import { safeGitEnv } from "../../src/dev/git.ts";
import { freePort } from "../../src/dev/worker.ts";
import { githubLinkView, installationView } from "../../src/domain/github/views.ts";
import { page, type TaskSummary, taskSummary } from "../../src/domain/view.ts";
import { GitServer } from "../setup/git-server.ts";
import type { Check, Comment } from "../setup/github/state.ts";
import { type GithubServer, startGithubServer } from "../setup/github-server.ts";
import { type ModelServer, startModelServer } from "../setup/model-server.ts";
import { keys, models, type Play } from "./minds.ts";
import { openRoad, type Road, until } from "./road.ts";

export const repo = "acme/pager";
/** The label that the default triggers wait for. */
export const label = "countersign";

export interface Asked {
  readonly number: number;
  readonly guid: string;
  readonly id: string;
}
export interface Shown {
  readonly comment: Comment;
  readonly check: Check;
}
export interface GithubRoad {
  readonly road: Road;
  readonly github: GithubServer;
  readonly git: GitServer;
  readonly models: ModelServer;
  /** Every token of an installation that was ever given out. */
  readonly tokens: readonly string[];
  /** The same, of those that were shown to git. */
  gitTokens(): string[];
  /** A file as it stands on a branch there. */
  file(branch: string, path: string): string;
  /** An issue, labelled by a maintainer; answered once its task is there. */
  ask(issue: { readonly by?: string; readonly title: string; readonly body?: string }): Promise<Asked>;
  taskNamed(title: string): Promise<TaskSummary>;
  /** What stands in the thread and on the commit, once it is as it should be. Never more than one of each. */
  shows(asked: Asked, what: string, as: (shown: Shown) => boolean): Promise<Shown>;
  /** Somebody presses a button of the check as it stands now; answers what the webhook was answered. */
  press(check: Check, label: string, by?: string): Promise<number>;
  /** How many comments, check runs and pull requests of ours there are for a task. */
  counts(asked: Asked): { comments: number; checks: number; pulls: number };
  close(): Promise<void>;
}

/** `play`: what every model says; `thinks`: proxy and executor ask one too, not the planner alone. */
export async function openGithubRoad(options: { play: Play; thinks?: boolean }): Promise<GithubRoad> {
  const github = await startGithubServer();
  const tokens = tokensOf(github);
  const root = mkdtempSync(join(tmpdir(), "countersign-journey-github-"));
  const git = await GitServer.open({
    root,
    allow: ({ repository, access, token }) => (github.gitAccess(token, repository, access) ? "ok" : "unauthorized"),
  });
  const server = await startModelServer();
  server.script(options.play);
  const port = await freePort(0);
  const env: Record<string, string> = {
    ...github.bindings(),
    ...{ GITHUB_URL: git.url, PUBLIC_URL: `http://127.0.0.1:${port}` },
    ...{ MODEL_PLANNER: models.planner, ANTHROPIC_API_KEY: keys.anthropic, ANTHROPIC_BASE_URL: server.anthropicUrl },
    ...(options.thinks === true
      ? {
          ...{ MODEL_PROXY: models.proxy, MODEL_EXECUTOR: models.executor },
          ...{ OPENAI_API_KEY: keys.openai, OPENAI_BASE_URL: server.url },
        }
      : {}),
  };
  const road = await openRoad({ env, args: ["--port", String(port)] });
  const bare = join(root, `${repo}.git`);
  mkdirSync(dirname(bare), { recursive: true });
  const onDisk = (...args: string[]) =>
    execFileSync("git", args, { env: safeGitEnv(), encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  onDisk("clone", "--quiet", "--bare", road.repo.folder, bare);
  github.owners.makeRepo({ full_name: repo, private: true, git: bare, people: { alice: "maintain", carol: "write" } });
  github.hooks.to(`${road.service.url}/webhooks/github`);
  return {
    ...{ road, github, git, models: server, tokens },
    gitTokens: () => {
      const shown = new Set(git.journal.map((entry) => entry.shown));
      return tokens.filter((token) => shown.has(createHash("sha256").update(token).digest("hex").slice(0, 12)));
    },
    file: (branch, path) => onDisk("--git-dir", bare, "show", `${branch}:${path}`),
    ...peopleOf(road, github),
    async close() {
      await road.close();
      await Promise.all([github.stop(), git.close(), server.stop()]);
      rmSync(root, { recursive: true, force: true });
    },
  };
}

/** The server forgets a token that is revoked. */
function tokensOf({ state }: GithubServer): string[] {
  const all: string[] = [];
  const make = state.makeToken.bind(state);
  state.makeToken = (token) => {
    const text = make(token);
    all.push(text);
    return text;
  };
  return all;
}

function peopleOf(road: Road, github: GithubServer) {
  const taskNamed = (title: string) =>
    until(`a task ${title}`, async () => {
      const { items } = await road.client.get("/api/tasks?limit=100", page(taskSummary));
      return items.find((task) => task.title === title) ?? null;
    });
  const checksOf = (id: string) => github.ownChecks(repo).filter(({ external_id }) => external_id === id);
  return {
    taskNamed,
    async ask({ by = "mallory", title, body = "It is broken." }: { by?: string; title: string; body?: string }) {
      const number = await github.people.openIssue({ repo, by, title, body });
      const { guid, status } = await github.people.label({ repo, number, by: "alice", name: label });
      if (status !== 202) throw new Error(`the webhook was answered ${status}`);
      return { number, guid, id: (await taskNamed(title)).id };
    },
    shows: ({ number, id }: Asked, what: string, as: (shown: Shown) => boolean) =>
      until(`GitHub to show ${what}`, async () => {
        const [comment, ...others] = github.ownComments(repo, number);
        const [check, ...more] = checksOf(id);
        if (others.length + more.length > 0) throw new Error("one of them stands there twice");
        return comment !== undefined && check !== undefined && as({ comment, check }) ? { comment, check } : null;
      }),
    async press(check: Check, name: string, by = "carol") {
      const button = check.actions.find((one) => one.label === name);
      if (button === undefined) throw new Error(`the check has no button ${name}`);
      const { identifier } = button;
      return (await github.people.clickAction({ repo, by, check: check.id, identifier })).status;
    },
    counts: ({ number, id }: Asked) => ({
      comments: github.ownComments(repo, number).length,
      checks: checksOf(id).length,
      pulls: github.ownPulls(repo).filter(({ head }) => head === `countersign/${id}`).length,
    }),
  };
}

/** The App is installed; the deployment's admin assigns the installation to the scope; its repository is linked. */
export async function install({ road, github }: GithubRoad): Promise<void> {
  const [installation] = github.state.installations.values();
  if (installation === undefined) throw new Error("nobody installed the App");
  const { id } = installation;
  const { status } = await github.owners.installed(id, "alice");
  if (status !== 202) throw new Error(`the webhook was answered ${status}`);
  const { service } = road;
  const { COUNTERSIGN_ADMIN_TOKEN: admin = "" } = parseEnv(readFileSync(join(service.state, "secrets.env"), "utf8"));
  await until("the installation to be assigned", () =>
    connect(service.url, admin).put(
      `/api/github/installations/${id}`,
      { scope_id: service.scope },
      installationView,
      {},
    ),
  );
  await until("the repository to be linked", async () => {
    const { items } = await road.client.get("/api/github/repositories", page(githubLinkView));
    return items.some(({ state }) => state === "linked") ? true : null;
  });
}
