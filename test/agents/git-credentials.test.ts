/** Who gets a credential for which address, and that it goes along with one request and no other. */
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { gitCredentials, repositoryAt } from "../../src/adapters/git-credentials.ts";
import type { TokenPermissions } from "../../src/adapters/github-tokens.ts";
import { HostSandboxes } from "../../src/adapters/host-sandboxes.ts";
import { GithubFailure, type RepoRef } from "../../src/agents/github-port.ts";
import { SandboxFailure } from "../../src/agents/ports.ts";
import { limits } from "../../src/limits.ts";

const base = "https://github.com";
const url = `${base}/acme/widgets`;
const repo: RepoRef = { id: 7, installation_id: 3, full_name: "acme/widgets" };
const token = "ghs_0123456789abcdef0123456789abcdef";

function broker(more: { linked?: RepoRef | null; fails?: Error; revoke?: () => Promise<void> } = {}) {
  const made: { repo: RepoRef; permissions: TokenPermissions }[] = [];
  const asked: [string, string][] = [];
  const revoked: string[] = [];
  const credentials = gitCredentials({
    base,
    linked: async (scope_id, address) => {
      asked.push([scope_id, address]);
      return scope_id === "home" ? (more.linked === undefined ? repo : more.linked) : null;
    },
    tokens: {
      tokenFor: async (to, permissions) => {
        if (more.fails !== undefined) throw more.fails;
        made.push({ repo: to, permissions });
        return { token, expires_at_ms: 0 };
      },
      revoke: async (given) => {
        revoked.push(given);
        await more.revoke?.();
      },
    },
  });
  return { credentials, made, asked, revoked };
}
/** A host that answers what the test says, and what it was asked. */
function host(credentials: ReturnType<typeof broker>["credentials"], answer: () => Response) {
  const asked: { method: string; body: Record<string, unknown> }[] = [];
  const sandboxes = new HostSandboxes({
    url: "http://127.0.0.1:1",
    secret: "s",
    credentials,
    fetch: async (input, init) => {
      asked.push({ method: String(input).split("/").at(-1) ?? "", body: JSON.parse(String(init?.body)) });
      return answer();
    },
  });
  return { sandboxes, asked };
}
const commit = "c".repeat(40);

