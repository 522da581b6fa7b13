/** Real git in containers that never hold a credential: what the server is shown, and everywhere it must not be. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { gitCredentials } from "../../src/adapters/git-credentials.ts";
import type { HostSandboxes } from "../../src/adapters/host-sandboxes.ts";
import { failure, finish, shell, spec, utf8 } from "../contract/programs.ts";
import { FakeContainers } from "../setup/containers.ts";
import { GitServer } from "../setup/git-server.ts";
import { git, makeSample } from "../setup/host.ts";
import { Lender } from "./lender.ts";
import { failureOf } from "./lent-world.ts";
import { eventually, sourceOf } from "./world.ts";

let root: string;
let main: string;
let server: GitServer;
let containers: FakeContainers;
let sandboxes: HostSandboxes;
const lender = new Lender();
const repository = "acme/widgets";
const widgets = () => sourceOf(`${server.url}/${repository}`);
const tip = (branch: string) =>
  git(join(root, `${repository}.git`), "for-each-ref", "--format=%(objectname)", `refs/heads/${branch}`) || null;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), "countersign-lent-"));
  main = makeSample(join(root, "sample")).main;
  mkdirSync(join(root, "acme"));
  for (const name of [repository, "acme/open"])
    git(root, "clone", "--quiet", "--bare", join(root, "sample"), join(root, `${name}.git`));
  lender.open.add("acme/open");
  server = await GitServer.open({ root, allow: lender.allow });
  const { scope_id, url } = widgets();
  const repo = { id: 1, installation_id: 2, full_name: repository };
  const linked = async (scope: string, address: string) => (scope === scope_id && address === url ? repo : null);
  containers = new FakeContainers({ gitOrigin: server.url });
  sandboxes = containers.sandboxes(gitCredentials({ base: server.url, tokens: lender, linked }));
});
afterAll(async () => {
  await containers?.close();
  await server?.close();
  rmSync(root, { recursive: true, force: true });
});
afterEach(() => {
  server.slow = null;
  server.redirect = null;
  server.saying = () => "no\n";
  lender.broken = false;
});

async function fresh(id: string): Promise<string> {
  await sandboxes.create(id, spec(id));
  await sandboxes.checkout(id, widgets(), main);
  return id;
}
/** A commit on `main` with a new file, ready to be published. */
async function work(name: string) {
  const id = await fresh(name);
  await sandboxes.write(id, name, utf8.encode(`${name}\n`));
  const { patch } = await sandboxes.snapshot(id);
  const built = await sandboxes.merge(id, { baseline: main, parent: main, patch, message: name, at_s: 7 });
  if (!built.ok) throw new Error("it does not merge");
  return { source: widgets(), branch: `countersign/${name}`, commit: built.commit, bundle: built.bundle };
}
/** Files, words, processes and what the objects keep: nothing lent is there, and none of it is alive. */
function expectNothing(): void {
  for (const machine of containers.machines.values())
    if (machine.folder !== null && machine.running) expect(lender.filesIn(machine.folder.state)).toEqual([]);
  expect(lender.in(containers.heard.join(""))).toBe(false);
  expect(lender.in(JSON.stringify([...containers.documents.values()]))).toBe(false);
  for (const what of ["cmdline", "environ"] as const) expect(lender.processesWith(what)).toEqual([]);
  expect([...lender.lent.values()].filter(({ alive }) => alive)).toEqual([]);
}

describe("git in containers", () => {
  it("[CON-3] [CRED-1] cloned, worked on and pushed, each call with a credential of its own that no container holds", async () => {
    expect(await sandboxes.resolve(widgets(), "HEAD")).toEqual({ commit: main, default_branch: "main" });
    const made = await work("first");
    await sandboxes.publish(made);
    expect(tip("countersign/first")).toBe(made.commit);
    await sandboxes.publish(made);
    expect([...lender.lent.values()].map(({ access }) => access)).toEqual(["read", "read", "write", "write"]);
    expect(new Set(server.journal.map(({ shown }) => shown)).size).toBe(4);
    expect(server.journal.every(({ user, status }) => user === "x-access-token" && status === 200)).toBe(true);
    expectNothing();
  });

  it("[CON-3] [CRED-5] while git runs, not even its own process holds the credential, and a sandbox cannot reach the gate", async () => {
    const id = await fresh("at-work");
    server.slow = { what: "look", at: "before", ms: 3_000 };
    const going = sandboxes.resolve(widgets(), "HEAD");
    expect(await eventually(() => server.waiting > 0)).toBe(true);
    for (const what of ["cmdline", "environ"] as const) expect(lender.processesWith(what)).toEqual([]);
    const script =
      "set +e; cat .git/config; env; (exec 3<>/dev/tcp/127.0.0.1/80) 2>&1; git ls-remote http://git.countersign.internal/ 2>&1";
    await sandboxes.exec(id, "look", { argv: shell(script), timeout_ms: 30_000 });
    const { output } = await finish(sandboxes, id, "look");
    expect(output).toMatch(/refused|unreachable|resolve/i);
    expect(lender.in(output)).toBe(false);
    await going;
    expectNothing();
  });

  it("[CON-3] [CRED-2] a scope that is not linked reaches nothing, and is told what to do", async () => {
    const from = server.journal.length;
    const refused = await failureOf(sandboxes.resolve({ ...widgets(), scope_id: "stranger" }, "HEAD"));
    expect(refused).toMatchObject({ code: "repo_unreachable", retryable: false });
    expect(refused.message).toContain("link it to this scope");
    expect(server.journal.slice(from).filter(({ shown }) => shown !== null)).toEqual([]);
    const open = sourceOf(`${server.url}/acme/open`);
    expect((await sandboxes.resolve(open, "main")).commit).toBe(main);
  });

  it("[CON-4] [CRED-6] [CRED-7] a refusal is told with what to do, a redirect is not followed, and neither tells a secret", async () => {
    server.saying = (header) => `you sent ${header}\n`;
    lender.broken = true;
    const dead = await failureOf(sandboxes.resolve(widgets(), "HEAD"));
    expect(dead).toMatchObject({ code: "repo_unreachable", retryable: true });
    expect(dead.message).toContain("the next try brings a fresh one");
    expect(dead.message).not.toContain("you sent");
    lender.broken = false;
    const elsewhere = await GitServer.open({ root, allow: () => "ok" });
    server.redirect = elsewhere.url;
    const moved = await failureOf(sandboxes.resolve(widgets(), "HEAD"));
    expect(moved.message).toContain("register its new address");
    expect(elsewhere.journal).toEqual([]);
    await elsewhere.close();
    expectNothing();
  });

  it("[CON-7] a container that is killed at work is gone with its sandbox, and leaves nothing that is alive", async () => {
    await sandboxes.create("killed", spec("killed"));
    server.slow = { what: "fetch", at: "before", ms: 5_000 };
    const going = failure(sandboxes.checkout("killed", widgets(), main));
    expect(await eventually(() => server.waiting > 0)).toBe(true);
    await containers.machines.get("killed")?.destroy();
    expect(await going).toBe("unreachable");
    expect(await failure(sandboxes.checkout("killed", widgets(), main))).toBe("no_such_sandbox");
    server.slow = null;
    await sandboxes.destroy("killed");
    await fresh("killed");
    expectNothing();
  });
});
