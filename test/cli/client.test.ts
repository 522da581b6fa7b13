import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { connect, Problem, Unreachable } from "../../src/cli/client.ts";
import { serverSentEvents } from "../../src/cli/sse.ts";
import { event, type Fake, fakeService, json, problem } from "./fake.ts";

let fake: Fake;
afterEach(() => fake?.close());

async function collect(chunks: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  const bytes = chunks.map((chunk) => Buffer.from(chunk, "latin1"));
  for await (const data of serverSentEvents(ReadableStream.from(bytes))) found.push(data);
  return found;
}
function frame(...events: ReturnType<typeof event>[]): string {
  return events.map((one) => `id: ${one.seq}\ndata: ${JSON.stringify(one)}\n\n`).join("");
}

describe("asking the service", () => {
  it("[CLI-5] sends the token, and follows no redirect with it", async () => {
    fake = await fakeService((asked, response) => {
      if (asked.path === "/moved") response.writeHead(302, { location: "/elsewhere" }).end();
      else json(response, 200, {});
    });
    const client = connect(`${fake.url}/`, "cs_token");
    await client.get("/x", z.looseObject({}));
    expect(fake.asked[0]?.headers.authorization).toBe("Bearer cs_token");
    await expect(client.get("/moved", z.unknown())).rejects.toThrow(Unreachable);
    expect(fake.asked.map((one) => one.path)).toEqual(["/x", "/moved"]);
  });

  it("[CLI-5] a problem keeps its status, code and sentence", async () => {
    fake = await fakeService((_, response) => problem(response, 409, "already_resolved", "Somebody was faster."));
    const error = await connect(fake.url, "t")
      .post("/x", {}, z.unknown())
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Problem);
    expect(error).toMatchObject({ status: 409, code: "already_resolved", message: "Somebody was faster." });
  });

  it("[CLI-5] an answer that is not this API's is told apart from a refusal", async () => {
    fake = await fakeService((asked, response) => {
      if (asked.path === "/html") response.end("<html>");
      else if (asked.path === "/shape") json(response, 200, { id: 7 });
      else response.writeHead(502).end("bad gateway");
    });
    const client = connect(fake.url, "t");
    const shape = z.object({ id: z.string() });
    for (const path of ["/html", "/shape", "/gateway"])
      await expect(client.get(path, shape)).rejects.toThrow(Unreachable);
  });

  it("[CLI-5] nobody there is said with the address", async () => {
    fake = await fakeService(() => undefined);
    await fake.close();
    await expect(connect(fake.url, "t").get("/x", z.unknown())).rejects.toThrow(
      `${fake.url} does not answer (ECONNREFUSED)`,
    );
  });
});

describe("the event feed", () => {
  it("[CLI-6] events survive any cut of the bytes, and comments and other fields are passed over", async () => {
    const text = ": hi\r\n\r\nid: 1\r\ndata: a\r\ndata: b\r\n\r\nevent: x\ndata:c\n\nretry: 5\n\ndata: d";
    const whole = await collect([text]);
    expect(whole).toEqual(["a\nb", "c"]);
    expect(await collect(text.split(""))).toEqual(whole);
    expect(await collect(text.match(/[\s\S]{1,3}/g) ?? [])).toEqual(whole);
  });

  it("[CLI-6] an event without end is refused before it fills the memory", async () => {
    const chunk = "x".repeat(1024 * 1024);
    await expect(collect(["data: ", chunk, chunk, chunk, chunk, chunk])).rejects.toThrow(/too large/);
  });

  it("[CLI-6] a broken connection goes on after the last event, and nothing is seen twice", async () => {
    const asked: (string | undefined)[] = [];
    fake = await fakeService((one, response) => {
      asked.push(one.headers["last-event-id"]?.toString());
      response.writeHead(200, { "content-type": "text/event-stream" });
      if (asked.length === 1)
        response.write(frame(event(1, "task_created"), event(2, "plan_ready")), () => response.destroy());
      else response.end(frame(event(2, "plan_ready"), event(3, "task_complete")));
    });
    const seen: number[] = [];
    const stop = new AbortController();
    for await (const one of connect(fake.url, "t").events(0, stop.signal)) {
      seen.push(one.seq);
      if (one.seq === 3) break;
    }
    expect(seen).toEqual([1, 2, 3]);
    expect(asked).toEqual(["0", "2"]);
  });

  it("[CLI-6] a revoked token ends the feed at once", async () => {
    fake = await fakeService((_, response) => problem(response, 401, "unauthenticated", "The token is unknown."));
    const feed = connect(fake.url, "t").events(0, new AbortController().signal);
    await expect(feed.next()).rejects.toThrow("The token is unknown.");
    expect(fake.asked.length).toBe(1);
  });
});
