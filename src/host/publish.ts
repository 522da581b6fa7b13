/**
 * Pushes a verified commit to its own branch of the source: never the default branch, forward only, and only after a
 * look at what is there, so that a push whose answer was lost is not made twice.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bounds } from "./bounds.ts";
import { HostFailure } from "./failure.ts";
import { hostGit, lastLines, must } from "./git.ts";
import type { Host } from "./host.ts";
import { remoteRefs } from "./mirror.ts";
import type { Input } from "./protocol.ts";
import { openSource, type Source, unreachable } from "./sources.ts";

export async function publish(host: Host, input: Input<"publish">, bundle: Uint8Array): Promise<void> {
  const opened = await openSource(input.source.url, host.places, input);
  const { refs, default_branch } = await remoteRefs(host, input.source.url, opened);
  if (input.branch === default_branch)
    throw new HostFailure("bad_request", `"${input.branch}" is the default branch: it is never pushed to`);
  const tip = refs.get(`refs/heads/${input.branch}`) ?? null;
  if (tip === input.commit) return;
  const folder = mkdtempSync(join(host.scratch, "publish-"));
  try {
    await gather(host, folder, opened, input, bundle);
    if (tip !== null) await mustBeForward(host, folder, tip, input);
    await push(host, folder, opened, tip, input);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function gather(
  host: Host,
  folder: string,
  opened: Source,
  input: Input<"publish">,
  bundle: Uint8Array,
): Promise<void> {
  const quiet = ["--quiet", "--no-tags", "--no-write-fetch-head"];
  await must(hostGit(host, folder, ["init", "--quiet", "--bare", "--template=", "."]), "making a repository");
  const args = [
    ...opened.options,
    "fetch",
    ...quiet,
    ...opened.reading,
    opened.url,
    "+refs/heads/*:refs/source/heads/*",
    "+refs/tags/*:refs/source/tags/*",
  ];
  const fetched = await hostGit(host, folder, args, { timeout_ms: bounds.git_network_ms, given: opened.given });
  if (fetched.code !== 0) throw unreachable(input.source.url, opened, fetched);
  writeFileSync(join(folder, "bundle"), bundle);
  const taken = await hostGit(host, folder, ["fetch", ...quiet, join(folder, "bundle"), "+refs/*:refs/bundle/*"]);
  if (taken.code !== 0)
    throw new HostFailure("bad_request", `the bundle cannot be read: git said: ${lastLines(taken.stderr)}`);
  const there = await hostGit(host, folder, ["cat-file", "-e", `${input.commit}^{commit}`]);
  if (there.code !== 0) throw new HostFailure("bad_request", `the bundle does not hold commit ${input.commit}`);
}

async function mustBeForward(host: Host, folder: string, tip: string, input: Input<"publish">): Promise<void> {
  const { code } = await hostGit(host, folder, ["merge-base", "--is-ancestor", tip, input.commit]);
  if (code !== 0) {
    throw new HostFailure(
      "not_fast_forward",
      `"${input.branch}" stands at ${tip}, which ${input.commit} does not build on`,
    );
  }
}

async function push(
  host: Host,
  folder: string,
  opened: Source,
  tip: string | null,
  input: Input<"publish">,
): Promise<void> {
  const ref = `refs/heads/${input.branch}`;
  // The lease makes it a comparison with what was looked at, in one step.
  const args = [
    ...opened.options,
    "push",
    "--quiet",
    "--no-verify",
    ...opened.writing,
    `--force-with-lease=${ref}:${tip ?? ""}`,
    opened.url,
    `${input.commit}:${ref}`,
  ];
  const answer = await hostGit(host, folder, args, { timeout_ms: bounds.git_network_ms, given: opened.given });
  if (answer.code === 0) return;
  if (/stale info|non-fast-forward|fetch first/.test(answer.stderr)) {
    throw new HostFailure(
      "not_fast_forward",
      `"${input.branch}" moved in ${input.source.url} while it was being published`,
    );
  }
  if (/refusing to update checked out branch/.test(answer.stderr)) {
    throw new HostFailure(
      "bad_request",
      `"${input.branch}" is checked out in ${input.source.url}; check out another branch there`,
    );
  }
  throw unreachable(input.source.url, opened, answer);
}
