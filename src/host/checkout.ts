/**
 * Lays a commit's files in the workspace: the host's own git directory beside it, and in it a plain clone the agent
 * may do with as it likes. Neither shares a file with anything outside the sandbox that the agent could write.
 */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bounds } from "./bounds.ts";
import { HostFailure } from "./failure.ts";
import { attributes, lastLines, must, workGit, workScript } from "./git.ts";
import type { Host } from "./host.ts";
import { keepIgnoreRules } from "./ignore.ts";
import type { Answer } from "./inside.ts";
import { mirrorWith, type Reached, tips } from "./mirror.ts";
import type { Input } from "./protocol.ts";
import { save } from "./record.ts";
import type { Sandbox } from "./sandbox.ts";

export async function checkout(
  host: Host,
  { id, source: from, commit, credential, pass }: Input<"checkout">,
  bundle: Uint8Array | null,
): Promise<void> {
  const sandbox = host.get(id);
  const source = from.url;
  if (from.scope_id !== sandbox.record.spec.scope_id)
    throw new HostFailure("bad_request", `sandbox "${id}" belongs to another scope than the checkout`);
  await sandbox.inLine(async () => {
    const known = sandbox.record.checkout;
    if (known?.source === source && known.commit === commit) return;
    if (known !== null)
      throw new HostFailure("bad_request", `sandbox "${id}" is checked out at ${known.commit} of ${known.source}`);
    // What a checkout left that was cut short.
    for (const folder of [sandbox.git, sandbox.work]) {
      for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true, force: true });
    }
    const mirror = await gather(host, sandbox, { url: source, credential, pass }, commit, bundle);
    save(tipsPath(sandbox), await tips(host, mirror));
    await keepIgnoreRules(host, sandbox, commit, { mirror });
    await makeWork(host, sandbox, mirror, commit);
    sandbox.update({ checkout: { source, commit, mirror } });
  });
}

export function tipsPath(sandbox: Sandbox): string {
  return join(sandbox.folder, "tips.json");
}

/** The commit with all its history, in the sandbox's own git directory or the mirror behind it. */
async function gather(
  host: Host,
  sandbox: Sandbox,
  source: Reached,
  commit: string,
  bundle: Uint8Array | null,
): Promise<string> {
  const { scope_id } = sandbox.record.spec;
  if (bundle === null) {
    const mirror = await mirrorWith(host, scope_id, source, { commit });
    await makeGit(host, sandbox, mirror);
    return mirror;
  }
  const mirror = await mirrorWith(host, scope_id, source, "any");
  await makeGit(host, sandbox, mirror);
  let taken = await takeBundle(host, sandbox, mirror, bundle);
  if (taken.code !== 0) {
    // The bundle may build on commits the source got since the mirror last looked.
    await mirrorWith(host, scope_id, source, "fresh");
    taken = await takeBundle(host, sandbox, mirror, bundle);
  }
  if (taken.code !== 0)
    throw new HostFailure("bad_request", `the bundle cannot be read: git said: ${lastLines(taken.stderr)}`);
  const there = await workGit(host, sandbox, ["cat-file", "-e", `${commit}^{commit}`], { mirror });
  if (there.code !== 0)
    throw new HostFailure("ref_not_found", `neither the source nor the bundle has commit ${commit}`);
  return mirror;
}

/** The mirror's objects are read where they are; only what a bundle brings is written here. */
const gitScript = `git init --quiet --bare --template=
git config core.bare false
mkdir -p info objects/info
cat > info/attributes
echo /mirror/objects > objects/info/alternates`;

async function makeGit(host: Host, sandbox: Sandbox, mirror: string): Promise<void> {
  await must(workScript(host, sandbox, gitScript, [], { mirror, stdin: attributes }), "making a git directory");
}

async function takeBundle(host: Host, sandbox: Sandbox, mirror: string, bundle: Uint8Array): Promise<Answer> {
  const input = mkdtempSync(join(host.scratch, "bundle-"));
  try {
    host.give(sandbox, input);
    writeFileSync(join(input, "bundle"), bundle, { mode: 0o644 });
    const args = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "/input/bundle", "+refs/*:refs/bundle/*"];
    return await workGit(host, sandbox, args, { mirror, input });
  } finally {
    rmSync(input, { recursive: true, force: true });
  }
}

/** The agent's clone: its own copies of all objects, its own configuration. */
const workspaceScript = `git init --quiet --template= --initial-branch=work
git fetch --quiet --no-tags --no-write-fetch-head /git "$1"
mkdir -p .git/info
cat > .git/info/attributes
exec git reset --quiet --hard "$1"`;

async function makeWork(host: Host, sandbox: Sandbox, mirror: string, commit: string): Promise<void> {
  const env = { GIT_DIR: "/workspace/.git", GIT_WORK_TREE: "/workspace" };
  const options = { mirror, workspace: "write", timeout_ms: bounds.git_network_ms, env, stdin: attributes } as const;
  await must(workScript(host, sandbox, workspaceScript, [commit], options), "laying out the workspace");
}
