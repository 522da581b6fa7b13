/**
 * A real git server over HTTP on loopback: git's own `http-backend` behind basic authentication. Who may do what is for
 * the caller to say, one question a request. Its journal holds every request and never a credential.
 */
import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

export interface GitRequest {
  /** `owner/name` as it stands in the address. */
  readonly repository: string;
  readonly access: "read" | "write";
  /** The password of basic authentication; null where none was shown. */
  readonly token: string | null;
}
export interface GitEntry {
  readonly method: string;
  readonly path: string;
  readonly repository: string;
  readonly access: "read" | "write";
  /** Beginning of the SHA-256 of what was shown, so that one credential can be told from another; null for none. */
  readonly shown: string | null;
  readonly user: string | null;
  readonly status: number;
}
export interface GitServerParts {
  /** Repositories are bare folders `<root>/<owner>/<name>.git`. */
  readonly root: string;
  /** `hidden`: as if there were no such repository. */
  allow(request: GitRequest): Verdict | Promise<Verdict>;
}
/** Listing refs, sending their commits, taking new ones. */
export type Phase = "look" | "fetch" | "push";
export type Verdict = "ok" | "unauthorized" | "forbidden" | "hidden";

export class GitServer {
  readonly url: string;
  readonly journal: GitEntry[] = [];
  /** Each answer of that kind waits so long: before git does anything, or in the middle of what it says. */
  slow: { readonly what: Phase; readonly at: "before" | "half"; readonly ms: number } | null = null;
  /** Where every request is sent on to instead of being answered. */
  redirect: string | null = null;
  /** What a refusal says: some servers repeat what they were sent. */
  saying: (header: string) => string = () => "no\n";
  /** Requests that wait now. */
  waiting = 0;
  readonly #close: () => Promise<void>;

  private constructor(url: string, close: () => Promise<void>) {
    this.url = url;
    this.#close = close;
  }

  static async open(parts: GitServerParts): Promise<GitServer> {
    const backend = join(execFileSync("git", ["--exec-path"], { encoding: "utf8" }).trim(), "git-http-backend");
    const server = createServer((request, response) => {
      void answer(opened, parts, backend, request, response).catch(() => response.destroy());
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    // An address of a TCP server that listens is never a path.
    const { port } = server.address() as AddressInfo;
    const opened = new GitServer(`http://127.0.0.1:${port}`, async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });
    return opened;
  }

  close(): Promise<void> {
    return this.#close();
  }
}

const known = /^\/([A-Za-z0-9._-]+\/[A-Za-z0-9._-]+?)(?:\.git)?\/(info\/refs|git-upload-pack|git-receive-pack)$/;

async function answer(
  server: GitServer,
  { root, allow }: GitServerParts,
  backend: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { pathname, searchParams, search } = new URL(request.url ?? "/", server.url);
  const [, repository = "", service = ""] = known.exec(pathname) ?? [];
  const access = `${service}${searchParams.get("service") ?? ""}`.includes("receive") ? "write" : "read";
  const header = request.headers.authorization ?? "";
  const { user, token } = basic(header);
  const shown = token === null ? null : createHash("sha256").update(token).digest("hex").slice(0, 12);
  const note = (status: number) => {
    const { method = "" } = request;
    server.journal.push({ method, path: `${pathname}${search}`, repository, access, shown, user, status });
  };
  const body: Buffer[] = [];
  for await (const part of request) body.push(part);
  if (server.redirect !== null) {
    note(302);
    response.writeHead(302, { location: `${server.redirect}${pathname}${search}` }).end();
    return;
  }
  const refused = { ok: null, unauthorized: 401, forbidden: 403, hidden: 404 }[
    repository === "" ? "hidden" : await allow({ repository, access, token })
  ];
  if (refused !== null) {
    note(refused);
    const ask = refused === 401 ? { "www-authenticate": 'Basic realm="git"' } : {};
    response.writeHead(refused, { "content-type": "text/plain", ...ask }).end(server.saying(header));
    return;
  }
  note(200);
  const content = Buffer.concat(body);
  const slow = server.slow?.what === phaseOf(request, service, content) ? server.slow : null;
  const wait = async (): Promise<void> => {
    server.waiting += 1;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, slow?.ms);
      response.once("close", () => {
        clearTimeout(timer);
        resolve();
      });
    });
    server.waiting -= 1;
  };
  if (slow?.at === "before") await wait();
  if (response.destroyed) return;
  const said = await run(backend, root, { repository, service, search, user }, request, content);
  const end = said.indexOf("\r\n\r\n");
  const lines = said
    .subarray(0, end)
    .toString()
    .split("\r\n")
    .map((line) => line.split(": "));
  const status = Number.parseInt(lines.find(([name]) => name === "Status")?.[1] ?? "200", 10);
  response.writeHead(status, Object.fromEntries(lines.filter(([name]) => name !== "Status")));
  const rest = said.subarray(end + 4);
  const half = slow?.at === "half" ? Math.floor(rest.length / 2) : 0;
  if (half > 0) {
    response.write(rest.subarray(0, half));
    await wait();
  }
  response.end(rest.subarray(half));
}

