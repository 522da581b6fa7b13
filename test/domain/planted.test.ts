import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { commandOf, verdictOf } from "../../src/dev/planted.ts";
import { inProject } from "../../src/dev/project.ts";
import { type Plant, plants, problemsOf } from "../planted/plants.ts";

function read(file: string): string | null {
  try {
    return readFileSync(inProject(file), "utf8");
  } catch {
    return null;
  }
}

describe("planted bugs", () => {
  it("[PLT-1] each can be planted: its text stands exactly once in its file, and its name is its own", () => {
    expect(problemsOf(plants, read)).toEqual([]);
    expect(plants.length).toBeGreaterThanOrEqual(34);
  });
  it("[PLT-2] one whose text is gone, stands twice, changes nothing or shares a name is named", () => {
    const plant: Plant = { id: "a", file: "f", find: "x", replace: "y", why: "", subset: { simulation: "short" } };
    const found = (list: readonly Plant[], text: string | null) => problemsOf(list, () => text).length;
    expect(found([plant], "x")).toBe(0);
    expect(found([plant], "")).toBe(1);
    expect(found([plant], "x x")).toBe(1);
    expect(found([plant], null)).toBe(1);
    expect(found([{ ...plant, replace: "x" }], "x")).toBe(1);
    expect(found([plant, plant], "x")).toBe(1);
  });
  it("[PLT-3] only a run that says what failed has caught a bug: not one that did not load, nor one that did not end", () => {
    expect(verdictOf("100 steps, 1 violations", 1)).toBe("red");
    expect(verdictOf("scope SEED=1 violations=1", 1)).toBe("red");
    expect(verdictOf("\u001b[2m      Tests \u001b[22m \u001b[1m\u001b[31m2 failed\u001b[39m", 1)).toBe("red");
    expect(verdictOf("SyntaxError: Unexpected token", 1)).toBe("broken");
    expect(verdictOf("100 steps, 0 violations", 0)).toBe("green");
    expect(verdictOf("", null)).toBe("too long");
    expect(commandOf({ simulation: "short" })).toContain("short");
  });
});
