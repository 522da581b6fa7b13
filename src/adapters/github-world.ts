/** Everything of GitHub that a deployment's bindings give, or ports of which every call says what to configure. [GHA-1] */
import { type Github, type GithubApp, GithubFailure } from "../agents/github-port.ts";
import { HttpGithub } from "./github.ts";
import { HttpGithubApp } from "./github-app.ts";
import { type GithubBindings, type GithubConfig, type Lack, readGithubConfig } from "./github-config.ts";
import { GithubLine, type LineSpec } from "./github-line.ts";
import { type GithubTokens, InstallationTokens } from "./github-tokens.ts";

export interface GithubWorld {
  readonly github: Github;
  readonly githubApp: GithubApp;
  readonly githubTokens: GithubTokens | null;
  readonly githubConfig: GithubConfig | null;
  readonly missing: readonly Lack[];
}

/** `line` takes the place of what the platform gives, in tests. */
export function githubFrom(
  bindings: GithubBindings,
  localHost: boolean,
  line: Omit<LineSpec, "api_url"> = {},
): GithubWorld {
  const { config, key, missing } = readGithubConfig(bindings, localHost);
  if (config === null || key === null)
    return { github: absentGithub(), githubApp: absentGithubApp(), githubTokens: null, githubConfig: null, missing };
  const calls = new GithubLine({ ...line, api_url: config.api_url });
  const tokens = new InstallationTokens(calls, config.app_id, key);
  return {
    github: new HttpGithub(config, calls, tokens),
    githubApp: new HttpGithubApp(calls, tokens),
    githubTokens: tokens,
    githubConfig: config,
    missing,
  };
}

const refuse = () =>
  Promise.reject(
    new GithubFailure("not_configured", "This deployment has no GitHub App: run `countersign github setup`."),
  );

export function absentGithub(): Github {
  return {
    permission: refuse,
    head: refuse,
    pull: refuse,
    findComment: refuse,
    createComment: refuse,
    updateComment: refuse,
    findCheck: refuse,
    createCheck: refuse,
    updateCheck: refuse,
    findPull: refuse,
    createPull: refuse,
    updatePull: refuse,
  };
}

export function absentGithubApp(): GithubApp {
  return { owner: refuse, installation: refuse, repositories: refuse, deliveries: refuse, redeliver: refuse };
}
