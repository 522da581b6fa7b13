/** The loop of every role that thinks, stepped over nothing but JSON between two steps. */
import { describe, expect, it } from "vitest";
import { answerPending, openLoop, sendBack, stepLoop } from "../../src/agents/loop.ts";
import { ModelFailure, type ModelFailureCode } from "../../src/agents/models.ts";
import { limits } from "../../src/limits.ts";
import { ends, finish, loopWorld, reader, says, shell } from "../fakes/loops.ts";

const failure = (code: ModelFailureCode, more: { retryable?: boolean; wait_ms?: number; model?: string } = {}) =>
  new ModelFailure(code, `the test's ${code}`, { model: "test/tame", ...more });

describe("a loop", () => {
  it("[LOOP-1] asks the model, runs what it wants, tells it the result, and ends with the tool that ends", async () => {
    const w = loopWorld({
      script: (_, at) =>
        [
          says(
            [
              ["shell_execute", { command: "ls" }],
              ["file_read", { path: "a" }],
            ],
            { text: "I look" },
          ),
          ends,
        ][at] ?? ends,
      run: ({ value }) => ({ kind: "result", text: `of ${JSON.stringify(value)}`, is_error: false }),
    });
    const end = await w.toTheEnd();
    expect(end).toMatchObject({ kind: "answered", tool: "finish", value: { summary: "done" }, call_id: "2-1" });
    expect(w.row.turns).toEqual([
      { kind: "told", text: "the order" },
      {
        ...{ kind: "said", text: "I look", model: "test/tame" },
        calls: [
          { call_id: "1-1", tool: "shell_execute", arguments: '{"command":"ls"}' },
          { call_id: "1-2", tool: "file_read", arguments: '{"path":"a"}' },
        ],
      },
      { kind: "result", call_id: "1-1", tool: "shell_execute", text: 'of {"command":"ls"}', is_error: false },
      { kind: "result", call_id: "1-2", tool: "file_read", text: 'of {"path":"a"}', is_error: false },
      {
        kind: "said",
        text: "",
        model: "test/tame",
        calls: [{ call_id: "2-1", tool: "finish", arguments: '{"summary":"done"}' }],
      },
    ]);
    const [first, second] = w.models.requests;
    expect(first).toMatchObject({
      role: "executor",
      attempt: 0,
      must_call: true,
      instructions: "do the work",
      max_output_tokens: 1_000,
    });
    expect(first?.tools).toEqual([shell, reader, finish].map(({ offer }) => offer));
    expect(second?.turns).toHaveLength(4);
    expect(w.row.state).toMatchObject({ steps: 2, failures: 0, repairs: 0, pending: [] });
  });
  it("[LOOP-2] each call of the model is asked of the runtime before, charged after, and in one commit with its answer", async () => {
    const w = loopWorld({ script: (_, at) => (at === 0 ? says([["shell_execute", { command: "ls" }]]) : ends) });
    w.minds.thinking = () => {
      expect(w.models.requests).toHaveLength(w.minds.charged.length);
      return { answer: "go", tokens_left: 1, usd_left: 1 };
    };
    // An answer's token costs a thousand times what one of the input does.
    w.models.mostUsd = (_, input, output) => input + output * 1_000;
    await w.toTheEnd();
    expect(w.minds.asked).toHaveLength(2);
    const { reserve_tokens = 0, reserve_usd } = w.minds.asked[0] ?? {};
    expect(reserve_usd).toBe(reserve_tokens - 1_000 + 1_000 * 1_000);
    expect(w.minds.asked[0]).toMatchObject({
      ...{ run_id: w.run_id, agent: "crew-1", role: "executor", payer: w.mind.payer, prompt: "executor/work@1" },
    });
    expect(w.minds.asked[0]?.reserve_tokens).toBeGreaterThan(1_000);
    expect(w.minds.charged).toEqual(
      w.minds.asked.map(({ thought_id }) => ({
        ...{ thought_id, model: "test/tame", usd: 0.001, failure: null },
        usage: { input_tokens: 100, output_tokens: 10, cached_tokens: 0, estimated: false },
      })),
    );
  });
  it("[MNB-4] the call of a model is made under the signal of its run", async () => {
    const w = loopWorld({ script: () => ends });
    const { signal } = new AbortController();
    const asked: unknown[] = [];
    const call = w.models.call.bind(w.models);
    w.models.call = (request) => {
      asked.push(request.signal);
      return call(request);
    };
    const context = {
      run_id: w.run_id,
      agent: "crew-1",
      turns: [{ kind: "told", text: "the order" }],
      signal,
    } as const;
    let state = openLoop(w.clock.at);
    for (let step = 0; step < 2; step++)
      state = (await stepLoop(state, w.mind, { context, ports: { models: w.models, minds: w.minds, clock: w.clock } }))
        .state;
    expect(asked).toHaveLength(1);
    expect(asked[0]).toBe(signal);
  });
  it("[LOOP-2] what the runtime answers instead of yes ends the loop or has it wait, and no model is called", async () => {
    const w = loopWorld({ script: () => ends });
    await w.take().then(w.commit);
    w.minds.thinking = () => ({ answer: "wait", reason: "used up" });
    const before = w.row.state.asked;
    const waits = await w.take();
    expect(waits).toMatchObject({ kind: "on", wait_ms: limits.budget_look_ms, waits_for: "budget", turns: [] });
    expect(waits.state.asked).toBe(before);
    w.commit(waits);
    // A person takes their time, which is no standing still.
    w.clock.at += 2 * limits.stalled_ms;
    expect(await w.take()).toMatchObject({ kind: "on", waits_for: "budget", state: { recovered: [] } });
    w.minds.thinking = () => ({ answer: "refused", error_code: "budget_exceeded", reason: "no more" });
    expect(await w.take()).toMatchObject({
      kind: "failed",
      error_code: "budget_exceeded",
      retryable: false,
      detail: "no more",
    });
    w.minds.thinking = () => ({ answer: "stale", reason: "gone" });
    expect(await w.take()).toMatchObject({ kind: "stopped", entry: { answer: "stale", reason: "gone" } });
    expect(w.models.requests).toEqual([]);
    expect(w.minds.charged).toEqual([]);
  });
  it("[LOOP-3] a step whose commit failed makes its call again under another id: both are charged, no tool runs twice", async () => {
    const w = loopWorld({
      script: (request) => (request.turns.length < 3 ? says([["shell_execute", { command: "ls" }]]) : ends),
      run: ({ call_id }, progress) =>
        progress === null
          ? { kind: "working", progress: { call_id }, wait_ms: 0 }
          : { kind: "result", text: "ok", is_error: false },
    });
    expect(await w.toTheEnd({ dies: "step" })).toMatchObject({ kind: "answered" });
    expect(w.models.requests).toHaveLength(4);
    expect(new Set(w.minds.charged.map(({ thought_id }) => thought_id)).size).toBe(4);
    expect(new Set(w.ran.map(({ call_id }) => call_id))).toEqual(new Set(["1-1"]));
    expect(w.results()).toHaveLength(1);
  });
  it("[LOOP-4] a process that dies between call and commit repeats the call once, under an id that no call had", async () => {
    const w = loopWorld({ script: () => ends });
    await w.take().then(w.commit);
    // It is called and charged, and dies.
    expect(await w.take()).toMatchObject({ kind: "on", state: { at: "act" } });
    w.restart();
    const names = await w.take();
    expect(names).toMatchObject({
      kind: "on",
      wait_ms: 0,
      turns: [],
      state: { at: "think", asked: w.row.state.asked + 1, lost: 1 },
    });
    expect(w.models.requests).toHaveLength(1);
    w.commit(names);
    expect(await w.toTheEnd()).toMatchObject({ kind: "answered" });
    expect(w.models.requests).toHaveLength(2);
    const ids = w.minds.asked.map(({ thought_id }) => thought_id);
    expect(new Set(ids).size).toBe(2);
    expect(w.minds.charged.map(({ thought_id }) => thought_id)).toEqual(ids);
    expect(w.row.state.lost).toBe(0);
  });
  it("[LOOP-4] a call that is asked for again before it was made keeps its id", async () => {
    const w = loopWorld({ script: () => ends });
    await w.take().then(w.commit);
    let away = 2;
    w.minds.thinking = () => {
      if (away-- > 0) throw new Error("the runtime is away");
      return { answer: "go", tokens_left: null, usd_left: null };
    };
    await expect(w.take()).rejects.toThrow("away");
    await expect(w.take()).rejects.toThrow("away");
    await w.take();
    expect(new Set(w.minds.asked.map(({ thought_id }) => thought_id)).size).toBe(1);
  });
  it("[LOOP-4] a call that ends the process each time is given up", async () => {
    const w = loopWorld({ script: () => ends });
    for (let lives = 0; lives < limits.model_calls_lost + 1; lives++) {
      const names = await w.take();
      expect(names.kind).toBe("on");
      w.commit(names);
      await w.take();
      w.restart();
    }
    expect(await w.take()).toMatchObject({ kind: "failed", error_code: "tool_failure", retryable: true });
    expect(w.models.requests).toHaveLength(limits.model_calls_lost + 1);
  });
  it("[LOOP-5] what may pass is tried again: at once with the next model, then after its own word or doubling", async () => {
    const w = loopWorld();
    w.models.names = ["a/one", "b/two"];
    const waits: number[] = [];
    const codes = [
      failure("overloaded", { retryable: true }),
      failure("rate_limited", { retryable: true, wait_ms: 7_000 }),
    ];
    w.models.script = (_, at) => (at < 6 ? (codes[at === 3 ? 1 : 0] ?? ends) : ends);
    for (;;) {
      const move = await w.take();
      w.commit(move);
      if (move.kind !== "on" || move.state.at === "act") break;
      waits.push(move.wait_ms);
    }
    expect(waits).toEqual([0, 0, 1_000, 0, 7_000, 0, 4_000]);
    expect(w.models.requests.map(({ attempt }) => attempt)).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(w.row.state).toMatchObject({ failures: 0, refusals: 0, steps: 1 });
    expect(w.minds.charged.map((done) => done.failure !== null)).toEqual([...Array(6).fill(true), false]);
    expect(w.minds.charged[0]).toMatchObject({
      usd: 0,
      usage: { input_tokens: 0 },
      failure: "overloaded: the test's overloaded",
    });
  });
  it("[LOOP-5] so many failures in a row are the end, which a new attempt may mend", async () => {
    const w = loopWorld({ script: () => failure("unreachable", { retryable: true }) });
    expect(await w.toTheEnd()).toMatchObject({ kind: "failed", error_code: "tool_failure", retryable: true });
    expect(w.models.requests).toHaveLength(limits.model_failures);
  });
  it("[LOOP-5] what no repeat mends is asked of each other model once; when all refuse, the end says what to set", async () => {
    const w = loopWorld({ script: (_, at) => (at === 0 ? failure("unauthorized") : ends) });
    w.models.names = ["a/one", "b/two"];
    expect(await w.toTheEnd()).toMatchObject({ kind: "answered" });
    const refused = loopWorld({ script: () => failure("unauthorized") });
    refused.models.names = ["a/one", "b/two"];
    const end = await refused.toTheEnd();
    expect(end).toMatchObject({ kind: "failed", retryable: false });
    expect(end).toHaveProperty("detail", expect.stringMatching(/ANTHROPIC_API_KEY.*MODEL_EXECUTOR/));
    expect(refused.models.requests).toHaveLength(2);
    // The adapter calls a refusal retryable as long as the list holds another model.
    const others = loopWorld({ script: (_, at) => failure("unauthorized", { retryable: at === 0 }) });
    others.models.names = ["a/one", "b/two"];
    expect(await others.toTheEnd()).toMatchObject({ kind: "failed", retryable: false });
    expect(others.models.requests).toHaveLength(2);
    const none = loopWorld({ script: () => failure("not_configured") });
    expect(await none.toTheEnd()).toMatchObject({
      kind: "failed",
      retryable: false,
      detail: expect.stringContaining("Set MODEL_EXECUTOR"),
    });
  });
  it("[LOOP-5] a failure that cost something is charged for it, and an error that is none is a bug of ours", async () => {
    const usage = { input_tokens: 5, output_tokens: 1, cached_tokens: 0, estimated: true };
    const cut = new ModelFailure("cut", "it ended", { model: "a/one", retryable: true, spent: { usage, usd: null } });
    const w = loopWorld({ script: (_, at) => (at === 0 ? cut : ends) });
    await w.toTheEnd();
    expect(w.minds.charged[0]).toMatchObject({ model: "a/one", usage, usd: null, failure: "cut: it ended" });
    const broken = loopWorld();
    await broken.take().then(broken.commit);
    broken.models.script = () => {
      throw new TypeError("a bug");
    };
    await expect(broken.take()).rejects.toThrow("a bug");
  });
  it("[LOOP-5] a runtime that does not take the charge is told again; the call is made once", async () => {
    const w = loopWorld({ script: () => ends });
    const told = w.minds.thought.bind(w.minds);
    let away = limits.thought_tries - 1;
    w.minds.thought = async (...about) => {
      if (away-- > 0) throw new Error("away");
      return told(...about);
    };
    expect(await w.toTheEnd()).toMatchObject({ kind: "answered" });
    expect(w.models.requests).toHaveLength(1);
    expect(w.minds.charged).toHaveLength(1);
  });
  it("[LOOP-11] an answer the role does not take goes back as that call's failed result", async () => {
    const w = loopWorld({
      script: () =>
        says([
          ["finish", { summary: "x" }],
          ["file_read", { path: "a" }],
        ]),
    });
    const end = await w.toTheEnd();
    if (end.kind !== "answered") throw new Error(end.kind);
    w.row.turns = w.row.turns.slice(0, -end.turns.length);
    w.commit(sendBack(end, "line 3 is wrong", w.clock.at));
    expect(w.results()).toMatchObject([
      { call_id: "1-1", tool: "finish", text: "line 3 is wrong", is_error: true },
      { call_id: "1-2", text: "not run: finish came before it", is_error: true },
    ]);
    expect(w.row.state).toMatchObject({ at: "think", pending: [] });
    // The next step is the next call of the model, without a commit between.
    expect(await w.take()).toMatchObject({ kind: "on", state: { steps: 2, at: "act" } });
  });
  it("[LOOP-11] a call that waits for a person gets its result from outside, and the loop goes on", async () => {
    const w = loopWorld({
      script: (_, at) => (at === 0 ? says([["shell_execute", { command: "rm" }]]) : ends),
      run: () => ({ kind: "asks" }),
    });
    expect(await w.toTheEnd()).toMatchObject({ kind: "asks", state: { pending: [{ call_id: "1-1" }] }, turns: [] });
    w.commit(answerPending(w.row.state, "a person said no: not this", true, w.clock.at));
    expect(await w.toTheEnd()).toMatchObject({ kind: "answered" });
    expect(w.results()).toMatchObject([{ call_id: "1-1", text: "a person said no: not this", is_error: true }]);
    expect(() => answerPending(w.row.state, "x", false, 1)).toThrow("no call waits");
  });
});
