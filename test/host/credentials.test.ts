/** Clones and pushes over HTTP with credentials that live for one call, and everywhere those must never be. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { gitCredentials } from "../../src/adapters/git-credentials.ts";
import { githubFrom } from "../../src/adapters/github-world.ts";
import { HostSandboxes } from "../../src/adapters/host-sandboxes.ts";
import { failure } from "../contract/programs.ts";
import { type GitRequest, GitServer, type Verdict } from "../setup/git-server.ts";
import { startGithubServer } from "../setup/github-server.ts";
import { git } from "../setup/host.ts";
import { failureOf, LentWorld } from "./lent-world.ts";
import { eventually, sourceOf } from "./world.ts";

/** Who may reach the repository that a GitHub App lends the credentials for. */
let byApp = (_asked: GitRequest): Verdict => "hidden";
let lent: LentWorld;
beforeAll(async () => {
  lent = await LentWorld.open((asked) => (asked.repository === "acme/by-app" ? byApp(asked) : null));
});
afterAll(() => lent?.close());
afterEach(() => lent.calm());

/** Finds anything that looks like a credential, and not the process that looks. */
const search = `set +e; pattern='gh[s]_[0-9a-f]|eC1hY2Nlc3MtdG9rZW4[6]'
for file in /proc/[0-9]*/environ /proc/[0-9]*/cmdline; do tr '\\0' '\\n' < $file 2>/dev/null | grep -aE "$pattern" && echo "in $file"; done
grep -raElE "$pattern" /workspace /home /tmp /etc /run 2>/dev/null
echo processes: $(ls /proc | grep -c '^[0-9]')`;

