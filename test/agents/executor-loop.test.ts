import { describe, expect, it } from "vitest";
import { ModelFailure } from "../../src/agents/models.ts";
import type { ExecutionResult } from "../../src/domain/result.ts";
import { begunIn } from "../fakes/attempts.ts";
import { attemptResult, environment, type Sample } from "../fakes/orders.ts";
import { finishes, runs, says, scripted, think, thinker, toldIn } from "../fakes/thinking.ts";

const calm = () => thinker(says("I look.", runs("edit")), says("More.", runs("more")), says("Done.", finishes()));

describe("an attempt of an agent that thinks", () => {
  it("[MIND-2] it works by its tools until it says that it is done, and hands over what lies in the workspace", async () => {
    const w = thinker(
      says("I look.", runs("edit"), runs("more")),
      says("Done.", finishes("Greeted all.", { insights: [{ kind: "gotcha", text: "The tests are slow." }] })),
    );
    const ended = await think(w, { environment: { ...environment, setup: [["install"]], hosts: ["npm"] } });
    const { message, result } = attemptResult(ended.out);
    expect(message).toMatchObject({ error_code: null, content: "2 files changed: Greeted all." });
    expect(result).toMatchObject({ end: "finished", success: true, suspension: null, tool_errors: [] });
    expect(result.insights).toEqual([{ kind: "gotcha", text: "The tests are slow." }]);
    expect(result.patch?.files.map(({ path }) => path)).toEqual(["src/a.txt", "src/b.txt"]);
    expect(begunIn(w)).toEqual(["setup-1", "1-1", "1-2"]);
    expect(w.bus.settled.map(({ call_id }) => call_id)).toEqual(["1-1", "1-2"]);
    for (const line of ["I look.", "editing", "Done."]) expect(ended.output).toContain(line);
    expect(await w.memory.sandboxes()).toEqual([]);
  });
  it("[MIND-2] each of its calls is authorized before it runs, and each call of its model is paid by its attempt", async () => {
    const w = calm();
    await think(w);
    expect(w.bus.asked.map(({ call }) => [call.call_id, call.tool, call.arguments])).toEqual([
      ["1-1", "shell_execute", '{"command":"edit"}'],
      ["2-1", "shell_execute", '{"command":"more"}'],
    ]);
    const payer = { kind: "attempt", task_id: "task-1", attempt_id: "p1.fix.1", entry: 0 };
    expect(w.minds.asked.map((ref) => ref.payer)).toEqual([payer, payer, payer]);
    expect(w.minds.charged).toHaveLength(3);
    expect(w.minds.asked[0]?.prompt).toMatch(/^executor\/work@\d+$/);
  });
  it("[MIND-3] it is told its order once: rules, item, guidance, memory, files, and nothing of any other item", async () => {
    const w = calm();
    w.repo.branches.set("main", w.repo.commit(w.main, { "AGENTS.md": "Use tabs.", "src/a.txt": "one\n" }));
    w.minds.memories = () => [
      {
        ...{ id: "m1", kind: "pattern", title: "Words", excerpt: "Say hello.", task_id: null },
        ...{ at: "2026-01-01T00:00:00.000Z", taint: "member" },
      },
      {
        ...{ id: "m2", kind: "plan", title: "Greet", excerpt: "Items: fix, wave goodbye", task_id: "task-1" },
        ...{ at: "2026-01-02T00:00:00.000Z", taint: "member" },
      },
    ];
    const guidance = ["Attempt 1 ended: the check failed", "A person said: be kind"];
    const ended = await think(w, {
      baseline: w.repo.branches.get("main") ?? "",
      guidance,
      planner_guidance: ["Try it in French."],
    });
    const [told, ...others] = toldIn(w, "told");
    expect(others).toEqual([]);
    for (const part of [
      "Use tabs.",
      "Write the greeting.",
      "Greet people.",
      "src/**",
      "test/**",
      "npm test",
      "the check failed",
      "Try it in French.",
      "Say hello.",
      "one\n",
    ])
      expect(told).toContain(part);
    expect(told).toMatch(/Planner guidance\n+.*Try it in French/s);
    expect(told).toMatch(
      /<data-\w+ taint="owner" source="an earlier attempt">\nAttempt 1 ended: the check failed\n<\/data/,
    );
    expect(told).toMatch(/what a person said\n\nA person said: be kind\n/);
    expect(told?.match(/## File\n\n<data-[^\n]+\nsrc/g)).toHaveLength(1);
    expect(told).not.toContain("goodbye");
    expect(w.models.requests.map(({ turns }) => turns[0])).toEqual(Array(3).fill({ kind: "told", text: told }));
    expect(w.models.requests[0]?.instructions).not.toContain("greeting");
    expect(ended.states.at(-1)).toMatchObject({ finished: { summary: "Greeted." } });
  });
  it("[MIND-4] giving up, and a model that nobody can ask, end the attempt with the reason and may be tried again", async () => {
    const given = attemptResult((await think(thinker(says("", ["give_up", { reason: "No such file." }])))).out);
    expect(given.message).toMatchObject({
      error_code: "tool_failure",
      retryable: true,
      content: "it gave up: No such file.",
    });
    expect(given.result).toMatchObject({ end: "finished", success: false, patch: null });
    const w = calm();
    w.models.script = () => new ModelFailure("unauthorized", "bad key", { model: "test/tame" });
    const refused = attemptResult((await think(w)).out);
    expect(refused.message).toMatchObject({ error_code: "tool_failure", retryable: false });
    expect(refused.message.content).toContain("MODEL_EXECUTOR");
    expect(refused.result.tool_errors).toMatchObject([{ tool_name: "loop" }]);
  });
  it("[MIND-4] one that does not get on says how it was stuck, what it tried, and what is left to the runtime", async () => {
    const w = calm();
    w.models.script = () => says("Again.", runs("break"));
    const { message, result } = attemptResult((await think(w)).out);
    expect(message).toMatchObject({ error_code: "tool_failure", retryable: true });
    expect(result.stuck).toMatchObject({ reason: "looping", next: "decompose" });
    expect(result.recoveries?.map(({ action }) => action)).toEqual(["reduce_context", "simplify_prompt", "decompose"]);
  });
  it("[MIND-5] without a model the order fails for good, and says what to set", async () => {
    const w = calm();
    w.models.names = [];
    const { message } = attemptResult((await think(w)).out);
    expect(message).toMatchObject({ error_code: "tool_failure", retryable: false });
    expect(message.content).toContain("MODEL_EXECUTOR");
    expect(w.models.requests).toEqual([]);
  });
});

describe("its calls", () => {
  it("[MIND-6] one that may not run is told to it, and it goes on; what stands against the attempt ends it", async () => {
    for (const scope of ["call", "attempt"] as const) {
      const w = calm();
      w.bus.authorizing = (call) =>
        call.arguments.includes("edit")
          ? { answer: "refused", error_code: "gate_blocked", reason: "not granted", scope }
          : { answer: "run" };
      const { message, result } = attemptResult((await think(w)).out);
      if (scope === "attempt") {
        expect(message).toMatchObject({ error_code: "gate_blocked", retryable: false, content: "not granted" });
        expect(begunIn(w)).toEqual([]);
        continue;
      }
      expect(result.success).toBe(true);
      expect(begunIn(w)).toEqual(["2-1"]);
      expect(toldIn(w, "result")[0]).toContain("not granted");
    }
  });
  it("[MIND-6] stale: the attempt is dropped, and nothing is answered", async () => {
    const w = calm();
    w.bus.authorizing = () => ({ answer: "stale", reason: "gone" });
    expect((await think(w)).out).toEqual([]);
    expect(await w.memory.sandboxes()).toEqual([]);
    const later = calm();
    later.minds.thinking = () => ({ answer: "stale", reason: "gone" });
    expect((await think(later)).out).toEqual([]);
  });
  it("[MIND-7] an object that dies before any commit runs no call twice, and each call of the model is charged", async () => {
    const [quiet, dying] = [calm(), calm()];
    const expected = attemptResult((await think(quiet)).out).result;
    const seen = attemptResult((await think(dying, {}, { dies: true })).out).result;
    expect(begunIn(dying)).toEqual(["1-1", "2-1"]);
    const { duration_ms: _, output: __, ...rest } = expected;
    expect(seen).toMatchObject(rest);
    expect(dying.minds.charged.length).toBe(dying.models.requests.length);
    expect(await dying.memory.sandboxes()).toEqual([]);
  });
  it("[MIND-8] called off, or out of time, in the middle of a call: it is ended, its outcome is told, the sandbox is gone", async () => {
    for (const how of ["cancelled", "late"] as const) {
      const w = thinker(says("I wait.", runs("linger")));
      const ended = await think(
        w,
        {},
        {
          before(stored) {
            if (!underWay(stored) || w.memory.begun.length === 0) return undefined;
            if (how === "cancelled") return { cancelled: true };
            w.clock.at += 31 * 60_000;
            return undefined;
          },
        },
      );
      const { message, result } = attemptResult(ended.out);
      expect(result.end).toBe(how === "cancelled" ? "cancelled" : "finished");
      expect(message.error_code).toBe(how === "cancelled" ? null : "timeout");
      expect(w.bus.found).toMatchObject([{ attempt_id: "p1.fix.1", call_id: "1-1", outcome: { state: "exited" } }]);
      expect(await w.memory.sandboxes()).toEqual([]);
    }
  });
  it("[MIND-8] a call that only reads leaves nothing open behind", async () => {
    const w = thinker(says("I read.", ["file_read", { path: "src/a.txt" }]));
    await think(w, {}, { before: (stored) => (underWay(stored) ? { cancelled: true } : undefined) });
    expect(w.bus.found).toEqual([]);
    expect(w.bus.settled).toMatchObject([{ call_id: "1-1", outcome: { state: "never_started" } }]);
  });
});
/** Whether a call is on its way, from the attempt's stored state. */
function underWay(stored: unknown): boolean {
  const { at, mind } = stored as { at: string; mind: { progress: unknown } | null }; // what the executor keeps
  return at === "work" && mind !== null && mind.progress !== null;
}

describe("an attempt of an agent that thinks and waits for a person", () => {
  const asksFor = (w: Sample, command: string) => {
    w.bus.authorizing = (call) =>
      call.arguments.includes(command) && call.tree === null ? { answer: "wait" } : { answer: "run" };
  };
  const answers = [
    says("First this.", runs("edit")),
    says("I need \u202e more.", runs("more")),
    says("Done.", finishes()),
  ];
  async function suspended(w = thinker(...answers)) {
    asksFor(w, "more");
    const ended = await think(w);
    const { message, result } = attemptResult(ended.out);
    if (result.suspension === null) throw new Error("it is not suspended");
    return { w, message, result, suspension: result.suspension };
  }
  const resumed = (w: Sample, suspension: NonNullable<ExecutionResult["suspension"]>, driving = {}) =>
    think(w, { entry: 1, resume: suspension }, driving);

  it("[MIND-9] workspace and conversation are stored, the very call is named, and what the agent said before it", async () => {
    const { w, message, result, suspension } = await suspended();
    expect(result).toMatchObject({ end: "suspended", success: false, patch: null });
    expect(suspension).toMatchObject({
      ...{ call_id: "2-1", tool: "shell_execute", arguments: '{"command":"more"}', step: 2 },
      words: "I need \u202e more.",
    });
    expect(message.content).toContain("I need");
    expect(suspension.transcript_key).toMatch(/attempts\/p1\.fix\.1\/0-2-1\.transcript\.json$/);
    expect(w.artifacts.stored.has(suspension.transcript_key ?? "")).toBe(true);
    expect(begunIn(w)).toEqual(["1-1"]);
    expect(w.bus.found).toEqual([]);
    expect(await w.memory.sandboxes()).toEqual([]);
  });
  it("[MIND-10] allowed, the same call runs once in a rebuilt workspace, and the model goes on where it was", async () => {
    const { w, suspension } = await suspended();
    const asked = w.models.requests.length;
    const ended = await resumed(w, suspension, { dies: true });
    const { result } = attemptResult(ended.out);
    expect(begunIn(w)).toEqual(["1-1", "2-1"]);
    const again = w.bus.asked.filter(({ ref }) => ref.entry === 1).map(({ call }) => [call.call_id, call.tree]);
    expect(new Set(again.map(String))).toEqual(new Set([`2-1,${suspension.tree}`]));
    expect(result).toMatchObject({ entry: 1, success: true });
    expect(result.patch?.files.map(({ path }) => path)).toEqual(["src/a.txt", "src/b.txt"]);
    const first = w.models.requests[asked]?.turns ?? [];
    expect(first.map(({ kind }) => kind)).toEqual(["told", "said", "result", "said", "result"]);
  });
  it("[MIND-11] a person's no is the call's result in their own words; the call is not asked for nor run", async () => {
    const { w, suspension } = await suspended();
    const asked = w.bus.asked.length;
    const { result } = attemptResult(
      (await resumed(w, { ...suspension, denied: 'Not "that" one.' }, { dies: true })).out,
    );
    expect(result.success).toBe(true);
    expect(begunIn(w)).toEqual(["1-1"]);
    expect(w.bus.asked).toHaveLength(asked);
    expect(toldIn(w, "result").at(-1)).toContain('Not \\"that\\" one.');
    expect(toldIn(w, "result").at(-1)).toContain("A person refused");
  });
  it("[MIND-11] a card that nobody decided is told as expired, never as a no", async () => {
    const { w, suspension } = await suspended();
    await resumed(w, { ...suspension, unanswered: "nobody decided by noon" });
    const told = toldIn(w, "result").at(-1) ?? "";
    expect(told).toContain("expired");
    expect(told).not.toMatch(/refused|denied/);
    expect(begunIn(w)).toEqual(["1-1"]);
  });
  it("[MIND-10] a conversation that is gone, or that nobody can read, is a crash before anything runs", async () => {
    for (const bytes of [null, new TextEncoder().encode("{}")]) {
      const { w, suspension } = await suspended();
      if (bytes === null) w.artifacts.stored.delete(suspension.transcript_key ?? "");
      else await w.artifacts.put(suspension.transcript_key ?? "", bytes);
      const { result, message } = attemptResult((await resumed(w, suspension)).out);
      expect(result.end).toBe("crashed");
      expect(message.content).toContain("stored conversation");
      expect(begunIn(w)).toEqual(["1-1"]);
    }
  });
  it("[MIND-12] with its budget used up it is put away at once, and goes on with what it had when more is granted", async () => {
    const w = thinker(...answers);
    let left = 1;
    w.minds.thinking = () =>
      left-- > 0 ? { answer: "go", tokens_left: 1, usd_left: 1 } : { answer: "wait", reason: "used up" };
    const { result, message } = attemptResult((await think(w)).out);
    const suspension = result.suspension;
    if (suspension === null) throw new Error("it is not suspended");
    expect(suspension).toMatchObject({ tool: "model_call", arguments: "{}" });
    expect(message.content).toBe("the budget is used up");
    expect(w.models.requests).toHaveLength(1);
    left = 100;
    const ended = attemptResult((await resumed(w, suspension)).out);
    expect(ended.result.success).toBe(true);
    expect(begunIn(w)).toEqual(["1-1", "2-1"]);
    expect(w.models.requests).toHaveLength(3);
  });
  it("[MIND-12] a budget that is not granted any further ends the attempt as exceeded", async () => {
    const w = scripted(calm());
    w.minds.thinking = () => ({ answer: "refused", error_code: "budget_exceeded", reason: "no more" });
    const { message } = attemptResult((await think(w)).out);
    expect(message).toMatchObject({ error_code: "budget_exceeded", retryable: false });
    expect(w.models.requests).toEqual([]);
  });
});
