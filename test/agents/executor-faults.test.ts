import { describe, expect, it } from "vitest";
import { type Sandboxes, SandboxFailure } from "../../src/agents/ports.ts";
import { at, begunIn, box, run, unreachable, world } from "../fakes/attempts.ts";
import { attemptResult, environment } from "../fakes/orders.ts";

describe("a host that fails", () => {
  const methods: (keyof Sandboxes)[] = ["destroy", "create", "checkout", "exec", "wait", "snapshot"];
  it.each(methods)("[EXE-4] away during %s and back again: the attempt goes on, no call runs twice", async (method) => {
    const w = world();
    let left = 5;
    w.faults.next = (call) => (call.method === method && left-- > 0 ? unreachable() : null);
    const ended = await run(w, { steps: ["edit", "more"], clear: ["old"] });
    expect(attemptResult(ended.out).result).toMatchObject({ end: "finished", success: true });
    expect(begunIn(w)).toEqual(["step-1", "step-2"]);
    expect(ended.waits.filter((ms) => ms >= 500)).toEqual([500, 1000, 2000, 4000, 5000]);
  });
  it.each(methods.slice(1))(
    "[EXE-4] away for good from %s on: the attempt is crashed, which may be tried again",
    async (method) => {
      const w = world();
      let away = false;
      w.faults.next = (call) => {
        away ||= call.method === method;
        return away ? unreachable() : null;
      };
      const { message, result } = attemptResult((await run(w)).out);
      expect(result).toMatchObject({ end: "crashed", success: false, patch: null });
      expect(message).toMatchObject({ error_code: "tool_failure", retryable: true });
    },
  );
  it("[EXE-4] it is away again later: the patience begins anew", async () => {
    const w = world();
    let calls = 0;
    w.faults.next = ({ method }) => (method !== "destroy" && ++calls % 28 < 25 ? unreachable() : null);
    expect(attemptResult((await run(w, { steps: ["edit", "more"] })).out).result.success).toBe(true);
    expect(begunIn(w)).toEqual(["step-1", "step-2"]);
  });
  it("[EXE-5] a sandbox that is gone is a crash, wherever the attempt stood", async () => {
    for (const place of ["setup", "work", "snapshot"]) {
      const w = world();
      let gone = false;
      w.faults.next = async () => {
        if (gone) await w.memory.destroy(box);
        return null;
      };
      const order = { steps: ["edit", "more"], environment: { ...environment, setup: [["install"]] } };
      const ended = await run(w, order, {
        before: (stored) => {
          gone ||= at(stored) === place;
          return undefined;
        },
      });
      expect(attemptResult(ended.out).result, place).toMatchObject({ end: "crashed", patch: null });
    }
  });
  it("[EXE-6] a call whose outcome nobody knows ends the attempt as crashed, and is not run again", async () => {
    for (const place of ["step-1", "setup-1"]) {
      const w = world();
      w.faults.next = ({ method, args }) => {
        if (method === "wait" && args[1] === place) w.memory.lose(box, place);
        return null;
      };
      const ended = await run(w, { environment: { ...environment, setup: [["install"]] }, steps: ["edit"] });
      expect(attemptResult(ended.out).result, place).toMatchObject({ end: "crashed", success: false, exit_code: null });
      expect(begunIn(w).filter((id) => id === place)).toHaveLength(1);
      expect(begunIn(w).at(-1)).toBe(place);
    }
  });
  it("[EXE-7] what would fail the same way again ends the attempt with its own error", async () => {
    for (const code of ["repo_unreachable", "ref_not_found", "unauthorized"] as const) {
      const w = world();
      w.faults.next = ({ method }) => (method === "checkout" ? new SandboxFailure(code, `no: ${code}`) : null);
      const { message, result } = attemptResult((await run(w)).out);
      expect(result).toMatchObject({ end: "finished", success: false });
      expect(message).toMatchObject({ error_code: "tool_failure", content: `no: ${code}` });
      expect(begunIn(w)).toEqual([]);
    }
  });
  it("[EXE-8] a sandbox that cannot be destroyed does not keep the answer back", async () => {
    for (const retryable of [true, false]) {
      const w = world();
      w.faults.next = ({ method }) =>
        method === "destroy" ? new SandboxFailure("internal", "stuck", retryable) : null;
      expect(attemptResult((await run(w)).out).result).toMatchObject({ end: "finished", success: true });
    }
  });
  it("[EXE-9] the sandboxes of earlier attempts are gone before a new one is made, or none is made", async () => {
    const w = world();
    await run(w, { clear: ["old-1", "old-2"] });
    expect(w.asked.slice(0, 3).map(({ method, args }) => [method, args[0]])).toEqual([
      ["destroy", "old-1"],
      ["destroy", "old-2"],
      ["create", box],
    ]);
    const stuck = world();
    stuck.faults.next = ({ args }) => (args[0] === "old-2" ? unreachable() : null);
    expect(attemptResult((await run(stuck, { clear: ["old-1", "old-2"] })).out).result.end).toBe("crashed");
    expect(stuck.asked.map(({ method }) => method)).not.toContain("create");
  });
});

