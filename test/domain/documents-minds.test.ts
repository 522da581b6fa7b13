/** The document of models, budgets and memory, held to the code it speaks of. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { usdOf } from "../../src/adapters/prices.ts";
import { plannerShare } from "../../src/domain/budget.ts";
import { modelProviders, readModelList } from "../../src/domain/model-list.ts";
import { limits } from "../../src/limits.ts";

const read = (name: string) => readFileSync(join(import.meta.dirname, "../..", name), "utf8");
const document = read("docs/minds.md");
const section = (title: string) =>
  (document.split(/^## /m).find((part) => part.startsWith(`${title}\n`)) ?? "").replace(/\s+/g, " ");
const says = (figure: number) => figure.toLocaleString("en");

describe("the document of minds", () => {
  it("[DOC-7] it names every provider and variable of models, and its example's lists can be read", () => {
    const rows = [...document.matchAll(/^\| `([\w-]+)` \|/gm)].map(([, name = ""]) => name);
    expect(rows).toEqual(["MODEL_PROXY", "MODEL_PLANNER", "MODEL_EXECUTOR", ...modelProviders]);
    const named = new Set(document.match(/\b(?:[A-Z]+_)+[A-Z]+\b/g));
    const configured = new Set(read("wrangler.toml").match(/\b[A-Z]+(?:_[A-Z]+)+\b/g));
    const ours = [...configured].filter((name) => /^MODEL_|API_KEY$|BASE_URL$|^WEB_SEARCH/.test(name));
    expect(ours.filter((name) => !named.has(name))).toEqual([]);
    const lists = [...document.matchAll(/^MODEL_[A-Z]+=(.*)$/gm)].map(([, list = ""]) => readModelList(list));
    expect(lists.map(({ problems }) => problems)).toEqual([[], [], []]);
    const hosted = lists.flatMap(({ models }) => models).filter(({ provider }) => provider !== "compatible");
    const tokens = { input: 1_000, output: 1_000, cached: 0, written: 0 };
    for (const { provider, model } of hosted)
      expect([model, usdOf(`${provider}/${model}`, tokens)]).toEqual([model, expect.any(Number)]);
  });
  it("[DOC-7] its figures are the code's", () => {
    const told: readonly (readonly [title: string, words: string])[] = [
      ["Models", `at most ${limits.model_failures} times in a row`],
      ["Models", `ends after ${limits.model_timeout_ms / 60_000} minutes`],
      [
        "The way of a wish",
        `at most ${limits.research_rounds} questions for a plan, ${limits.research_in_flight} at a time`,
      ],
      ["The way of a wish", `within ${limits.research_timeout_ms / 60_000} minutes`],
      ["When an item fails", `at most ${limits.consult_timeout_ms / 1_000} seconds`],
      ["When an item fails", `at most ${limits.max_replan_depth === 2 ? "twice" : "?"} over`],
      ["Prices and budgets", `${says(limits.task_tokens)} tokens and $${limits.task_usd} unless`],
      ["Prices and budgets", `at least a ${1 / plannerShare === 5 ? "fifth" : "?"} is the planner's`],
      ["What an agent is told", `Within ${says(limits.context_tokens)} tokens`],
      ["What an agent is told", `\`CLAUDE.md\`, ${limits.project_rules_bytes / 1_024} KB each`],
      ["Memory", `at most ${says(limits.memory_entries)} entries of ${limits.memory_text_bytes / 1_024} KB`],
    ];
    for (const [title, words] of told) expect(section(title)).toContain(words);
  });
});
