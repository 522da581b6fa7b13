import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cleanText, cleanTitle } from "../../src/domain/github/text.ts";
import { withoutMarks } from "../../src/domain/github/text-marks.ts";
import { drawn, unread } from "../../src/domain/github/text-tags.ts";
import { limits } from "../../src/limits.ts";

function parted(text: string) {
  const { clean, hidden } = cleanText(text);
  return [clean, ...hidden];
}

/** Pieces that Markdown and HTML take in odd ways, to be joined at random. */
const pieces = fc.constantFrom(
  ...'<!-- --> <!--> --!> <!- -- > < ` `` ``` ~~~ ```` ```js ```mermaid ![ [ ]( ) ]: [//]: [^1]: # " \' \\ | - 1. > <div> </div> <details> <a <img alt=" <b> <pre> </pre> <script> <? ?> <![CDATA[ ]]> </ <!x & &lt; &#x200b; &zwj; <rp> </rp> <video> $$ @ /countersign =='.split(
    " ",
  ),
  " ",
  "  ",
  "    ",
  "\t",
  "\n",
  "\n\n",
  "\r\n",
  "\r",
  "\u200b",
  "\u202e",
  "\u{e0041}",
  "\u00ad",
  "\u2028",
  "👩‍💻",
  "é",
  "\ud800",
  "\0",
);

const anyMark = fc.integer({ min: 0, max: 0x10ffff }).map((code) => String.fromCodePoint(code));

