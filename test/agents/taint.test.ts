/** Taint through the runtime's real doors: it rises with what is read, and no walk lowers it. [INV-04] */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { approvalText } from "../../src/cli/show.ts";
import { type Taint, taints } from "../../src/domain/message.ts";
import { contentHash } from "../../src/domain/token.ts";
import { must } from "../fakes/held-scope.ts";
import { openRuntime, planOf } from "../fakes/scope-runtime.ts";

const plan = planOf(["echo a"]);
const rank = (taint: Taint) => taints.indexOf(taint);

describe("a task's taint", () => {
  it("[TAINT-7] is its author's, and rises with the words of who joins it", async () => {
    const run = openRuntime();
    for (const [role, taint] of [
      ["submitter", "member"],
      ["approver", "owner"],
      ["admin", "owner"],
    ] as const) {
      const id = must(await run.ask(run.as(role, role), { plan }));
      expect(run.sent("user_message").at(-1)?.taint).toBe(taint);
      expect(run.taskRow(id)).toMatchObject({ taint, taint_sources: [{ taint, source: `task text by ${role}` }] });
    }
    const id = must(await run.ask(run.ada, { plan }));
    must(await run.tasks.addMessage(run.as("bob", "submitter"), id, "and this"));
    must(await run.tasks.addMessage(run.ada, id, "and that"));
    expect(run.taskRow(id)).toMatchObject({ taint: "member" });
    expect(run.taskRow(id).taint_sources.map((one) => `${one.taint}: ${one.source}`)).toEqual([
      "owner: task text by ada",
      "member: message by bob",
      "owner: message by ada",
    ]);
    expect(run.sent("user_message").at(-1)?.taint).toBe("member");
    expect(run.audit("transition").filter((link) => link.decision === "taint_raised")).toMatchObject([
      { reason: "message by bob", details: { from: "owner", to: "member" } },
    ]);
  });
  it("[TAINT-8] is a member's at least once an attempt reads the repository", async () => {
    const run = openRuntime();
    const id = await run.going(plan);
    expect(run.taskRow(id)).toMatchObject({ taint: "member" });
    expect(run.taskRow(id).taint_sources.at(-1)).toMatchObject({ source: "repository at bbbbbbbbbbbb" });
    expect((await run.begun()).lease.message.taint).toBe("member");
  });
  it("[TAINT-9] is the web's from the moment a call may reach out, before its outcome is known", async () => {
    const run = openRuntime();
    const id = await run.going(
      planOf(["echo a", "echo b"], "tools: [shell_execute], paths: ['src/**'], hosts: ['example.org']"),
    );
    const held = await run.begun();
    expect(run.taskRow(id).taint).toBe("member");
    expect(await held.authorize(1)).toEqual({ answer: "run" });
    expect(run.taskRow(id).taint).toBe("web");
    expect(run.taskRow(id).taint_sources.at(-1)?.source).toMatch(/^step-1 of \S+ may reach example.org$/);
    expect(openRuntime(run.sql).taskRow(id).taint).toBe("web");
  });
  it("[TAINT-10] a message below its task is raised, on record; one above it raises the task", async () => {
    const run = openRuntime();
    const id = must(await run.ask(run.as("bob", "submitter"), { plan }));
    await run.deliver(run.words(id, "low", { taint: "owner" }));
    expect(run.audit("effect").filter((link) => link.decision === "taint_raised")).toMatchObject([
      { details: { from: "owner", to: "member" } },
    ]);
    await run.deliver(run.words(id, "high", { taint: "outsider" }));
    expect(run.taskRow(id)).toMatchObject({ taint: "outsider" });
    expect(run.taskRow(id).taint_sources.at(-1)?.source).toBe("agent_message from proxy");
    await run.observe(run.planResult(id, plan, { taint: "web" }));
    expect((await run.onlyCard(id)).card.taint).toBe("web");
  });
  it("[TAINT-11] an old copy written back lowers nothing", () => {
    const run = openRuntime();
    return run.ask(run.ada, { plan }).then((made) => {
      const old = run.taskRow(must(made));
      run.rows.tasks.put({ ...old, taint: "web", taint_sources: [{ taint: "web", source: "a page", at: "1" }] });
      run.rows.tasks.put({ ...old, title: "renamed", taint: "owner", taint_sources: [] });
      expect(run.taskRow(old.id)).toMatchObject({ taint: "web", title: "renamed" });
      expect(run.taskRow(old.id).taint_sources).toContainEqual({ taint: "web", source: "a page", at: "1" });
    });
  });
});

it("[TAINT-12] a card shows where its taint came from, bound by its hash", async () => {
  const run = openRuntime();
  const id = must(await run.ask(run.as("b\u{202e}ob", "submitter"), { plan }));
  await run.observe(run.planResult(id, plan));
  const card = await run.onlyCard(id);
  expect(card.card.taint_sources).toMatchObject([{ taint: "member", source: "task text by b\u{202e}ob" }]);
  expect(contentHash(card.card)).toBe(card.content_hash);
  expect(contentHash({ ...card.card, taint_sources: [] })).not.toBe(card.content_hash);
  expect(approvalText(card)).toContain("task text by b⟦U+202E⟧ob");
});

