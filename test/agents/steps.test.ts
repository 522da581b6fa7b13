import { describe, expect, it } from "vitest";
import { SandboxFailure } from "../../src/agents/ports.ts";
import { callOfStep, type Moved, nextStep, type RunnerState } from "../../src/agents/runners/steps.ts";
import { commandEnvironment } from "../../src/agents/tools/environment.ts";
import { limits } from "../../src/limits.ts";
import { begunIn, box, world } from "../fakes/attempts.ts";
import { attemptOrder, type Sample } from "../fakes/orders.ts";

const ref = { attempt_id: "p1.fix.1", entry: 0, lease_id: "lease-1", epoch: 3, agent: "crew-1" };

/** A sandbox that stands at the baseline, and the runner over it. */
async function ready(steps: readonly string[], tree: string | null = null) {
  const w = world();
  const order = attemptOrder(w.main, { steps: [...steps] });
  await w.memory.create(box, { scope_id: "s", owner: "o", worktree: "w", memory_mb: 1, processes: 1, file_mb: 1 });
  await w.memory.checkout(box, { scope_id: "s", url: order.repo }, order.baseline);
  const next = (runner: RunnerState): Promise<Moved> =>
    nextStep(runner, order, { ref, sandbox: box, tree, ports: w.ports });
  return { w, order, next };
}
/** Moves on until the runner does something else than working or going to the next thing. */
async function toTheEnd(next: (runner: RunnerState) => Promise<Moved>): Promise<Moved> {
  let runner: RunnerState = { step: 0, call: null };
  for (let looks = 0; looks < 100; looks++) {
    const moved = await next(runner);
    if (moved.kind !== "working" && moved.kind !== "next") return moved;
    runner = moved.runner;
  }
  throw new Error("the runner does not end");
}
const execs = (w: Sample) => w.asked.filter(({ method }) => method === "exec").map(({ args }) => args);

