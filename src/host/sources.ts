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
}

/** `file:///path` and plain absolute paths below a root; https without user or password to a public address. */
export async function openSource(source: string, roots: readonly string[]): Promise<Source> {
  if (source.startsWith("/")) return folder(source, roots);
  if (!URL.canParse(source)) throw denied(source, "is neither an https address nor an absolute path");
  const url = new URL(source);
  if (url.protocol === "file:") {
    if (url.host !== "" && url.host !== "localhost") throw denied(source, "names another machine");
    return folder(fileURLToPath(`file://${url.pathname}`), roots);
  }
  if (url.protocol !== "https:") throw denied(source, "is neither https nor file");
  if (url.username !== "" || url.password !== "") throw denied(source, "carries a user or password");
  return remote(source, url);
}

function folder(path: string, roots: readonly string[]): Source {
  if (!existsSync(path)) throw new HostFailure("repo_unreachable", `there is no repository at ${path}`);
  const real = realpathSync(path);
  if (roots.some((root) => real === root || real.startsWith(`${root === "/" ? "" : root}/`)))
    return { url: real, options: [] };
  throw denied(path, "is not below any of the folders in REPO_ROOTS");
}

async function remote(source: string, url: URL): Promise<Source> {
  // Behind a proxy the names are the proxy's to resolve; an address written out is judged all the same.
  const proxied = (process.env.HTTPS_PROXY ?? process.env.https_proxy ?? "") !== "";
  let addresses: string[] | null;
  try {
    addresses = await publicAddresses(url.hostname);
  } catch {
    if (proxied) return { url: url.href, options: [] };
    throw new HostFailure("repo_unreachable", `the name ${url.hostname} has no address`, true);
  }
  if (addresses === null) throw denied(source, "leads to an address in a private range");
  const pin = `${url.hostname}:${url.port || "443"}:${addresses.join(",")}`;
  return { url: url.href, options: proxied ? [] : ["-c", `http.curloptResolve=${pin}`] };
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
