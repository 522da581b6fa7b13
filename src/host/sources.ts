/** Which repositories may be fetched from and pushed to, and how git is told to reach one without being led elsewhere. */
import { existsSync, realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { publicAddresses } from "./address.ts";
import { type Given, give } from "./credential.ts";
import { HostFailure } from "./failure.ts";
import { throughGate } from "./gate.ts";
import { lastLines } from "./git.ts";
import type { Answer } from "./inside.ts";
import type { Credential, Pass } from "./protocol.ts";

export interface Source {
  /** What git is given. */
  readonly url: string;
  /** Options that pin it to the address that was judged. */
  readonly options: readonly string[];
  /** Options of `fetch` and `ls-remote`, and of `push`: how git's other end is started in a folder of this machine. */
  readonly reading: readonly string[];
  readonly writing: readonly string[];
  /** Goes along with every run of git on it: nothing where it needs no credential. */
  readonly given: Given;
}

/** Where sources may stand: below one of `roots`, and never in `own`, the host's folder, for agents write there. */
export interface Places {
  readonly roots: readonly string[];
  readonly own: string;
  /** The one http origin of this machine that is a source; null when there is none. */
  readonly git_origin: string | null;
  /** In a container: the only way to any source, which judges the address by itself. */
  readonly gate: string | null;
}

/** What goes along to a source: a credential, or in a container a pass. */
export interface Shown {
  readonly credential?: Credential | undefined;
  readonly pass?: Pass | undefined;
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
const nothing: Given = { env: {}, secrets: [], shown: false };
const local = {
  options: [],
  reading: [`--upload-pack=git ${otherEnd} upload-pack`],
  writing: [`--receive-pack=git ${otherEnd} receive-pack`],
  given: nothing,
};

/**
 * `file:///path` and plain absolute paths below a root; https without user or password to a public address; http at the
 * one origin of this machine that the host's own settings name. A credential is for a server, never for a folder.
 */
export async function openSource(source: string, places: Places, { credential, pass }: Shown = {}): Promise<Source> {
  if (credential !== undefined && /^(?:\/|file:)/i.test(source)) throw denied(source, "takes no credential");
  if (source.startsWith("/")) return folder(source, places);
  if (!URL.canParse(source)) throw denied(source, "is neither an https address nor an absolute path");
  const url = new URL(source);
  if (url.protocol === "file:") {
    if (url.host !== "" && url.host !== "localhost") throw denied(source, "names another machine");
    return folder(fileURLToPath(`file://${url.pathname}`), places);
  }
  if (places.gate !== null) return gated(source, url, places.gate, pass);
  const ours = url.origin === places.git_origin;
  if (url.protocol !== "https:" && !ours) throw denied(source, "is neither https nor file");
  if (url.username !== "" || url.password !== "") throw denied(source, "carries a user or password");
  const given = credential === undefined ? nothing : give(url.origin, credential);
  return ours ? onThisMachine(url, given) : remote(source, url, given);
}

function gated(source: string, url: URL, gate: string, pass: Pass | undefined): Source {
  if (url.username !== "" || url.password !== "") throw denied(source, "carries a user or password");
  if (pass === undefined) throw denied(source, "cannot be reached without a pass");
  return { ...throughGate(gate, source, pass), reading: [], writing: [] };
}

/** The protocol is let through for this run alone. A proxy is for addresses elsewhere. */
function onThisMachine(url: URL, given: Given): Source {
  const options = ["-c", "protocol.http.allow=always", "-c", "http.proxy="];
  return { url: url.href, options, reading: [], writing: [], given };
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

async function remote(source: string, url: URL, given: Given): Promise<Source> {
  // Behind a proxy the names are the proxy's to resolve; an address written out is judged all the same.
  const proxied = (process.env.HTTPS_PROXY ?? process.env.https_proxy ?? "") !== "";
  let addresses: string[] | null;
  try {
    addresses = await publicAddresses(url.hostname);
  } catch {
    if (proxied) return { url: url.href, options: [], reading: [], writing: [], given };
    throw new HostFailure("repo_unreachable", `the name ${url.hostname} has no address`, true);
  }
  if (addresses === null) throw denied(source, "leads to an address in a private range");
  const pin = `${url.hostname}:${url.port || "443"}:${addresses.join(",")}`;
  const options = proxied ? [] : ["-c", `http.curloptResolve=${pin}`];
  return { url: url.href, options, reading: [], writing: [], given };
}

function denied(source: string, why: string): HostFailure {
  return new HostFailure("repo_not_allowed", `the repository ${source} ${why}`);
}

/**
 * What git's refusal to talk to a source means, and what to do about it. A credential that is refused may have run out
 * on the way, and the next try brings a fresh one; what it does not allow, no other try will.
 */
export function unreachable(source: string, { given }: Source, { stderr }: Answer): HostFailure {
  const gone =
    /does not appear to be a git repository|not found|does not exist|Authentication failed|could not read Username|remote rejected/i;
  const { shown } = given;
  const unknown = /could not read Username|Authentication failed|returned error: 401/i.test(stderr);
  const forbidden = /returned error: 403/.test(stderr);
  const advice =
    unknown && shown
      ? "the credential it was shown was refused: it has run out or was revoked, and the next try brings a fresh one. If that is refused too, look at the GitHub App's installation"
      : forbidden && shown
        ? "the credential it was shown does not allow this: give the GitHub App's installation access to the repository, with Contents to read and write"
        : unknown || forbidden
          ? "it wants a credential, and there is none for it here: install the GitHub App on the repository and link it to this scope"
          : /returned error: 30[1278]/.test(stderr)
            ? "it has moved, and no redirect is followed: register its new address"
            : null;
  const said = `git said: ${lastLines(stderr)}`;
  const retryable = unknown ? shown : !forbidden && !gone.test(stderr);
  return new HostFailure("repo_unreachable", `${source}: ${advice === null ? said : `${advice}; ${said}`}`, retryable);
}
