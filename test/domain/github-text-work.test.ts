import { describe, expect, it, vi } from "vitest";
import { readCommand } from "../../src/domain/github/commands.ts";
import { cleanText } from "../../src/domain/github/text.ts";
import { unread } from "../../src/domain/github/text-judge.ts";
import { pagesOf } from "../../src/domain/github/text-page.ts";
import { limits } from "../../src/limits.ts";
import { hardTexts, ordinaryText } from "../fakes/hard-texts.ts";

/** Characters that were looked at for a mark while `work` was done: what takes long looks at the rest again and again. */
function lookedAt(work: () => void): number {
  const search = String.prototype.indexOf;
  let looked = 0;
  const spy = vi.spyOn(String.prototype, "indexOf").mockImplementation(function (this: string, mark, from = 0) {
    const found = search.call(this, mark, from);
    looked += (found === -1 ? this.length : found) - Math.min(from, this.length);
    return found;
  });
  try {
    work();
  } finally {
    spy.mockRestore();
  }
  return looked;
}

describe("the work that a GitHub text makes", () => {
  it("[GHI-55] nothing of a text is looked for again and again", () => {
    const chars = 16_384;
    // The page alone, without the limits: a mark that never ends is looked for once in each block and reading.
    for (const { name, text } of hardTexts(chars).filter((one) => /<!|<\?/.test(one.name)))
      expect(
        lookedAt(() => pagesOf(text)),
        name,
      ).toBeLessThan(60 * chars);
  });
  it("[GHI-55] a text of more characters, lines or marks than a page may be is not read, and any other is soon", () => {
    for (const { name, text } of hardTexts(4_096)) {
      const { clean, hidden } = cleanText(text);
      expect(clean.length + hidden.length, name).toBeGreaterThan(0);
    }
    for (const text of [
      `\`\`\`\n${"x\n".repeat(limits.github_page_lines)}`,
      "- x\n".repeat(limits.github_page_marks / 2),
      "*".repeat(limits.github_page_marks + 1),
      "[".repeat(limits.github_page_marks / 2 + 1),
      `\`\`\`\n${"*".repeat(limits.github_page_code_marks + 1)}\n\`\`\``,
      `${"|a".repeat(200)}|\n${"|-".repeat(200)}|\n${"a\n".repeat(330)}`,
      `${"- ".repeat(30)}a\n`.repeat(1_000),
      "![a".repeat(limits.github_page_marks / 3 + 1),
    ])
      expect(cleanText(text).clean).toBe(unread);
  });
  it("[GHI-55] what people write is read whole, and a long log in a fence", () => {
    const text = ordinaryText(20_000);
    expect(cleanText(text)).toEqual({ clean: text, hidden: [] });
    const log = `\`\`\`\n${"2026-11-22 10:00:00 [main] [a_b] com.acme.Foo - failed <x> `y`\n".repeat(900)}\`\`\``;
    expect(cleanText(log)).toEqual({ clean: log, hidden: [] });
  });
  it("[GHI-55] a text of which much comes is given up while it is parsed, before anything is made of it", () => {
    for (const text of [
      `${"|a".repeat(200)}|\n${"|-".repeat(200)}|\n${"a\n".repeat(330)}`,
      `${"- ".repeat(30)}a\n`.repeat(1_000),
    ])
      expect(() => pagesOf(text)).toThrow("too many tokens");
    const named = `[x]: ${'"'.repeat(8_000)}\n\n${"[x] ".repeat(1_500)}`;
    for (const text of [named, `[x]: y '${"b".repeat(8_000)}'\n\n${"[x] ".repeat(1_500)}`])
      expect(() => pagesOf(text)).toThrow("too long a page");
  });
  it("[GHI-63] a comment in which no line could begin a command makes no page, and one too long for a command is not clear", () => {
    const most = limits.github_command_chars;
    for (const { name, text } of hardTexts(limits.github_page_chars - 50)) {
      const asks = () => expect(readCommand(`${text}\n\nHe wrote /countersign x there.`), name).toBeNull();
      expect(lookedAt(asks), name).toBeLessThan(2 * text.length);
      if (text.length > most) expect(readCommand(`/countersign fix it\n\n${text}`), name).toEqual({ what: "unclear" });
    }
    expect(readCommand(`/countersign fix it\n\n${"x ".repeat(most / 2 - 20)}`)).toEqual({ what: "wish" });
    expect(readCommand(`/countersign fix it\n\n${"x ".repeat(most / 2)}`)).toEqual({ what: "unclear" });
  });
});
