/**
 * Which repositories may be named at all, and the one form their address is stored and compared in.
 * `https` without a user name, or a path of this machine when the host is local; nothing else, and
 * never an address that only this network can reach, but for the one git server that a deployment on
 * one machine names itself. Names are judged as text: what a host name resolves to is for whoever
 * fetches it. [REPO-1] [REPO-2] [REPO-3] [CRED-11]
 */
import { ok, type Result, refuse } from "./refusal.ts";

const allowed = "Use https://host/path, without a user name or password in it";
const allowedHere = `${allowed}, or file:///absolute/path`;

/**
 * The one origin that needs no https: that of GITHUB_URL, when it is http on a loopback address and the sandbox host
 * stands on this machine too. Null for every other.
 */
export function gitOriginOf(githubUrl: string | undefined, localHost: boolean): string | null {
  if (!localHost || githubUrl === undefined || !URL.canParse(githubUrl)) return null;
  const { protocol, hostname, origin, username, password } = new URL(githubUrl);
  const here = hostname === "127.0.0.1" || hostname === "[::1]" || hostname === "localhost";
  return protocol === "http:" && here && username === "" && password === "" ? origin : null;
}

/**
 * The address in its normal form, which is the key of the registry. `localHost`: paths of this machine count.
 * `gitOrigin`: what `gitOriginOf` said of the deployment.
 */
export function repoUrl(text: string, localHost: boolean, gitOrigin: string | null = null): Result<string> {
  const no = (why: string) => refuse("repo_not_allowed", `${why} ${localHost ? allowedHere : allowed}.`);
  if (hasUnsafe(text)) return no("The repository address holds a space, a backslash or a control character.");
  const given = text.startsWith("/") ? `file://${text}` : text;
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(given)) return no("The repository address is not a URL.");
  if (!URL.canParse(given)) return no("The repository address is not a URL.");
  const url = new URL(given);
  if (url.search !== "" || url.hash !== "" || /[?#]/.test(given))
    return no("The repository address has a query or a fragment.");
  if (url.protocol === "file:" && localHost) return fileUrl(url, no);
  const ours = gitOrigin !== null && url.origin === gitOrigin;
  if (url.protocol !== "https:" && !ours) return no(`The protocol ${url.protocol.slice(0, -1)} is not allowed.`);
  if (url.username !== "" || url.password !== "" || given.split("/")[2]?.includes("@") === true)
    return no("The repository address holds a user name or password.");
  if (!ours && isPrivate(url.hostname)) return no(`${url.hostname} is an address inside a private network.`);
  const path = tidy(url.pathname);
  return path === "" ? no("The repository address has no path.") : ok(`${url.origin}${path}`);
}

function fileUrl(url: URL, no: (why: string) => Result<never>): Result<string> {
  if (url.host !== "") return no("A file: address may not name a host.");
  if (/%2f|%00/i.test(url.pathname)) return no("The path holds an escaped slash or zero.");
  const path = tidy(url.pathname);
  return path === "" ? no("The root of the machine is not a repository.") : ok(`file://${path}`);
}

function tidy(pathname: string): string {
  return pathname.replace(/\/{2,}/g, "/").replace(/\/$/, "");
}

/** A sentence when git would not take the name, or could take it for an option or an expression. */
export function refProblem(ref: string): string | null {
  const bad =
    ref === "" ||
    ref === "@" ||
    hasUnsafe(ref) ||
    /^[-/.]|[/.]$|\.\.|\/\/|\/\.|@\{|[~^:?*[]/.test(ref) ||
    ref.split("/").some((part) => part.endsWith(".lock"));
  return bad ? "The ref is not the name of a branch, a tag or a commit: use for example main, v1.2 or HEAD." : null;
}

/** Whitespace, control characters and backslashes: URL parsers drop or bend them without a word. */
function hasUnsafe(text: string): boolean {
  return [...text].some((letter) => letter <= " " || letter === "\\" || letter === "\u007f");
}

/** `hostname` as the URL parser writes it: lower case, IPv4 in four decimal parts, IPv6 in brackets. */
export function isPrivate(hostname: string): boolean {
  const name = hostname.replace(/\.$/, "");
  if (name.startsWith("[")) return isPrivateV6(name.slice(1, -1));
  const parts = /^(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(name);
  if (parts !== null) return isPrivateV4(parts.slice(1).map(Number));
  return !name.includes(".") || /\.(localhost|local|internal|lan|home|intranet|arpa)$/.test(name);
}

function isPrivateV4([a = 0, b = 0, c = 0]: readonly number[]): boolean {
  if (a === 0 || a === 10 || a === 127 || a >= 224) return true;
  if (a === 100) return b >= 64 && b < 128;
  if (a === 169) return b === 254;
  if (a === 172) return b >= 16 && b < 32;
  if (a === 198) return b === 18 || b === 19;
  return a === 192 && (b === 168 || (b === 0 && (c === 0 || c === 2)));
}

/** Only the global unicast range 2000::/3 is public; 2001:db8::, 2002:: and the mapped forms lead elsewhere. */
function isPrivateV6(name: string): boolean {
  const first = Number.parseInt(name.split(":")[0] ?? "", 16);
  if (!(first >= 0x2000 && first < 0x4000)) return true;
  return first === 0x2002 || /^2001:(0?:|db8:|:)/.test(name);
}
