import { afterAll, beforeAll, expect, it } from "vitest";
import { planOf } from "./plan-of.ts";
import { openRoad, type Road } from "./road.ts";

let road: Road;
beforeAll(async () => {
  road = await openRoad();
});
afterAll(() => road.close());

it("[GATE-30] a run that holds a secret and may have read from the network asks before its next way out, once for each call, and the card says why", async () => {
  const steps = ["echo one > src/one.txt", "echo two > src/two.txt"];
  const id = await road.ask(planOf([{ id: "both", steps, hosts: ["docs.example.org"], secrets: ["API_KEY"] }]));
  await road.countersign(id);
  const card = await road.card(id, "tool_call");
  expect(card).toMatchObject({ rule: "gate:rule-of-two", card: { taint: "web" } });
  expect(card.arguments).toContain("echo two");
  expect(card.card.taint_sources?.map(({ taint, source }) => [taint, source.replace(/ of \S+/, "")])).toEqual([
    ["owner", expect.stringMatching(/^task text by /)],
    ["member", expect.stringMatching(/^repository at [0-9a-f]{12}$/)],
    ["web", "step-1 may reach docs.example.org"],
  ]);
  await road.approve(card);
  expect(await road.ended(id)).toMatchObject({ status: "done" });
  const branch = `countersign/${id}`;
  expect([road.repo.file(branch, "src/one.txt"), road.repo.file(branch, "src/two.txt")]).toEqual(["one\n", "two\n"]);
  expect(
    (await road.audit((await road.task(id)).trace_id)).filter(
      (link) => link.event_type === "transition" && link.decision === "taint_raised",
    ),
  ).toMatchObject([{ details: { from: "owner", to: "member" } }, { details: { from: "member", to: "web" } }]);
});
