import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readCommand } from "../../src/domain/github/commands.ts";

const hash = "0123456789ab";

const anyMark = fc.oneof(
  fc.string({ maxLength: 3 }),
  fc.integer({ min: 0, max: 0x10ffff }).map((code) => String.fromCodePoint(code)),
);

describe("/countersign in a comment", () => {
  it("[GHI-10] approves, denies with a reason, cancels, asks for the status; anything else is a wish", () => {
    const said: [string, ReturnType<typeof readCommand>][] = [
      ["/countersign approve", { what: "approve", hash: null }],
      [`/countersign approve ${hash}`, { what: "approve", hash }],
      [`/Countersign  APPROVE\t\`${hash.toUpperCase()}\` thanks`, { what: "approve", hash }],
      ["/countersign approve!\nNice plan.", { what: "approve", hash: null }],
      ["/countersign deny", { what: "deny", reason: null }],
      ["/countersign deny: too much\n\nand more", { what: "deny", reason: "too much\n\nand more" }],
      ["/countersign cancel", { what: "cancel" }],
      ["/countersign status", { what: "status" }],
      ["/countersign fix the pager", { what: "wish" }],
      ["/countersign", { what: "wish" }],
      ["Hello\n\n/countersign approve\n/countersign deny no", { what: "approve", hash: null }],
    ];
    for (const [comment, command] of said) expect(readCommand(comment), comment).toEqual(command);
    expect(readCommand(`/countersign deny ${"x".repeat(20_000)}`)).toMatchObject({ reason: "x".repeat(10_000) });
  });
  it("[GHI-11] a deciding word with others after it decides nothing: they may make it a wish", () => {
    for (const rest of ["approve the new page", "approve 12345", "cancel the subscription", "status page is red"])
      expect(readCommand(`/countersign ${rest}`)).toEqual({ what: "unclear" });
  });
  it("[GHI-11] counts only at a line's start, outside code, quotes and what nobody sees", () => {
    for (const comment of [
      "say /countersign approve",
      " /countersign approve",
      "/countersigned approve",
      "/countersign-approve",
      "> /countersign approve",
      "> they wrote\n/countersign approve",
      "```\n/countersign approve\n```",
      "~~~sh\n/countersign approve",
      "- ```\n/countersign approve\n  ```",
      "````\n```\n/countersign approve\n````",
      "<!--\n/countersign approve\n-->",
      "    /countersign approve",
      "",
    ])
      expect(readCommand(comment), comment).toBeNull();
    for (const comment of [
      "> they wrote\n\n/countersign approve",
      "```\ncode\n```\n/countersign approve",
      "> ```\n> code\n> ```\n\n/countersign approve",
      "/count\u200bersign appr\u200bove",
      "\u2066/countersign approve\u2069",
      "text\r\n/countersign approve\r\nmore",
      "/countersign\u00a0approve",
    ])
      expect(readCommand(comment), comment).toEqual({ what: "approve", hash: null });
  });
  it("[GHI-11] no text whatever makes it throw, and none without the word asks anything", () => {
    fc.assert(
      fc.property(
        fc.array(anyMark, { maxLength: 100 }).map((marks) => marks.join("")),
        (text) => {
          readCommand(`/countersign ${text}`);
          expect(readCommand(text.replaceAll("/", ""))).toBeNull();
        },
      ),
      { numRuns: 200 },
    );
  });
});
