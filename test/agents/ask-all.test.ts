/** Many agents asked at once, some of which do not answer. */
import { afterEach, expect, it, vi } from "vitest";
import type { RemoteAgent } from "../../durable-objects/remote.ts";
import { askAll } from "../../durable-objects/runtime/ask-all.ts";
import { limits } from "../../src/limits.ts";

afterEach(() => {
  vi.useRealTimers();
});

it("[HTTP-83] whoever fails or takes too long is named, and holds up no answer of the others", async () => {
  vi.useFakeTimers();
  const answers: Record<string, () => Promise<string>> = {
    proxy: async () => "here",
    planner: () => Promise.reject(new Error("gone")),
    "crew-1": () => new Promise(() => undefined),
  };
  // Only asked which it is: what stands behind the name is the test's own.
  const agent = (name: string) => name as unknown as RemoteAgent;
  const asked = askAll(Object.keys(answers), agent, (one) => answers[String(one)]?.() ?? Promise.resolve(""));
  await vi.advanceTimersByTimeAsync(limits.records_answer_ms);
  expect(await asked).toEqual({ answers: ["here"], silent: ["planner", "crew-1"] });
});
