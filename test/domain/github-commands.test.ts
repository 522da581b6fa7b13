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
      [`\n\n/Countersign  APPROVE\t\`${hash.toUpperCase()}\`. \r\n`, { what: "approve", hash }],
      ["/countersign\u00a0approve.", { what: "approve", hash: null }],
      ["/countersign deny", { what: "deny", hash: null, reason: null }],
      ["/countersign deny: too much\n\nand `more`", { what: "deny", hash: null, reason: "too much\n\nand `more`" }],
      ["/countersign deny <!-- unseen -->", { what: "deny", hash: null, reason: null }],
      [`/countersign deny ${hash}`, { what: "deny", hash, reason: null }],
      [`/countersign deny: \`${hash.toUpperCase()}\`, too much`, { what: "deny", hash, reason: "too much" }],
      [`/countersign deny ${hash.repeat(5)}ffff\nno`, { what: "deny", hash: `${hash.repeat(5)}ffff`, reason: "no" }],
      ["/countersign deny deadbeef01", { what: "deny", hash: null, reason: "deadbeef01" }],
      [`/countersign deny ${hash}-x`, { what: "deny", hash: null, reason: `${hash}-x` }],
      ["/countersign cancel", { what: "cancel", task: null }],
      ["/countersign cancel `T12345678`.", { what: "cancel", task: "t12345678" }],
      ["/countersign status", { what: "status" }],
      ["/countersign fix the pager", { what: "wish" }],
      ["/countersign deny-list the host", { what: "wish" }],
      ["/countersign", { what: "wish" }],
      ["/countersign mend a\n/countersign mend b", { what: "wish" }],
      ["Hello\n   /countersign fix the pager", { what: "wish" }],
      ["/countersign do: approve flow is broken", { what: "wish" }],
      ["/countersign help", { what: "help" }],
      ["Hello\n/countersign HELP.", { what: "help" }],
      ["/countersign help me with the pager", { what: "wish" }],
    ];
    for (const [comment, command] of said) expect(readCommand(comment), comment).toEqual(command);
    expect(readCommand(`/countersign deny ${"x".repeat(20_000)}`)).toMatchObject({ reason: "x".repeat(10_000) });
  });
  it("[GHI-47] what decides holds its one line and nothing else; what could be read two ways decides nothing", () => {
    for (const comment of [
      "/countersign approve the new page",
      "/countersign approve 12345",
      `/countersign approve ${hash} but only the first item`,
      "/countersign approve, but do not touch b",
      "/countersign approve!",
      "/countersign approve\nbut only if CI is green",
      "/countersign approve\n\n-- \nalice",
      "Hello\n\n/countersign approve",
      `/countersign approve ${hash}\n/countersign deny no`,
      "/countersign deny no\n/countersign approve",
      "/countersign fix the pager\n\n/countersign approve",
      "/countersign approve <!-- unseen -->",
      "/count\u200bersign appr\u200bove",
      "\u2066/countersign approve\u2069",
      "> they wrote\n\n/countersign approve",
      "```\ncode\n```\n/countersign approve",
      "/countersign cancel the subscription",
      "/countersign cancel\n\nno wait do not",
      "/countersign cancel t1",
      "/countersign status page is red",
      "cannot log in\n/countersign cancel button does nothing",
      "/countersign approve flow is broken, fix it",
      "/countersign: fix it",
      "/countersign, fix it",
      "@countersign /countersign fix it",
      "@Countersign[bot], /countersign fix it",
      "/countersign: approve",
      "/countersign status\n/countersign cancel",
      "On Monday you wrote:\n\n/countersign deny",
    ])
      expect(readCommand(comment, "countersign"), comment).toEqual({ what: "unclear" });
    expect(readCommand("@alice /countersign fix it", "countersign")).toBeNull();
  });
  it("[GHI-11] counts only at a line's start, outside code, quotes and what nobody sees", () => {
    for (const comment of [
      "say /countersign approve",
      "/countersigned approve",
      "/countersign-approve",
      "> /countersign approve",
      "> they wrote\n/countersign approve",
      "- > they wrote\n  /countersign fix it",
      "```\n/countersign approve\n```",
      "~~~sh\n/countersign approve",
      "````\n```\n/countersign approve\n````",
      "<!--\n/countersign approve\n-->",
      "what to write:\n\n    /countersign approve",
      "1. Write\n   /countersign fix the pager\n2. Wait",
      "- what to write:\n\n  /countersign fix the pager",
      "<pre>\n  /countersign fix the pager\n</pre>",
      "- ```\n  /countersign fix the pager\n  ```",
      "",
    ])
      expect(readCommand(comment), comment).toBeNull();
  });
  it("[GHI-11] a wish counts below words, quotes and code that surely end above it; what may hold it makes it unclear", () => {
    for (const above of [
      "Hello @team, this is wrong:\n",
      "See `x`, [a](b) and ~~c~~.\n\n",
      "- a\n- b\n\n",
      "1. a\n\n",
      "> they wrote\n\n",
      "> ```\n> code\n\n",
      "```\ncode <b>\n```\n",
      "<https://example.com/a>\n\n",
      "| a |\n|---|\n\n",
      "A Vec<String> or a Map<K, V> where x<y\n",
      "<T>\n",
      "It costs $$ and `a` and [b] ![c](d)\n\n",
      "# The `title\n",
      "- a\n",
      "- [x] done\n- [ ] not\n",
      "2) a\n",
      "[x]:\n",
      "<!-- what to write:\n\n/countersign approve\n-->\n",
      "<!-- a --> words <!-- b -->\n",
      "<details><summary>Log</summary>\n\n```\n<pre>\n```\n\n</details>\n\n",
      "Use `<pre>` and <b>not</b> <kbd>x</kbd>\n\n",
      "- a\n  ```sh\n  npm test\n  ```\n\n",
      "$$\nx\n$$\n\n",
    ])
      expect(readCommand(`${above}/countersign fix the pager`), above).toEqual({ what: "wish" });
    for (const [above, below = ""] of [
      ["<pre>\n"],
      ["<pre>\n\n"],
      ["<blockquote>\n\n", "\n\n</blockquote>"],
      ["<code>\n", "\n</code>"],
      ["<details>\n\n"],
      ["words <blockquote> words\n\n"],
      ["text `code\n", "\nend`"],
      ["$$\n", "\n$$"],
      ["- > a\n"],
      ["| a |\n|---|\n"],
      ["  ```\n", "\n  ```"],
      ["<p>\n"],
      ["Array<Object>\n\n"],
      ["<s>\n\n", "\n\n</s>"],
      ["~~no\n", "~~"],
      ["- a\n\n  ```\n"],
      ["- ```\n"],
    ] as const)
      for (const words of ["fix the pager", "approve", `approve ${hash}`, "cancel", "deny"])
        expect(readCommand(`${above}/countersign ${words}${below}`), above + words).toEqual({ what: "unclear" });
  });
  it("[GHI-60] spaces before a command, which no page shows, are no matter in a wish; a decision so written is not clear", () => {
    for (const spaces of [" ", "  ", "   "])
      for (const above of ["", "Hello\n\n", "Hello\n", "- a\n\nwords\n", "```\ncode\n```\n"])
        for (const [words, what] of [
          ["fix the pager", "wish"],
          ["help", "help"],
          ["approve", "unclear"],
          ["deny no", "unclear"],
          [`cancel`, "unclear"],
        ] as const)
          expect(readCommand(`${above}${spaces}/countersign ${words}`), above + spaces + words).toEqual({ what });
    expect(readCommand("/countersign deny no\n /countersign approve")).toEqual({ what: "unclear" });
  });
  it("[GHI-61] a comment of one line that a person plainly meant so is not clear, and nothing else is", () => {
    for (const comment of [
      "- /countersign approve",
      "* /countersign fix the pager",
      "1. /countersign approve\n",
      "**/countersign approve**",
      "\n\n_/countersign approve_",
      "`/countersign approve`",
      "- **/countersign approve**",
      "# /countersign approve",
      "    /countersign approve",
      "\\/countersign approve",
      "@countersign-app approve",
      "@Countersign-App[bot]: fix the pager",
    ])
      expect(readCommand(comment, "countersign-app"), comment).toEqual({ what: "unclear" });
    for (const comment of [
      "> /countersign approve",
      "> **/countersign approve**",
      "~~/countersign approve~~",
      "Write `/countersign approve`",
      "`/countersign approve` is what to write\nsee the docs",
      "**/countersign-approve**",
      "@countersign-app",
      "@countersign approve",
      "Ask @countersign-app to approve",
      "@countersign-app approve\nplease",
      `@countersign-app ${"x".repeat(300)}`,
      "",
    ])
      expect(readCommand(comment, "countersign-app"), comment).toBeNull();
    expect(readCommand("@ approve", "")).toBeNull();
  });
  it("[GHI-62] one word is a wish where it answers no question, or `do:` stands before it; where words are not parted, so many letters are", () => {
    for (const word of [
      "approved",
      "aprove",
      "LGTM",
      "yes",
      "no.",
      "stop",
      "abort",
      "rejected",
      "go",
      "Proceed!",
      "批准",
      "`x`",
      "do:",
      "approved, thanks",
      "Please approve!",
      "go ahead",
      "looks good to me",
      "stop it",
      "yes please 👍",
      "stop the task",
      "I agree",
      "not approved",
      "don't do it",
      "apporve",
      "**approve**",
      "*yes*",
      "(yes)",
      "[approve]",
      '"approve"',
      "/approve",
      "--approve",
      "—approve",
      "\u0430pprove",
      "the \u0430pprove",
      "\uff41pprove",
      "<b>approve</b>",
      "&nbsp;approve",
      "/countersign approve",
      "`approve 0123456789ab`",
      "(approve) 0123456789ab",
      "disapprove",
      "unapprove",
      "nein",
      "oui",
      "genehmigt",
      "abgelehnt",
    ])
      for (const comment of [`/countersign ${word}`, `Thanks!\n\n /countersign ${word} \n\nbye`])
        expect(readCommand(comment), comment).toEqual({ what: "unclear" });
    expect(readCommand("/countersign fix the pager\n/countersign approved")).toEqual({ what: "unclear" });
    for (const rest of [
      "do: approved",
      "do:lint",
      "fix",
      "fix-it",
      "#12",
      "Implement.",
      "fix it",
      "stop using eval",
      "please fix it",
      "revert this",
      "no-op the hook",
      "only approve what is signed",
      "add \u03b1 to the formula",
      "do it",
      "",
      "修复分页器在最后一页上的错误",
    ])
      expect(readCommand(`/countersign ${rest}`), rest).toEqual({ what: "wish" });
  });
  it("[GHI-11] no text whatever makes it throw, and none without the word asks anything", () => {
    fc.assert(
      fc.property(
        fc.array(anyMark, { maxLength: 100 }).map((marks) => marks.join("")),
        (text) => {
          readCommand(`/countersign ${text}`);
          readCommand(`${text}\n/countersign approve`);
          expect(readCommand(text.replaceAll("/", ""))).toBeNull();
        },
      ),
      { numRuns: 200 },
    );
  });
});
