/** What may follow what in an effect on the outside, over every pair. */
import { describe, expect, it } from "vitest";
import { effectEvents, effectMoves, effectStates, repeats, stepEffect } from "../../src/domain/effect.ts";
import { overdueBy } from "../../src/domain/overdue.ts";
import { limits } from "../../src/limits.ts";

describe("an effect on the outside", () => {
  it("[EFF-1] an intent ends known, or is asked about, or is unknown; what is known or unknown for good stays so", () => {
    const seen = effectStates.flatMap((state) =>
      effectEvents.flatMap((event) => {
        const next = stepEffect(state, event);
        expect(next).toBe(effectMoves[state][event] ?? null);
        return next === null ? [] : [`${state} -${event}-> ${next}`];
      }),
    );
    expect(seen).toEqual([
      "intent -outcome-> known",
      "intent -abandon-> asking",
      "intent -lost-> unknown",
      "asking -found-> known",
      "asking -lost-> unknown",
    ]);
  });
  it("[EFF-2] a tool call is never repeated, a push only after a look, and what has an id does nothing the second time", () => {
    const by = Map.groupBy(Object.entries(repeats), ([, how]) => how);
    expect(by.get("never")?.map(([kind]) => kind)).toEqual(["tool_call", "model_call"]);
    expect(by.get("looked_up")?.map(([kind]) => kind)).toEqual([
      ...["publish", "github_comment", "github_check", "github_pull"],
    ]);
  });
});

it("[RCV-1] an object is overdue once it is late by more than a minute and not at work", () => {
  const due = 1_000_000;
  expect(overdueBy(due, due + limits.overdue_ms, false)).toBeNull();
  expect(overdueBy(due, due + limits.overdue_ms + 1, false)).toBe(limits.overdue_ms + 1);
  expect(overdueBy(due, due + limits.overdue_ms + 1, true)).toBeNull();
  expect(overdueBy(null, due, false)).toBeNull();
});