describe("an attempt that is ended", () => {
  it("[EXE-16] called off in the middle of a call: the process and its sandbox are gone, the end is `cancelled`", async () => {
    const w = world();
    const ended = await run(
      w,
      { steps: ["linger"] },
      { before: (stored) => (JSON.stringify(stored).includes('"offset":8') ? { cancelled: true } : undefined) },
    );
    const { message, result } = attemptResult(ended.out);
    expect(result).toMatchObject({ end: "cancelled", success: false, patch: null, tool_errors: [] });
    expect(message.error_code).toBeNull();
    expect(await w.memory.sandboxes()).toEqual([]);
  });
  it("[EXE-16] called off at any step of the way, it ends there and nothing more is begun", async () => {
    const order = { steps: ["edit", "more"], environment: { ...environment, setup: [["install"]] } };
    const { states } = await run(world(), order);
    for (const stop of states.keys()) {
      const w = world();
      let begunBefore = 0;
      const ended = await run(w, order, {
        before: (_, index) => {
          if (index !== stop) return undefined;
          begunBefore = w.memory.begun.length;
          return { cancelled: true };
        },
      });
      const closing = ["close", "answer"].includes(at(states[stop]));
      expect(attemptResult(ended.out).result.end, `step ${stop}`).toBe(closing ? "finished" : "cancelled");
      expect(w.memory.begun.length).toBe(begunBefore);
      expect(await w.memory.sandboxes()).toEqual([]);
    }
  });
  it("[EXE-17] past its minutes it ends with `timeout`, which may be tried again; at its last minute it goes on", async () => {
    const w = world();
    const ended = await run(
      w,
      { steps: ["edit", "linger"], minutes: 2 },
      {
        before: (stored) => {
          if (JSON.stringify(stored).includes('"offset":8') && JSON.stringify(stored).includes('"step":1'))
            w.clock.at = 1_000_000 + 120_001;
          return undefined;
        },
      },
    );
    const { message, result } = attemptResult(ended.out);
    expect(message).toMatchObject({ error_code: "timeout", retryable: true });
    expect(result).toMatchObject({ end: "finished", success: false, patch: null, duration_ms: 120_001 });
    expect(await w.memory.sandboxes()).toEqual([]);
    const late = world();
    late.clock.at = 1_000_000 + 120_000;
    expect(attemptResult((await run(late, { minutes: 2 })).out).result.success).toBe(true);
  });
});

describe("a runner that is not here", () => {
  it("[EXE-21] fails for good before anything is made, and never looks done", async () => {
    const w = world();
    const { message, result } = attemptResult((await run(w, { runner: "cli:claude", steps: [] })).out);
    expect(result).toMatchObject({ end: "finished", success: false, patch: null });
    expect(message).toMatchObject({ error_code: "tool_failure", retryable: false });
    expect(begunIn(w)).toEqual([]);
  });
});
