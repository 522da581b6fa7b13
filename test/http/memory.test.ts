/** The doors of what a scope remembers. */
import { describe, expect, it } from "vitest";
import { elsewhere } from "../fakes/door-ports.ts";
import { memoryOf } from "../fakes/memory-door.ts";
import { world } from "./world.ts";

describe("the doors of memory", () => {
  it("[MEM-20] anybody of the scope searches it by words and kind, a page at a time; a wrong question says so", async () => {
    const { ask, runtime, deployment } = world();
    for (const id of ["m1", "m2", "m3"]) runtime.memoryRows.set(id, memoryOf(id));
    deployment.runtime(elsewhere).memoryRows.set("theirs", memoryOf("theirs"));
    const first = await ask("GET", "/api/memory?q=cache&kind=gotcha&limit=2", { as: "viewer" });
    expect([first.status, first.body.items, first.body.next_cursor]).toEqual([
      200,
      [memoryOf("m1"), memoryOf("m2")],
      "2",
    ]);
    expect(runtime.lastSearch).toEqual({ query: "cache", kind: "gotcha", limit: 2, offset: 0 });
    const rest = await ask("GET", "/api/memory?cursor=2", { as: "viewer" });
    expect([rest.body.items.length, rest.body.next_cursor]).toEqual([1, null]);
    expect(runtime.lastSearch).toMatchObject({ query: "", kind: null, offset: 2 });
    for (const wrong of ["cursor=x", "kind=secret", "limit=0", `q=${"x".repeat(501)}`, "words=a"])
      expect([wrong, (await ask("GET", `/api/memory?${wrong}`, { as: "viewer" })).status]).toEqual([wrong, 400]);
  });
  it("[MEM-21] an admin has one forgotten, with a reason; nobody else, and nothing of another scope", async () => {
    const { ask, runtime, deployment } = world();
    runtime.memoryRows.set("m1", memoryOf("m1"));
    deployment.runtime(elsewhere).memoryRows.set("theirs", memoryOf("theirs"));
    const forget = (id: string, body: object, as: "admin" | "approver" = "admin") =>
      ask("DELETE", `/api/memory/${id}`, { as, body });
    expect((await forget("m1", { reason: "x" }, "approver")).status).toBe(403);
    for (const body of [{}, { reason: " " }, { reason: "x", more: 1 }])
      expect((await forget("m1", body)).status).toBe(400);
    expect(runtime.memoryRows.get("m1")?.forgotten).toBe(false);
    expect((await forget("m1", { reason: "a name" })).body).toMatchObject({ id: "m1", text: "", forgotten: true });
    expect(runtime.messages).toEqual(["forgotten: a name"]);
    expect((await forget("theirs", { reason: "x" })).body.code).toBe("memory_not_found");
  });
});
