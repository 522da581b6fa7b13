/** Which repositories may be fetched from and pushed to, and how git is told to reach one without being led elsewhere. */
import { existsSync, realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { publicAddresses } from "./address.ts";
import { HostFailure } from "./failure.ts";
import { lastLines } from "./git.ts";
import type { Answer } from "./inside.ts";

export interface Source {
  /** What git is given. */
  readonly url: string;
  /** Options that pin it to the address that was judged. */
  readonly options: readonly string[];
  /** Options of `fetch` and `ls-remote`, and of `push`: how git's other end is started in a folder of this machine. */
  readonly reading: readonly string[];
  readonly writing: readonly string[];
}

/** Where sources may stand: below one of `roots`, and never in `own`, the host's folder, for agents write there. */
export interface Places {
  readonly roots: readonly string[];
  readonly own: string;
}

// What a repository's own configuration could run at git's other end. Only the command line stands above it there:
// git passes no environment of ours on, and the host's file stands below the repository's.
const otherEnd = [
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "core.alternateRefsCommand=true",
  "gc.auto=0",
  "receive.autogc=false",
]
  .map((setting) => `-c ${setting}`)
  .join(" ");
const local = {
  options: [],
  reading: [`--upload-pack=git ${otherEnd} upload-pack`],
  writing: [`--receive-pack=git ${otherEnd} receive-pack`],
};

/** `file:///path` and plain absolute paths below a root; https without user or password to a public address. */
export async function openSource(source: string, places: Places): Promise<Source> {
  if (source.startsWith("/")) return folder(source, places);
  if (!URL.canParse(source)) throw denied(source, "is neither an https address nor an absolute path");
  const url = new URL(source);
  if (url.protocol === "file:") {
    if (url.host !== "" && url.host !== "localhost") throw denied(source, "names another machine");
    return folder(fileURLToPath(`file://${url.pathname}`), places);
  }
  if (url.protocol !== "https:") throw denied(source, "is neither https nor file");
  if (url.username !== "" || url.password !== "") throw denied(source, "carries a user or password");
  return remote(source, url);
}

function folder(path: string, { roots, own }: Places): Source {
  if (!existsSync(path)) throw new HostFailure("repo_unreachable", `there is no repository at ${path}`);
  const real = realpathSync(path);
  if (isBelow(real, realpathSync(own))) throw denied(path, "stands in the sandbox host's own folder");
  if (roots.some((root) => isBelow(real, root))) return { url: real, ...local };
  throw denied(path, "is not below any of the folders in REPO_ROOTS");
}

function isBelow(path: string, root: string): boolean {
  return path === root || path.startsWith(`${root === "/" ? "" : root}/`);
}

async function remote(source: string, url: URL): Promise<Source> {
  // Behind a proxy the names are the proxy's to resolve; an address written out is judged all the same.
  const proxied = (process.env.HTTPS_PROXY ?? process.env.https_proxy ?? "") !== "";
  let addresses: string[] | null;
  try {
    addresses = await publicAddresses(url.hostname);
  } catch {
    if (proxied) return { url: url.href, options: [], reading: [], writing: [] };
    throw new HostFailure("repo_unreachable", `the name ${url.hostname} has no address`, true);
  }
  if (addresses === null) throw denied(source, "leads to an address in a private range");
  const pin = `${url.hostname}:${url.port || "443"}:${addresses.join(",")}`;
  const options = proxied ? [] : ["-c", `http.curloptResolve=${pin}`];
  return { url: url.href, options, reading: [], writing: [] };
}

function denied(source: string, why: string): HostFailure {
  return new HostFailure("repo_not_allowed", `the repository ${source} ${why}`);
}

/** What git's refusal to talk to a source means. */
export function unreachable(source: string, answer: Answer): HostFailure {
  const gone =
    /does not appear to be a git repository|not found|does not exist|Authentication failed|could not read Username/i;
  return new HostFailure(
    "repo_unreachable",
    `${source}: git said: ${lastLines(answer.stderr)}`,
    !gone.test(answer.stderr),
  );
}
