import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { verifyChain } from "../../src/domain/audit.ts";
import type { AuditView, EventView } from "../../src/domain/record-view.ts";
import { planOf } from "./plan-of.ts";
import { openRoad, type Road, until } from "./road.ts";

let road: Road;
beforeAll(async () => {
  road = await openRoad();
});
afterAll(() => road.close());

const letters = (first: string, last: string) =>
  `for l in {${first}..${last}}; do echo $l >> src/letters.txt; echo wrote $l; sleep 0.2; done`;
const plan = planOf(
  [
    { id: "first", steps: [letters("a", "e"), letters("f", "j")], verify: [["grep", "-q", "j", "src/letters.txt"]] },
    {
      id: "second",
      depends_on: ["first"],
      steps: [letters("k", "o")],
      verify: [["sh", "-c", "sleep 1; grep -q o src/letters.txt"]],
    },
  ],
  { setup: [["sh", "-c", "echo setting up; sleep 1"]] },
);

const says = (stage: string, text: string) => (event: EventView) =>
  event.type === "agent_output" && event.stage === stage && String(event.text).includes(text);
const is = (type: string, detail: string) => (event: EventView) => event.type === type && event.detail === detail;

/** Where the power fails: in the order in which a task passes them, each waited for anew after the one before. */
const moments: readonly (readonly [string, (event: EventView) => boolean])[] = [
  ["the set-up", says("execute", "setting up")],
  ["a step", says("execute", "wrote g")],
  ["the last step, and the snapshot after it", says("execute", "wrote j")],
  ["the verification", says("verify", "check:")],
  ["the merge", is("merge_result", "Change first")],
  ["the publication", is("merge_result", "Change second")],
];

describe("a service whose power fails again and again", () => {
  it("[KILL-1] [KILL-2] [KILL-3] the task comes to its end, every effect happened once, and the record has no gap", async () => {
    const id = await road.ask(plan);
    await road.countersign(id);
    let seen = 0;
    for (const [name, moment] of moments) {
      seen = (await road.happens(seen, name, moment)).seq;
      await road.service.kill();
      await road.service.restart();
    }

    const task = await road.ended(id);
    expect(task).toMatchObject({ status: "done", phase: "complete" });
    expect(road.repo.file(`countersign/${id}`, "src/letters.txt")).toBe([..."abcdefghijklmno", ""].join("\n"));
    expect(road.repo.git("rev-parse", `countersign/${id}`).trim()).toBe(task.commit);

    const told = await road.events(id);
    expect(told.filter(({ type }) => type === "task_complete")).toHaveLength(1);
    const merges = told.filter(({ type }) => type === "merge_result");
    expect(merges.map(({ detail }) => detail)).toEqual(["Change first", "Change second"]);

    const rows = await until("the whole record", async () => {
      const found = await road.audit();
      const merged = found.filter(isMerge).length;
      return merged === 2 && verifyChain(chained(found)).ok ? found : null;
    });
    const intents = rows.filter(isIntent).map(({ details }) => `${details.attempt_id}/${details.call_id}`);
    expect(intents.length).toBeGreaterThanOrEqual(3);
    expect(intents.toSorted()).toEqual([...new Set(intents)].toSorted());
  });
});

/** Rows in the order of their chains: the search sorts by time. */
function chained(rows: readonly AuditView[]): AuditView[] {
  return rows.toSorted((a, b) => a.object.localeCompare(b.object) || a.seq - b.seq);
}
function isMerge({ event_type, decision }: AuditView): boolean {
  return event_type === "merge" && decision === "merged";
}
function isIntent({ event_type, decision, details }: AuditView): boolean {
  return event_type === "effect" && decision === "intent" && details.call_id !== undefined;
}
