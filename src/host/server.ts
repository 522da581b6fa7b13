/**
 * The host's door: POST /v1/<method>, and one upgrade for terminals. Everything carries the secret, compared in
 * constant time; a browser (it sends `Origin`) and a name other than this machine's are refused before that.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { ZodError } from "zod";
import { attachPty } from "./attach.ts";
import { bounds } from "./bounds.ts";
import { asFailure, HostFailure } from "./failure.ts";
import type { Host } from "./host.ts";
import { callMethod } from "./methods.ts";
import { type FailureCode, type Method, methods } from "./protocol.ts";

const statuses: Partial<Record<FailureCode, number>> = {
  unauthorized: 401,
  no_such_sandbox: 404,
  no_such_call: 404,
  ref_not_found: 404,
  call_mismatch: 409,
  not_fast_forward: 409,
  patch_too_large: 413,
  too_many: 429,
  internal: 500,
};

export function serve(host: Host): Server {
  const server = createServer((request, response) => {
    void answer(host, request).then(
      (body) => send(response, 200, body),
      (thrown: unknown) => refuse(response, asRefusal(thrown)),
    );
  });
  server.on("upgrade", (request, socket, head) => {
    try {
      admit(host, request);
      attachPty(host, request, socket, head);
    } catch (thrown) {
      const { code, message } = asRefusal(thrown);
      socket.end(`HTTP/1.1 ${statuses[code] ?? 400} Refused\r\nConnection: close\r\n\r\n${message}\n`);
    }
  });
  // A wait may last 20 s and a checkout minutes; a request that never finishes arriving may not.
  server.requestTimeout = 60_000;
  server.headersTimeout = 10_000;
  server.keepAliveTimeout = 75_000;
  return server;
}

async function answer(host: Host, request: IncomingMessage): Promise<unknown> {
  admit(host, request);
  const method = methodOf(request.url ?? "");
  if (method === null || request.method !== "POST")
    throw new HostFailure("bad_request", "POST /v1/<method> is all there is");
  return callMethod(host, method, parse(await body(request)));
}

/** Throws unless the request comes from whoever was given the secret, and not by way of a browser. */
function admit(host: Host, request: IncomingMessage): void {
  const { port } = host;
  const name = request.headers.host ?? "";
  if (request.headers.origin !== undefined)
    throw new HostFailure("unauthorized", "requests with an Origin are refused");
  if (![`127.0.0.1:${port}`, `localhost:${port}`].includes(name))
    throw new HostFailure("unauthorized", "the Host header is foreign");
  const given = request.headers.authorization ?? "";
  if (!timingSafeEqual(digest(given), digest(`Bearer ${host.config.secret}`))) {
    throw new HostFailure("unauthorized", "the secret is missing or wrong");
  }
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

function methodOf(url: string): Method | null {
  const name = /^\/v1\/(\w+)$/.exec(url)?.[1] ?? "";
  // `hasOwn` has just shown that it is one of the table's names.
  return Object.hasOwn(methods, name) ? (name as Method) : null;
}

async function body(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request) {
    size += part.length;
    if (size > bounds.body_bytes)
      throw new HostFailure("bad_request", `the body is larger than ${bounds.body_bytes} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new HostFailure("bad_request", "the body is not JSON");
  }
}

function asRefusal(thrown: unknown): HostFailure {
  if (!(thrown instanceof ZodError)) return asFailure(thrown);
  const [first] = thrown.issues;
  return new HostFailure(
    "bad_request",
    `${first?.path.join(".") || "body"}: ${first?.message ?? "is not as it should be"}`,
  );
}

function refuse(response: ServerResponse, failure: HostFailure): void {
  const { code, message, retryable } = failure;
  // The rest of a body that was refused is not read.
  response.setHeader("connection", "close");
  send(response, statuses[code] ?? 400, { code, message, retryable });
}

function send(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
}