describe("the blocks of an item", () => {
  it("[STEP-1] each is one bash process of its own, in order, its bytes as written, without a network", async () => {
    const { w, next } = await ready(["edit", 'echo "$HOME"; rm -rf x # as written', "more"]);
    w.memory.programs.set('echo "$HOME"; rm -rf x # as written', () => 0);
    expect(await toTheEnd(next)).toEqual({ kind: "done" });
    const spec = (script: string) => ({
      argv: ["bash", "-euo", "pipefail", "-c", script],
      timeout_ms: limits.step_timeout_ms,
      env: commandEnvironment,
    });
    const once = new Map(execs(w).map((args) => [args[1], args]));
    expect([...once.values()]).toEqual([
      [box, "step-1", spec("edit")],
      [box, "step-2", spec('echo "$HOME"; rm -rf x # as written')],
      [box, "step-3", spec("more")],
    ]);
    expect(begunIn(w)).toEqual(["step-1", "step-2", "step-3"]);
  });
  it("[STEP-2] each is authorized as exactly the call that runs, before it starts, and settled after it ended", async () => {
    const { w, order, next } = await ready(["edit", "break"]);
    w.bus.authorizing = (call) => {
      expect(begunIn(w)).not.toContain(call.call_id);
      return { answer: "run" };
    };
    expect(await toTheEnd(next)).toMatchObject({ kind: "failed" });
    expect(w.bus.asked.map(({ ref: by, call }) => [by, call])).toEqual([
      [ref, { ...callOfStep(order, 0), step: 0, tree: null }],
      [ref, { ...callOfStep(order, 1), step: 1, tree: null }],
    ]);
    expect(w.bus.asked[1]?.call).toMatchObject({ tool: "shell_execute", arguments: '{"command":"break"}' });
    expect(w.bus.settled).toMatchObject([
      { call_id: "step-1", outcome: { state: "exited", exit_code: 0 } },
      { call_id: "step-2", outcome: { state: "exited", exit_code: 3 } },
    ]);
  });
  it("[GATE-48] what a block printed is told with its end, as it was printed", async () => {
    const { w, next } = await ready(["speak", "edit"]);
    w.memory.programs.set("speak", (process) => {
      process.print("production\u{0}database\u{1b}[0m\n");
      return 0;
    });
    expect(await toTheEnd(next)).toEqual({ kind: "done" });
    expect(w.bus.settled[0]?.said).toBe("production\u{0}database\u{1b}[0m\n");
  });
  it("[STEP-3] what is not allowed does not start: it waits, or it ends", async () => {
    const answers = [
      [{ answer: "wait" }, { kind: "asks" }],
      [
        { answer: "stale", reason: "gone" },
        { kind: "stopped", entry: { answer: "stale", reason: "gone" } },
      ],
      [
        { answer: "refused", error_code: "gate_blocked", reason: "no", scope: "call" },
        { kind: "stopped", entry: { answer: "refused", error_code: "gate_blocked", reason: "no", scope: "call" } },
      ],
    ] as const;
    for (const [answer, moved] of answers) {
      const { w, next } = await ready(["edit"]);
      w.bus.authorizing = () => answer;
      expect(await toTheEnd(next)).toEqual(moved);
      expect(execs(w)).toEqual([]);
      expect(w.bus.settled).toEqual([]);
    }
  });
  it("[STEP-4] the first that fails is the end, with its exit code; those after it are never asked for", async () => {
    const { w, next } = await ready(["break", "edit"]);
    expect(await toTheEnd(next)).toEqual({
      kind: "failed",
      error_code: "tool_failure",
      retryable: true,
      detail: "step 1 ended with exit code 3",
      exit_code: 3,
    });
    expect(w.bus.asked).toHaveLength(1);
    expect(begunIn(w)).toEqual(["step-1"]);
  });
  it("[STEP-5] time over is `timeout`, a process that could not start is a failure, an unknown outcome is lost; each is settled", async () => {
    const ends = [
      [
        { state: "timed_out", duration_ms: 600_000 },
        {
          kind: "failed",
          error_code: "timeout",
          retryable: true,
          exit_code: null,
          detail: "step 1 was still running after 600 s and was ended",
        },
      ],
      [
        { state: "never_started", reason: "no bash" },
        { kind: "failed", error_code: "tool_failure", exit_code: null, detail: "step 1 could not be started: no bash" },
      ],
      [{ state: "unknown" }, { kind: "lost", detail: "what became of step 1 is not known" }],
    ] as const;
    for (const [outcome, moved] of ends) {
      const { w, order } = await ready(["edit"]);
      const sandboxes = new Proxy(w.memory, {
        get: (target, name) =>
          name === "wait"
            ? async () => ({ outcome, chunk: new Uint8Array(), next_offset: 0 })
            : name === "exec"
              ? async () => undefined
              : Reflect.get(target, name),
      });
      const runner = { step: 0, call: { call_id: "step-1", offset: 0 } };
      expect(
        await nextStep(runner, order, { ref, sandbox: box, tree: null, ports: { bus: w.bus, sandboxes } }),
      ).toMatchObject(moved);
      expect(w.bus.settled).toEqual([{ call_id: "step-1", outcome }]);
    }
  });
  it("[STEP-6] an item without blocks, or past its last, is done without asking anybody", async () => {
    const { w, next } = await ready([]);
    expect(await next({ step: 0, call: null })).toEqual({ kind: "done" });
    expect(await next({ step: 7, call: null })).toEqual({ kind: "done" });
    expect(w.bus.asked).toEqual([]);
  });
  it("[STEP-7] a call that is stored but not yet begun is begun, once, however often it is looked at", async () => {
    const { w, next } = await ready(["linger"]);
    const stored: RunnerState = { step: 0, call: { call_id: "step-1", offset: 0 } };
    const [one, two] = [await next(stored), await next(stored)];
    expect([one.kind, two.kind]).toEqual(["working", "working"]);
    expect(begunIn(w)).toEqual(["step-1"]);
    expect(w.bus.asked).toEqual([]);
    expect(w.bus.settled).toEqual([]);
    await w.memory.destroy(box);
  });
  it("[STEP-7] a failure of the sandbox is its caller's to judge, and settles nothing", async () => {
    const { w, next } = await ready(["edit"]);
    w.faults.next = ({ method }) => (method === "wait" ? new SandboxFailure("unreachable", "away", true) : null);
    await expect(toTheEnd(next)).rejects.toThrow("away");
    expect(w.bus.settled).toEqual([]);
  });
  it("[STEP-8] after a wait the rebuilt tree goes with the question", async () => {
    const { w, next } = await ready(["edit", "more"], "tree-1");
    await next({ step: 1, call: null });
    expect(w.bus.asked.map(({ call }) => [call.call_id, call.tree])).toEqual([["step-2", "tree-1"]]);
  });
});