describe("git over HTTP with credentials that live for one call", () => {
  it("[CRED-1] cloned, worked on and pushed: each call shows one of its own, and it is dead afterwards", async () => {
    const [from, before] = [lent.server.journal.length, lent.lender.lent.size];
    expect(await lent.sandboxes.resolve(lent.widgets, "HEAD")).toEqual({
      commit: lent.world.main,
      default_branch: "main",
    });
    const made = await lent.work("first");
    await lent.sandboxes.publish(made);
    expect(lent.tip("countersign/first")).toBe(made.commit);
    await lent.sandboxes.publish(made);
    const accesses = [...lent.lender.lent.values()].slice(before).map(({ access }) => access);
    expect(accesses).toEqual(["read", "read", "write", "write"]);
    expect(lent.shownSince(from)).not.toContain(false);
    expect(new Set(lent.server.journal.slice(from).map(({ shown }) => shown)).size).toBe(4);
    expect(lent.server.journal.slice(from).every(({ user }) => user === "x-access-token")).toBe(true);
    lent.expectNothingLeft();
  });

  it("[CRED-1] with the tokens of a GitHub App: cloned and pushed, and each token revoked", async () => {
    const github = await startGithubServer();
    const name = "acme/by-app";
    const bare = lent.bare(name);
    const installation = github.owners.install("acme");
    const { id } = github.owners.makeRepo({ full_name: name, git: bare, installation: installation.id });
    byApp = ({ access, token }) => (github.gitAccess(token, name, access) ? "ok" : "unauthorized");
    const { githubTokens: tokens } = githubFrom(github.bindings(), true);
    if (tokens === null) throw new Error("the App is not configured");
    const repo = { id, installation_id: installation.id, full_name: name };
    const credentials = gitCredentials({ base: lent.server.url, tokens, linked: async () => repo });
    const through = new HostSandboxes({ ...lent.world.host, credentials });
    const source = sourceOf(`${lent.server.url}/${name}`);
    const from = lent.server.journal.length;
    expect((await through.resolve(source, "main")).commit).toBe(lent.world.main);
    const box = await lent.world.empty();
    await through.checkout(box, source, lent.world.main);
    const made = await lent.work("by-app");
    await through.publish({ ...made, source });
    expect(git(bare, "rev-parse", "countersign/by-app")).toBe(made.commit);
    const used = lent.server.journal.slice(from).filter((entry) => entry.repository === name);
    expect(new Set(used.map(({ shown }) => shown)).size).toBe(3);
    expect(used.every(({ status }) => status === 200)).toBe(true);
    const calls = github.journal().map(({ method, path }) => `${method} ${path}`);
    expect(calls.filter((call) => call.endsWith("/access_tokens")).length).toBe(3);
    expect(calls.filter((call) => call === "DELETE /installation/token").length).toBe(3);
    expect(github.violations()).toEqual([]);
    await github.owners.suspend(installation.id, "owner");
    const refused = await failureOf(through.resolve(source, "main"));
    expect(refused).toMatchObject({ code: "repo_unreachable", retryable: false });
    expect(refused.message).toContain("ask the repository's owner");
    await github.stop();
  });

  it("[CRED-2] a scope that is not linked never gets it, even for the same address", async () => {
    const [from, before] = [lent.server.journal.length, lent.lender.lent.size];
    const stranger = { ...lent.widgets, scope_id: "stranger" };
    const refused = await failureOf(lent.sandboxes.resolve(stranger, "HEAD"));
    expect(refused).toMatchObject({ code: "repo_unreachable", retryable: false });
    expect(refused.message).toContain("link it to this scope");
    const foreign = await lent.world.empty({ scope_id: "stranger" });
    expect(await failure(lent.sandboxes.checkout(foreign, stranger, lent.world.main))).toBe("repo_unreachable");
    // Nor by way of a sandbox of its own and the other's name.
    expect(await failure(lent.sandboxes.checkout(foreign, lent.widgets, lent.world.main))).toBe("bad_request");
    expect(lent.shownSince(from)).not.toContain(true);
    expect([...lent.lender.lent.values()].slice(before).map(({ access }) => access)).toEqual(["read"]);
    expect(await lent.sandboxes.list(foreign, ".")).toEqual([]);
    lent.expectNothingLeft();
  });

  it("[CRED-5] while git runs with it, nothing of it is inside a sandbox", async () => {
    const id = await lent.fresh();
    lent.server.slow = { what: "look", at: "before", ms: 4_000 };
    const going = lent.sandboxes.resolve(lent.widgets, "HEAD");
    expect(await eventually(() => lent.server.waiting > 0)).toBe(true);
    // It is where it belongs: in the environment of the host's own git.
    expect(lent.lender.processesWith("environ").length).toBeGreaterThan(0);
    expect(lent.lender.processesWith("cmdline")).toEqual([]);
    const { output } = await lent.world.run(id, search);
    expect(output).toMatch(/^processes: \d+\n$/);
    expect(Number(/\d+/.exec(output)?.[0])).toBeLessThan(10);
    expect((await lent.world.run(id, "cat .git/config; env")).output).not.toContain("Authorization");
    await going;
    expect(lent.lender.processesWith("environ")).toEqual([]);
    lent.expectNothingLeft();
  });

  it("[CRED-6] one that is refused is told with what to do, and without itself", async () => {
    const made = await lent.work("refused");
    // Some servers repeat what they were sent.
    lent.server.saying = (header) => `you sent ${header}, that is ${[...lent.lender.lent.keys()].at(-1)}\n`;
    lent.lender.broken = true;
    const dead = await failureOf(lent.sandboxes.resolve(lent.widgets, "HEAD"));
    expect(dead).toMatchObject({ code: "repo_unreachable", retryable: true });
    expect(dead.message).toContain("the next try brings a fresh one");
    const id = await lent.world.empty();
    expect((await failureOf(lent.sandboxes.checkout(id, lent.widgets, "1".repeat(40)))).code).toBe("repo_unreachable");
    lent.lender.broken = false;
    lent.lender.readOnly = true;
    const narrow = await failureOf(lent.sandboxes.publish(made));
    expect(narrow).toMatchObject({ code: "repo_unreachable", retryable: false });
    expect(narrow.message).toContain("Contents to read and write");
    expect(narrow.message).toContain("you sent Basic ***, that is ***");
    for (const { message } of [dead, narrow]) expect(lent.lender.in(message)).toBe(false);
    lent.lender.readOnly = false;
    await lent.sandboxes.publish(made);
    expect(lent.tip("countersign/refused")).toBe(made.commit);
    lent.expectNothingLeft();
  });

  it("[CRED-7] a server that sends git on to another never shows it the credential", async () => {
    const elsewhere = await GitServer.open({ root: lent.root, allow: () => "ok" });
    const made = await lent.work("sent-on");
    lent.server.redirect = elsewhere.url;
    const refused = await failureOf(lent.sandboxes.resolve(lent.widgets, "HEAD"));
    expect(refused).toMatchObject({ code: "repo_unreachable" });
    expect(refused.message).toContain("register its new address");
    expect(await failure(lent.sandboxes.publish(made))).toBe("repo_unreachable");
    expect(elsewhere.journal).toEqual([]);
    await elsewhere.close();
  });

  it("[CRED-8] what needs none gets none", async () => {
    const [from, before] = [lent.server.journal.length, lent.lender.lent.size];
    const open = sourceOf(`${lent.server.url}/acme/open`);
    expect((await lent.sandboxes.resolve(open, "main")).commit).toBe(lent.world.main);
    await lent.fresh(open);
    await lent.fresh(sourceOf(lent.world.source));
    expect(lent.shownSince(from).length).toBeGreaterThan(0);
    expect(lent.shownSince(from)).not.toContain(true);
    expect(lent.lender.lent.size).toBe(before);
    const credential = { username: "u", password: "p".repeat(20) };
    const body = JSON.stringify({ source: sourceOf(lent.world.source), ref: "HEAD", credential });
    const headers = { authorization: `Bearer ${lent.world.host.secret}` };
    const answer = await fetch(`${lent.world.host.url}/v1/resolve`, { method: "POST", headers, body });
    expect(await answer.json()).toMatchObject({ code: "repo_not_allowed" });
  });

  it("[CRED-3] a credential that would break out of its header is refused, and not repeated", async () => {
    const bad = [
      { username: "u", password: "secret-of-mine\r\nX-More: 1" },
      { username: "u:v", password: "secret-of-mine" },
      { username: "u\nv", password: "secret-of-mine" },
    ];
    for (const credential of bad) {
      const body = JSON.stringify({ source: lent.widgets, ref: "HEAD", credential });
      const headers = { authorization: `Bearer ${lent.world.host.secret}` };
      const answer = await fetch(`${lent.world.host.url}/v1/resolve`, { method: "POST", headers, body });
      const said = await answer.text();
      expect(JSON.parse(said)).toMatchObject({ code: "bad_request" });
      expect(said).not.toContain("secret-of-mine");
    }
  });
});
