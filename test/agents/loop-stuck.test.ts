/** A loop that does not get on, and one whose life ends before any of its commits. */
import { describe, expect, it } from "vitest";
import { stepLoop } from "../../src/agents/loop.ts";
import { ModelFailure } from "../../src/agents/models.ts";
import { stuckReasons } from "../../src/domain/stuck.ts";
import { limits } from "../../src/limits.ts";
import { ends, loopWorld, says } from "../fakes/loops.ts";

const again = says([["shell_execute", { command: "npm test" }]]);

describe("a loop that does not get on", () => {
  it("[STUCK-5] sheds context, then gets a simpler prompt, then leaves it to the runtime, each with its reason", async () => {
    const w = loopWorld({
      script: () => again,
      run: () => ({ kind: "result", text: "1 failed in 34 ms", is_error: true }),
    });
    const seen: unknown[] = [];
    let end = await w.take();
    for (; end.kind === "on"; end = await w.take()) {
      if (end.recovery !== undefined) {
        seen.push(end.recovery);
        expect(new TextDecoder().decode(end.output)).toContain("looping");
      }
      w.commit(end);
    }
    const looping = (action: string) => ({
      reason: "looping",
      action,
      detail: expect.stringContaining("3 times in a row"),
    });
    expect(seen).toEqual([looping("reduce_context"), looping("simplify_prompt")]);
    expect(end).toMatchObject({ kind: "stuck", reason: "looping", next: "decompose", recovery: looping("decompose") });
    expect(end.state.recovered.map(({ action }) => action)).toEqual(["reduce_context", "simplify_prompt", "decompose"]);
    expect(w.models.requests).toHaveLength(9);
    expect(w.models.requests.map(({ instructions }) => instructions)).toEqual([
      ...Array(6).fill("do the work"),
      ...Array(3).fill("work"),
    ]);
    const cut = w.row.turns.findIndex(({ kind }) => kind === "cut");
    expect(w.row.turns[cut]).toMatchObject({ before: 3, why: expect.stringContaining("looping") });
    expect(w.row.turns[cut + 1]).toMatchObject({ kind: "told", text: expect.stringContaining("does not get on") });
  });
  it("[STUCK-5] once the runtime was asked to part the work, a person is next", async () => {
    const w = loopWorld({ max_steps: 1, script: () => again });
    expect(await w.toTheEnd()).toMatchObject({ kind: "stuck", reason: "exhausted", next: "decompose" });
    expect(await w.take()).toMatchObject({ kind: "stuck", reason: "exhausted", next: "ask_person" });
    w.commit(await w.take());
    expect(await w.take()).toMatchObject({ next: "ask_person" });
  });
  it("[STUCK-4] without a step left the model is not asked again", async () => {
    const w = loopWorld({ max_steps: 3, script: (_, at) => says([["file_read", { path: `f${at}` }]]) });
    const end = await w.toTheEnd();
    expect(end).toMatchObject({ kind: "stuck", reason: "exhausted", detail: "all 3 steps are used up" });
    expect(w.models.requests).toHaveLength(3);
    expect(w.results()).toHaveLength(3);
    expect(stuckReasons).toContain("exhausted");
  });
  it("[STUCK-3] a call that says nothing for ten minutes stalls it; one that speaks, a pause on purpose and a rest of the object do not", async () => {
    let output = new TextEncoder().encode("x");
    const w = loopWorld({
      script: (_, at) => (at === 0 ? again : ends),
      run: () => ({ kind: "working", progress: {}, wait_ms: 300_000, output }),
    });
    for (let looks = 0; looks < 10; looks++) {
      const move = await w.take();
      expect(move.recovery).toBeUndefined();
      w.commit(move);
      w.clock.at += move.kind === "on" ? move.wait_ms : 0;
    }
    // The object rests for an hour: nobody was there to see anything end.
    w.clock.at += 3_600_000;
    w.restart();
    const rested = await w.take();
    expect(rested.recovery).toBeUndefined();
    w.commit(rested);
    output = new Uint8Array();
    const seen: (string | undefined)[] = [];
    for (let looks = 0; looks < 12; looks++) {
      const move = await w.take();
      if (move.recovery !== undefined) {
        seen.push(move.recovery.action);
        // The call's result is what must come next in the conversation.
        expect(move.turns.filter(({ kind }) => kind !== "cut")).toEqual([]);
        expect(move.state.pending).toHaveLength(1);
      }
      w.commit(move);
      if (move.kind !== "on") break;
      w.clock.at += move.wait_ms;
    }
    expect(seen).toEqual(["reduce_context", "simplify_prompt", "decompose"]);
  });
  it("[STUCK-3] the provider's own long pause is none of it", async () => {
    const wait_ms = limits.model_wait_asked_ms;
    const busy = new ModelFailure("rate_limited", "later", { model: "a", retryable: true, wait_ms });
    const w = loopWorld({ script: (_, at) => (at < 3 ? busy : ends) });
    expect(await w.toTheEnd()).toMatchObject({ kind: "answered", state: { recovered: [] } });
  });
  it("[STUCK-3] [LOOP-5] calls of a model that time out are no standing still: all eight are made, and the end names the model", async () => {
    for (const role of ["executor", "planner", "proxy"] as const)
      for (const names of [["a/x"], ["a/x", "b/y"], ["a/x", "b/y", "c/z"]]) {
        const w = loopWorld();
        const world = { ...w, mind: { ...w.mind, role } };
        w.models.names = names;
        w.models.script = ({ attempt }) => {
          w.clock.at += limits.model_timeout_ms;
          const model = names[attempt % names.length] ?? "";
          return new ModelFailure("timeout", "The model did not answer in time.", { model, retryable: true });
        };
        const end = await endOf(world);
        expect(end).toMatchObject({ kind: "failed", retryable: true, state: { recovered: [] } });
        const last = names[(limits.model_failures - 1) % names.length];
        expect(end).toMatchObject({ detail: expect.stringContaining(`failed 8 times in a row, at last ${last}: `) });
        expect(w.models.requests).toHaveLength(limits.model_failures);
      }
  });
  it("[STUCK-3] what stood still before a model timed out is judged by its own time alone", async () => {
    const late = new ModelFailure("timeout", "The model did not answer in time.", { model: "a", retryable: true });
    const w = loopWorld({
      script: (_, at) => {
        if (at === 0 || at === 3) return again;
        w.clock.at += limits.model_timeout_ms;
        return at < 3 ? late : ends;
      },
      run: (_, progress) =>
        progress === null
          ? { kind: "working", progress: 1, wait_ms: limits.stalled_ms - 1_000 }
          : { kind: "result", text: "ok", is_error: false },
    });
    expect(await w.toTheEnd()).toMatchObject({ kind: "answered", state: { recovered: [] } });
  });
  async function endOf({ mind, models, minds, clock, run_id, row }: ReturnType<typeof loopWorld>) {
    for (let steps = 0; steps < 100; steps++) {
      const context = { run_id, agent: "a", turns: row.turns };
      const move = await stepLoop(row.state, mind, { context, ports: { models, minds, clock } });
      row.state = move.state;
      if (move.kind !== "on") return move;
      clock.at += move.wait_ms;
    }
    throw new Error("it does not end");
  }
});

