/** The contract of sandboxes and git's credentials over the platform's own containers, where this machine has Docker. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { gitCredentials } from "../../src/adapters/git-credentials.ts";
import { finish, shell, spec, utf8 } from "../contract/programs.ts";
import { sandboxContract } from "../contract/sandboxes.ts";
import { GitServer, type GitServerParts } from "../setup/git-server.ts";
import { git, makeSample } from "../setup/host.ts";
import { docker, realContainers } from "../setup/real-containers.ts";
import { registryUrl } from "../setup/registry.ts";
import { Lender } from "./lender.ts";
import { failureOf } from "./lent-world.ts";
import { eventually } from "./world.ts";

const registry = docker === undefined ? null : await registryUrl();
const why = "needs COUNTERSIGN_DOCKER: see test/setup/real-containers.ts";

async function open(socket: string, allow: GitServerParts["allow"]) {
  const root = mkdtempSync(join(tmpdir(), "countersign-containers-"));
  const { main, other } = makeSample(join(root, "sample"));
  const bare = join(root, "acme", "widgets.git");
  mkdirSync(join(root, "acme"));
  git(root, "clone", "--quiet", "--bare", join(root, "sample"), bare);
  const server = await GitServer.open({ root, allow });
  const containers = await realContainers(socket, server.url);
  const tip = async (branch: string) =>
    git(bare, "for-each-ref", "--format=%(objectname)", `refs/heads/${branch}`) || null;
  const close = async () => {
    await containers.close();
    await server.close();
    rmSync(root, { recursive: true, force: true });
  };
  return { server, containers, source: `${server.url}/acme/widgets`, main, other, tip, close };
}

if (docker !== undefined) {
  const socket = docker;
  // A start takes seconds, and the clauses begin several at once.
  vi.setConfig({ testTimeout: 300_000 });
  sandboxContract("the platform's containers", async () => {
    const made = await open(socket, ({ repository }) => (repository === "acme/widgets" ? "ok" : "hidden"));
    return { ...made, sandboxes: made.containers.sandboxes() };
  }, []);
}

describe(`the platform's containers (${why})`, () => {
  it.skipIf(docker === undefined)(
    "[CON-14] clone and push with credentials that no container holds, and are gone when they end",
    async () => {
      const lender = new Lender();
      const { server, containers, source: url, main, tip, close } = await open(docker ?? "", lender.allow);
      const repo = { id: 1, installation_id: 2, full_name: "acme/widgets" };
      const linked = async (scope: string) => (scope === "contract" ? repo : null);
      const s = containers.sandboxes(gitCredentials({ base: server.url, tokens: lender, linked }));
      const source = { scope_id: "contract", url };
      expect(await s.resolve(source, "HEAD")).toEqual({ commit: main, default_branch: "main" });
      await s.create("one", spec("one"));
      await s.checkout("one", source, main);
      await s.write("one", "new.txt", utf8.encode("new\n"));
      const { patch } = await s.snapshot("one");
      const built = await s.merge("one", { baseline: main, parent: main, patch, message: "m", at_s: 7 });
      if (!built.ok) throw new Error("it does not merge");
      await s.publish({ source, branch: "countersign/one", commit: built.commit, bundle: built.bundle });
      expect(await tip("countersign/one")).toBe(built.commit);
      expect([...lender.lent.values()].map(({ access }) => access)).toEqual(["read", "read", "write"]);
      expect(server.journal.every(({ user, status }) => user === "x-access-token" && status === 200)).toBe(true);

      server.slow = { what: "look", at: "before", ms: 4_000 };
      const going = s.resolve(source, "HEAD");
      expect(await eventually(() => server.waiting > 0)).toBe(true);
      for (const what of ["cmdline", "environ"] as const) expect(lender.processesWith(what)).toEqual([]);
      const script = "set +e; env; cat .git/config; git ls-remote http://git.countersign.internal/ 2>&1";
      await s.exec("one", "look", { argv: shell(script), timeout_ms: 30_000 });
      const { output } = await finish(s, "one", "look");
      expect(output).toContain("Could not resolve host");
      expect(lender.in(output)).toBe(false);
      await going;
      server.slow = null;

      const elsewhere = await GitServer.open({ root: tmpdir(), allow: () => "ok" });
      server.redirect = elsewhere.url;
      expect((await failureOf(s.resolve(source, "HEAD"))).message).toContain("register its new address");
      expect(elsewhere.journal).toEqual([]);
      await elsewhere.close();
      expect([...lender.lent.values()].filter(({ alive }) => alive)).toEqual([]);
      await s.destroy("one");
      expect(await s.sandboxes()).toEqual([]);
      await close();
    },
    300_000,
  );

  it.skipIf(registry === null)(
    "[CON-5] set-up reaches over https the host it was granted, no other, and none once anything else has begun",
    async () => {
      const { containers, source: url, main, close } = await open(docker ?? "", () => "ok");
      const s = containers.sandboxes();
      const asked = async (id: string, to: string, network?: { hosts: string[]; cache: string[] }) => {
        const argv = shell(`curl -sS -m 20 -o /dev/null -w '%{http_code}' ${to} 2>&1`);
        await s.exec("one", id, { argv, timeout_ms: 30_000, ...(network === undefined ? {} : { network }) });
        return (await finish(s, "one", id)).output;
      };
      const there = `${registry}is-number`;
      const network = { hosts: [new URL(there).host], cache: [] };
      await s.create("one", spec("one"));
      await s.checkout("one", { scope_id: "contract", url }, main);
      expect(await asked("granted", there, network)).toBe("200");
      expect(await asked("other", "https://example.com/", network)).toContain("403");
      expect(await asked("agent", there)).toContain("Could not resolve host");
      // The sandbox host lets it through; the container's outbound handler does not any more.
      expect(await asked("again", there, network)).toBe("421");
      await s.destroy("one");
      await close();
    },
    300_000,
  );
});
