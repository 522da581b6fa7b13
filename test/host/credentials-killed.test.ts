/** What a host that is killed while git holds a credential leaves behind, and the one origin git may reach without TLS. */
import { createHash } from "node:crypto";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { readConfig } from "../../src/host/config.ts";
import { failure } from "../contract/programs.ts";
import { GitServer } from "../setup/git-server.ts";
import { commitFiles, git } from "../setup/host.ts";
import { LentWorld, repository } from "./lent-world.ts";
import { eventually, sourceOf } from "./world.ts";

let lent: LentWorld;
beforeAll(async () => {
  lent = await LentWorld.open();
});
afterAll(() => lent?.close());
afterEach(() => lent.calm());

describe("a host that is killed", () => {
  /** SIGKILL to the host alone, as the kernel would. */
  async function killed(going: Promise<unknown>): Promise<void> {
    expect(await eventually(() => lent.server.waiting > 0)).toBe(true);
    expect(lent.lender.processesWith("environ").length).toBeGreaterThan(0);
    process.kill(lent.world.host.pid, "SIGKILL");
    expect(await failure(going)).toBe("unreachable");
    expect(await eventually(() => lent.lender.processesWith("environ").length === 0)).toBe(true);
    lent.server.slow = null;
    await lent.restart();
  }

  it("[CRED-9] in the middle of a fetch: nothing holds the credential, and the same call succeeds", async () => {
    for (const at of ["before", "half"] as const) {
      const id = await lent.world.empty({ scope_id: at });
      // A scope of its own, so that its mirror is not there yet.
      const source = { ...lent.widgets, scope_id: at };
      lent.server.slow = { what: "fetch", at, ms: 20_000 };
      await killed(lent.linkedToAll().checkout(id, source, lent.world.main));
      lent.expectNothingLeft();
      await lent.linkedToAll().checkout(id, source, lent.world.main);
      expect((await lent.sandboxes.list(id, ".")).map(({ name }) => name)).toContain("a.txt");
    }
    lent.expectNothingLeft();
  });

  it("[CRED-9] in the middle of a push: nothing holds the credential, and the same call succeeds", async () => {
    for (const at of ["before", "half"] as const) {
      const made = await lent.work(`killed-${at}`);
      lent.server.slow = { what: "push", at, ms: 20_000 };
      await killed(lent.sandboxes.publish(made));
      lent.expectNothingLeft();
      // In the second case it had been taken when the answer was lost.
      expect(lent.tip(made.branch)).toBe(at === "half" ? made.commit : null);
      await lent.sandboxes.publish(made);
      expect(lent.tip(made.branch)).toBe(made.commit);
    }
    lent.expectNothingLeft();
  });

  it("[CRED-12] what a killed fetch left in a mirror stops no later one", async () => {
    await lent.fresh();
    const name = createHash("sha256").update(lent.widgets.url).digest("hex").slice(0, 24);
    const mirror = join(lent.world.folder.state, "mirrors", lent.widgets.scope_id, name);
    for (const left of ["packed-refs.lock", "refs/heads/main.lock", "objects/pack/tmp_pack_left"])
      writeFileSync(join(mirror, left), "");
    const clone = join(lent.world.folder.repos, "later");
    git(lent.world.folder.repos, "clone", "--quiet", join(lent.root, `${repository}.git`), clone);
    const commit = commitFiles(clone, { "later.txt": "later\n" });
    git(clone, "push", "--quiet", "origin", "HEAD:main");
    const id = await lent.world.empty();
    await lent.sandboxes.checkout(id, lent.widgets, commit);
    expect((await lent.sandboxes.list(id, ".")).map(({ name }) => name)).toContain("later.txt");
    const left = readdirSync(mirror, { recursive: true, encoding: "utf8" });
    expect(left.filter((path) => /\.lock$|tmp_pack_left$/.test(path))).toEqual([]);
  });
});

describe("the one origin without TLS", () => {
  it("[CRED-11] beside https exactly the one that the host's settings name, in one spelling", async () => {
    expect((await lent.sandboxes.resolve(lent.widgets, "HEAD")).default_branch).toBe("main");
    const { port } = new URL(lent.server.url);
    const other = await GitServer.open({ root: lent.root, allow: () => "ok" });
    const bad = [
      `${other.url}/acme/open`,
      `http://localhost:${port}/acme/open`,
      `http://127.0.0.2:${port}/acme/open`,
      `http://[::1]:${port}/acme/open`,
      `https://127.0.0.1:${port}/acme/open`,
      `http://u:p@127.0.0.1:${port}/acme/open`,
      `http://u@127.0.0.1:${port}/acme/open`,
      "http://169.254.169.254/acme/open",
      "http://10.0.0.1/acme/open",
      "http://example.com/acme/open",
      `ftp://127.0.0.1:${port}/acme/open`,
    ];
    for (const url of bad)
      expect([url, await failure(lent.sandboxes.resolve(sourceOf(url), "HEAD"))]).toEqual([url, "repo_not_allowed"]);
    expect(other.journal).toEqual([]);
    await other.close();
  });

  it("[CRED-11] only an http address of this machine can be named", () => {
    const env = { SANDBOX_SECRET: "0".repeat(64), SANDBOX_ROOT: "/nowhere" };
    expect(readConfig(env).git_origin).toBeNull();
    expect(readConfig({ ...env, GIT_ORIGIN: "http://127.0.0.1:3000/" }).git_origin).toBe("http://127.0.0.1:3000");
    for (const GIT_ORIGIN of [
      "https://127.0.0.1:3000",
      "http://10.0.0.1",
      "http://git.example",
      "http://u:p@127.0.0.1",
      "x",
    ])
      expect(() => readConfig({ ...env, GIT_ORIGIN })).toThrow("GIT_ORIGIN");
  });
});
