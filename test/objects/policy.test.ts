/** A policy that changes while work goes on: asked at every next call, named in every card and token, changed once. */
import { describe, expect, it } from "vitest";
import { hashOf } from "../../src/domain/canonical.ts";
import { defaultPolicy } from "../../src/domain/policy.ts";
import type { PolicyChanged } from "../../src/domain/policy-shapes.ts";
import type { Result } from "../../src/domain/refusal.ts";
import { readJws } from "../../src/domain/token.ts";
import { begun, countersigned, item, oneItem, planned, step, suspended } from "./driven.ts";
import {
  approve,
  as,
  audit,
  decisions,
  events,
  inRuntime,
  missing,
  must,
  onlyCard,
  refusalOf,
  type Scope,
} from "./scope.ts";

const noShell = { ...defaultPolicy, tools: { ...defaultPolicy.tools, shell_execute: "deny" as const } };
const tree = "5".repeat(40);

async function change(scope: Scope, policy: unknown, by = "ada"): Promise<Result<PolicyChanged>> {
  const { policy_hash } = must(await scope.runtime.policy(scope.admin));
  return scope.runtime.changePolicy(as(scope, by, "admin"), { policy, reason: "a test", seen: [policy_hash] });
}

describe("a policy that changes", () => {
  it("[PDT-8] what the token granted a moment ago is refused at the next call, by its rule, and allowed once it is changed back", async () => {
    const { scope, task_id } = await countersigned();
    const held = await begun(scope);
    must(await change(scope, noShell));
    expect(await scope.runtime.authorize(scope.id, held.ref, step(held, 1))).toEqual({
      answer: "refused",
      error_code: "gate_blocked",
      reason: "tool:shell_execute: the policy denies shell_execute",
      scope: "call",
    });
    must(await change(scope, defaultPolicy));
    const other = { ...step(held, 1), call_id: "step-2" };
    expect(await scope.runtime.authorize(scope.id, held.ref, other)).toEqual({ answer: "run" });
    expect((await inRuntime(scope, ({ rows }) => rows.calls.ofTask(task_id))).map(({ state }) => state)).toEqual([
      "refused",
      "intent",
    ]);
  });

  it("[PDT-8] a call that a person allowed while its card waited is refused when the policy denies it by then; the token is void", async () => {
    const driven = await countersigned(oneItem.replace("tools: [shell_execute]", "tools: []"));
    const { scope } = driven;
    const held = await begun(scope);
    expect(await scope.runtime.authorize(scope.id, held.ref, step(held, 1))).toEqual({ answer: "wait" });
    await scope.runtime.deliver(await suspended(driven, held));
    must(await approve(scope, await onlyCard(scope, driven.task_id)));
    must(await change(scope, noShell));
    const resumed = await begun(scope, "crew-2");
    const call = step(resumed, 1, tree);
    const answer = await scope.runtime.authorize(scope.id, resumed.ref, call);
    expect(answer).toMatchObject({ answer: "refused", reason: "tool:shell_execute: the policy denies shell_execute" });
    const row = await inRuntime(scope, ({ rows }) => rows.calls.get(`${resumed.ref.attempt_id}/${call.call_id}`));
    expect(row).toMatchObject({ state: "refused", rule: "tool:shell_execute", grant: { life: "void" } });
    // Denied once, the person's yes is used up: it does not come back with the policy.
    must(await change(scope, defaultPolicy));
    expect(await scope.runtime.authorize(scope.id, resumed.ref, call)).toMatchObject({ answer: "refused" });
    expect(await decisions(scope, "effect")).not.toContain("intent");
    expect((await audit(scope)).filter((row) => row.event_type === "gate_block").at(-1)).toMatchObject({
      decision: "deny",
      details: { rule: "tool:shell_execute" },
    });
  });

  it("[PDT-8] a stricter policy that only asks leaves a person's yes to the same call standing", async () => {
    const driven = await countersigned(oneItem.replace("tools: [shell_execute]", "tools: []"));
    const { scope } = driven;
    const held = await begun(scope);
    await scope.runtime.authorize(scope.id, held.ref, step(held, 1));
    await scope.runtime.deliver(await suspended(driven, held));
    must(await approve(scope, await onlyCard(scope, driven.task_id)));
    const gate = { id: "shell", trigger: "on_tool_call", lane: "policy", action: "ask", check: "tool_named" };
    must(await change(scope, { ...defaultPolicy, gates: [{ ...gate, params: { tools: ["shell_execute"] } }] }));
    const resumed = await begun(scope, "crew-2");
    expect(await scope.runtime.authorize(scope.id, resumed.ref, step(resumed, 1, tree))).toEqual({ answer: "run" });
  });

  it("[PDT-9] card and token each name the policy that was in force when they were made", async () => {
    const driven = await planned();
    const { scope, card } = driven;
    expect(card.card.policy_hash).toBe(hashOf(defaultPolicy));
    const { policy_hash } = must(await change(scope, noShell));
    must(await approve(scope, card));
    const { grant } = await item(driven);
    const read = readJws(grant?.jws ?? "") ?? missing("token");
    expect(read.statement.policy_hash).toBe(policy_hash);
    expect(policy_hash).toBe(hashOf(noShell));
    expect((await scope.runtime.policyVersion(scope.admin, 2)).ok).toBe(true);
  });

  it("[PDT-12] a call that asks tells the person its rule and why", async () => {
    const driven = await countersigned(oneItem.replace("tools: [shell_execute]", "tools: []"));
    const { scope } = driven;
    const held = await begun(scope);
    await scope.runtime.authorize(scope.id, held.ref, step(held, 1));
    await scope.runtime.deliver(await suspended(driven, held));
    expect(await onlyCard(scope, driven.task_id)).toMatchObject({
      rule: "tool:shell_execute",
      card: { why: "the policy asks for shell_execute" },
    });
  });

  it("[PDT-7] of two admins at once one changes it, and the other is told who did", async () => {
    const { scope } = await planned();
    const { policy_hash } = must(await scope.runtime.policy(scope.admin));
    const other = { ...defaultPolicy, tools: { ...defaultPolicy.tools, git_push: "deny" as const } };
    const ask = (by: string, policy: unknown) =>
      scope.runtime.changePolicy(as(scope, by, "admin"), { policy, reason: null, seen: [policy_hash] });
    const answers = await Promise.all([ask("ada", noShell), ask("bob", other)]);
    expect(answers.map(({ ok }) => ok).toSorted()).toEqual([false, true]);
    const lost = answers.find(({ ok }) => !ok) ?? missing("loser");
    const won = answers.find(({ ok }) => ok) ?? missing("winner");
    const winner = must(won);
    expect(refusalOf(lost)).toMatchObject({
      code: "precondition_failed",
      extra: { version: 2, policy_hash: winner.policy_hash, changed_by: winner.changed_by },
    });
    expect(must(await scope.runtime.policyVersions(scope.admin, { limit: 9, cursor: null })).items).toHaveLength(2);
    expect((await events(scope)).filter((event) => event.type === "policy_changed")).toMatchObject([
      { actor: winner.changed_by, version: 2, surfaces: ["review", "activity"] },
    ]);
    expect(await decisions(scope, "policy_change")).toEqual(["changed"]);
  });

  it("[PDT-5] a task's recorded calls come with the grant of each call's item", async () => {
    const { scope, task_id } = await countersigned();
    const held = await begun(scope);
    await scope.runtime.authorize(scope.id, held.ref, step(held, 1));
    const recorded = must(await scope.runtime.recordedCalls(scope.admin, task_id));
    expect(recorded).toMatchObject({
      ...{ policy: { version: 1 }, left_out: 0 },
      calls: [
        {
          ...{ call_id: "step-1", tool: "shell_execute", arguments: '{"command":"echo a"}' },
          context: { role: "crew", holds_secret: false, token: { steps: ["echo a"], allow: { paths: ["src/**"] } } },
        },
      ],
    });
    expect(refusalOf(await scope.runtime.recordedCalls(scope.admin, "none")).code).toBe("task_not_found");
  });
});
