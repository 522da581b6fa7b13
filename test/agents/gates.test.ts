/** Gates at the points where the runtime meets words, through its real doors over real rows. */
import { describe, expect, it } from "vitest";
import { approvalText } from "../../src/cli/show.ts";
import { type Gate, gate } from "../../src/domain/policy-gates.ts";
import { taskView } from "../../src/domain/view.ts";
import { must } from "../fakes/held-scope.ts";
import { openRuntime, planOf } from "../fakes/scope-runtime.ts";

const plan = planOf(["echo a"]);
const on = (trigger: Gate["trigger"], action: Gate["action"], word = "forbidden"): Gate =>
  gate.parse({
    ...{ id: `${action}-it`, trigger, action, lane: action === "annotate" ? "quality" : "policy" },
    ...{ check: "text_contains", params: { any: [word] } },
  });
const word = "a Forbidden word";
const refusalOf = (result: { ok: boolean; refusal?: { code: string; detail: string } }) => {
  if (result.ok || result.refusal === undefined) throw new Error("it was not refused");
  return result.refusal;
};

describe("a person's words", () => {
  it.each([
    ["title", { title: word }],
    ["description", { description: word }],
    ["plan", { plan: planOf([`echo ${word}`]) }],
  ])("[GATE-5] blocked in the %s of a task, nothing is stored of it but the record", async (_where, input) => {
    const run = openRuntime();
    run.gates(on("every_user_message", "block"));
    const refused = refusalOf(await run.ask(run.as("bob", "submitter"), input));
    expect(refused).toMatchObject({ code: "denied_by_policy", detail: expect.stringContaining("block-it") });
    expect([run.rows.tasks.all(), run.rows.held.all(), run.sent("user_message"), run.scope.directory.repos()]).toEqual([
      [],
      [],
      [],
      [],
    ]);
    expect(run.audit("gate_block")).toMatchObject([
      { actor: "gate_runner", decision: "block", details: { by: "bob", gate: "block-it" } },
    ]);
    expect(run.events()).toEqual([]);
  });
  it("[GATE-5] blocked in a follow-up or in changes asked for, the words are refused and the task stays as it was", async () => {
    const run = openRuntime();
    const id = must(await run.ask(run.ada, { plan }));
    await run.observe(run.planResult(id, plan));
    run.gates(on("every_user_message", "block"));
    const before = run.taskRow(id);
    expect(refusalOf(await run.tasks.addMessage(run.ada, id, word)).code).toBe("denied_by_policy");
    const card = await run.onlyCard(id);
    expect(refusalOf(await run.changes(card, word)).code).toBe("denied_by_policy");
    expect(run.taskRow(id)).toEqual(before);
    expect(await run.onlyCard(id)).toEqual(card);
    expect(run.sent("user_message")).toHaveLength(1);
    must(await run.changes(card, "say it politely"));
    expect(run.sent("user_message")).toHaveLength(2);
  });

  it.each([
    ["a label", { labels: ["ok", "Forbidden"] }],
    ["title and description", { title: "a for", description: "\u{200b}bidden word" }],
    ["label and plan", { labels: ["a", "for"], plan: "bidden" }],
  ])("[GATE-44] blocked in %s", async (_where, input) => {
    const run = openRuntime();
    run.gates(
      on("every_user_message", "block", "labels" in input && input.labels[0] === "ok" ? "forbidden" : "for bidden"),
    );
    expect(refusalOf(await run.ask(run.as("bob", "submitter"), input)).code).toBe("denied_by_policy");
  });
  it("[GATE-44] the card of a task held for its label names the labels", async () => {
    const run = openRuntime();
    run.gates(on("every_user_message", "ask"));
    const id = must(await run.ask(run.as("bob", "submitter"), { labels: ["ok", "forbidden"] }));
    expect((await run.onlyCard(id)).card.title).toBe('Let the words of "A task" (labels: ok, forbidden) pass');
  });
  it("[GATE-6] a task whose words a gate asks about waits with a card that shows them; approved, it goes on, once", async () => {
    const run = openRuntime();
    run.gates(on("every_user_message", "ask"));
    const id = must(await run.ask(run.as("bob", "submitter"), { description: word, plan }));
    expect(run.taskRow(id)).toMatchObject({ status: "waiting", waiting_on: "gate" });
    expect(run.sent("user_message")).toEqual([]);
    const card = await run.onlyCard(id);
    expect(card).toMatchObject({ kind: "gate", rule: "gate:ask-it", card: { requested_by: "bob", taint: "member" } });
    expect(card.arguments).toContain(word);
    expect(card.card.taint_sources).toMatchObject([{ taint: "member", source: "task text by bob" }]);
    const done = await Promise.all([run.approve(card), run.approve(card, run.as("cyd", "approver"))]);
    expect(done.filter((one) => one.ok)).toHaveLength(1);
    expect(refusalOf(await run.deny(card)).code).toBe("already_resolved");
    expect(run.sent("user_message")).toMatchObject([
      { content: `A task\n\n${word}`, taint: "member", plan_markdown: plan },
    ]);
    expect(run.rows.held.all()).toEqual([]);
    expect(run.taskRow(id)).toMatchObject({ status: "active", taint: "member" });
  });
  it("[GATE-6] denied, the task ends as denied, with the reason, and nobody ever reads the words", async () => {
    const run = openRuntime();
    run.gates(on("every_user_message", "ask"));
    const id = must(await run.ask(run.ada, { description: word }));
    must(await run.deny(await run.onlyCard(id), "not like this"));
    expect(run.taskRow(id)).toMatchObject({ status: "denied", reason: "not like this" });
    expect(run.sent("user_message")).toEqual([]);
    expect(run.rows.held.all()).toEqual([]);
  });

  it("[GATE-7] a follow-up that is held is seen by nobody before it passes; dropped, the task goes on", async () => {
    const run = openRuntime();
    const id = must(await run.ask(run.ada, { plan }));
    await run.observe(run.planResult(id, plan));
    run.gates(on("every_user_message", "ask"));
    const bob = run.as("bob", "submitter");
    const said = () => run.events().filter((event) => event.type === "message" && event.actor === "bob");
    const first = must(await run.tasks.addMessage(bob, id, word));
    must(await run.tasks.addMessage(bob, id, `${word} again`));
    expect(said()).toEqual([]);
    expect(run.taskRow(id).taint).toBe("owner");
    const held = (await run.cards(id)).filter((card) => card.kind === "gate");
    expect(held).toHaveLength(2);
    const [second, one] = held;
    if (one === undefined || second === undefined) throw new Error("two cards wait");
    must(await run.approve(one));
    must(await run.deny(second));
    expect(said()).toMatchObject([{ detail: word }]);
    expect(run.sent("user_message").map((message) => message.message_id)).toContain(first.message_id);
    expect(run.sent("user_message")).toHaveLength(2);
    expect(run.taskRow(id)).toMatchObject({ status: "waiting", waiting_on: "plan", taint: "member" });
  });

  it("[GATE-8] changes asked for that are held go to the planner when they pass, and end the task when they do not", async () => {
    for (const passes of [true, false]) {
      const run = openRuntime();
      const id = must(await run.ask(run.ada, { plan }));
      await run.observe(run.planResult(id, plan));
      run.gates(on("every_user_message", "ask"));
      must(await run.changes(await run.onlyCard(id), word));
      expect(run.sent("user_message")).toHaveLength(1);
      const card = await run.onlyCard(id);
      must(await (passes ? run.approve(card) : run.deny(card)));
      expect(run.taskRow(id).status).toBe(passes ? "active" : "denied");
      expect(run.sent("user_message").map((message) => message.payload.revise)).toEqual(
        passes ? [undefined, true] : [undefined],
      );
    }
  });

  it("[GATE-13] a remark holds nothing up: an event and a note on the task", async () => {
    const run = openRuntime();
    const id = must(await run.ask(run.ada, { description: "de\u{202e}ploy", plan }));
    expect(run.sent("user_message")).toHaveLength(1);
    const shown = taskView.parse(must(await run.tasks.task(run.ada, id)));
    expect(shown.gate_notes).toMatchObject([
      { gate: "invisible-in-message", trigger: "every_user_message", reason: expect.stringContaining("U+202E") },
    ]);
    expect(run.events().filter((event) => event.type === "gate_note")).toHaveLength(1);
    run.rows.tasks.put({ ...run.taskRow(id), gate_notes: [] });
    expect(run.taskRow(id).gate_notes).toHaveLength(1);
  });
});

