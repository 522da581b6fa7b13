import { describe, expect, it } from "vitest";
import { cleanText } from "../../src/domain/github/text.ts";
import { limits } from "../../src/limits.ts";

describe("what a GitHub page draws, and nobody sees", () => {
  it("[GHI-53] of what may be a sum, and holds a command or a comment of TeX, nothing is shown", () => {
    for (const sum of [
      "$\\phantom{EVIL}$",
      "$ \\phantom{EVIL} $",
      "x$\\phantom{EVIL}$1",
      "$\\phantom{EVIL costs \\$5 to the EVIL}$",
      "$\\phantom{EVIL for $1 to the EVIL}$",
      "$+ % EVIL costs \\$5 EVIL$",
      "$$\\phantom{a EVIL for $1 to the EVIL}$$",
      "$$x % a EVIL for $1 EVIL\n$$",
      "$$\n\\phantom{EVIL \\$ EVIL}\n$$",
      "> $$\n> \\phantom{EVIL $ EVIL}\n> $$",
      "$\\phantom{EVIL\nEVIL}$",
      "$\\phantom{**EVIL** [EVIL](x) ![](EVIL) `EVIL` <b>EVIL</b>}$",
      "$`\\phantom{EVIL}`$",
      "<p>$$\\phantom{EVIL}$$</p>",
      "<div>\n$\\phantom{EVIL}$\n</div>",
      "<p>$\\\\{\\phantom{EVIL $ EVIL}$</p>",
      "&dollar;\\phantom{EVIL}&#36;",
      "$&#92;phantom{EVIL}$",
      "$+ &percnt; EVIL$",
      "| a |\n|---|\n| $\\phantom{EVIL \\$ EVIL}$ |",
      "# $\\phantom{EVIL}$",
      "$x % EVIL words\ny$&#49;",
      "$&#32;x % EVIL words\ny$",
      "$&nbsp;x % EVIL words\ny&nbsp;$",
      "$\u00a0x % EVIL words\ny\u3000$",
      "**$\\phantom{EVIL}$**",
    ]) {
      const { clean, hidden } = cleanText(`One ${/^[>$<|#]/.test(sum) ? "\n\n" : ""}${sum}\n\nMore`);
      expect(clean, sum).not.toContain("EVIL");
      expect(clean, sum).toMatch(/^One[\s\S]*\[\.\.\.\][\s\S]*More$/);
      expect(hidden.join("\n"), sum).toContain("EVIL");
    }
  });
  it("[GHI-53] a sum that a tag, a link or a picture parts, or holds the beginning of, is not read", () => {
    for (const sum of [
      "$\\phantom{<p>EVIL \\$5</p>}$",
      "$\\phantom{\n<div>\nEVIL</div> \\$ }$",
      "$$\\phantom{<h1>EVIL</h1> $ }$$",
      "![$](x) \\phantom{EVIL \\$5}$",
      "[a]($) \\phantom{EVIL \\$5}$",
      '[a](b "$") \\phantom{EVIL \\$5}$',
      '<b title="$">x</b> \\phantom{EVIL \\$5}$',
      "<!-- $ --> \\phantom{EVIL \\$5}$",
    ]) {
      const { clean, hidden } = cleanText(`One ${sum}\n\nMore`);
      expect(clean, sum).not.toContain("EVIL");
      expect(hidden.join("\n"), sum).toContain("EVIL");
    }
  });
  it("[GHI-53] what a picture is drawn of is not shown, however its language's name goes on", () => {
    for (const name of ["mermaid", "mermaid,x", "math;x", "geojson{x}"]) {
      const { clean, hidden } = cleanText(`\`\`\`${name}\n%% EVIL\n\`\`\``);
      expect(clean, name).not.toContain("EVIL");
      expect(hidden.join("\n"), name).toContain("EVIL");
    }
  });
  it("[GHI-53] what stands between two sums, prices, and dollars in code stay", () => {
    for (const text of [
      "It costs $5 or $10, \\$15 or \\$20.",
      "Half of it, 50%, is C:\\temp; $5 it costs.",
      "Set `$HOME` to `C:\\temp` and `$PATH` to 100%.",
      "```sh\nprintf '%s\\n' $HOME $PATH\n```",
      "$a + b$ and $c$ of it",
      "Costs $5.\n\nOf it 10%.\n\nThen $6.",
      "The cart shows $90 after a 10% discount off $100, and $20/mo saves 20%, so it is $192.",
      "Run $ export A=b \\\nand $ make -j4: 90% pass, the rest with $? = 2",
    ])
      expect(cleanText(text)).toEqual({ clean: text, hidden: [] });
    expect(cleanText("where $\\alpha$ is the rate and $\\beta$ the decay").clean).toBe(
      "where [...] is the rate and [...] the decay",
    );
  });
  it("[GHI-53] whatever may be read as a letter is a word: enclosed and regional letters, Braille, symbols", () => {
    for (const words of ["ⓔⓥⓘⓛ", "🅔🅥🅘🅛", "🄴🅅🄸🄻", "⠑⠧⠊⠇", "🇪🇻🇮🇱", "☞✂⌫", "→"]) {
      for (const hides of [
        `![x <!-- ${words} ](y) --> foo`,
        `$+ % ${words}$`,
        `\`\`\`math\n% ${words}\n\`\`\``,
        `<pre lang="math">% ${words}</pre>`,
        `- *<!A <![CDATA[</video>"><?\`<option>${words}-->>|<script> <div>\n1. `,
        `<b <option>${words}<noscript> </rp></div>\n<!A ](y "x](y "`,
      ]) {
        const { clean, hidden } = cleanText(`One.\n\n${hides}\n\nMore`);
        expect(clean, hides).not.toContain(words);
        expect([clean, ...hidden].join("\n"), hides).toContain(words);
      }
      for (const text of [
        `**a** ${words} [b](c)`,
        `- ${words}\n- [x] ${words}`,
        `| ${words} | a |\n|---|---|\n| b | c |`,
      ])
        expect(cleanText(text)).toEqual({ clean: text, hidden: [] });
    }
  });
  it("[GHI-64] words far to the right of code, behind blanks alone, are hidden; a table of columns stays", () => {
    const { github_code_blanks: blanks, github_code_columns: columns } = limits;
    const far = " ".repeat(3_000);
    for (const [text, left] of [
      [`\`\`\`\nnpm test${far}# EVIL\nnext\n\`\`\``, "```\nnpm test [...]\nnext\n```"],
      [`    npm test${"\t".repeat(20)}# EVIL`, "```\nnpm test [...]\n```"],
      [`<pre>npm test${"&nbsp;".repeat(300)}EVIL</pre>`, "```\nnpm test [...]\n```"],
      [`\`\`\`\nnpm test${" \u200b".repeat(100)}EVIL\n\`\`\``, "```\nnpm test [...]\n```"],
      [`\`\`\`\n${"漢".repeat(45)}${" ".repeat(blanks)}EVIL\n\`\`\``, `\`\`\`\n${"漢".repeat(45)} [...]\n\`\`\``],
      [`\`\`\`\n${far}EVIL\n\`\`\``, "```\n [...]\n```"],
    ] as const) {
      const { clean, hidden } = cleanText(text);
      expect(clean).toBe(left);
      expect(hidden.join("\n")).toContain("EVIL");
    }
    for (const line of [
      `${"x".repeat(columns * 3)} y`,
      `NAME${" ".repeat(blanks)}READY${" ".repeat(blanks)}AGE`,
      `trailing${far}`,
      `${"x".repeat(columns)}${" ".repeat(blanks - 1)}y`,
    ]) {
      const text = `\`\`\`\n${line}\nmore\n\`\`\``;
      expect(cleanText(text)).toEqual({ clean: text, hidden: [] });
    }
  });
});
