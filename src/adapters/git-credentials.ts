/**
 * Credentials for git, one an operation: an installation token of the GitHub App for the one repository and for reading
 * or writing its contents, only where the scope that asks is linked to it. Never kept, never used twice, revoked when
 * the operation is over. Throws SandboxFailure and nothing else. [CRED-1] [CRED-2] [CRED-4]
 */
import { type GitCredentials, GithubFailure, type RepoRef } from "../agents/github-port.ts";
import { SandboxFailure } from "../agents/ports.ts";
import { limits } from "../limits.ts";
import type { GithubTokens } from "./github-tokens.ts";

export interface GitCredentialParts {
  /** GITHUB_URL: every address that can have a credential lies below it. */
  readonly base: string;
  readonly tokens: GithubTokens;
  /** The repository at the address, while the scope is linked to it; asked of that scope's own runtime. */
  linked(scope_id: string, url: string): Promise<RepoRef | null>;
}

// What GitHub takes for the name of whoever shows an installation token.
const username = "x-access-token";

export function gitCredentials({ base, tokens, linked }: GitCredentialParts): GitCredentials {
  return {
    async open(scope_id, url, access) {
      const address = repositoryAt(base, url);
      if (address === null) return null;
      try {
        const repo = await linked(scope_id, address);
        if (repo === null) return null;
        const { token: password } = await tokens.tokenFor(repo, { contents: access });
        const now = `${address.slice(0, -nameOf(address).length)}${repo.full_name}`;
        const moved_to = now.toLowerCase() === address.toLowerCase() ? null : now;
        return { username, password, moved_to, close: () => revoked(tokens, password) };
      } catch (error) {
        throw asSandboxFailure(url, error);
      }
    },
  };
}

/** `<base>/<owner>/<name>`, whichever of its spellings was given; null for an address that is no repository below the base. */
export function repositoryAt(base: string, url: string): string | null {
  if (!URL.canParse(url) || !URL.canParse(base)) return null;
  const [given, top] = [new URL(url), new URL(base)];
  const root = top.pathname.replace(/\/+$/, "");
  if (given.origin !== top.origin || given.username !== "" || given.password !== "") return null;
  if (given.search !== "" || given.hash !== "" || !given.pathname.startsWith(`${root}/`)) return null;
  const name = /^\/([A-Za-z0-9._-]+\/[A-Za-z0-9._-]+?)(?:\.git)?\/?$/.exec(given.pathname.slice(root.length))?.[1];
  return name === undefined ? null : `${top.origin}${root}/${name}`;
}

function nameOf(address: string): string {
  return address.split("/").slice(-2).join("/");
}

/** Best effort, and never for long: a token that could not be revoked runs out within the hour. */
async function revoked(tokens: GithubTokens, token: string): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limits.github_revoke_ms);
  });
  try {
    await Promise.race([tokens.revoke(token), late]);
  } catch {
    // The operation's own end counts, whatever became of this.
  } finally {
    clearTimeout(timer);
  }
}

/** A GithubFailure's words hold no token. Of anything else only its kind is told. */
function asSandboxFailure(url: string, error: unknown): SandboxFailure {
  if (error instanceof GithubFailure) {
    const what =
      error.code === "suspended"
        ? "the GitHub App's installation is suspended, removed, or no longer covers it: ask the repository's owner to restore it"
        : `GitHub gave no credential for it: ${error.message}`;
    return new SandboxFailure("repo_unreachable", `${url}: ${what}`, error.retryable);
  }
  const kind = error instanceof Error ? error.name : "error";
  return new SandboxFailure(
    "repo_unreachable",
    `${url}: its link to this scope could not be looked up (${kind})`,
    true,
  );
}
