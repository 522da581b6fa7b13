/** Texts that are hard to read as Markdown: pieces that open, nest or end nothing, each repeated to the length asked for. */
const openers =
  '<!-- <? <![CDATA[ <!a [ ![ [<!-- aaa<? "<? www.<!-- ]( []( [a] [a](b) [^1] ` `` $ $$ $a $x\\a$ <a < <b> <p> <table> <td> <ul><li> <div> <textarea> <select> <svg> <details> * *_ ** *a* ~~ &amp; &#x200b; \\a http://a( =';
const lines = [
  ...["1. a\n", "- a\n", "- \n  ", "- ", "> a\n", "> - ", "a\n===\n", "a\n---\n", "# a\n", "a\n", "\n", "***\n", "|a"],
  // A table's rows are filled up, and each mark of an item may hold another.
  ...[`${"| a ".repeat(60)}|\n${"|-".repeat(60)}|\n${"a\n".repeat(60)}\n`, `${"- ".repeat(30)}a\n`],
  ...["| a | b |\n", "| a |\n|-|\n", "[a]: b\n", "[a]: b 'c\n", "[^a]: b\n", "```\n", "<!--\n", "<pre>\n", "    a\n"],
];
/** What stands before them decides in how many ways the text is read. */
const before = ["", "$ ", "$ <textarea> "];

export interface HardText {
  readonly name: string;
  readonly text: string;
}
export function hardTexts(chars: number): HardText[] {
  const pieces = [...openers.split(" "), ...lines];
  return pieces.flatMap((piece) =>
    before.map((start) => {
      const text = start + piece.repeat(Math.floor((chars - start.length) / piece.length));
      return { name: JSON.stringify(start + piece), text };
    }),
  );
}

/** What people write: Markdown of many kinds. */
export function ordinaryText(chars: number): string {
  const part =
    "## Steps\n\nRun `npm test` in **packages/core** and see [the docs](https://example.com/docs) fail:\n\n- one <b>thing</b> ✅ → ❌\n- another _thing_ 👩‍💻\n\n```sh\n├── src │ └── “a” … $HOME\n```\n\n> quoted words here, costs $5 or $10\n\n| a | b |\n|---|---|\n| ✓ | d |\n\n";
  return part.repeat(Math.floor(chars / part.length));
}
