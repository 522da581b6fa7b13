/**
 * Tokens of the App's installations, each narrowed to one repository and to what a group of calls needs. They live in
 * memory alone, are not used in their last five minutes, and one that GitHub refuses is replaced once. [GHA-6] [GHA-7]
 */
import { createAppAuth } from "@octokit/auth-app";
import { z } from "zod";
import type { RepoRef } from "../agents/github-port.ts";
import { limits } from "../limits.ts";
import { Answered } from "./github-failures.ts";
import { appSigner } from "./github-key.ts";
import type { GithubLine, Signing } from "./github-line.ts";

/** As GitHub names them. */
export type TokenPermissions = Readonly<
  Partial<Record<"metadata" | "contents" | "issues" | "pull_requests" | "checks", "read" | "write">>
>;
export interface FreshToken {
  readonly token: string;
  readonly expires_at_ms: number;
}
/** For git: a token of its own for each operation, which revokes it at its end. */
export interface GithubTokens {
  /** Throws GithubFailure. */
  tokenFor(repo: RepoRef, permissions: TokenPermissions): Promise<FreshToken>;
  /** Never throws: what cannot be revoked ends by itself within the hour. */
  revoke(token: string): Promise<void>;
}
/** All repositories of an installation: to list them. */
type Held = Pick<RepoRef, "installation_id"> & { readonly id: number | null };

const made = z.object({ token: z.string().min(1).max(1_000), expires_at: z.string() });
export const nothing = z.unknown().transform(() => null);

export class InstallationTokens implements GithubTokens {
  /** Signs what the App itself asks. */
  readonly asApp: Signing;
  readonly #line: GithubLine;
  readonly #kept = new Map<string, FreshToken>();

  constructor(line: GithubLine, app_id: number, key: Uint8Array<ArrayBuffer>) {
    this.#line = line;
    const sign = appSigner(app_id, key, line.now_ms);
    // Only for what the App signs itself: its installation tokens are shared between all who ask at once, so that one
    // who revokes its own would take it from the others, and are waited for across requests, which workerd forbids.
    const auth = createAppAuth({
      appId: app_id,
      createJwt: (_id, off_s) => sign(off_s ?? 0),
      log: { warn: () => undefined },
    });
    this.asApp = (send, route, parameters) => auth.hook(send, route, parameters);
  }

  async tokenFor(repo: Held, permissions: TokenPermissions): Promise<FreshToken> {
    const { data } = await this.#line
      .call(
        "POST /app/installations/{installation_id}/access_tokens",
        {
          installation_id: repo.installation_id,
          permissions,
          ...(repo.id === null ? {} : { repository_ids: [repo.id] }),
        },
        made,
        this.asApp,
      )
      .catch((error: unknown) => {
        throw error instanceof Answered ? withheld(error) : error;
      });
    const expires_at_ms = Date.parse(data.expires_at);
    return { token: data.token, expires_at_ms: Number.isFinite(expires_at_ms) ? expires_at_ms : this.#line.now_ms() };
  }

  async revoke(token: string): Promise<void> {
    const bounds = { timeout_ms: limits.github_revoke_ms };
    await this.#line.call("DELETE /installation/token", {}, nothing, { token }, bounds).catch(() => undefined);
  }

  /** Runs the call with a token that may be one of before; one that GitHub no longer takes was refused before anything was done. */
  async with<T>(repo: Held, permissions: TokenPermissions, call: (token: string) => Promise<T>): Promise<T> {
    const key = keyOf(repo, permissions);
    const kept = this.#kept.get(key);
    const early_ms = this.#line.now_ms() + limits.github_token_early_ms;
    if (kept !== undefined && kept.expires_at_ms > early_ms) {
      try {
        return await call(kept.token);
      } catch (error) {
        if (!(error instanceof Answered) || error.status !== 401) throw error;
      }
    }
    this.#kept.delete(key);
    const fresh = await this.tokenFor(repo, permissions);
    this.#keep(key, fresh);
    try {
      return await call(fresh.token);
    } catch (error) {
      if (!(error instanceof Answered) || error.status !== 401) throw error;
      this.#kept.delete(key);
      // The App's own signature was good a moment ago: the new token is not known everywhere yet.
      throw new Answered("unavailable", "GitHub does not know the token yet that it just made, try again later.", 401);
    }
  }

  #keep(key: string, fresh: FreshToken): void {
    const oldest = this.#kept.keys().next();
    if (this.#kept.size >= limits.github_tokens_kept && oldest.done !== true) this.#kept.delete(oldest.value);
    this.#kept.set(key, fresh);
  }
}

function keyOf({ installation_id, id }: Held, permissions: TokenPermissions): string {
  return [
    installation_id,
    id ?? "all",
    ...Object.entries(permissions)
      .map((pair) => pair.join("="))
      .sort(),
  ].join(" ");
}

/** A token that is not given: the installation is gone (404), does not cover the repository, or never had the permission (422). */
function withheld(error: Answered): Answered {
  if (error.code === "not_found") return new Answered("suspended", `${gone} (404)`, error.status);
  if (error.status !== 422) return error;
  const code = /permission/i.test(error.message) ? "forbidden" : "suspended";
  const words = code === "forbidden" ? "The installation has not accepted a permission that the App needs" : gone;
  return new Answered(code, `${words}: ${error.message}`, error.status);
}
const gone = "The App's installation is suspended or removed, or no longer covers the repository";
