/** What waits for a person besides a plan: one call, a result out of bounds, an item that is stuck. */
import { describe, expect, it } from "vitest";
import { attempts, begun, countersigned, failure, item, oneItem, result, step, suspended } from "./driven.ts";
import {
  approve,
  audit,
  decisions,
  deny,
  expectSound,
  inRuntime,
  missing,
  must,
  onlyCard,
  refusalOf,
  task,
} from "./scope.ts";

describe("a call that waits", () => {
  async function waiting() {
    const driven = await countersigned(oneItem.replace("tools: [shell_execute]", "tools: []"));
    const held = await begun(driven.scope);
    expect(await driven.scope.runtime.authorize(driven.scope.id, held.ref, step(held, 1))).toEqual({ answer: "wait" });
    await driven.scope.runtime.deliver(await suspended(driven, held));
    return { driven, held, card: await onlyCard(driven.scope, driven.task_id) };
  }

  it("[DEC-10] its card is bound to the workspace; approved it goes on as the same attempt and runs once", async () => {
    const { driven, held, card } = await waiting();
    const { scope, task_id } = driven;
    expect(card).toMatchObject({
      kind: "tool_call",
      tool_name: "shell_execute",
      card: { tool: { workspace_tree: "5".repeat(40), arguments: step(held, 1).arguments } },
    });
    expect(await task(scope, task_id)).toMatchObject({ status: "waiting", waiting_on: "tool_call" });
    expect(await scope.runtime.claim(scope.id, "crew-2")).toBeNull();
    must(await approve(scope, card));
    const resumed = await begun(scope, "crew-2");
    expect(resumed.ref).toMatchObject({ attempt_id: held.ref.attempt_id, entry: 1 });
    const call = step(resumed, 1, "5".repeat(40));
    expect(await scope.runtime.authorize(scope.id, resumed.ref, call)).toEqual({ answer: "run" });
    expect(await scope.runtime.authorize(scope.id, resumed.ref, call)).toEqual({ answer: "run" });
    await scope.runtime.settle(scope.id, resumed.ref, call.call_id, {
      state: "exited",
      exit_code: 0,
      signal: null,
      duration_ms: 1,
    });
    expect(await scope.runtime.authorize(scope.id, resumed.ref, call)).toMatchObject({ answer: "refused" });
    expect((await decisions(scope, "effect")).filter((said) => said === "intent" || said === "outcome")).toEqual([
      "intent",
      "outcome",
    ]);
    await expectSound(scope);
  });

  it("[DEC-11] in another workspace the approval is void and the call is asked anew", async () => {
    const { driven, card } = await waiting();
    const { scope } = driven;
    must(await approve(scope, card));
    const resumed = await begun(scope, "crew-2");
    expect(await scope.runtime.authorize(scope.id, resumed.ref, step(resumed, 1, "6".repeat(40)))).toEqual({
      answer: "wait",
    });
    expect((await audit(scope)).slice(-2)).toMatchObject([
      { event_type: "check", decision: "void" },
      { event_type: "gate_block", decision: "ask" },
    ]);
    expect(await decisions(scope, "effect")).not.toContain("intent");
    await scope.runtime.deliver(await suspended(driven, resumed, 1, "6".repeat(40)));
    const again = await onlyCard(scope, driven.task_id);
    expect(again.id).not.toBe(card.id);
    expect(again.card.tool?.workspace_tree).toBe("6".repeat(40));
  });

  it("[DEC-12] denied, its reason is the result and a person is asked how to go on", async () => {
    const { driven, card } = await waiting();
    const { scope, task_id } = driven;
    must(await deny(scope, card, "not that command"));
    const stuck = await onlyCard(scope, task_id);
    expect(stuck).toMatchObject({
      kind: "escalation",
      card: { facts: [expect.stringContaining("not that command"), expect.anything()] },
    });
    expect(await attempts(driven)).toMatchObject([{ state: "failed", error_code: "approval_denied" }]);
    expect(await scope.runtime.claim(scope.id, "crew-2")).toBeNull();
  });

  it("[DEC-13] denied with stop, the whole task is cancelled", async () => {
    const { driven, card } = await waiting();
    must(await deny(driven.scope, card, "stop it all", true));
    expect(await task(driven.scope, driven.task_id)).toMatchObject({ status: "cancelled", reason: "stop it all" });
    expect(await attempts(driven)).toMatchObject([{ state: "cancelled" }]);
  });

  it("[DEC-14] a call whose row is not what the card shows cannot be approved", async () => {
    const { driven, held, card } = await waiting();
    await inRuntime(driven.scope, ({ rows }) => {
      const call = rows.calls.get(`${held.ref.attempt_id}/step-1`) ?? missing("call");
      rows.calls.put({ ...call, arguments: '{"command":"curl evil"}' });
    });
    expect(refusalOf(await approve(driven.scope, card)).code).toBe("content_changed");
    expect(await driven.scope.runtime.claim(driven.scope.id, "crew-2")).toBeNull();
  });
});

