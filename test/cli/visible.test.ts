import { describe, expect, it } from "vitest";
import { visible, visibleLine } from "../../src/domain/visible.ts";

describe("text a person decides on", () => {
  it("[CLI-1] bidirectional, zero-width, tag and control characters are written out", () => {
    expect(visible("a\u202eb")).toBe("a⟦U+202E⟧b");
    for (const mark of ["\u200b", "\u200d", "\u2066", "\u00ad", "\ufeff", "\u0000", "\u001b", "\u0085", "\u007f", "\r"])
      expect(visible(`x${mark}y`)).toMatch(/^x⟦U\+[0-9A-F]{4,6}⟧y$/);
    expect(visible("\u{e0041}")).toBe("⟦U+E0041⟧");
    expect(visible("\ufff9")).toBe("⟦U+FFF9⟧");
    expect(visible("\u2028\u2029")).toBe("⟦U+2028⟧⟦U+2029⟧");
  });

  it("[CLI-1] blanks that pose as a space or as nothing are written out", () => {
    for (const mark of ["\u00a0", "\u2003", "\u3164", "\u115f", "\u2800", "\ufe0f", "\u034f", "\ue000"])
      expect(visible(mark)).toMatch(/^⟦U\+/);
  });

  it("[CLI-1] half a surrogate pair is written out, a whole one stays", () => {
    expect(visible("\ud83d")).toBe("⟦U+D83D⟧");
    expect(visible("🙂")).toBe("🙂");
  });

  it("[CLI-1] ordinary text of any language stays as it is", () => {
    const text = "sed -i 's/a/b/' x.js\n\tGrüße, naïve, 日本語　です, Ελληνικά, עברית, العربية";
    expect(visible(text)).toBe(text);
  });

  it("[CLI-1] in a single line a newline or tab cannot make another", () => {
    expect(visibleLine("src/**\nhash  abc\t1")).toBe("src/**⟦U+000A⟧hash  abc⟦U+0009⟧1");
  });

  it("[CLI-1] escaping twice changes nothing more", () => {
    const once = visible("a\u202e\u200bb");
    expect(visible(once)).toBe(once);
  });
});
