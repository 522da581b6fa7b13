/**
 * Whatever people and models wrote is read back as GitHub's Markdown reads it: outside of code, where nothing does
 * anything, none of their words may do anything.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { byteLength } from "../../src/domain/canonical.ts";
import { checkLook } from "../../src/domain/github/check.ts";
import { commentBody } from "../../src/domain/github/comment.ts";
import { pullText } from "../../src/domain/github/pull.ts";
import { type GithubStanding, githubStanding } from "../../src/domain/github/standing.ts";
import { blocks, fenced, line, link, marker, plainTitle, quoted, withoutSkips } from "../../src/domain/github/words.ts";
import { limits } from "../../src/limits.ts";
import { doneStanding, standingOf, waitingStanding } from "../fakes/github.ts";

const links = {
  check: "https://github.com/octo/sample/runs/5",
  pull: "https://github.com/octo/sample/pull/6",
  shows: true,
};

/** What is left of Markdown when fences and code spans are taken out, read as CommonMark says. */
function outsideCode(markdown: string): string {
  const kept: string[] = [];
  let fence: string | null = null;
  for (const each of markdown.split("\n")) {
    const mark: RegExpExecArray | null = /^ {0,3}(`{3,})([^`]*)$/.exec(each);
    if (fence !== null) {
      if (mark?.[2]?.trim() === "" && (mark[1] ?? "").length >= fence.length) fence = null;
    } else if (mark !== null) fence = mark[1] ?? "";
    else kept.push(each);
  }
  if (fence !== null) throw new Error("a fence was left open");
  return kept
    .join("\n")
    .split(/\n\s*\n/)
    .map(withoutSpans)
    .join("\n\n");
}
function withoutSpans(block: string): string {
  const runs = [...block.matchAll(/`+/g)].map((found) => ({ at: found.index, length: found[0].length }));
  let text = "";
  let from = 0;
  for (let index = 0; index < runs.length; index++) {
    const open = runs[index] ?? { at: 0, length: 0 };
    const close = runs.findIndex((run, at) => at > index && run.length === open.length);
    if (close === -1) continue;
    const { at, length } = runs[close] ?? open;
    text += `${block.slice(from, open.at)}¤`;
    from = at + length;
    index = close;
  }
  return text + block.slice(from);
}
/** Everything that GitHub would make something of. */
const doing =
  /[@<>`\\*_~[\]|$&]|!\[|#\d|\bGH-\d|\w-\d|:\/\/|www\.|\b[0-9a-f]{7,}\b|:[\w+-]+:|\p{Cf}|^\s*(?:[-+=#]|\d+[.)])/imu;

const nasty = fc.oneof(
  fc.string({ unit: "binary", maxLength: 200 }),
  fc.string({ unit: "grapheme", maxLength: 200 }),
  fc
    .array(
      fc.constantFrom(
        ...[
          "@bob",
          "@org/team",
          "#12",
          "octo/sample#3",
          "GH-7",
          "ABC-1",
          "Fixes #1",
          "closes",
          "https://evil.example/x",
          "www.evil.example",
        ],
        ...[
          "<img src=x>",
          "![a](http://x)",
          "[good](http://evil)",
          "<!--",
          "-->",
          marker("tabcdefgh2345678"),
          "`",
          "``",
          "```",
          "~~~",
        ],
        ...[
          "\n",
          "\n\n",
          "\r\n",
          "\t",
          "> ",
          "- ",
          "1. ",
          "# ",
          "---",
          "===",
          "|a|b|",
          "\\",
          "&lt;",
          "&#64;bob",
          ":tada:",
          "$x$",
        ],
        ...[
          "\u202e",
          "\u200b",
          "\u0000",
          "\u00a0",
          "\ud800",
          "deadbeef",
          "a@b.example",
          "word",
          " ",
          "été",
          "漢字",
          "[!NOTE]",
          "/countersign approve",
        ],
      ),
      { maxLength: 40 },
    )
    .map((parts) => parts.join("")),
  fc.array(fc.constantFrom("`", " ", "a", "\n", "@", "<"), { maxLength: 60 }).map((parts) => parts.join("")),
);
const many = { numRuns: 300 };
/** Of whole documents. */
const some = { numRuns: 60 };

describe("words of others are data", () => {
  it("[GHO-30] in a line and a quotation, nothing outside of code does anything; ordinary words stay as they are", () => {
    const words = "Reads (of src/a.ts) are slow: 10% of them, it's said. Mend it, please!";
    expect(line(words)).toBe(words);
    expect(line("Ask @bob about #12 - GH-7 in https://x.example <b>now</b>")).toBe(
      "Ask `@bob` about `#12` - `GH-7` in `https://x.example` `<b>now</b>`",
    );
    expect(line("a`b `` c")).toBe("``a`b`` ``` `` ``` c");
    expect(line("1. one\u202e")).toBe("`1.` `one⟦U+202E⟧`");
    expect(quoted("# one\n\n- two @bob\n3. x")).toBe("> `#` one\n>\n> `-` two `@bob`\n> `3.` x");
    fc.assert(
      fc.property(nasty, (text) => {
        const said = outsideCode(line(text));
        expect(said.replaceAll("¤", "x").replaceAll(" … (cut)", "").trimStart()).not.toMatch(doing);
        expect(line(text)).not.toContain("\n");
        for (const each of outsideCode(quoted(text)).split("\n")) {
          expect(each.startsWith(">")).toBe(true);
          expect(each.slice(1).replaceAll("¤", "x").trim()).not.toMatch(doing);
        }
      }),
      many,
    );
  });
  it("[GHO-30] each word of a line can be read, in its order", () => {
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^[!-~]{1,12}$/), { maxLength: 20 }), (words) => {
        const clean = words
          .map((word) => word.replaceAll("`", "").replaceAll("<!--", ""))
          .filter((word) => word !== "");
        expect(line(clean.join(" ")).replaceAll("`", "")).toBe(clean.join(" "));
      }),
      many,
    );
  });
  it("[GHO-31] the marker stands once, whatever the texts hold, and is the first thing", () => {
    fc.assert(
      fc.property(fc.array(nasty, { minLength: 9, maxLength: 9 }), (texts) => {
        const standing = spoiled(texts);
        const body = commentBody(standing, links);
        expect(body.startsWith(`${marker(standing.task_id)}\n`)).toBe(true);
        expect(body.split("<!--").length).toBe(2);
        for (const text of [
          checkLook(standing, links.pull).summary,
          checkLook(standing, null).text ?? "",
          pullText(standing).body,
        ])
          expect(text).not.toContain("<!--");
      }),
      some,
    );
  });
  it("[GHO-32] in no comment, check or pull request does a word of others mention, refer, link, show an image or become HTML", () => {
    const plain = standingOf({ ...doneStanding, card: null });
    fc.assert(
      fc.property(
        fc.array(nasty, { minLength: 9, maxLength: 9 }),
        fc.constantFrom("done", "waiting", "failed"),
        (texts, status) => {
          const standing = { ...spoiled(texts), status } as const;
          const look = checkLook(standing, links.pull);
          for (const text of [commentBody(standing, links), look.summary, look.text ?? "", pullText(standing).body]) {
            // Our own links, marker, headings, lists and reference are all that may stand outside of code.
            const left = outsideCode(text)
              .replace(marker(standing.task_id), "")
              .replaceAll(/\[(?:Task page|Check|Pull request|the task's page)\]\(https:\/\/[\w./-]+\)/g, "")
              .replaceAll(/^(?:#{3,4} |- \[[ x]\] |> ?)/gm, "")
              .replaceAll("For #12.", "")
              .replaceAll("tokens, $", "tokens, ")
              .replace(/Co-authored-by: alice <4242\+alice@users\.noreply\.github\.com>/, "")
              .replaceAll("**", "")
              .replaceAll("Co-authored-by", "")
              .replaceAll("¤", "x");
            for (const each of left.split("\n")) expect(each.trim(), text).not.toMatch(doing);
            expect(byteLength(text)).toBeLessThanOrEqual(65_535);
          }
          expect(look.title).toBe(
            checkLook({ ...plain, status, card: standing.card, published: standing.published }, null).title,
          );
        },
      ),
      some,
    );
  });
  it("[GHO-33] no output closes its fence, hides in it, or would close an issue as a commit's message; colours are left out", () => {
    expect(fenced("\u001b[31mred\u001b[0m\r\nnext\u001b[2J\n")).toBe("```text\nred\nnext⟦U+001B⟧[2J\n```");
    expect(fenced("a\n````\nb")).toBe("`````text\na\n````\nb\n`````");
    expect(fenced("Fixes #12, closes: octo/sample#3 and fixed 12")).toBe(
      "```text\nFixes · #12, closes ·: octo/sample#3 and fixed 12\n```",
    );
    fc.assert(
      fc.property(nasty, (text) => {
        expect(outsideCode(`${fenced(text)}\nafter`).replace("Its beginning is cut:\n\n", "")).toBe("after");
        expect(fenced(text)).not.toMatch(/\b(?:fix(?:e[sd])?|close[sd]?|resolve[sd]?):?\s+\S*#\d/i);
      }),
      many,
    );
  });
  it("[GHO-34] what is too long is cut, says so, and fits", () => {
    expect(line("word ".repeat(1_000))).toMatch(/word … \(cut\)$/);
    expect(line("@".repeat(5_000))).toMatch(/^`@+` … \(cut\)$/);
    expect(quoted("line\n".repeat(500))).toMatch(/> line\n> … \(cut\)$/);
    const tail = fenced(`${"x\n".repeat(9_000)}the end`);
    expect(tail).toMatch(/^Its beginning is cut:\n\n```text\n/);
    expect(tail).toMatch(/the end\n```$/);
    for (const long of [
      "é".repeat(40_000),
      "\u202e ".repeat(30_000),
      "` ".repeat(30_000),
      "`".repeat(70_000),
      "😀".repeat(40_000),
    ]) {
      expect(byteLength(line(long))).toBeLessThanOrEqual(limits.github_line_bytes);
      expect(byteLength(quoted(long))).toBeLessThanOrEqual(limits.github_paragraph_bytes);
    }
    for (const long of ["\u202e ".repeat(30_000), "`".repeat(70_000)]) {
      const standing = spoiled(
        Array.from({ length: 9 }, () => long),
        21,
      );
      const look = checkLook(standing, links.pull);
      for (const text of [commentBody(standing, links), look.summary, look.text ?? "", pullText(standing).body]) {
        expect(byteLength(text)).toBeLessThanOrEqual(65_535);
        expect(text).toContain("cut");
        outsideCode(text);
      }
      expect(pullText(standing).title.length).toBeLessThanOrEqual(256);
    }
    const kept = blocks(
      ["first", { text: "y".repeat(50), optional: true }, { text: "z".repeat(80), optional: true }, "last"],
      130,
    );
    expect(kept).toBe(`first\n\n${"y".repeat(50)}\n\nlast\n\nSome of it is cut: it is longer than GitHub takes.`);
  });
  it("[GHO-35] a pull request's title mentions, refers to and closes nothing, in a commit's message neither", () => {
    expect(plainTitle("Fixes #12 for @bob, GH-3, see https://x.example")).toBe(
      "Fixes # 12 for @ bob, GH- 3, see https: //x.example",
    );
    expect(pullText(standingOf({ title: " " })).title).toBe("Countersign tabcdefgh2345678");
    fc.assert(
      fc.property(nasty, (text) => {
        expect(plainTitle(text)).not.toMatch(/@\w|#\d|GH-\d|:\/\/|\n/i);
      }),
      many,
    );
  });
  it("[GHO-47] neither there nor in a commit's message do its words keep checks from running", () => {
    const orders = [
      ...[
        "[skip ci]",
        "[ci skip]",
        "[SKIP  CI]",
        "[no ci]",
        "[skip actions]",
        "[actions skip]",
        "[skip-ci]",
        "[ci_skip]",
      ],
      ...[
        "[skip netlify]",
        "[travis skip]",
        "[azurepipelines skip]",
        "***NO_CI***",
        "skip-checks: true",
        "Skip-Checks:true",
      ],
    ];
    const heard = /\[(?:skip|no|ci|actions|travis|azurepipelines)\b|\[\w+[-_]\w+\]|\*\*\*|skip-checks/i;
    for (const order of orders) {
      expect(order).toMatch(heard);
      for (const text of [order, `Fix it ${order}${order}`, `[a] ${order}`])
        for (const kept of [withoutSkips(text), plainTitle(text), pullText(standingOf({ title: text })).title])
          expect(kept, text).not.toMatch(heard);
    }
    expect(fenced("echo '[skip ci]'")).toContain("[ skip ci]");
    for (const plain of ["[Bug] The pager", "a **b** c", "list[0] of [x]"]) expect(withoutSkips(plain)).toBe(plain);
  });
  it("[GHO-36] an address that is none of the web's leads nowhere", () => {
    expect(link("Check", "https://github.com/o/r/runs/1")).toBe("[Check](https://github.com/o/r/runs/1)");
    for (const bad of ["javascript:alert(1)", "https://x.example/) [a](http://evil", "https://x.example/\u202e", "//x"])
      expect(outsideCode(link("Check", bad))).not.toContain("](");
  });
});

/** A standing with these texts wherever a text of people or models can stand. */
function spoiled(texts: readonly string[], times = 1): GithubStanding {
  const [title = "", goal = "", item = "", reason = "", note = "", why = "", output = "", run = "", page = ""] = texts;
  const several = <T>(one: T): T[] => Array.from({ length: times }, () => one);
  return githubStanding.parse({
    ...standingOf({ ...doneStanding, asked_by: "github:alice" }),
    ...{ title, reason, note },
    plan: { title, goal, hash: "1".repeat(64), version: 1 },
    items: several({ title: item, state: "open" }),
    card: { ...waitingStanding.card, title, why, buttons: false, why_page: page },
    checks: several({ run, exit_code: 1, output }),
  });
}
