/** A policy changed on a running service: what was approved before meets it at its next call, and it survives a restart. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { policyChanged, policyView, replayView } from "../../src/domain/policy-shapes.ts";
import { planOf } from "./plan-of.ts";
import { openRoad, type Road } from "./road.ts";

let road: Road;
beforeAll(async () => {
  road = await openRoad();
});
afterAll(() => road.close());

const inForce = () => road.client.get("/api/policy", policyView);
async function change(tools: Record<string, string>) {
  const now = await inForce();
  const old = policyView.shape.policy.parse(now.policy.tools);
  const policy = { ...now.policy, tools: { ...old, ...tools } };
  const seen = { "if-match": `"${now.policy_hash}"` };
  return road.client.put("/api/policy", { policy, reason: "a journey" }, policyChanged, seen);
}

describe("a policy that is changed", () => {
  it("[JRN-80] stops an approved plan at its next call, by its rule; tried out first it says which calls it would stop", async () => {
    const done = await road.ask(planOf([{ id: "first", steps: ["echo first > src/first.txt"] }]));
    await road.countersign(done);
    expect((await road.ended(done)).status).toBe("done");
    const now = await inForce();
    const tools = policyView.shape.policy.parse(now.policy.tools);
    const candidate = { ...now.policy, tools: { ...tools, shell_execute: "deny" } };
    const tried = await road.client.post("/api/policy/evaluate", { task_id: done, policy: candidate }, replayView);
    expect(tried).toMatchObject({
      ...{ checked: 1, left_out: 0, policy_hash: now.policy_hash },
      changed: [{ tool: "shell_execute", before: { rule: "token" }, after: { rule: "tool:shell_execute" } }],
    });

    const id = await road.ask(planOf([{ id: "second", steps: ["echo second > src/second.txt"], max_attempts: 1 }]));
    const card = await road.card(id, "plan");
    const { version, policy_hash } = await change({ shell_execute: "deny" });
    expect(policy_hash).toBe(tried.candidate_hash);
    await road.approve(card);
    const stuck = await road.card(id, "escalation");
    expect(stuck.card.policy_hash).toBe(policy_hash);
    expect((await road.task(id)).attempts).toMatchObject([{ state: "failed", error_code: "gate_blocked" }]);

    await road.service.kill();
    await road.service.restart();
    expect(await inForce()).toMatchObject({ version, policy_hash, reason: "a journey" });
    await change({ shell_execute: "require_approval" });
    await road.approve(await road.card(id, "escalation"), "the policy is as it was");
    expect(await road.ended(id)).toMatchObject({ status: "done", attempts: [{ state: "failed" }, { state: "done" }] });
    const made = (await road.audit()).filter((row) => row.event_type === "policy_change");
    expect(made.map((row) => [row.actor, row.details.version])).toEqual([
      ["user", version],
      ["user", version + 1],
    ]);
  });
});
