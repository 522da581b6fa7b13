/** Models that fail in every way a provider fails, and one server of one's own for every role: the road is the same. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import type { ModelServer } from "../setup/model-server.ts";
import { startModelServer } from "../setup/model-server.ts";
import { call, failing, inOrder, minds, models, openMinded, second, thoughts, told, usage, wish } from "./minds.ts";
import { openRoad, type Road, until } from "./road.ts";

const plan = `---
title: Add a word
goal: There is a word in src/word.txt
budget: { tokens: 200000 }
items:
  - id: word
    runner: loop
    allow: { tools: [file_write], paths: ["src/**"] }
    verify:
      - { run: ["grep", "-q", "a word", "src/word.txt"] }
    max_attempts: 1
    on_stuck: escalate
---
## word

Write a word into \`src/word.txt\`.
`;
const wordWish = minds({
  route: inOrder(call("route", { route: "planner" })),
  planner: inOrder(call("validate_plan", { plan_markdown: plan }), call("submit_plan", { plan_markdown: plan })),
  executor: inOrder(
    call("list_directory", { path: "src" }),
    call("file_write", { path: "src/word.txt", content: "a word\n" }),
    call("finish", { summary: "It is written." }),
  ),
});

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server?.stop());

/** From the wish to the branch, with every call of a model on the task's list. */
async function fulfilled(road: Road) {
  const id = await wish(road, "Add a word");
  await road.countersign(id);
  expect(await road.ended(id)).toMatchObject({ status: "done", attempts: [{ state: "done" }] });
  expect(road.repo.file(`countersign/${id}`, "src/word.txt")).toBe("a word\n");
  await until("it to be said", async () =>
    (await told(road, id)).some((said) => /^Done\. /.test(said)) ? true : null,
  );
  const list = await until("every call to be charged", async () => {
    const all = await thoughts(road, id);
    return all.length === server.journal().length && all.every(({ state }) => state === "charged") ? all : null;
  });
  return { id, list };
}

describe("models that fail on the way", () => {
  let road: Road;
  beforeAll(async () => {
    road = await openMinded(server);
  });
  afterAll(() => road?.close());

  it("[MND-15] too many requests, failures of the provider, answers that are none or break off: the journey ends the same, and each is on the list with what it cost", async () => {
    server.script(
      failing(wordWish, {
        route: [{ fails: "rate_limited", retry_after_s: 1 }],
        planner: [{ fails: "status", status: 500 }, { fails: "malformed" }, null, { fails: "cut" }],
        executor: [{ fails: "cut" }, null, { fails: "rate_limited", retry_after_s: 1 }, { fails: "malformed" }],
      }),
    );
    const { id, list } = await fulfilled(road);
    const failures = (role: string) =>
      list
        .filter((one) => one.role === role)
        .flatMap(({ failure, model }) => (failure === null ? [] : [[failure.split(":")[0], model]]));
    expect(failures("proxy")).toEqual([["rate_limited", models.proxy]]);
    expect(failures("planner")).toEqual([
      ["overloaded", models.planner],
      ["malformed", second.planner],
      ["cut", models.planner],
    ]);
    expect(failures("executor")).toEqual([
      ["cut", models.executor],
      ["rate_limited", models.executor],
      ["malformed", second.executor],
    ]);
    for (const { failure, ...one } of list) {
      if (failure === null) expect(one).toMatchObject({ estimated: false, input_tokens: usage.input });
      else if (/^(?:cut|malformed)/.test(failure))
        expect(one).toMatchObject({ estimated: true, usd: expect.any(Number) });
      else expect(one).toMatchObject({ input_tokens: 0, output_tokens: 0, usd: 0 });
    }
    const cut = list.filter(({ failure }) => failure?.startsWith("cut") === true);
    // How much of an answer had come when it broke off is anybody's guess; what was asked was asked whole.
    expect(cut.filter(({ input_tokens }) => (input_tokens ?? 0) < usage.input / 2)).toEqual([]);
    expect((await road.task(id)).spent).toMatchObject({ calls: list.length, estimated: true, unknown_price: false });
  });
});

describe("every role at one server", () => {
  let road: Road;
  beforeAll(async () => {
    server.forget();
    const args = ["--model-url", server.url, "--model", "my/own-model", "--model-key-env", "JOURNEY_KEY"];
    road = await openRoad({ args, env: { JOURNEY_KEY: "own-key-1b22c9f04d" } });
  });
  afterAll(() => road?.close());

  it("[MND-16] started with --model-url, a wish becomes a branch by one OpenAI-compatible server, and an unknown price is said", async () => {
    const feature = z.looseObject({ name: z.string(), ok: z.boolean(), optional: z.boolean().optional() });
    const { features } = await road.client.get("/healthz", z.looseObject({ features: z.array(feature) }));
    expect(features.filter(({ ok, optional }) => !ok && optional !== true)).toEqual([]);
    server.script(wordWish);
    const { id, list } = await fulfilled(road);
    expect(new Set(server.journal().map(({ path, body }) => `${path} ${body.model}`))).toEqual(
      new Set(["/v1/chat/completions my/own-model"]),
    );
    expect(server.journal().every(({ headers }) => headers.authorization === "Bearer own-key-1b22c9f04d")).toBe(true);
    expect(server.journal().filter(({ text }) => text.includes("own-key"))).toEqual([]);
    expect(list).toMatchObject(
      list.map(() => ({ model: "compatible/my/own-model", usd: null, ...{ input_tokens: usage.input } })),
    );
    expect((await road.task(id)).spent).toMatchObject({ usd: null, unknown_price: true, estimated: false });
  });
});
