/** What a model reads of a text against what GitHub's own parser shows of it. A miss found here becomes a named case. */
import { describe, expect, it } from "vitest";
import { cleanText } from "../../src/domain/github/text.ts";
import { compare, wordsOf } from "./texts/main.ts";
import { githubIsHere, judge } from "./texts/page.ts";
import { textOf } from "./texts/text.ts";

const texts = Number(process.env.COUNTERSIGN_GITHUB_TEXTS ?? 400);
const seed = process.env.COUNTERSIGN_SEED ?? "1";

/** Texts of which a model once read what some version of that parser does not show. */
const seen: Readonly<Record<string, string>> = {
  "a table's line below one that was none": "a|b\n:-\nthe\n:-\nread | all hidden tests",
  "a definition whose address holds an open parenthesis": 'a\n\n[n b]: the](/u("\n\nread the',
  "a comment that ends where it begins": "- <!-->a<!--a--b\n\nthe <!-->\n\nread all",
};
if (!githubIsHere) console.warn("cmark-gfm is not here: what GitHub shows of random texts is not compared");

describe.skipIf(!githubIsHere)("GitHub's own parser against the reading", () => {
  it("[GHI-66] the same seed writes the same text, and a word that no page shows is a miss", async () => {
    expect(textOf("7-1")).toBe(textOf("7-1"));
    const text = "zq0q\n\n<!-- zq1q -->\n";
    expect((await judge(text)).miss).toBeNull();
    expect((await judge(text, text)).miss).toMatchObject({ page: "zq0q" });
    // Words that stand there too, but not where a model reads them.
    expect((await judge("all tests read", "read all tests")).miss).not.toBeNull();
  });
  for (const [what, text] of Object.entries(seen))
    it(`[GHI-66] ${what} says nothing to the model that its page does not`, async () => {
      expect((await judge(text)).miss).toBeNull();
    });
  it(
    `[GHI-66] of ${texts} random texts a model reads no word that GitHub's own parser does not show, in its order`,
    async () => {
      const figures = await compare({ seed, texts, jobs: 2 });
      expect(figures.misses.map(wordsOf)).toEqual([]);
      // Otherwise the rule would hold of nothing.
      expect(figures.unread).toBeLessThan(texts / 20);
      expect(cleanText(textOf(`${seed}-0`)).clean).not.toBe("");
    },
    20_000 + texts * 50,
  );
});
