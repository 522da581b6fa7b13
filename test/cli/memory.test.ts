import { afterEach, describe, expect, it } from "vitest";
import { memoryOf } from "../fakes/memory-door.ts";
import { type Answer, command, type Fake, fakeService, json } from "./fake.ts";

let fake: Fake;
afterEach(() => fake?.close());
async function serve(answer: Answer): Promise<string> {
  fake = await fakeService(answer);
  return fake.url;
}

describe("memory", () => {
  it("[MEM-22] search shows each with where it is from, and nothing in it hides; --json is the answer as it is", async () => {
    const one = memoryOf("m1", { title: "Build\u202e twice", excerpt: "first\nthen\u200b" });
    const url = await serve((_, response) => json(response, 200, { items: [one], next_cursor: "1" }));
    const said = await command(url, ["memory", "search", "two words", "--kind", "gotcha", "--limit", "1"]);
    expect(fake.asked[0]?.path).toBe("/api/memory?q=two%20words&kind=gotcha&limit=1");
    expect([said.code, said.out]).toEqual([
      0,
      `m1  gotcha     ${one.at}  member    Build⟦U+202E⟧ twice\n    first\n    then⟦U+200B⟧\n`,
    ]);
    expect(said.err).toContain("--cursor 1");
    expect(JSON.parse((await command(url, ["memory", "search", "--json"])).out).items).toEqual([one]);
    expect(fake.asked[1]?.path).toBe("/api/memory");
  });
  it("[MEM-23] search says that there is nothing, and forget needs a reason", async () => {
    const url = await serve((asked, response) =>
      asked.method === "GET"
        ? json(response, 200, { items: [], next_cursor: null })
        : json(response, 200, memoryOf("m/1", { forgotten: true, text: "", title: "", excerpt: "" })),
    );
    expect((await command(url, ["memory", "search", "x"])).out).toBe("Nothing here.\n");
    expect((await command(url, ["memory", "forget", "m/1"])).code).toBe(2);
    const said = await command(url, ["memory", "forget", "m/1", "--reason", "a name"]);
    expect([said.code, said.out]).toEqual([0, "Forgotten: m/1\n"]);
    expect(fake.asked.at(-1)).toMatchObject({
      method: "DELETE",
      path: "/api/memory/m%2F1",
      body: { reason: "a name" },
    });
  });
});
