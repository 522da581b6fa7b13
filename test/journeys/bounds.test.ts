import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AuditView } from "../../src/domain/record-view.ts";
import { planOf } from "./plan-of.ts";
import { openRoad, type Road } from "./road.ts";

let road: Road;
beforeAll(async () => {
  road = await openRoad();
});
afterAll(() => road.close());

const branchOf = (task: string) => `countersign/${task}`;
const states = async (id: string) => (await road.task(id)).attempts.map(({ state, error_code }) => [state, error_code]);

describe.concurrent("when something is not as the plan says", () => {
  it("[JRN-20] a verification that fails is tried again to the limit, then a person is asked; approving allows one more attempt with their words", async () => {
    const steps = ["echo tried > src/tried.txt"];
    const id = await road.ask(
      planOf([{ id: "tried", steps, verify: [["test", "-e", "src/other.txt"]], max_attempts: 2 }]),
    );
    await road.countersign(id);
    const first = await road.card(id, "escalation");
    expect(await states(id)).toEqual([
      ["failed", "verification_failed"],
      ["failed", "verification_failed"],
    ]);
    expect((await road.task(id)).attempts[0]?.verifications[0]).toMatchObject({ verdict: "fail" });

    await road.approve(first, "try it by moonlight");
    const second = await road.card(id, "escalation");
    expect(second.card.facts.join("\n")).toContain("try it by moonlight");
    expect(await states(id)).toHaveLength(3);
    expect((await road.task(id)).status).toBe("waiting");

    await road.deny(second, "enough");
    expect(await road.ended(id)).toMatchObject({ status: "failed", commit: null });
    expect(road.repo.git("branch", "--list", branchOf(id))).toBe("");
  });

  it("[JRN-21] a patch that touches a protected path is an integrity violation, whatever else was granted", async () => {
    const steps = ["echo 'process.exit(0)' > test/pager.test.js"];
    const id = await road.ask(
      planOf([
        {
          id: "cheat",
          steps,
          paths: ["src/**", "test/**"],
          protect: ["test/**"],
          verify: [["npm", "test"]],
          max_attempts: 1,
        },
      ]),
    );
    await road.countersign(id);
    const card = await road.card(id, "escalation");
    const [attempt] = (await road.task(id)).attempts;
    expect(attempt?.verifications).toMatchObject([{ verdict: "integrity_violation", checks: [], commit: null }]);
    expect(attempt?.verifications[0]?.detail).toContain("test/pager.test.js");
    await road.deny(card, "no");
    expect((await road.ended(id)).status).toBe("failed");
  });

  it("[JRN-22] a patch outside what was granted is blocked until a person lets that one result pass", async () => {
    const id = await road.ask(planOf([{ id: "wide", steps: ["echo more > NOTES.md; echo wide > src/wide.txt"] }]));
    await road.countersign(id);
    const card = await road.card(id, "gate");
    expect(card.card.facts).toEqual([expect.stringMatching(/^NOTES\.md: /)]);
    expect((await road.task(id)).attempts).toMatchObject([{ state: "executed", verifications: [] }]);
    await road.approve(card);
    expect(await road.ended(id)).toMatchObject({ status: "done", attempts: [{ state: "done" }] });
    expect(road.repo.file(branchOf(id), "NOTES.md")).toBe("more\n");
  });

  it("[JRN-23] a result that a person does not let pass ends its attempt, and the next question is whether to go on", async () => {
    const id = await road.ask(planOf([{ id: "wide", steps: ["echo more > NOTES.md"], max_attempts: 1 }]));
    await road.countersign(id);
    await road.deny(await road.card(id, "gate"), "keep to the sources");
    const card = await road.card(id, "escalation");
    expect(card.card.facts.join("\n")).toContain("keep to the sources");
    expect(await states(id)).toEqual([["failed", "gate_blocked"]]);
    await road.deny(card, "so be it");
    expect((await road.ended(id)).status).toBe("failed");
  });

  it("[JRN-24] a step that fails ends its attempt with its exit code, the steps after it do not run", async () => {
    const id = await road.ask(
      planOf([{ id: "steps", steps: ["exit 7", "echo after > src/after.txt"], max_attempts: 2 }]),
    );
    await road.countersign(id);
    const card = await road.card(id, "escalation");
    expect(await states(id)).toEqual([
      ["failed", "tool_failure"],
      ["failed", "tool_failure"],
    ]);
    expect(card.card.facts.join("\n")).toMatch(/step 1 ended with exit code 7/);
    const calls = (await road.audit((await road.task(id)).trace_id)).flatMap(({ details }) => details.call_id ?? []);
    expect(calls).not.toContain("step-2");
    await road.deny(card, "it never will");
    expect((await road.ended(id)).status).toBe("failed");
  });

  it("[JRN-25] a call outside the grant that a person denies does not run, and the reason goes on record", async () => {
    const id = await road.ask(
      planOf([{ id: "asks", steps: ["echo asked > src/asked.txt"], tools: [], max_attempts: 1 }]),
    );
    await road.countersign(id);
    const card = await road.card(id, "tool_call");
    expect(card).toMatchObject({ tool_name: "shell_execute", arguments: '{"command":"echo asked > src/asked.txt"}' });
    await road.deny(card, "not that way");
    const next = await road.card(id, "escalation");
    expect(next.card.facts.join("\n")).toContain("not that way");
    expect(await states(id)).toEqual([["failed", "approval_denied"]]);
    await road.deny(next, "no other way");
    expect((await road.ended(id)).status).toBe("failed");
    const effects = (await road.audit((await road.task(id)).trace_id)).filter(isIntentOfCall);
    expect(effects).toEqual([]);
  });
});

describe("while a call waits for a person", () => {
  it("[JRN-26] every process dies and comes back, the question still stands as it was, and once approved the call runs once", async () => {
    const steps = ["echo one >> src/count.txt", "echo two >> src/count.txt"];
    const id = await road.ask(planOf([{ id: "count", steps, tools: [] }]));
    await road.countersign(id);
    await road.approve(await road.card(id, "tool_call"));
    const second = await road
      .becomes(id, "asking again", (task) => task.waiting_on === "tool_call")
      .then(() => road.card(id, "tool_call"));
    expect(second.arguments).toContain("two");

    await road.service.kill();
    await road.service.restart();
    expect(await road.card(id, "tool_call")).toEqual(second);
    expect((await road.task(id)).attempts).toMatchObject([{ state: "suspended" }]);

    await road.approve(second);
    const task = await road.ended(id);
    expect(task).toMatchObject({ status: "done", attempts: [{ state: "done", number: 1 }] });
    expect(road.repo.file(branchOf(id), "src/count.txt")).toBe("one\ntwo\n");
    const ran = (await road.audit(task.trace_id)).filter(isIntentOfCall).map(({ details }) => details.call_id);
    expect(ran).toEqual(["step-1", "step-2"]);
  });
});

function isIntentOfCall({ event_type, decision, details }: AuditView): boolean {
  return event_type === "effect" && decision === "intent" && details.call_id !== undefined;
}