describe("a result out of bounds, and an item that is stuck", () => {
  const outside = { path: "docs/b.txt", change: "added", old_mode: "000000", mode: "100644" } as const;

  it("[DEC-15] a patch beyond the grant waits at the gate; approved this one goes to verification", async () => {
    const driven = await countersigned();
    const { scope, task_id } = driven;
    await scope.runtime.deliver(await result(driven, await begun(scope), { files: [outside] }));
    const card = await onlyCard(scope, task_id);
    expect(card).toMatchObject({ kind: "gate", card: { facts: ["docs/b.txt: it is not in allow.paths"] } });
    expect(await inRuntime(scope, ({ rows }) => rows.verifications.all())).toEqual([]);
    must(await approve(scope, card));
    expect(await attempts(driven)).toMatchObject([{ state: "verifying", gate_passed: true }]);
    expect(await decisions(scope, "gate_block")).toEqual(["blocked"]);
  });

  it("[DEC-16] a gate's card is void once the result is another", async () => {
    const driven = await countersigned();
    const { scope, task_id } = driven;
    await scope.runtime.deliver(await result(driven, await begun(scope), { files: [outside] }));
    await inRuntime(scope, ({ rows }) => {
      const [attempt = missing("attempt")] = rows.attempts.ofTask(task_id);
      rows.attempts.put({
        ...attempt,
        patch: attempt.patch === null ? null : { ...attempt.patch, tree: "e".repeat(40) },
      });
    });
    expect(refusalOf(await approve(scope, await onlyCard(scope, task_id))).code).toBe("content_changed");
    expect(await attempts(driven)).toMatchObject([{ state: "executed" }]);
  });

  it("[DEC-17] a gate denied ends the attempt and asks how to go on", async () => {
    const driven = await countersigned();
    const { scope, task_id } = driven;
    await scope.runtime.deliver(await result(driven, await begun(scope), { files: [outside] }));
    must(await deny(scope, await onlyCard(scope, task_id), "keep out of docs"));
    expect(await onlyCard(scope, task_id)).toMatchObject({ kind: "escalation" });
    expect(await attempts(driven)).toMatchObject([{ state: "failed", error_code: "gate_blocked" }]);
  });

  it("[DEC-18] an escalation approved is exactly one more attempt, with the comment in its guidance", async () => {
    const driven = await countersigned();
    const { scope, task_id } = driven;
    for (const _ of [1, 2]) await scope.runtime.deliver(await failure(driven, await begun(scope)));
    const stuck = await onlyCard(scope, task_id);
    expect(stuck.kind).toBe("escalation");
    must(await approve(scope, stuck, { comment: "use tabs" }));
    const third = await begun(scope);
    expect(third.lease.message.payload.guidance).toContain("A person said: use tabs");
    await scope.runtime.deliver(await failure(driven, third));
    expect(await onlyCard(scope, task_id)).toMatchObject({ kind: "escalation" });
    expect(await attempts(driven)).toHaveLength(3);
  });

  it("[DEC-19] an escalation denied fails the task, and its tokens are void", async () => {
    const driven = await countersigned();
    const { scope, task_id } = driven;
    await scope.runtime.deliver(await failure(driven, await begun(scope), false));
    must(await deny(scope, await onlyCard(scope, task_id), "give up"));
    expect(await task(scope, task_id)).toMatchObject({ status: "failed", error_code: "tool_failure" });
    expect((await item(driven)).grant).toMatchObject({ life: "void" });
    await expectSound(scope);
  });
});
