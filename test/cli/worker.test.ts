import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { watchAnswers, whyLost } from "../../src/dev/worker.ts";

/** What each look in turn finds; after the last, nothing. */
function watch(found: readonly boolean[]) {
  const silent = vi.fn();
  const answers = vi.fn(async () => found[answers.mock.calls.length - 1] ?? false);
  const watched = watchAnswers({ answers, every_ms: 1_000, silent });
  return { silent, answers, stop: watched.stop };
}

it("[START-35] what to do about a Worker that is gone is said, and a full disk by its name", () => {
  const folder = { root: "/data", log: "/data/service.log" };
  expect(whyLost(folder, 1_000)).toContain("no room is left on the disk of /data");
  expect(whyLost(folder, 1e9)).toContain("see /data/service.log. Start it again");
});

describe("a server whose runtime is gone", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("[START-18] is given up after six looks without an answer, once", async () => {
    const { silent, answers } = watch([true, true]);
    await vi.advanceTimersByTimeAsync(7_000);
    expect(silent).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(silent).toHaveBeenCalledOnce();
    expect(answers).toHaveBeenCalledTimes(8);
  });
  it("[START-18] goes on when it answers again, and is not looked at once it is stopped", async () => {
    const { silent, stop } = watch([false, false, false, false, false, true, false, false]);
    await vi.advanceTimersByTimeAsync(8_000);
    stop();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(silent).not.toHaveBeenCalled();
  });
  it("[START-18] a slow look is waited for, not asked twice", async () => {
    const answers = vi.fn(() => new Promise<boolean>((resolve) => setTimeout(() => resolve(true), 4_500)));
    const watched = watchAnswers({ answers, every_ms: 1_000, silent: () => undefined });
    await vi.advanceTimersByTimeAsync(4_000);
    expect(answers).toHaveBeenCalledOnce();
    watched.stop();
  });
});
