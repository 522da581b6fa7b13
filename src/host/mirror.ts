/** A bare copy of each source, one a scope, from which sandboxes take their commits; and what a source's refs name now. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { bounds } from "./bounds.ts";
import { HostFailure } from "./failure.ts";
import { hostGit, must } from "./git.ts";
import type { Host } from "./host.ts";
import type { Input, Output } from "./protocol.ts";
import { openSource, type Shown, type Source, unreachable } from "./sources.ts";

const fullHash = /^[0-9a-f]{40}$/;
const lines = new Map<string, Promise<unknown>>();

/** A mirror that holds the commit (fetched only if it does not), that is up to date, or as it is. */
export type Wanted = { readonly commit: string } | "fresh" | "any";

/** An address, and what git is to show its server for this one time. */
export interface Reached extends Shown {
  readonly url: string;
}

/** Folder of the mirror. */
export async function mirrorWith(host: Host, scope_id: string, source: Reached, wanted: Wanted): Promise<string> {
  const opened = await openSource(source.url, host.places, source);
  const name = createHash("sha256").update(opened.url).digest("hex").slice(0, 24);
  const folder = join(host.config.root, "mirrors", scope_id, name);
  // One after another: two fetches into one repository would trip over each other's locks.
  const turn = (lines.get(folder) ?? Promise.resolve()).then(() => fill(host, folder, source.url, opened, wanted));
  const settled = turn.catch(() => {});
  lines.set(folder, settled);
  void settled.then(() => {
    if (lines.get(folder) === settled) lines.delete(folder);
  });
  await turn;
  return folder;
}

async function fill(host: Host, folder: string, source: string, opened: Source, wanted: Wanted): Promise<void> {
  const commit = typeof wanted === "string" ? null : wanted.commit;
  if (existsSync(folder)) {
    if (wanted === "any" || (commit !== null && (await has(host, folder, commit)))) return;
    sweepLeft(folder);
  } else await makeBare(host, folder);
  const refs = ["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"];
  const all = await fetch(host, folder, opened, ["--prune", "--force", opened.url, ...refs]);
  if (all.code !== 0) throw unreachable(source, opened, all);
  if (commit === null || (await has(host, folder, commit))) return;
  // No branch or tag leads to it; most servers still give a commit to whoever knows its full hash.
  await fetch(host, folder, opened, [opened.url, `${commit}:refs/countersign/${commit}`]);
  if (!(await has(host, folder, commit))) throw new HostFailure("ref_not_found", `${source} has no commit ${commit}`);
}

function fetch(host: Host, folder: string, opened: Source, args: string[]) {
  const options = ["--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance"];
  return hostGit(host, folder, [...opened.options, "fetch", ...options, ...opened.reading, ...args], {
    timeout_ms: bounds.git_network_ms,
    given: opened.given,
  });
}

/**
 * What a fetch left that was killed: locks that would refuse every later one, and halves of packs. Whoever comes here
 * is the only one at work on the mirror, and no git outlives its host.
 */
function sweepLeft(folder: string): void {
  const packs = join(folder, "objects", "pack");
  const halves = readdirSync(packs).filter((name) => name.startsWith("tmp_"));
  const locks = [folder, join(folder, "refs")].flatMap((place) =>
    readdirSync(place, { recursive: place !== folder, encoding: "utf8" })
      .filter((name) => name.endsWith(".lock"))
      .map((name) => join(place, name)),
  );
  for (const path of [...locks, ...halves.map((name) => join(packs, name))]) rmSync(path, { force: true });
}

async function makeBare(host: Host, folder: string): Promise<void> {
  mkdirSync(dirname(folder), { recursive: true, mode: 0o755 });
  const made = mkdtempSync(join(host.scratch, "mirror-"));
  await must(hostGit(host, made, ["init", "--quiet", "--bare", "--template=", join(made, "bare")]), "making a mirror");
  renameSync(join(made, "bare"), folder);
  rmSync(made, { recursive: true });
}

async function has(host: Host, folder: string, commit: string): Promise<boolean> {
  return (await hostGit(host, folder, ["cat-file", "-e", `${commit}^{commit}`])).code === 0;
}

/** Commits the source has by itself: what a bundle may build on. Branches published before are left out, they may be deleted. */
export async function tips(host: Host, mirror: string): Promise<string[]> {
  const listed = await must(
    hostGit(host, mirror, ["for-each-ref", "--format=%(objectname) %(refname)"]),
    "listing a mirror",
  );
  const rows = listed
    .toString()
    .split("\n")
    .filter(Boolean)
    .map((line) => line.split(" "));
  return [...new Set(rows.filter(([, ref]) => !ref?.startsWith("refs/heads/countersign/")).map(([hash = ""]) => hash))];
}

export async function resolveRef(
  host: Host,
  { source: { url: source }, ref, ...shown }: Input<"resolve">,
): Promise<Output<"resolve">> {
  if (ref.startsWith("-") || /[\s~^:?*[\\]/.test(ref))
    throw new HostFailure("ref_not_found", `"${ref}" is not the name of a ref`);
  const opened = await openSource(source, host.places, shown);
  const { refs, default_branch } = await remoteRefs(host, source, opened);
  const names = [ref, `refs/heads/${ref}`, `refs/tags/${ref}^{}`, `refs/tags/${ref}`, `${ref}^{}`];
  const commit =
    ref === "HEAD" ? refs.get("HEAD") : names.map((name) => refs.get(name)).find((hash) => hash !== undefined);
  if (commit !== undefined) return { commit, default_branch };
  if (!fullHash.test(ref)) throw new HostFailure("ref_not_found", `${source} has no branch, tag or commit "${ref}"`);
  if (![...refs.values()].includes(ref)) await mustHave(host, source, opened, ref);
  return { commit: ref, default_branch };
}

export async function remoteRefs(
  host: Host,
  source: string,
  opened: Source,
): Promise<{ refs: Map<string, string>; default_branch: string }> {
  const args = [...opened.options, "ls-remote", "--symref", ...opened.reading, opened.url];
  const answer = await hostGit(host, host.scratch, args, {
    timeout_ms: bounds.git_network_ms,
    max_bytes: 64 * 1024 * 1024,
    given: opened.given,
  });
  if (answer.code !== 0) throw unreachable(source, opened, answer);
  const refs = new Map<string, string>();
  let default_branch = "";
  for (const line of answer.stdout.toString().split("\n").filter(Boolean)) {
    const [value = "", name = ""] = line.split("\t");
    if (value.startsWith("ref: refs/heads/") && name === "HEAD")
      default_branch = value.slice("ref: refs/heads/".length);
    else if (!value.startsWith("ref: ")) refs.set(name, value);
  }
  return { refs, default_branch };
}

/** Fetches the one commit into a repository that is thrown away: its being there is all that is asked. */
async function mustHave(host: Host, source: string, opened: Source, commit: string): Promise<void> {
  const folder = mkdtempSync(join(host.scratch, "resolve-"));
  try {
    await must(hostGit(host, folder, ["init", "--quiet", "--bare", "--template=", "."]), "making a repository");
    await fetch(host, folder, opened, [
      "--depth=1",
      opened.url.startsWith("/") ? `file://${encodeURI(opened.url)}` : opened.url,
      commit,
    ]);
    if (!(await has(host, folder, commit))) throw new HostFailure("ref_not_found", `${source} has no commit ${commit}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
