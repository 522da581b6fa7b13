import { describe, expect, it } from "vitest";
import { type CallOutcome, SandboxFailure } from "../../src/agents/ports.ts";
import {
  afterFailure,
  bytesInMessage,
  firstOf,
  lastOf,
  note,
  poll,
  setupCall,
  tail,
  whyFailed,
} from "../../src/agents/workspace.ts";
import { canonicalJson } from "../../src/domain/canonical.ts";
import { limits } from "../../src/limits.ts";
import { begunIn, box, world } from "../fakes/attempts.ts";

const utf8 = new TextEncoder();
const spec = { argv: ["talk"], timeout_ms: 60_000 };

describe("a call that is looked at until it ends", () => {
  it("[WS-1] it is begun once, all its output is read before its end is told, and nothing twice", async () => {
    const w = world();
    const long = "x".repeat(200_000);
    w.memory.programs.set("talk", (process) => {
      process.print(long);
      return 0;
    });
    await w.memory.create(box, { scope_id: "s", owner: "o", worktree: "w", memory_mb: 1, processes: 1, file_mb: 1 });
    let [at, read] = [{ call_id: "c", offset: 0 }, ""];
    for (let looks = 0; ; looks++) {
      const seen = await poll(w.ports.sandboxes, box, at, spec);
      read += new TextDecoder().decode(seen.output);
      at = seen.call;
      if (seen.ended !== null) {
        expect(seen.output.byteLength).toBe(0);
        expect(seen.ended).toMatchObject({ state: "exited", exit_code: 0 });
        break;
      }
      expect(looks).toBeLessThan(20);
    }
    expect(read).toBe(long);
    expect(begunIn(w)).toEqual(["c"]);
    expect(w.asked.filter(({ method }) => method === "exec")).toHaveLength(1);
  });
});

describe("the set-up", () => {
  it("[WS-2] its commands are calls of their own, in order, with the plan's hosts and caches and no others", () => {
    const environment = { setup: [["npm", "ci"], ["make"]], hosts: ["npm"], cache: ["npm"] };
    expect(setupCall(environment, 0)).toEqual({
      call_id: "setup-1",
      spec: { argv: ["npm", "ci"], timeout_ms: limits.setup_timeout_ms, network: { hosts: ["npm"], cache: ["npm"] } },
    });
    expect(setupCall(environment, 1)?.call_id).toBe("setup-2");
    expect(setupCall(environment, 2)).toBeNull();
    expect(setupCall({ setup: [], hosts: ["npm"], cache: [] }, 0)).toBeNull();
  });
});

describe("a failure of the sandbox", () => {
  it("[WS-3] one that may pass is waited out, ever longer up to 5 s, for about two minutes in all; then it counts", () => {
    const failure = new SandboxFailure("unreachable", "away", true);
    const waits: number[] = [];
    for (let failures = 0; ; failures++) {
      const after = afterFailure(failure, failures);
      if (!after.again) {
        expect(after.failure).toBe(failure);
        break;
      }
      waits.push(after.wait_ms);
      expect(failures).toBeLessThan(100);
    }
    expect(waits.slice(0, 6)).toEqual([500, 1_000, 2_000, 4_000, 5_000, 5_000]);
    const total = waits.reduce((sum, ms) => sum + ms, 0);
    expect(total).toBeGreaterThanOrEqual(110_000);
    expect(total).toBeLessThanOrEqual(150_000);
  });
  it("[WS-3] one that would come again counts at once, and what is no failure of the sandbox is thrown on", () => {
    const final = new SandboxFailure("repo_not_allowed", "no");
    expect(afterFailure(final, 0)).toEqual({ again: false, failure: final });
    const bug = new TypeError("undefined is not a function");
    expect(() => afterFailure(bug, 0)).toThrow(bug);
    expect(() => afterFailure("text", 0)).toThrow("text");
  });
});

describe("words", () => {
  it("[WS-4] every end but exit code 0 has its reason in a sentence", () => {
    const ended = (outcome: Exclude<CallOutcome, { state: "running" }>) => whyFailed("step 2", outcome);
    expect(ended({ state: "exited", exit_code: 0, signal: null, duration_ms: 1 })).toBeNull();
    expect(ended({ state: "exited", exit_code: 1, signal: null, duration_ms: 1 })).toBe(
      "step 2 ended with exit code 1",
    );
    expect(ended({ state: "exited", exit_code: 137, signal: "SIGKILL", duration_ms: 1 })).toBe(
      "step 2 ended with exit code 137 (SIGKILL)",
    );
    expect(ended({ state: "timed_out", duration_ms: 1_499 })).toBe("step 2 was still running after 1 s and was ended");
    expect(ended({ state: "never_started", reason: "no such program" })).toBe(
      "step 2 could not be started: no such program",
    );
    expect(ended({ state: "unknown" })).toBe("what became of step 2 is not known");
  });
  it("[WS-5] the tail of a log is its end, without terminal colours, also of one cut in two", () => {
    expect(tail("abc", utf8.encode("def"), 4)).toBe("cdef");
    expect(tail("", utf8.encode("a"), 4)).toBe("a");
    expect(tail("", utf8.encode("\u001b[1;31mred\u001b[0m \u001b[2Kline"), 100)).toBe("red line");
    expect(tail(tail("", utf8.encode("red\u001b[3"), 100), utf8.encode("1m!"), 100)).toBe("red!");
    expect(new TextDecoder().decode(note("hello"))).toBe("\u001b[2m# hello\u001b[0m\n");
  });
  it("[WS-5] wherever a text is cut, no character is cut in half: what is kept can be sent", () => {
    const rockets = "\u{1F680}".repeat(5);
    for (let max = 0; max <= 10; max++) {
      const kept = [tail("", utf8.encode(rockets), max), lastOf(rockets, max), firstOf(rockets, max)];
      for (const text of kept) expect(() => canonicalJson(text)).not.toThrow();
      expect(lastOf(rockets, max).length).toBe(max);
    }
    expect(firstOf("abcdef", 3)).toBe("abc ...");
    expect(firstOf("abc", 3)).toBe("abc");
    expect(bytesInMessage("\u0001\u{1F680}\u00e9")).toBe(2 + 6 + 4 + 2);
  });
});