describe("a loop whose life ends before any of its commits", () => {
  const journey = () =>
    loopWorld({
      max_steps: 12,
      script: ({ turns }) => {
        const said = turns.filter(({ kind }) => kind === "said").length;
        const answers = [
          says([
            ["shell_execute", { command: "ls" }],
            ["file_read", { path: "a" }],
          ]),
          says([["shell_execute", "{"]]),
          says([["Bash", { command: "ls -l" }]]),
          says([], { text: "hm" }),
          says([["browser", {}]]),
        ];
        return answers[said] ?? ends;
      },
      run: ({ call_id }, progress) =>
        progress === null
          ? { kind: "working", progress: 1, wait_ms: 10 }
          : { kind: "result", text: `of ${call_id}`, is_error: false },
    });
  it("[LOOP-3] comes to the same end, with the same conversation, every model call charged and each call under one id", async () => {
    const calm = journey();
    await calm.toTheEnd();
    for (const dies of ["step", "process"] as const) {
      const w = journey();
      const end = dies === "step" ? await w.toTheEnd({ dies }) : await everyOther(w);
      expect(end).toMatchObject({ kind: "answered", tool: "finish" });
      expect(w.row.turns).toEqual(calm.row.turns);
      const charged = w.minds.charged.map(({ thought_id }) => thought_id);
      expect(charged).toHaveLength(w.models.requests.length);
      expect(new Set(charged).size).toBe(charged.length);
      expect(new Set(w.ran.map(({ call_id }) => call_id))).toEqual(new Set(calm.ran.map(({ call_id }) => call_id)));
    }
  });

  /** A new process for each step; every third commit is lost with its process. */
  async function everyOther(w: ReturnType<typeof journey>) {
    for (let steps = 0; steps < 200; steps++) {
      const move = await w.take();
      if (steps % 3 === 2) {
        w.restart();
        continue;
      }
      w.commit(move);
      if (move.kind !== "on") return move;
    }
    throw new Error("it does not end");
  }
});
