import { afterEach, describe, expect, it } from "vitest";
import { letterOf, queueOf } from "../fakes/views.ts";
import { type Answer, command, type Fake, fakeService, json, problem } from "./fake.ts";

let fake: Fake;
afterEach(() => fake?.close());
async function serve(answer: Answer): Promise<string> {
  fake = await fakeService(answer);
  return fake.url;
}
const posts = () => fake.asked.filter((one) => one.method === "POST").map(({ path, body }) => [path, body]);
const at = "2026-01-02T03:04:05.000Z";
const held = {
  ...queueOf("executor_queue"),
  ...{ queued: 3, leased: 1, oldest_at: at },
  leases: [
    {
      ...{ message_id: "message-1", message_kind: "execution_request", holder: "crew-1", leased_at: at },
      ...{ expires_at: "2026-01-02T03:09:05.000Z", deliveries: 1, heartbeats: 2 },
    },
  ],
};
const paused = { ...held, state: "paused" as const, by: "ada", at, reason: "bad\u202emodel" };

describe("queues", () => {
  it("[CLI-30] list and show say depth, age, standing, and who holds what until when", async () => {
    const url = await serve((asked, response) => {
      const { leases, ...row } = held;
      if (asked.path === "/api/queues")
        return json(response, 200, { items: [row], next_cursor: null, silent: ["crew-1"] });
      json(response, 200, paused);
    });
    const list = await command(url, ["queues", "list"]);
    expect(list).toMatchObject({ code: 0, err: "No answer from crew-1: ask again in a moment.\n" });
    expect(list.out).toBe(`executor_queue    open      3 queued  1 leased  0 dead  oldest ${at}\n`);
    const show = await command(url, ["queues", "show", "executor_queue"]);
    expect(show.out).toContain(`by ada at ${at}`);
    expect(show.out).toContain("reason    bad⟦U+202E⟧model");
    expect(show.out).toContain("held by crew-1 since 2026-01-02T03:04:05.000Z until 2026-01-02T03:09:05.000Z");
    expect(JSON.parse((await command(url, ["queues", "show", "executor_queue", "--json"])).out)).toEqual(paused);
  });

  it("[CLI-31] dead-letters shows why and where each died, a page at a time, and nothing in it hides", async () => {
    const letter = letterOf("message-9", {
      reason: "no\nroute",
      died_in: "outbox",
      card: { id: "ap-1", status: "denied" },
    });
    const url = await serve((_, response) => json(response, 200, { items: [letter], next_cursor: "9.outbox.1" }));
    const said = await command(url, ["queues", "dead-letters", "proxy", "--limit", "1", "--cursor", "c"]);
    expect(fake.asked[0]?.path).toBe("/api/queues/proxy/dead-letters?limit=1&cursor=c");
    expect(said.out).toContain("message-9  agent_message  proxy to zoe  given up at");
    expect(said.out).toContain("in the outbox after 5 tries");
    expect(said.out).toContain("reason    no⟦U+000A⟧route");
    expect(said.out).toContain("ap-1, dropped");
    expect(said.err).toContain("--cursor 9.outbox.1");
  });

  it("[CLI-32] requeue needs one letter or --all, and sends just what was named", async () => {
    const url = await serve((_, response) => json(response, 200, { requeued: 1, left: 0 }));
    for (const wrong of [["proxy"], ["proxy", "m", "--all"], [], ["a", "b", "c"]])
      expect((await command(url, ["queues", "requeue", ...wrong])).code).toBe(2);
    expect(fake.asked).toEqual([]);
    const one = await command(url, ["queues", "requeue", "proxy", "../x", "--reason", "zoe is back"]);
    expect(one).toMatchObject({ code: 0, out: "Sent again.\n" });
    expect(posts()).toEqual([["/api/queues/proxy/dead-letters/..%2Fx/requeue", { reason: "zoe is back" }]]);
  });

  it("[CLI-33] requeue --all goes on until nothing more moves, and says how many", async () => {
    const answers = [
      { requeued: 100, left: 53 },
      { requeued: 50, left: 3 },
      { requeued: 0, left: 3 },
    ];
    let dead = 153;
    const url = await serve((asked, response) =>
      json(response, 200, asked.method === "GET" ? { ...held, dead } : answers.shift()),
    );
    const said = await command(url, ["queues", "requeue", "proxy", "--all"]);
    expect(said).toMatchObject({ code: 0, out: "150 sent again, 3 left.\n" });
    expect(said.err).toContain("100 sent again, 53 left");
    // What dies again at once is sent once, not for ever.
    dead = 3;
    answers.splice(0, 9, ...Array.from({ length: 9 }, () => ({ requeued: 3, left: 3 })));
    expect((await command(url, ["queues", "requeue", "proxy", "--all"])).out).toBe("3 sent again, 3 left.\n");
    answers.splice(0, 9, { requeued: 2, left: 0 });
    expect(JSON.parse((await command(url, ["queues", "requeue", "proxy", "--all", "--json"])).out)).toEqual({
      requeued: 2,
      left: 0,
    });
  });

  it("[CLI-34] pause, resume and drain carry the reason and show the queue as it stands", async () => {
    const url = await serve((_, response) => json(response, 200, paused));
    for (const move of ["pause", "resume", "drain"]) {
      const said = await command(url, ["queues", move, "executor_queue", "--reason", "why"]);
      expect(said).toMatchObject({ code: 0 });
      expect(said.out).toContain("paused");
    }
    await command(url, ["queues", "pause", "executor_queue"]);
    expect(posts()).toEqual([
      ["/api/queues/executor_queue/pause", { reason: "why" }],
      ["/api/queues/executor_queue/resume", { reason: "why" }],
      ["/api/queues/executor_queue/drain", { reason: "why" }],
      ["/api/queues/executor_queue/pause", {}],
    ]);
  });

  it("[CLI-35] a letter whose card was decided first, an unknown queue and a role that may not are 1, in words", async () => {
    const url = await serve((_, response) =>
      problem(response, 409, "not_in_this_state", "ada dropped this letter in Review.", { state: "dropped" }),
    );
    const said = await command(url, ["queues", "requeue", "proxy", "message-9"]);
    expect(said).toMatchObject({ code: 1, out: "", err: "ada dropped this letter in Review.\n" });
    const inJson = await command(url, ["queues", "requeue", "proxy", "message-9", "--json"]);
    expect(JSON.parse(inJson.err).error).toMatchObject({ code: "not_in_this_state", status: 409 });
  });
});
