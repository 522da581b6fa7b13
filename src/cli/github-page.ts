/**
 * A page on this machine's own loopback address, for as long as one set-up takes: it sends the manifest to GitHub, and
 * GitHub sends the browser back to it with a code. Only who has the printed address sees it, and only a code that comes
 * with this page's own state is taken, once. [GHL-51] [GHL-52]
 */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { sameText } from "../domain/credential.ts";

export interface Ask {
  /** 32 random bytes each, as text. */
  readonly key: string;
  readonly state: string;
  /** Where GitHub takes a manifest, without a query. */
  readonly action: string;
  readonly manifest: (redirect_url: string) => object;
}
export interface Came {
  readonly code: string;
  /** Tells the person in the browser how it ended. */
  readonly tell: (words: string) => void;
}
export interface Page {
  /** What the person opens. */
  readonly address: string;
  readonly came: Promise<Came>;
  close(): Promise<void>;
}

export async function openPage(ask: Ask): Promise<Page> {
  let arrive: (came: Came) => void = () => undefined;
  const came = new Promise<Came>((resolve) => {
    arrive = resolve;
  });
  let taken = false;
  let origin = "";
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://127.0.0.1");
    // A page of another name that was made to lead here has no business here.
    const known = request.headers.host === new URL(origin).host && request.method === "GET";
    if (known && sameText(url.pathname, `/start/${ask.key}`)) return start(response);
    if (known && url.pathname === "/made") return made(response, url.searchParams);
    end(response, 404, "There is nothing here. Open the address that stands in the terminal.");
  });
  const start = (response: ServerResponse): void => {
    const manifest = JSON.stringify(ask.manifest(`${origin}/made`));
    const form = `<form method="post" action="${escaped(`${ask.action}?state=${ask.state}`)}">
<input type="hidden" name="manifest" value="${escaped(manifest)}">
<button>Make the GitHub App</button></form>`;
    const where = escaped(new URL(ask.action).host);
    end(response, 200, `This leads to ${where}, where you may change the App's name and make it.`, form);
  };
  const made = (response: ServerResponse, query: URLSearchParams): void => {
    const code = query.get("code") ?? "";
    if (!sameText(query.get("state") ?? "", ask.state) || !/^[A-Za-z0-9_-]{1,200}$/.test(code))
      return end(response, 403, "This did not begin here. Open the address that stands in the terminal.");
    if (taken) return end(response, 409, "This was taken already. Look into the terminal.");
    taken = true;
    arrive({ code, tell: (words) => end(response, 200, words) });
  };
  await new Promise<void>((done, fail) => {
    server.once("error", fail);
    server.listen(0, "127.0.0.1", done);
  });
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // It listens on a port, not on a pipe.
  return {
    address: `${origin}/start/${ask.key}`,
    came,
    close: async () => {
      const closed = new Promise<void>((done) => server.close(() => done()));
      server.closeIdleConnections();
      // An answer under way gets a moment to leave.
      const late = setTimeout(() => server.closeAllConnections(), 1_000);
      await closed;
      clearTimeout(late);
    },
  };
}

/** `words` are our own, or escaped. The code stands in this page's address, so nothing is told of where one came from. */
function end(response: ServerResponse, status: number, words: string, more = ""): void {
  const made = response.req.url?.startsWith("/made") === true;
  response.writeHead(status, {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    ...(made ? { "referrer-policy": "no-referrer" } : {}),
    connection: "close",
  });
  response.end(`<!doctype html><html lang="en"><meta charset="utf-8"><title>Countersign and GitHub</title>
<style>body{font:1rem/1.5 system-ui;max-width:36rem;margin:4rem auto;padding:0 1rem}button{font:inherit;padding:.5rem 1rem}</style>
<h1>Countersign and GitHub</h1><p>${words}</p>${more}</html>
`);
}
function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
