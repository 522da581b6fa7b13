import { describe, expect, it } from "vitest";
import { mayTakeSlot, type PoolFacts } from "../../src/domain/pool.ts";

const free: PoolFacts = { slots: 16, used: 0, scope_slots: 8, used_by_scope: 0, waiting_before: 0 };

describe("executor slots", () => {
  it("[POOL-1] a scope takes slots up to its own cap, and all together up to the deployment's", () => {
    const own = [0, 7, 8, 9].map((used_by_scope) => mayTakeSlot({ ...free, used: used_by_scope, used_by_scope }));
    expect(own).toEqual([true, true, false, false]);
    const all = [0, 15, 16, 17].map((used) => mayTakeSlot({ ...free, used }));
    expect(all).toEqual([true, true, false, false]);
    expect(mayTakeSlot({ ...free, slots: 0 })).toBe(false);
    expect(mayTakeSlot({ ...free, scope_slots: 0 })).toBe(false);
  });
  it("[POOL-2] the last slots belong to those who waited longer, one each", () => {
    const last = [0, 1, 2, 3].map((waiting_before) => mayTakeSlot({ ...free, used: 14, waiting_before }));
    expect(last).toEqual([true, true, false, false]);
  });
  it("[POOL-2] taking turns, two scopes that both want more than there is come to half each", () => {
    const used: Record<string, number> = { a: 0, b: 0 };
    const line = ["a", "b"];
    const slots = 5;
    for (let turn = 0; turn < 20; turn++) {
      const scope = line[turn % 2 === 0 ? 0 : 1] ?? "";
      const taken = (used.a ?? 0) + (used.b ?? 0);
      if (
        !mayTakeSlot({
          slots,
          used: taken,
          scope_slots: 8,
          used_by_scope: used[scope] ?? 0,
          waiting_before: line.indexOf(scope),
        })
      )
        continue;
      used[scope] = (used[scope] ?? 0) + 1;
      line.push(line.splice(line.indexOf(scope), 1)[0] ?? "");
    }
    expect((used.a ?? 0) + (used.b ?? 0)).toBe(slots);
    expect(Math.abs((used.a ?? 0) - (used.b ?? 0))).toBeLessThanOrEqual(1);
  });
});
