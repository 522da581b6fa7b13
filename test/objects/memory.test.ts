/** What a scope remembers, in the object itself: its full-text index is the platform's. */
import { describe, expect, it } from "vitest";
import { countersigned } from "./driven.ts";
import { as, audit, must, refusalOf } from "./scope.ts";

describe("the memory of a scope's object", () => {
  it("[MEM-11] finds an approved plan by its words, recalls it, and forgets it for an admin", async () => {
    const { scope, task_id } = await countersigned();
    const admin = as(scope, "root", "admin");
    const search = async (query: string) =>
      must(await scope.runtime.memories(admin, { query, kind: null, limit: 10, offset: 0 })).items;
    const [plan] = await search("");
    if (plan === undefined) throw new Error("nothing is remembered");
    expect(plan).toMatchObject({ kind: "plan", task_id, forgotten: false });
    const word = plan.title.split(" ").at(-1) ?? "";
    expect((await search(`"${word}* AND title:`)).map(({ id }) => id)).toEqual([plan.id]);
    const recalled = await scope.runtime.recall(scope.id, { task_id, agent: "planner" }, word, 5);
    expect(recalled.map(({ id }) => id)).toEqual([plan.id]);
    const ada = as(scope, "ada", "approver");
    expect(refusalOf(await scope.runtime.forgetMemory(ada, plan.id, "no")).code).toBe("forbidden");
    const left = must(await scope.runtime.forgetMemory(admin, plan.id, "a name stands in it"));
    expect(left).toMatchObject({ forgotten: true, title: "", text: "" });
    expect(await search(word)).toEqual([]);
    expect((await audit(scope)).filter((link) => link.decision === "memory_forgotten")).toMatchObject([
      { reason: "a name stands in it", details: { memory_id: plan.id, by: "root" } },
    ]);
  });
});