describe("what an agent says", () => {
  it("[GATE-9] a plan that is blocked fails the task, and no card of it is made", async () => {
    const run = openRuntime();
    run.gates(on("every_agent_response", "block", "echo a"));
    const id = must(await run.ask(run.ada, { plan }));
    for (const _ of [1, 2]) await run.observe(run.planResult(id, plan));
    expect(run.taskRow(id)).toMatchObject({
      status: "failed",
      error_code: "gate_blocked",
      reason: expect.stringContaining("block-it"),
    });
    expect(run.rows.plans.ofTask(id)).toEqual([]);
    expect(await run.cards(id)).toEqual([]);
    expect(run.audit("gate_block")).toMatchObject([{ decision: "block", details: { message_kind: "plan_result" } }]);
    expect(run.events().filter((event) => event.type === "gate_block")).toMatchObject([
      { surfaces: ["review", "activity"] },
    ]);
  });
  it("[GATE-9] a plan that is asked about waits at the gate before its own card; dropped, the task is denied", async () => {
    for (const passes of [true, false]) {
      const run = openRuntime();
      run.gates(on("every_agent_response", "ask", "echo a"));
      const id = must(await run.ask(run.ada, { plan }));
      for (const _ of [1, 2, 3]) await run.observe(run.planResult(id, plan));
      const card = await run.onlyCard(id);
      expect(card).toMatchObject({ kind: "gate", card: { requested_by: "planner" } });
      expect(run.rows.plans.ofTask(id)).toEqual([]);
      must(await (passes ? run.approve(card) : run.deny(card)));
      if (passes) expect(await run.onlyCard(id)).toMatchObject({ kind: "plan", status: "pending" });
      else expect(run.taskRow(id).status).toBe("denied");
    }
  });
  it("[GATE-10] words that are stopped are not shown, held ones only when they pass, and a task they would end ends", async () => {
    const stream = (run: ReturnType<typeof openRuntime>) =>
      run
        .events()
        .filter((event) => event.type === "message" && event.actor === "proxy" && event.detail?.includes("Forbidden"));
    for (const ends_task of [true, false]) {
      const run = openRuntime();
      run.gates(on("every_agent_response", "block"));
      const id = must(await run.ask(run.ada, { plan }));
      for (const _ of [1, 2]) expect(await run.deliver(run.words(id, word, { ends_task }))).toEqual({ refused: null });
      expect(stream(run)).toEqual([]);
      expect(run.audit("gate_block")).toHaveLength(1);
      expect(run.taskRow(id)).toMatchObject(
        ends_task ? { status: "failed", error_code: "gate_blocked" } : { status: "active" },
      );
    }
    for (const passes of [true, false]) {
      const run = openRuntime();
      run.gates(on("every_agent_response", "ask"));
      const id = must(await run.ask(run.ada, { plan }));
      for (const _ of [1, 2]) await run.deliver(run.words(id, word, { ends_task: true }));
      expect(stream(run)).toEqual([]);
      const card = await run.onlyCard(id);
      must(await (passes ? run.approve(card) : run.deny(card)));
      expect(stream(run)).toHaveLength(passes ? 1 : 0);
      expect(run.taskRow(id).status).toBe(passes ? "failed" : "denied");
    }
  });

  it("[GATE-10] of a task that is over nobody is asked: the words are dropped, on record", async () => {
    const run = openRuntime();
    run.gates(on("every_agent_response", "ask"));
    const id = must(await run.ask(run.ada, { plan }));
    must(await run.tasks.cancelTask(run.ada, id, "enough"));
    await run.deliver(run.words(id, word));
    expect(JSON.stringify(run.events())).not.toContain("Forbidden");
    expect(run.audit("gate_block")).toMatchObject([{ decision: "ask", details: { message_kind: "agent_message" } }]);
    expect(run.rows.approvals.ofTask(id)).toEqual([]);
  });

  it("[GATE-11] a good result that is blocked ends its attempt, and nothing of it is verified", async () => {
    const run = openRuntime();
    const id = await run.going(plan);
    const held = await run.begun();
    run.gates(on("every_agent_response", "block"));
    const result = run.result(id, held, { output: word });
    for (const _ of [1, 2]) await run.deliver(result);
    expect(run.attempts(id)).toMatchObject([
      { state: "failed", error_code: "gate_blocked", detail: "a gate of the policy stopped it" },
    ]);
    expect(run.rows.verifications.ofTask(id)).toEqual([]);
    expect(await run.onlyCard(id)).toMatchObject({ kind: "escalation" });
  });
  it("[GATE-11] one that is asked about waits before its verification", async () => {
    for (const passes of [true, false]) {
      const run = openRuntime();
      const id = await run.going(plan);
      const held = await run.begun();
      run.gates(on("every_agent_response", "ask"));
      await run.deliver(run.result(id, held, { output: word }));
      const card = await run.onlyCard(id);
      expect(card).toMatchObject({ kind: "gate", rule: "gate:ask-it", card: { tool: { name: "patch" } } });
      expect(card.card.why).toContain('the text contains "forbidden"');
      expect(run.rows.verifications.ofTask(id)).toEqual([]);
      must(await (passes ? run.approve(card) : run.deny(card)));
      expect(run.rows.verifications.ofTask(id)).toHaveLength(passes ? 1 : 0);
      expect(run.attempts(id)[0]?.state).toBe(passes ? "verifying" : "failed");
    }
  });
  it("[GATE-43] a patch that changes a gated file is asked about or blocked, at the response and after the steps", async () => {
    const paths = { lane: "policy", check: "path_matches", params: { globs: ["src/**"] } };
    for (const trigger of ["every_agent_response", "after_step", "on_tool_call"])
      for (const action of ["ask", "block"]) {
        const run = openRuntime();
        const id = await run.going(plan);
        const held = await run.begun();
        run.gates(gate.parse({ id: "paths", trigger, action, ...paths }));
        await run.deliver(run.result(id, held));
        const seen = trigger !== "on_tool_call";
        expect(run.rows.verifications.ofTask(id)).toHaveLength(seen ? 0 : 1);
        if (!seen) continue;
        expect(run.attempts(id)[0]?.state).toBe(action === "ask" ? "executed" : "failed");
        const details = action === "ask" ? { gates: ["paths"] } : { trigger, gate: "paths" };
        expect(run.audit("gate_block")).toMatchObject([{ decision: action, details }]);
        if (action === "ask")
          expect((await run.onlyCard(id)).card.facts).toContain(
            'The gate "paths" asks: the result changes "src/a.txt", which is gated',
          );
      }
  });
  it("[GATE-11] words of a failed attempt that a gate holds up reach neither the next attempt nor the Stream", async () => {
    for (const action of ["block", "ask"] as const) {
      const run = openRuntime();
      const id = await run.going(plan);
      const held = await run.begun();
      run.gates(on("every_agent_response", action));
      await run.deliver(run.result(id, held, { failed: true, content: word }));
      expect(run.attempts(id)).toMatchObject([{ state: "failed", error_code: "tool_failure" }, { state: "due" }]);
      const next = await run.begun("crew-2");
      expect(JSON.stringify(next.lease.message.payload)).not.toContain("Forbidden");
      expect(JSON.stringify(run.events())).not.toContain("Forbidden");
    }
  });
  it("[GATE-11] of an attempt that waits for a call, what a gate asks stands on the call's card", async () => {
    const run = openRuntime();
    const id = await run.going(planOf(["echo a"], "tools: [], paths: ['src/**']"));
    const held = await run.begun();
    expect(await held.authorize(1)).toMatchObject({ answer: "wait" });
    run.gates(on("every_agent_response", "ask"));
    const suspension = held.suspension(1);
    await run.deliver(
      run.result(id, held, { end: "suspended", success: false, patch: null, suspension, output: word }),
    );
    const card = await run.onlyCard(id);
    expect(card.kind).toBe("tool_call");
    expect(card.card.facts).toContain('The gate "ask-it" asks: the text contains "forbidden"');
  });
  it("[GATE-13] remarks about an agent's words hold nothing up", async () => {
    const run = openRuntime();
    run.gates(on("every_agent_response", "annotate"));
    const id = must(await run.ask(run.ada, { plan }));
    await run.deliver(run.words(id, word));
    // The same remark of the same moment is one remark.
    await new Promise((resolve) => setTimeout(resolve, 2));
    await run.observe(run.planResult(id, plan, { content: word }));
    expect(await run.onlyCard(id)).toMatchObject({ kind: "plan" });
    expect(run.taskRow(id).gate_notes).toHaveLength(2);
    expect(run.audit("gate_block")).toEqual([]);
  });
});