describe("a text from GitHub", () => {
  it("[GHI-40] what its page does not show is taken out for the model and kept for the approver", () => {
    for (const [text, ...wanted] of [
      ["a <!-- do evil --> c", "a  c", "<!-- do evil -->"],
      ["<!-- a <!-- b --> c -->", " c -->", "<!-- a <!-- b -->"],
      [
        "x\n\n<!-- unclosed\n\nand all below\n```\ncode\n```",
        "x\n\n",
        "<!-- unclosed\n\nand all below\n```\ncode\n```",
      ],
      ["<div><!-- unclosed\n\nbelow", "<div>", "<!-- unclosed\n\nbelow"],
      ["<!-->evil-->x", "x", "<!-->evil-->"],
      ["<!--->evil-->x", "x", "<!--->evil-->"],
      ["<!-- a --!> b -->x", "x", "<!-- a --!> b -->"],
      ["a <!DOCTYPE evil> b", "a  b", "<!DOCTYPE evil>"],
      ["a <?evil ?> b", "a  b", "<?evil ?>"],
      ["a <![CDATA[evil]]> b", "a  b", "<![CDATA[evil]]>"],
      ["<p></ evil></p>", "<p></p>", "</ evil>"],
      ["![evil words](http://x/y.png)", "![](http://x/y.png)", "evil words"],
      ["![a [b] c](x)", "![](x)", "a [b] c"],
      ['[a](http://x "evil")', "[a](http://x)", ' "evil"'],
      ["[a](http://x\n'evil')", "[a](http://x)", "\n'evil'"],
      ["[a](http://x (evil))", "[a](http://x)", " (evil)"],
      ["[a](<evil words>)", "[a]()", "<evil words>"],
      ['<img src="x" alt="evil">', "<img>", '<img src="x" alt="evil">'],
      ["<a title='a > evil'>x</a>", "<a>x</a>", "<a title='a > evil'>"],
      ["<ignore-all-rules>x", "x", "<ignore-all-rules>"],
      ["a\n\n[//]: # (evil)\nb", "a\n\n\nb", "[//]: # (evil)"],
      ["[x]: http://y\n  'evil\nmore'", "", "[x]: http://y\n  'evil\nmore'"],
      ["> [x]: <evil>", "> ", "[x]: <evil>"],
      ["[^1]: evil\n    more\n\nb", "\nb", "[^1]: evil\n    more\n"],
      ["```js evil\ncode\n```", "```js\ncode\n```", " evil"],
      ["  ```js evil\n  x", "  ```js\n  x", " evil"],
      ["```mermaid\n%% evil\n```\nx", "```mermaid\n\n```\n\nx", "evil"],
    ])
      expect(parted(text ?? ""), text).toEqual(wanted);
  });
  it("[GHI-40] what it shows stays as it is", () => {
    for (const text of [
      "[Bug]: the pager fails\nat the end",
      "a < b and c > d, x <- y, 1<2",
      "<details><summary>more</summary>\n\nwords\n</details>",
      "```\n<!-- shown -->\n<Button disabled>\n```",
      "~~~html\n```\n<!-- shown -->\n~~~",
      "1. do\n   ```\n   x\n   ```\n\n[a](http://x) ![](y) `code`",
      "Use `<Button disabled>` and ``<!-- ` -->``.",
      '[a](http://x) "quoted" (so)',
      "List: a <!-- that never ends\n\nand goes on",
      "<https://example.com/a?b=c>",
      "👩‍💻 ❤️ 1️⃣ 🏴󠁧󠁢󠁥󠁮󠁧󠁿",
      "Ünïcödé 漢字 עברית\ttab",
    ])
      expect(parted(text), text).toEqual([text]);
  });
  it("[GHI-41] where it is in doubt that a page shows it as code, what could be hidden is hidden", () => {
    for (const [before, after] of [
      ["<div>\n```\n", "\n```\n</div>"],
      ["<pre>\n\n```\n", "\n```\n</pre>"],
      ["- ```\n  x\n  ```\n  ", ""],
      ["- ```\n", ""],
      ["-\n  ```\n", ""],
      ["- a\n  ```\n", ""],
      ["> ```\n", ""],
      ["> ```\n> x\n\n", "\n"],
      ["    ```\n", ""],
      ["text `\n` ", " `"],
      ["text\n- `\n- ", " `"],
      ["| ` | ", " ` |\n|---|---|"],
      ["```\nx\n```\n", ""],
      ["````\n```\n````\n", ""],
      ["  ```\nx\n```\n", ""],
      ["```\nx\n   ```\n", ""],
      ["``` a`b\n", "\n```"],
      ["\\`", "`"],
      ["<a title='\n`", "`'>"],
      ["[a](`) `", "`"],
      ["<!-- a --> b <!-- c\n\n```\n", "\n```"],
    ] as const) {
      const { shown, hidden } = withoutMarks(`${before}<!-- evil -->${after}`);
      expect(shown, before).not.toContain("evil");
      expect(hidden.join("\n"), before).toContain("evil");
    }
  });
  it("[GHI-41] fences past counting, and marks past matching, end in nothing being sure", () => {
    const fences = Array.from({ length: 40 }, (_, n) => `- ${"`".repeat(n + 3)}\n`).join("");
    expect(cleanText(`${fences}<!-- evil -->`).clean).not.toContain("evil");
    for (const mark of [
      "![",
      "](",
      "<!--",
      "<a ",
      "<a b='",
      '[a](b "',
      "`",
      "[^1]: x\n",
      "[a]: b\n",
      "- ```\n",
      "<?",
      "<rp>",
      "<rp>x</rp>",
      "<video a='",
      "&#x200b;",
      "&#0",
      "[",
      "\\",
    ]) {
      const { clean, hidden } = cleanText(mark.repeat(Math.floor(65_536 / mark.length)));
      expect(clean.length + hidden.length, mark).toBeGreaterThan(0);
    }
  });
  it("[GHI-44] what an element holds that no page writes out is hidden with it, to its certain end or to the end of all", () => {
    for (const [text, ...wanted] of [
      ["<ruby>a<rp>evil</rp><rt>b</rt></ruby> c", "ab c", "<ruby>", "<rp>evil</rp>", "<rt>", "</rt>", "</ruby>"],
      ["<Script>evil</SCRIPT > b", " b", "<Script>evil</SCRIPT >"],
      ["<video controls>\n  <source src='x'>\n  evil\n</video> b", " b"],
      ["<svg><svg>evil</svg>evil</svg>b", "b", "<svg><svg>evil</svg>evil</svg>"],
      ["<rp>evil b", "", "<rp>evil b"],
      ["<video>evil\n\n</video>evil", "", "<video>evil\n\n</video>evil"],
    ])
      expect(parted(text ?? "").slice(0, Math.max(wanted.length, 1)), text).toEqual(wanted);
    // None of these ends it on the page: in code, an escape, a link's address, an attribute, with more in its tag.
    for (const end of [
      "`</rp>`",
      "\\</rp>",
      "[x](</rp>)",
      "<b title='></rp>'>",
      '<b title="></rp>">',
      "</rp x>",
      "<!-- </rp> -->",
    ])
      expect(cleanText(`<rp>${end}evil</rp> b`).clean, end).not.toContain("evil");
    // A name that HTML does not know does nothing, and code is shown.
    const [clean] = parted(
      "Vec<T> of <name>: see [a](http://x) on `<select>`, <b>`<rp>`</b>\n\n| `<video>` | `<rp>` |\n|---|---|\nend",
    );
    expect(clean).toBe(
      "Vec of : see [a](http://x) on `<select>`, <b>`<rp>`</b>\n\n| `<video>` | `<rp>` |\n|---|---|\nend",
    );
  });
  it("[GHI-44] every element that HTML has, or had, is known by whether its content is written out", () => {
    const writtenOut =
      "a abbr acronym address area article aside b base basefont bdi bdo bgsound big blink blockquote body br caption center cite code col colgroup data dd del details dfn dir div dl dt em embed fieldset figcaption figure font footer form h1 h2 h3 h4 h5 h6 header hgroup hr html i image img input ins kbd keygen label legend li link listing main map mark marquee menu menuitem meta multicol nav nextid nobr ol output p param picture pre q rb rt rtc ruby s samp search section slot small source spacer span strike strong sub summary sup table tbody td tfoot th thead time tr track tt u ul var wbr".split(
        " ",
      );
    const all =
      "a abbr acronym address applet area article aside audio b base basefont bdi bdo bgsound big blink blockquote body br button canvas caption center cite code col colgroup command content data datalist dd del details dfn dialog dir div dl dt element em embed fencedframe fieldset figcaption figure font footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe image img input ins isindex kbd keygen label legend li link listing main map mark marquee math menu menuitem meta meter multicol nav nextid nobr noembed noframes noscript object ol optgroup option output p param picture plaintext portal pre progress q rb rp rt rtc ruby s samp script search section select selectedcontent shadow slot small source spacer span strike strong style sub summary sup svg table tbody td template textarea tfoot th thead time title tr track tt u ul var video wbr xmp".split(
        " ",
      );
    expect([...writtenOut, ...unread].toSorted()).toEqual(all.toSorted());
    expect(writtenOut).toEqual(expect.arrayContaining([...drawn]));
    for (const name of all)
      expect(cleanText(`a <${name}>words</${name}> b`).clean.includes("words"), name).toBe(writtenOut.includes(name));
  });
  it("[GHI-45] a reference to an unseen character is judged as that character, however it is written; others stay", () => {
    for (const one of [
      "&#x200b;",
      "&#X000200B;",
      "&#8203;",
      "&#0008203",
      "&ZeroWidthSpace;",
      "&NegativeThinSpace;",
      "&#x200b",
    ])
      expect(parted(`a${one} b`), one).toEqual(["a b", one, "⟦U+200B⟧"]);
    for (const one of [
      "&shy;",
      "&shy",
      "&zwj;",
      "&zwnj;",
      "&lrm;",
      "&rlm;",
      "&NoBreak;",
      "&it;",
      "&ic;",
      "&af;",
      "&#x2800;",
      "&#0;",
    ])
      expect(parted(`a${one} b`)[0], one).toBe("a b");
    expect(parted("ok&#xE0069;&#917614;")).toEqual(["ok", "&#xE0069;&#917614;", '⟦U+E0069⟧⟦U+E006E⟧ (reads "in")']);
    expect(parted("👩&zwj;💻")).toEqual(["👩\u200d💻", "&zwj;"]);
    const shown = "&lt; &amp; &nbsp; &#160; &#65; &#10; &#x110000; &zwjx; &zwj &copy; R&D & `&zwj;`";
    expect(parted(shown)).toEqual([shown]);
    expect(parted("```\n&#x200b;\n```")).toEqual(["```\n&#x200b;\n```"]);
  });
  it("[GHI-46] a title is read as it stands but for what cannot be seen", () => {
    const title = "Support <template> & `x` <!-- so -->";
    expect(cleanTitle(title)).toEqual({ clean: title, hidden: [] });
    expect(cleanTitle("a\u200bb")).toEqual({ clean: "ab", hidden: ["⟦U+200B⟧"] });
  });
  it("[GHI-42] invisible and bidirectional characters go, and are told; tag characters with what they spell", () => {
    expect(parted("a\u200bb\u200bc\u202e d")).toEqual(["abc d", "⟦U+200B⟧ (2 times)", "⟦U+202E⟧"]);
    const spelt = [..."run it"].map((letter) => String.fromCodePoint(0xe0000 + (letter.codePointAt(0) ?? 0))).join("");
    const [clean, told, ...more] = parted(`ok${spelt}`);
    expect([clean, more]).toEqual(["ok", []]);
    expect(told).toContain('(reads "run it")');
    expect(parted("a\u00a0b\r\nc\rd")).toEqual(["a b\nc\nd"]);
    expect(parted("<!-- \u202e -->")).toEqual(["", "<!-- ⟦U+202E⟧ -->"]);
    // Not a comment on the page either: taken apart only after it was looked for.
    expect(parted("<!-- a -\u200b-> evil --> b")).toEqual([" b", "<!-- a -⟦U+200B⟧-> evil -->"]);
  });
  it("[GHI-42] no mark without a picture, and none that reorders, is ever left for the model", () => {
    const joined = /[\n\t]|\p{Extended_Pictographic}[\ufe0e\ufe0f\u200d]*/gu;
    const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\u2028\u2029\u00a0]/u;
    fc.assert(
      fc.property(fc.array(fc.oneof(pieces, anyMark), { maxLength: 12 }), (all) => {
        const left = cleanText(all.join("")).clean.replace(joined, "");
        expect(unseen.test(left)).toBe(false);
      }),
      { numRuns: 200 },
    );
  });
  it("[GHI-43] nothing of a text is in neither part", () => {
    const count = (text: string) => {
      const counts = new Map<string, number>();
      for (const mark of text) counts.set(mark, (counts.get(mark) ?? 0) + 1);
      return counts;
    };
    fc.assert(
      fc.property(fc.array(fc.oneof(pieces, fc.string()), { maxLength: 14 }), (all) => {
        const text = all.join("").replace(/\r\n?/g, "\n");
        const { shown, hidden } = withoutMarks(text);
        const kept = count(shown + hidden.join(""));
        for (const [mark, times] of count(text.replace(/\s/g, "")))
          expect(kept.get(mark) ?? 0, JSON.stringify(text)).toBeGreaterThanOrEqual(times);
      }),
      { numRuns: 500 },
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 14 }), (all) => {
        const text = all.map((piece, at) => `${piece}w${at}w`).join("");
        const { clean, hidden } = cleanText(text);
        const kept = clean + hidden.join("\n");
        for (const at of all.keys()) expect(kept, JSON.stringify(text)).toContain(`w${at}w`);
      }),
      { numRuns: 500 },
    );
  });
  it("[GHI-43] what is hidden is bounded, and says what it leaves out", () => {
    const { hidden } = cleanText(`<!-- ${"x".repeat(5_000)} -->${"<!-- y -->".repeat(200)}`);
    expect(hidden.length).toBe(limits.github_hidden_parts);
    expect(hidden[0]).toMatch(/ … and 4009 more characters$/);
    expect(hidden.at(-1)).toBe("and 152 more hidden parts");
  });
});
