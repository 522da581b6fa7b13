/**
 * The only way out of a sandbox: a proxy on a unix socket that knows one verb, CONNECT, one port, 443, and a list of
 * host names. It goes through the machine's own proxy when there is one.
 */
import { createServer, type IncomingMessage, type Server } from "node:http";
import { connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { connect as connectTls } from "node:tls";
import { publicAddresses } from "./address.ts";
import { bounds } from "./bounds.ts";

export interface EgressRules {
  /** Names of the machine's own configuration: allowed wherever they lead. */
  readonly trusted: ReadonlySet<string>;
  /** Names somebody wrote in a plan: allowed only to public addresses. */
  readonly named: ReadonlySet<string>;
  readonly upstream: URL | null;
}

/** Listens on `path`. Closing it ends every connection it carries. */
export async function openEgress(path: string, rules: EgressRules): Promise<{ close(): void }> {
  const open = new Set<Duplex>();
  const server: Server = createServer((_request, response) => {
    response.writeHead(403, { connection: "close" }).end("only CONNECT to an allowed host on port 443\n");
  });
  server.maxConnections = bounds.proxy_connections;
  server.on("connection", (socket) => keep(open, socket));
  server.on("connect", (request: IncomingMessage, client: Duplex, head: Buffer) => {
    client.on("error", () => client.destroy());
    void pass(request.url ?? "", client, head, rules, open).catch(() => refuse(client, "502 Bad Gateway"));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, resolve);
  });
  return {
    close() {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}

async function pass(
  target: string,
  client: Duplex,
  head: Buffer,
  rules: EgressRules,
  open: Set<Duplex>,
): Promise<void> {
  const [, name = "", port = ""] = /^(.+):(\d+)$/.exec(target.toLowerCase()) ?? [];
  const trusted = rules.trusted.has(name);
  if (port !== "443" || !(trusted || rules.named.has(name))) return refuse(client, "403 Forbidden");
  const server = rules.upstream === null ? await direct(name, trusted) : await through(rules.upstream, name);
  if (server === null) return refuse(client, "403 Forbidden");
  keep(open, server);
  server.on("error", () => client.destroy());
  client.on("close", () => server.destroy());
  server.on("close", () => client.destroy());
  client.write("HTTP/1.1 200 Connection established\r\n\r\n");
  server.write(head);
  server.pipe(client).pipe(server);
}

/** The address that was judged is the one that is used: a name cannot change its mind in between. */
async function direct(name: string, trusted: boolean): Promise<Socket | null> {
  if (trusted) return connected(connect({ host: name, port: 443 }), "connect");
  const addresses = await publicAddresses(name);
  const [first] = addresses ?? [];
  return first === undefined ? null : connected(connect({ host: first, port: 443 }), "connect");
}

async function through(upstream: URL, name: string): Promise<Socket> {
  const secure = upstream.protocol === "https:";
  const port = Number(upstream.port || (secure ? 443 : 80));
  const host = upstream.hostname;
  const socket = await (secure
    ? connected(connectTls({ host, port, servername: host }), "secureConnect")
    : connected(connect({ host, port }), "connect"));
  const user = `${decodeURIComponent(upstream.username)}:${decodeURIComponent(upstream.password)}`;
  const auth = upstream.username === "" ? "" : `Proxy-Authorization: Basic ${Buffer.from(user).toString("base64")}\r\n`;
  socket.write(`CONNECT ${name}:443 HTTP/1.1\r\nHost: ${name}:443\r\n${auth}\r\n`);
  await accepted(socket);
  return socket;
}

/** Reads the upstream proxy's answer and leaves what follows it in the stream. */
async function accepted(socket: Socket): Promise<void> {
  let answer = Buffer.alloc(0);
  for await (const bytes of socket.iterator({ destroyOnReturn: false })) {
    answer = Buffer.concat([answer, Buffer.from(bytes)]);
    const end = answer.indexOf("\r\n\r\n");
    if (end < 0 && answer.length < 16_384) continue;
    if (end < 0 || !/^HTTP\/1\.[01] 200/.test(answer.toString("latin1"))) break;
    const rest = answer.subarray(end + 4);
    if (rest.length > 0) socket.unshift(rest);
    return;
  }
  socket.destroy();
  throw new Error("the upstream proxy refused");
}

function connected(socket: Socket, event: "connect" | "secureConnect"): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => socket.destroy(new Error("no answer in time")), bounds.proxy_connect_ms);
    socket.once("error", (error) => {
      clearTimeout(timer);
      reject(error);
    });
    socket.once(event, () => {
      clearTimeout(timer);
      resolve(socket);
    });
  });
}

function refuse(client: Duplex, status: string): void {
  client.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}

function keep(open: Set<Duplex>, socket: Duplex): void {
  open.add(socket);
  socket.once("close", () => open.delete(socket));
  socket.on("error", () => socket.destroy());
}
