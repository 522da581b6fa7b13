import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SearchedText } from "../../src/domain/gate-texts.ts";
import { wordsIn } from "../../src/domain/word-search.ts";
import { limits } from "../../src/limits.ts";

describe("many words in one pass", () => {
  it("[GATE-47] finds exactly the words that the text holds, words inside words included", () => {
    const some = (least: number, most: number) =>
      fc
        .array(fc.constantFrom("a", "b", "c", "\u{1f642}"), { minLength: least, maxLength: most })
        .map((all) => all.join(""));
    fc.assert(
      fc.property(some(0, 40), fc.array(some(0, 5), { maxLength: 12 }), (text, words) => {
        const held = words.filter((word) => word !== "" && text.includes(word));
        expect([...wordsIn(text, words)].sort()).toEqual([...new Set(held)].sort());
      }),
      { numRuns: 500 },
    );
  });
  it("[GATE-47] gives a long text the answers it gives a short one, each list its first word", () => {
    const lists = Array.from({ length: 20 }, (_, at) => [`none ${at}`, "\n\n", `Wörd  ${at}`, "word"]);
    const short = "a word 3 and a WÖRD\n7 here\n\n";
    const long = short + "x".repeat(Math.ceil(limits.gate_word_by_word / 80));
    const answers = (text: string) => {
      const searched = new SearchedText(text, lists);
      return lists.map((list) => searched.wordIn(list));
    };
    expect(answers(long)).toEqual(answers(short));
    expect(answers("none 19 word")[19]).toBe("none 19");
    expect(answers(`Word 3${"x".repeat(long.length)}`)[4]).toBe("word");
  });
});
