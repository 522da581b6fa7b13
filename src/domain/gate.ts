/**
 * What may leave a container, decided outside of it. Git asks a name that only the container's outbound handler knows,
 * with a ticket for the one operation under way. What passes is written down here whole, so that no other spelling of
 * anything can; a push is read until it is known what it would change. Pure. [CON-1] [CON-2] [CON-3] [CON-5]
 */
import { isPrivate } from "./repo.ts";

/** Plain http that never leaves the machine the container is on: its outbound handler answers it. */
export const gateHost = "git.countersign.internal";
export const gateOrigin = `http://${gateHost}`;

/** The one change that a push may make. */
export interface Push {
  readonly branch: string;
  readonly commit: string;
}
/** A way to one repository, for as long as one operation takes. */
export interface Passage {
  readonly source: string;
  /** Null: it is only read. */
  readonly push: Push | null;
}
export interface Asked {
  readonly method: string;
  readonly url: string;
  header(name: string): string | null;
}
export interface Way {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** What a good answer is made of: anything else is passed on as its status alone. */
  readonly answers: string;
  /** Its body has to be held to this before the first byte of it leaves. */
  readonly push: Push | null;
}

/** Where git finds a repository behind the gate. */
export function pathAtGate(source: string): string {
  const { protocol, host, pathname } = new URL(source);
  return `/${protocol.slice(0, -1)}/${host}${pathname}`;
}

/** The four requests of git's smart protocol, for exactly this repository; pushes only where the operation is one. */
export function wayThrough(asked: Asked, { source, push }: Passage): Way | null {
  const base = gateOrigin + pathAtGate(source);
  for (const service of push === null ? (["upload"] as const) : (["upload", "receive"] as const)) {
    const name = `git-${service}-pack`;
    if (asked.method === "GET" && asked.url === `${base}/info/refs?service=${name}`) {
      const answers = `application/x-${name}-advertisement`;
      return { method: "GET", url: `${source}/info/refs?service=${name}`, headers: plain(asked), answers, push: null };
    }
    if (asked.method !== "POST" || asked.url !== `${base}/${name}`) continue;
    const encoding = asked.header("content-encoding");
    const type = `application/x-${name}-request`;
    if (asked.header("content-type") !== type || (encoding !== null && encoding !== "gzip")) return null;
    // A push that is packed cannot be read, and git packs none.
    if (service === "receive" && encoding !== null) return null;
    const packed = encoding === null ? {} : { "content-encoding": encoding };
    const headers = { ...plain(asked), "content-type": type, ...packed };
    const answers = `application/x-${name}-result`;
    return { method: "POST", url: `${source}/${name}`, headers, answers, push: service === "receive" ? push : null };
  }
  return null;
}

function plain(asked: Asked): Record<string, string> {
  const version = asked.header("git-protocol");
  const spoken = version !== null && /^version=[012]$/.test(version) ? { "git-protocol": version } : {};
  return { accept: "*/*", "user-agent": "git/countersign", ...spoken };
}

/** A redirect leads nowhere from here, and what a refusal says may repeat what it was shown. */
export function answerThrough(
  { answers }: Way,
  status: number,
  content_type: string | null,
): { readonly status: number; readonly body: boolean } {
  if (status === 200) return content_type === answers ? { status, body: true } : { status: 502, body: false };
  return { status: status >= 300 && status <= 599 && status !== 304 ? status : 502, body: false };
}

/** Longest head of a push that is read. One change of one branch takes some hundred bytes. */
export const pushHeadBytes = 8_192;

/**
 * Whether a push changes that one branch to that one commit and nothing else; `more` until that can be told. `empty`:
 * it changes nothing, as git asks before a large push whether it may, and that has to be the whole of it.
 */
export function pushSays(head: Uint8Array, { branch, commit }: Push): "yes" | "no" | "more" | "empty" {
  const text = Array.from(head, (byte) => String.fromCharCode(byte)).join("");
  const commands: string[] = [];
  for (let at = 0; ; ) {
    const size = text.slice(at, at + 4);
    if (size.length < 4) return "more";
    if (!/^[0-9a-f]{4}$/.test(size)) return "no";
    const length = Number.parseInt(size, 16);
    if (length === 0) break;
    if (length < 5 || length > pushHeadBytes || commands.length > 0) return "no";
    if (text.length < at + length) return "more";
    commands.push(text.slice(at + 4, at + length));
    at += length;
  }
  const [command] = commands;
  if (command === undefined) return head.length === 4 ? "empty" : "no";
  const [change = "", spoken = "", ...more] = command.replace(/\n$/, "").split("\0");
  const meant = /^[0-9a-f]{40}$/.test(change.slice(0, 40)) && change.slice(40) === ` ${commit} refs/heads/${branch}`;
  return meant && more.length === 0 && spoken.split(" ").every(maySpeak) ? "yes" : "no";
}

/** How a push may be spoken. `push-options` would change how the server takes it; git sends none of the others unasked. */
function maySpeak(capability: string): boolean {
  return capability === "" || capabilities.has(capability) || /^agent=[!-~]+$/.test(capability);
}
const capabilities: ReadonlySet<string> = new Set([
  "report-status",
  "report-status-v2",
  "side-band-64k",
  "quiet",
  "atomic",
  "ofs-delta",
  "object-format=sha1",
]);

/** https at its own port, to a host that was granted by its name. No name leads into a private network. */
export function mayReach(url: string, granted: ReadonlySet<string>): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname, port, username, password } = new URL(url);
  const bare = protocol === "https:" && port === "" && username === "" && password === "";
  return bare && granted.has(hostname) && !isPrivate(hostname);
}
