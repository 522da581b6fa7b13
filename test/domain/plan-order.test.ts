import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ItemProgress } from "../../src/domain/plan-order.ts";
import { blockedBy, orderItems, readyItems } from "../../src/domain/plan-order.ts";

const item = (id: string, depends_on: string[] = [], paths: string[] = [], services: string[] = []) => ({
  id,
  depends_on,
  touches: { paths, services },
});
const ids = (items: readonly { id: string }[]) => items.map(({ id }) => id);
const at = (states: Record<string, ItemProgress>) => (id: string) => states[id] ?? "open";

/** Items that depend only on earlier ones, in a shuffled order. */
const graph = fc
  .array(fc.array(fc.nat({ max: 9 }), { maxLength: 3 }), { minLength: 1, maxLength: 10 })
  .map((all) =>
    all.map((deps, index) =>
      item(
        `i${index}`,
        [...new Set(deps.filter((dep) => dep < index))].map((dep) => `i${dep}`),
        [`p${index % 3}/**`],
      ),
    ),
  )
  .chain((items) => fc.shuffledSubarray(items, { minLength: items.length }));

describe("order", () => {
  it("[PLAN-19] dependencies come first, and otherwise the written order holds", () => {
    expect(ids(orderItems([item("c", ["b"]), item("a"), item("b", ["a"]), item("d")]))).toEqual(["a", "b", "c", "d"]);
    expect(ids(orderItems([item("a"), item("b"), item("c")]))).toEqual(["a", "b", "c"]);
  });
  it("[PLAN-19] a cycle, which no accepted plan has, throws", () => {
    expect(() => orderItems([item("a", ["b"]), item("b", ["a"])])).toThrow("a -> b -> a");
  });
  it("[PLAN-20] an item is ready when all it waits for is done", () => {
    const items = [item("a"), item("b", ["a"]), item("c")];
    expect(ids(readyItems(items, at({})))).toEqual(["a", "c"]);
    expect(ids(readyItems(items, at({ a: "running", c: "done" })))).toEqual([]);
    expect(ids(readyItems(items, at({ a: "done", c: "running" })))).toEqual(["b"]);
    expect(ids(readyItems(items, at({ a: "failed" })))).toEqual(["c"]);
  });
  it("[PLAN-20] items that touch the same paths or services run one after the other", () => {
    const items = [
      item("a", [], ["src/**"]),
      item("b", [], ["src/x.ts"]),
      item("c", [], ["docs/**"], ["db"]),
      item("d", [], [], ["db"]),
    ];
    expect(ids(readyItems(items, at({})))).toEqual(["a", "c"]);
    expect(ids(readyItems(items, at({ a: "running", c: "done" })))).toEqual(["d"]);
    expect(ids(readyItems(items, at({ b: "running", c: "running" })))).toEqual([]);
  });
  it("[PLAN-20] a path that could be a folder touches what is below it", () => {
    expect(ids(readyItems([item("a", [], ["src"]), item("b", [], ["src/x.ts"])], at({})))).toEqual(["a"]);
  });
  it("[PLAN-20] dispatching what is ready, whoever ends first, does every item once and never two that overlap", () => {
    fc.assert(
      fc.property(graph, fc.array(fc.nat(), { minLength: 40, maxLength: 40 }), (items, picks) => {
        const state: Record<string, ItemProgress> = {};
        let done = 0;
        for (const pick of picks) {
          for (const next of readyItems(items, at(state))) state[next.id] = "running";
          const running = items.filter(({ id }) => state[id] === "running");
          expect(new Set(running.flatMap(({ touches }) => touches.paths)).size).toBe(running.length);
          const ended = running[pick % Math.max(running.length, 1)];
          if (ended === undefined) break;
          expect(ended.depends_on.every((id) => state[id] === "done")).toBe(true);
          state[ended.id] = "done";
          done++;
        }
        expect(done).toBe(items.length);
      }),
    );
  });
  it("[PLAN-21] what waits for a failed item, however far, is blocked; its siblings are not", () => {
    const items = [item("a"), item("b", ["a"]), item("c", ["b"]), item("d"), item("e", ["c", "d"])];
    expect(blockedBy(items, "a")).toEqual(["b", "c", "e"]);
    expect(blockedBy(items, "d")).toEqual(["e"]);
    expect(blockedBy(items, "e")).toEqual([]);
  });
});
