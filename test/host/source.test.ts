/** What a registered repository may be, and what its own configuration may not do. */
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { commitFiles, git, makeRepo } from "../setup/host.ts";
import { sourceOf, World } from "./world.ts";

const utf8 = new TextEncoder();
let world: World;
beforeAll(async () => {
  // Everything is allowed but the host's own folder: the widest root a person may name.
  world = await World.open({ REPO_ROOTS: "/" });
});
afterAll(() => world.close());

/** Everything a local repository's configuration can name that git's other end would run. */
function trap(source: string, marker: string): void {
  const hooks = join(source, "hooks-of-its-own");
  mkdirSync(hooks);
  const names = [
    "pre-receive",
    "update",
    "post-receive",
    "post-update",
    "reference-transaction",
    "proc-receive",
    "push-to-checkout",
  ];
  for (const name of [...names, "pre-auto-gc", "fsmonitor"]) {
    writeFileSync(join(hooks, name), `#!/bin/sh\necho ${name} >> ${marker}\ncat > /dev/null\n`);
    chmodSync(join(hooks, name), 0o755);
  }
  git(source, "config", "core.hooksPath", hooks);
  git(source, "config", "core.fsmonitor", join(hooks, "fsmonitor"));
  git(source, "config", "core.alternateRefsCommand", join(hooks, "update"));
  git(source, "config", "uploadpack.packObjectsHook", join(hooks, "update"));
  git(source, "config", "gc.auto", "1");
}

describe("a registered repository", () => {
  it("[SBX-36] runs nothing of its own when it is read and pushed to", async () => {
    const source = join(world.folder.repos, "trapped");
    const base = makeRepo(source, { "a.txt": "1\n" });
    const marker = join(world.folder.repos, "ran");
    trap(source, marker);

    await world.sandboxes.resolve(sourceOf(source), "HEAD");
    const id = await world.empty();
    await world.sandboxes.checkout(id, sourceOf(source), base);
    await world.sandboxes.write(id, "b.txt", utf8.encode("2\n"));
    const { patch } = await world.sandboxes.snapshot(id);
    const merged = await world.sandboxes.merge(id, { baseline: base, parent: base, patch, message: "b", at_s: 5 });
    if (!merged.ok) throw new Error("it does not merge");
    await world.sandboxes.publish({
      source: sourceOf(source),
      branch: "countersign/b",
      commit: merged.commit,
      bundle: merged.bundle,
    });
    expect(existsSync(marker)).toBe(false);
    expect(git(source, "-c", "core.hooksPath=/dev/null", "rev-parse", "countersign/b")).toBe(merged.commit);

    // The traps are real: the same push by plain git runs them.
    commitFiles(source, { "c.txt": "3\n" });
    const clone = join(world.folder.repos, "clone");
    git(world.folder.repos, "clone", "--quiet", source, clone);
    git(clone, "push", "--quiet", source, "HEAD:refs/heads/plain");
    expect(existsSync(marker)).toBe(true);
  });

  it("[SBX-37] never stands in the host's own folder, where agents write and mirrors of other scopes lie", async () => {
    const id = await world.fresh();
    for (const path of [world.work(id), world.folder.state, join(world.folder.state, "mirrors")])
      await expect(world.sandboxes.resolve(sourceOf(path), "HEAD")).rejects.toMatchObject({ code: "repo_not_allowed" });
  });
});