it("[TAINT-15] a card that waits is shown anew when its task's taint rises, and a yes to what it was is refused", async () => {
  const run = openRuntime();
  const id = must(await run.ask(run.ada, { plan }));
  await run.observe(run.planResult(id, plan));
  const seen = await run.onlyCard(id);
  must(await run.tasks.addMessage(run.ada, id, "an owner's words change nothing"));
  expect((await run.onlyCard(id)).content_hash).toBe(seen.content_hash);
  must(await run.tasks.addMessage(run.as("bob", "submitter"), id, "a member's do"));
  expect(await run.approve(seen)).toMatchObject({ ok: false, refusal: { code: "content_changed" } });
  const now = await run.onlyCard(id);
  expect(now).toMatchObject({ id: seen.id, card: { taint: "member" } });
  expect(now.card.taint_sources?.at(-1)).toMatchObject({ source: "message by bob" });
  must(await run.approve(now));
  expect(run.attempts(id)).toHaveLength(1);
});

const reaching = planOf(
  ["echo a", "echo b"],
  "tools: [shell_execute], paths: ['src/**'], hosts: ['example.org'], secrets: [KEY]",
);
describe("the rule of two", () => {
  it("[TAINT-13] a run that holds a secret and has read from the network asks before it may reach out again, although it is granted", async () => {
    const run = openRuntime();
    const id = await run.going(reaching);
    const held = await run.begun();
    expect(await held.authorize(1)).toEqual({ answer: "run" });
    await held.settle(1);
    expect(await held.authorize(2)).toEqual({ answer: "wait" });
    await run.deliver(
      run.result(id, held, { end: "suspended", success: false, patch: null, suspension: held.suspension(2) }),
    );
    const card = await run.onlyCard(id);
    expect(card).toMatchObject({ kind: "tool_call", rule: "gate:rule-of-two", card: { taint: "web" } });
    expect(card.card.taint_sources?.at(-1)?.source).toContain("may reach example.org");
  });
  it("[TAINT-13] without the secret, or with nothing untrusted read, it does not ask", async () => {
    for (const allow of ["hosts: ['example.org']", "secrets: [KEY]"]) {
      const run = openRuntime();
      await run.going(planOf(["echo a", "echo b"], `tools: [shell_execute], paths: ['src/**'], ${allow}`));
      const held = await run.begun();
      for (const number of [1, 2]) expect(await held.authorize(number)).toEqual({ answer: "run" });
    }
  });
  it("[TAINT-13] words of an outsider count from the call after them", async () => {
    const run = openRuntime();
    const id = await run.going(
      planOf(["echo a", "echo b"], "tools: [shell_execute], paths: ['src/**'], hosts: ['example.org'], secrets: [KEY]"),
    );
    await run.deliver(run.words(id, "said elsewhere", { taint: "outsider" }));
    expect(await (await run.begun()).authorize(1)).toEqual({ answer: "wait" });
  });
});

it("[TAINT-14] no walk over messages, results, decisions, calls and restarts lowers a task's taint, and what leaves is as tainted as it", async () => {
  type Run = ReturnType<typeof openRuntime>;
  const claims = fc.constantFrom(...taints);
  const move = fc.oneof(
    fc.record({ do: fc.constant("say" as const), role: fc.constantFrom("submitter" as const, "approver" as const) }),
    fc.record({ do: fc.constant("words" as const), taint: claims }),
    fc.record({ do: fc.constant("plan" as const), taint: claims }),
    fc.record({
      do: fc.constantFrom("approve" as const, "deny" as const, "step" as const, "result" as const, "restart" as const),
    }),
    fc.record({ do: fc.constant("gate" as const), action: fc.constantFrom("ask" as const, "none" as const) }),
  );
  type Move = typeof move extends fc.Arbitrary<infer T> ? T : never;
  const laws = async (moves: readonly Move[]) => {
    let run: Run = openRuntime();
    const id = must(await run.ask(run.ada, { plan: reaching }));
    let lowest: Taint = "owner";
    const sent = new Set<string>();
    let at = 0;
    for (const one of moves) {
      at++;
      const [card] = await run.cards(id);
      if (one.do === "say") await run.tasks.addMessage(run.as(one.role, one.role), id, `more ${at}`);
      else if (one.do === "words") await run.deliver(run.words(id, `words ${at}`, { taint: one.taint }));
      else if (one.do === "plan")
        await run.observe(run.planResult(id, reaching, { taint: one.taint, content: `plan ${at}` }));
      else if (one.do === "approve" && card !== undefined) await run.approve(card);
      else if (one.do === "deny" && card?.kind === "gate") await run.deny(card);
      else if (one.do === "restart") run = openRuntime(run.sql);
      else if (one.do === "gate")
        run.gates(
          ...(one.action === "ask"
            ? [
                {
                  id: "g",
                  trigger: "every_agent_response",
                  lane: "policy",
                  action: "ask",
                  check: "taint_at_least",
                  params: { taint: "outsider" },
                } as const,
              ]
            : []),
        );
      else if (one.do === "step" || one.do === "result") {
        const held = await run.begun(`crew-${at}`).catch(() => null);
        if (held !== null && one.do === "step") await held.authorize(1);
        if (held !== null) await run.deliver(run.result(id, held, { failed: at % 2 === 0 }));
      }
      const { taint, taint_sources } = run.taskRow(id);
      expect(rank(taint)).toBeGreaterThanOrEqual(rank(lowest));
      expect(taint_sources.some((source) => source.taint === taint)).toBe(true);
      const out = ["user_message", "execution_status", "verification_request"] as const;
      const fresh = out.flatMap((kind) => run.sent(kind)).filter(({ message_id }) => !sent.has(message_id));
      for (const message of fresh) {
        expect(rank(message.taint)).toBeGreaterThanOrEqual(rank(lowest));
        sent.add(message.message_id);
      }
      lowest = taint;
    }
  };
  await fc.assert(fc.asyncProperty(fc.array(move, { minLength: 4, maxLength: 14 }), laws), {
    numRuns: Number(process.env.COUNTERSIGN_TAINT_WALKS ?? "20"),
  });
}, 60_000);
