/** How long GitHub waits for its answer, when the agents that a delivery sets off do not answer themselves. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { GithubDoor } from "../../durable-objects/runtime/doors-github.ts";
import { Pulse } from "../../durable-objects/runtime/pulse.ts";
import { sha256Hex } from "../../src/domain/canonical.ts";
import { limits } from "../../src/limits.ts";
import { GithubScope, linked, wish } from "../fakes/github-scope.ts";
import { scopeId } from "../fakes/held-scope.ts";

let at: GithubScope;
beforeEach(async () => {
  at = await new GithubScope().linked();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  vi.spyOn(console, "warn").mockImplementation(() => undefined);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  at.close();
});

it("[GHR-18] a delivery is claimed and answered within half a second, and the alarm has what cannot leave", async () => {
  expect(limits.github_answer_ms).toBeLessThanOrEqual(500);
  const alarms: number[] = [];
  const never = () => new Promise<void>(() => undefined);
  const nothing = { nextDueAt: () => null, settle: async () => {}, show: () => {} };
  // Only what is asked of each on this way.
  const pulse: Pulse = new Pulse(at.held.scope, {
    ...({ feed: nothing, records: nothing, decisions: nothing, standing: nothing } as unknown as Parts),
    crew: { startNew: never, nextDueAt: () => at.held.now } as unknown as Parts["crew"],
    mail: () => nothing as unknown as ReturnType<Parts["mail"]>,
    github: () => door,
    setAlarm: async (due) => void alarms.push(due),
  });
  const door: GithubDoor = new GithubDoor(at.held.scope, {
    after: () => pulse.after(),
    soon: () => pulse.after(limits.github_answer_ms),
    places: () => ({ github: "https://github.com", page: null }),
  });
  const delivery = { delivery_id: "d-1", repository: linked, happening: wish() };
  let answer = "none yet";
  const answered = door.githubDelivery(scopeId, delivery, sha256Hex("d-1")).then((said) => {
    answer = said;
  });
  await vi.advanceTimersByTimeAsync(limits.github_answer_ms - 1);
  expect([answer, at.orders("github_event").length]).toEqual(["none yet", 1]);
  await vi.advanceTimersByTimeAsync(1);
  await answered;
  expect([answer, alarms.length]).toEqual(["claimed", 1]);
  // Brought again it waits for nothing at all.
  expect(await door.githubDelivery(scopeId, delivery, sha256Hex("d-1"))).toBe("seen");
});
type Parts = ConstructorParameters<typeof Pulse>[1];