describe("credentials for git", () => {
  it("[CRED-1] one is made for one call, for that repository and what the call does, and closed after it", async () => {
    const { credentials, made, revoked } = broker();
    const answers = [JSON.stringify({ commit, default_branch: "main" }), "null", "null", "null"];
    const { sandboxes, asked } = host(credentials, () => new Response(answers.shift()));
    const source = { scope_id: "home", url };
    await sandboxes.resolve(source, "HEAD");
    await sandboxes.checkout("box", source, commit);
    await sandboxes.publish({ source, branch: "countersign/t", commit, bundle: new Uint8Array() });
    expect(made).toEqual([
      { repo, permissions: { contents: "read" } },
      { repo, permissions: { contents: "read" } },
      { repo, permissions: { contents: "write" } },
    ]);
    expect(revoked).toEqual([token, token, token]);
    for (const { body } of asked)
      expect(body).toMatchObject({ source, credential: { username: "x-access-token", password: token } });
    await sandboxes.destroy("box");
    expect(JSON.stringify(asked.at(-1))).not.toContain(token);
  });

  it("[CRED-1] it is closed when the call fails, and the failure is the call's own", async () => {
    for (const answer of [
      () =>
        new Response(JSON.stringify({ code: "not_fast_forward", message: "moved", retryable: false }), { status: 409 }),
      () => {
        throw new Error("cut off");
      },
    ]) {
      const { credentials, revoked } = broker({ revoke: () => Promise.reject(new Error("GitHub is away")) });
      const { sandboxes } = host(credentials, answer);
      const pushing = sandboxes.publish({
        source: { scope_id: "home", url },
        branch: "countersign/t",
        commit,
        bundle: new Uint8Array(),
      });
      await expect(pushing).rejects.toThrow(SandboxFailure);
      await expect(pushing).rejects.not.toThrow("GitHub is away");
      expect(revoked).toEqual([token]);
    }
  });

  it("[CRED-2] only the scope that is linked gets one: the same address of another scope goes without", async () => {
    const { credentials, made, asked } = broker();
    const { sandboxes, asked: sent } = host(
      credentials,
      () => new Response(JSON.stringify({ commit, default_branch: "main" })),
    );
    await sandboxes.resolve({ scope_id: "elsewhere", url }, "HEAD");
    expect(asked).toEqual([["elsewhere", url]]);
    expect(made).toEqual([]);
    expect(sent[0]?.body).not.toHaveProperty("credential");
    expect(await broker({ linked: null }).credentials.open("home", url, "read")).toBeNull();
  });

  it("[CRED-1] a repository that was renamed is reached where it is now", async () => {
    const { credentials } = broker({ linked: { ...repo, full_name: "acme/gadgets" } });
    const { sandboxes, asked } = host(
      credentials,
      () => new Response(JSON.stringify({ commit, default_branch: "main" })),
    );
    await sandboxes.resolve({ scope_id: "home", url: `${url}.git` }, "HEAD");
    expect(asked[0]?.body).toMatchObject({ source: { scope_id: "home", url: `${base}/acme/gadgets` } });
    const same = broker({ linked: { ...repo, full_name: "Acme/Widgets" } });
    expect(await same.credentials.open("home", url, "read")).toMatchObject({ moved_to: null });
  });

  it("[CRED-4] why GitHub gave none is told in the port's words; nothing else is let through", async () => {
    const cases: [Error, boolean, string][] = [
      [new GithubFailure("suspended", "gone"), false, "ask the repository's owner"],
      [new GithubFailure("forbidden", "No permission"), false, "No permission"],
      [new GithubFailure("rate_limited", "later", 1_000), true, "later"],
      [new GithubFailure("unavailable", "away"), true, "away"],
      [new Error(`boom ${token}`), true, "could not be looked up (Error)"],
    ];
    for (const [fails, retryable, words] of cases) {
      const failed = await broker({ fails })
        .credentials.open("home", url, "write")
        .catch((error: unknown) => error);
      expect(failed).toBeInstanceOf(SandboxFailure);
      expect(failed).toMatchObject({ code: "repo_unreachable", retryable, message: expect.stringContaining(words) });
      expect(String(failed)).not.toContain(token);
    }
  });

  it("[CRED-4] closing takes no longer than its limit and fails nothing", async () => {
    vi.useFakeTimers();
    try {
      const { credentials } = broker({ revoke: () => new Promise(() => undefined) });
      const opened = await credentials.open("home", url, "read");
      let closed = false;
      void opened?.close().then(() => {
        closed = true;
      });
      await vi.advanceTimersByTimeAsync(limits.github_revoke_ms - 1);
      expect(closed).toBe(false);
      await vi.advanceTimersByTimeAsync(1);
      expect(closed).toBe(true);
    } finally {
      vi.useRealTimers();
    }
    const failing = await broker({ revoke: () => Promise.reject(new Error("no")) }).credentials.open(
      "home",
      url,
      "read",
    );
    await expect(failing?.close()).resolves.toBeUndefined();
  });

  it("[CRED-10] an address has one spelling here, and what is no repository below the base has none", async () => {
    for (const same of [url, `${url}.git`, `${url}/`, `${url}.git/`, "https://GitHub.com:443/acme/widgets"])
      expect(repositoryAt(base, same)).toBe(url);
    expect(repositoryAt("https://git.example/hub/", "https://git.example/hub/a/b.git")).toBe(
      "https://git.example/hub/a/b",
    );
    const none = [
      "https://github.com.evil.example/acme/widgets",
      "https://evil.example/github.com/acme/widgets",
      "http://github.com/acme/widgets",
      "https://github.com:8443/acme/widgets",
      "https://u@github.com/acme/widgets",
      "https://github.com/acme",
      "https://github.com/acme/widgets/tree",
      "https://github.com/acme/widgets?x=1",
      "https://github.com/acme/wid%2Fgets",
      "file:///acme/widgets",
      "/acme/widgets",
      "",
    ];
    for (const other of none) expect([other, repositoryAt(base, other)]).toEqual([other, null]);
    expect(repositoryAt("https://git.example/hub", "https://git.example/hubs/a/b")).toBeNull();
    const { credentials, asked } = broker();
    for (const other of none) expect(await credentials.open("home", other, "read")).toBeNull();
    expect(asked).toEqual([]);
  });

  it("[CRED-10] whatever is written, what is asked about lies below the base", () => {
    const part = fc.constantFrom(
      "a",
      "..",
      ".",
      ".git",
      "%2e%2e",
      "@",
      ":1",
      "//",
      "/",
      "?",
      "#",
      "github.com",
      "\\",
      " ",
    );
    const written = fc.array(part, { maxLength: 8 }).map((parts) => parts.join(""));
    const found = /^https:\/\/github\.com\/[A-Za-z0-9._-]+\/[A-Za-z0-9._-]+$/;
    fc.assert(
      fc.property(fc.constantFrom(`${base}/`, base, "https://", ""), written, (start, rest) => {
        expect(repositoryAt(base, start + rest) ?? `${base}/a/a`).toMatch(found);
      }),
    );
  });
});
