import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { HttpWebSearch, type SearchBindings, searchFrom, whyNoSearchUrl } from "../../src/adapters/web-search.ts";
import { SearchFailure } from "../../src/agents/ports.ts";
import { limits } from "../../src/limits.ts";

const key = "a-key-that-nobody-may-see";
const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function provider(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const asked: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    asked.push(request);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const url = `http://127.0.0.1:${port}/res/v1/web/search?safe=1`;
  return { asked, url, search: new HttpWebSearch({ url, key }) };
}
async function failureOf(work: Promise<unknown>): Promise<SearchFailure> {
  const thrown = await work.then(
    () => null,
    (error: unknown) => error,
  );
  if (!(thrown instanceof SearchFailure)) throw new Error(`no failure of a search: ${String(thrown)}`);
  expect(`${thrown.message}${thrown.stack}`).not.toContain(key);
  expect(thrown.message).not.toContain("private words");
  return thrown;
}
const page = (at: number) => ({
  title: `<strong>Page</strong> ${at}`,
  url: `https://p.example/${at}`,
  description: "a\nb",
});

describe("searching the web", () => {
  it("[TOOL-17] the words and the count are asked for, the key goes in its own header, and answers come back as plain text", async () => {
    const results = [{ title: "x", url: "javascript:alert(1)", description: "" }, page(1), page(2), page(3)];
    const { asked, search } = await provider((_, response) => {
      response.end(JSON.stringify({ type: "search", web: { results } }));
    });
    expect(await search.search("private words & more", 2)).toEqual([
      { title: "Page 1", url: "https://p.example/1", excerpt: "a b" },
      { title: "Page 2", url: "https://p.example/2", excerpt: "a b" },
    ]);
    const [request] = asked;
    expect(request?.url).toBe("/res/v1/web/search?safe=1&q=private+words+%26+more&count=2");
    expect(request?.headers["x-subscription-token"]).toBe(key);
    expect(request?.url).not.toContain(key);
  });
  it("[TOOL-23] what comes back holds no key, however the provider repeats what it was sent", async () => {
    const other = "qkxj/vmzApwt9hbn";
    const { url } = await provider((request, response) => {
      const sent = String(request.headers["x-subscription-token"]);
      const middle = `${sent.slice(0, 9)}<strong>${sent.slice(9)}</strong>`;
      const link = `https://p.example/${encodeURIComponent(other)}?key=${sent}`;
      const echoed = {
        title: `You sent ${sent}`,
        url: link,
        description: `${middle} and ${JSON.stringify(request.headers)}`,
      };
      response.end(JSON.stringify({ web: { results: [echoed, page(1)] } }));
    });
    // As it stands in a secret that was piped from a file.
    const bindings = { WEB_SEARCH_URL: url, WEB_SEARCH_KEY: ` ${key}\r\n`, MODEL_API_KEY: `${other}\n` };
    for (const search of [
      new HttpWebSearch({ url, key: ` ${key}\n`, keys: [other] }),
      searchFrom(bindings, () => null),
    ]) {
      const found = (await search?.search("x", 3)) ?? [];
      expect(JSON.stringify(found)).not.toContain(key);
      expect(found[0]).toMatchObject({ title: "You sent [key]", url: "https://p.example/[key]?key=[key]" });
      expect(found[0]?.excerpt).toContain('[key] and {"host"');
      expect(found[1]).toEqual({ title: "Page 1", url: "https://p.example/1", excerpt: "a b" });
    }
  });
  it("[TOOL-24] a key that no header takes, half a configuration and an address that may get none are named; nothing is no fault", () => {
    const lacking = (bindings: SearchBindings) => {
      const told: string[] = [];
      const search = searchFrom(bindings, (name, detail) => {
        told.push(`${name}: ${detail}`);
        return null;
      });
      expect(search === null).toBe(told.length > 0 || Object.keys(bindings).length === 0);
      return told.join();
    };
    const url = "https://api.search.example/x";
    expect(lacking({})).toBe("");
    expect(lacking({ WEB_SEARCH_URL: url, WEB_SEARCH_KEY: key })).toBe("");
    expect(lacking({ WEB_SEARCH_URL: url, WEB_SEARCH_KEY: " \n" })).toContain("Set the secret WEB_SEARCH_KEY");
    expect(lacking({ WEB_SEARCH_KEY: key })).toContain("WEB_SEARCH_URL: ");
    for (const bad of ["first-half\nsecond-half", "first-half second-half", "first-half\u200bsecond-half"]) {
      expect(lacking({ WEB_SEARCH_URL: url, WEB_SEARCH_KEY: bad })).toContain("WEB_SEARCH_KEY cannot be used");
      expect(lacking({ WEB_SEARCH_URL: url, WEB_SEARCH_KEY: bad })).not.toMatch(/-half/);
    }
    expect(lacking({ WEB_SEARCH_URL: "https://169.254.169.254/x", WEB_SEARCH_KEY: key })).toContain("cannot be used");
  });
  it("[TOOL-17] no results are an answer", async () => {
    const { search } = await provider((_, response) => response.end("{}"));
    expect(await search.search("x", 3)).toEqual([]);
  });
  it("[TOOL-18] every failure says what kind it was and whether to come back, and holds neither the key nor the words", async () => {
    const cases: [(response: ServerResponse) => void, boolean][] = [
      [(response) => response.writeHead(401).end(key), false],
      [(response) => response.writeHead(429).end(), true],
      [(response) => response.writeHead(503).end("private words"), true],
      [(response) => response.writeHead(302, { location: "http://127.0.0.1:1/" }).end(), false],
      [(response) => response.end("<html>"), false],
      [(response) => response.end('{"web":{"results":[{"title":1}]}}'), false],
      [(response) => response.end(JSON.stringify({ pad: "x".repeat(limits.web_answer_bytes) })), false],
      [(response) => response.destroy(), true],
      [
        (response) => {
          response.writeHead(200, { "content-length": "1000" });
          response.write("{", () => response.destroy());
        },
        true,
      ],
    ];
    for (const [answer, retryable] of cases) {
      const { search, asked } = await provider((_, response) => answer(response));
      expect((await failureOf(search.search("private words", 3))).retryable).toBe(retryable);
      expect(asked.length).toBe(1);
    }
  });
  it("[TOOL-18] a provider that takes too long is given up", async () => {
    const late = Object.assign(new Error("late"), { name: "TimeoutError" });
    const search = new HttpWebSearch({ url: "https://x.example/", key, fetch: () => Promise.reject(late) });
    expect(await failureOf(search.search("x", 1))).toMatchObject({
      retryable: true,
      message: "the search provider took too long",
    });
  });
  it("[TOOL-17] the key is sent to no address that others could read along the way", () => {
    for (const url of [
      "https://api.search.example/x",
      "http://127.0.0.1:8080/",
      "http://localhost/",
      "http://[::1]:1/",
    ])
      expect(whyNoSearchUrl(url)).toBeNull();
    for (const url of [
      "http://search.example/",
      "ftp://x.example/",
      "x",
      "",
      "https://user:pw@x.example/",
      "http://127.0.0.1.example/",
      "https://169.254.169.254/latest",
      "https://[::ffff:169.254.169.254]/",
      "http://169.254.169.254/",
      "https://[fe80::1]/",
      "https://metadata.google.internal/",
    ])
      expect(whyNoSearchUrl(url), url).not.toBeNull();
  });
});