describe("a held message", () => {
  it("[GATE-14] survives a restart, asks once, and is decided late as at once", async () => {
    const run = openRuntime();
    run.gates(on("every_agent_response", "ask", "echo a"));
    const id = must(await run.ask(run.ada, { plan }));
    const result = run.planResult(id, plan);
    await run.observe(result);
    const card = await run.onlyCard(id);
    const again = openRuntime(run.sql);
    await again.observe(result);
    expect(await again.onlyCard(id)).toEqual(card);
    must(await again.approve(card));
    await again.observe(result);
    expect(await again.onlyCard(id)).toMatchObject({ kind: "plan" });
    expect(again.rows.plans.ofTask(id)).toHaveLength(1);
  });
  it("[GATE-15] that is not the one its card shows cannot be approved", async () => {
    const run = openRuntime();
    run.gates(on("every_user_message", "ask"));
    const id = must(await run.ask(run.ada, { description: word }));
    const card = await run.onlyCard(id);
    const [held] = run.rows.held.ofTask(id);
    if (held === undefined) throw new Error("nothing is held");
    run.rows.held.put({ ...held, message: { ...held.message, content: `${word}, and more` } });
    expect(refusalOf(await run.approve(card)).code).toBe("content_changed");
    expect(run.sent("user_message")).toEqual([]);
    must(await run.deny(card));
  });
  it("[GATE-16] is not over because a plan came, but with its task", async () => {
    const run = openRuntime();
    const id = must(await run.ask(run.ada, { plan }));
    run.gates(on("every_user_message", "ask"));
    must(await run.tasks.addMessage(run.ada, id, word));
    await run.observe(run.planResult(id, plan));
    expect((await run.cards(id)).map((card) => card.kind).toSorted()).toEqual(["gate", "plan"]);
    const [card] = (await run.cards(id)).filter((one) => one.kind === "gate");
    must(await run.tasks.cancelTask(run.ada, id, "enough"));
    expect(run.rows.held.all()).toEqual([]);
    if (card !== undefined) expect(refusalOf(await run.approve(card)).code).toBe("already_resolved");
    expect(run.sent("user_message")).toHaveLength(1);
  });
  it("[GATE-17] meets the gates of now: what was asked about before an edit still waits, what comes after meets the edit", async () => {
    const run = openRuntime();
    const id = must(await run.ask(run.ada, { plan }));
    must(await run.tasks.addMessage(run.ada, id, word));
    run.gates(on("every_user_message", "ask"));
    must(await run.tasks.addMessage(run.ada, id, word));
    run.gates(on("every_user_message", "block"));
    expect((await run.tasks.addMessage(run.ada, id, word)).ok).toBe(false);
    run.gates();
    must(await run.tasks.addMessage(run.ada, id, word));
    expect(await run.cards(id)).toHaveLength(1);
    expect(run.sent("user_message")).toHaveLength(3);
  });
  it("[GATE-20] is written out on its card where it hides something", async () => {
    const run = openRuntime();
    run.gates(
      gate.parse({
        id: "hidden",
        trigger: "every_user_message",
        lane: "policy",
        action: "ask",
        check: "invisible_text",
        params: {},
      }),
    );
    const id = must(await run.ask(run.ada, { title: "A\u{202e}B", description: "safe \u{2066}not\u{2069}" }));
    const shown = approvalText(await run.onlyCard(id));
    expect(shown).toContain("⟦U+202E⟧");
    expect(shown).toContain("⟦U+2066⟧not");
    expect(shown).not.toMatch(/[\u{202e}\u{2066}]/u);
  });
});