interface Asked {
  readonly repository: string;
  readonly service: string;
  readonly search: string;
  readonly user: string | null;
}
/** The Common Gateway Interface, as far as git speaks it: all it says, head and body. */
function run(
  backend: string,
  root: string,
  { repository, service, search, user }: Asked,
  { headers, method = "GET" }: IncomingMessage,
  body: Buffer,
): Promise<Buffer> {
  // Any commit may be fetched by its hash, as from GitHub; whoever was let in may push.
  const settings = { "safe.directory": "*", "uploadpack.allowAnySHA1InWant": "true", "http.receivepack": "true" };
  const env: NodeJS.ProcessEnv = {
    PATH: process.env.PATH,
    GIT_PROJECT_ROOT: root,
    GIT_HTTP_EXPORT_ALL: "1",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_COUNT: String(Object.keys(settings).length),
    PATH_INFO: `/${repository}.git/${service}`,
    QUERY_STRING: search.slice(1),
    REQUEST_METHOD: method,
    CONTENT_TYPE: headers["content-type"] ?? "",
    CONTENT_LENGTH: String(body.length),
    HTTP_CONTENT_ENCODING: headers["content-encoding"] ?? "",
    GIT_PROTOCOL: String(headers["git-protocol"] ?? ""),
    REMOTE_USER: user ?? "",
    REMOTE_ADDR: "127.0.0.1",
  };
  for (const [at, [key, value]] of Object.entries(settings).entries())
    Object.assign(env, { [`GIT_CONFIG_KEY_${at}`]: key, [`GIT_CONFIG_VALUE_${at}`]: value });
  const child = spawn(backend, { stdio: ["pipe", "pipe", "ignore"], env });
  const parts: Buffer[] = [];
  child.stdout.on("data", (bytes: Buffer) => parts.push(bytes));
  child.stdin.on("error", () => {}); // It need not read what it is given.
  child.stdin.end(body);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", () => resolve(Buffer.concat(parts)));
  });
}

/** Only a fetch says so much that it is packed. */
function phaseOf({ method, headers }: IncomingMessage, service: string, body: Buffer): Phase | null {
  if (method !== "POST") return null;
  if (service === "git-receive-pack") return "push";
  return headers["content-encoding"] !== undefined || body.includes("command=fetch") ? "fetch" : "look";
}

function basic(header: string): { user: string | null; token: string | null } {
  const pair = /^Basic (.+)$/.exec(header)?.[1];
  if (pair === undefined) return { user: null, token: null };
  const text = Buffer.from(pair, "base64").toString();
  return { user: text.slice(0, text.indexOf(":")), token: text.slice(text.indexOf(":") + 1) };
}
