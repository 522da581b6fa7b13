import { describe, expect, it } from "vitest";
import { nameOf, readModelList } from "../../src/domain/model-list.ts";
import { estimatedTokens } from "../../src/domain/token-count.ts";

describe("a role's models", () => {
  it("[MODEL-1] are read in order, with slashes in their names", () => {
    const { models, problems } = readModelList(
      " anthropic/claude-opus-5 ,workers-ai/@cf/openai/gpt-oss-120b,compatible/my.model:7b",
    );
    expect(problems).toEqual([]);
    expect(models.map(nameOf)).toEqual([
      "anthropic/claude-opus-5",
      "workers-ai/@cf/openai/gpt-oss-120b",
      "compatible/my.model:7b",
    ]);
    expect(models.map(({ place }) => place)).toEqual([1, 2, 3]);
    expect(readModelList("  ")).toEqual({ models: [], problems: [] });
  });

  it("[MODEL-1] that cannot be read are left out, and told by their place", () => {
    const { models, problems } = readModelList("openai/a,,sk-secret,evil/b,google/,openai/a,google/ü,google/c");
    expect(models.map(nameOf)).toEqual(["openai/a", "google/c"]);
    expect(models.map(({ place }) => place)).toEqual([1, 8]);
    const names = "has no model name of 1 to 200 letters, digits and @ . : / + ~ _ - after its provider";
    expect(problems).toEqual([
      "entry 2 is empty",
      "entry 3 is not of the form provider/model",
      "entry 4 names none of the providers workers-ai, anthropic, openai, google, compatible",
      `entry 5 ${names}`,
      "entry 6 names a model for the second time",
      `entry 7 ${names}`,
    ]);
    expect(problems.join()).not.toContain("secret");
  });

  it("[MODEL-1] are eight at most", () => {
    const { models, problems } = readModelList(Array.from({ length: 20 }, (_, index) => `openai/m${index}`).join(","));
    expect([models.length, problems]).toEqual([8, ["entry 9 and those behind it are too many: a role has at most 8"]]);
  });
});

describe("tokens nobody counted", () => {
  it("[MODEL-2] are estimated as a quarter of the ASCII characters and all the others", () => {
    expect(["", "a", "abcd", "abcde", "日本語", "a日", "🙂🙂"].map(estimatedTokens)).toEqual([0, 1, 1, 2, 3, 2, 2]);
  });
});
