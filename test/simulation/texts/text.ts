/**
 * Random GitHub texts, made of what begins, nests or ends blocks and of what opens and ends within a line. Each has a
 * few kinds of pieces only, so that they meet. In some every word is its own, in others few words stand again and again.
 */
import { type Random, random as randomOf } from "../random.ts";

const blocks = [
  ..."[^1]: |[^n]: |[^A]: |[^n b]: |[r]: /u\n|[r]: /u 't|[r]:\n/u\n\"t\n|<b>\n|</b>\n|<x a='>'>\n|<div>\n|<div|</div>\n|<!--|-->|<!-- |<?|?>|<!X |<!x |<![CDATA[|]]>|<pre>\n|</pre>\n|<details>\n|<table>\n|<td>\n".split(
    "|",
  ),
  ...["> ", "> ", "- ", "- ", "* ", "1. ", "2) ", "10. ", "- - ", "> > ", "-\t", "1.\n", "-\n", "# ", "## ", "#\t"],
  ...["  ", "    ", "   ", "\t", " ", "     ", "```\n", "~~~\n", "```js\n", "~~~ ", "````\n", "``` x\n"],
  ...["===\n", "---\n", "-\n", "***\n", "- - -\n", "|-|-|\n", "-|-\n", ":-\n", "-:|\n", "|-\n", "-|-|-\n", "---|\n"],
  ...["|a|b|\n|-|-|\n", "a|b\n-|-\n", "|a\n|-\n", "a\n:-\n", "> a|b\n> -|-\n", "- a|b\n  -|-\n", "|\n", "||\n"],
  ...["-|-\f\n", "-\v|-\n", "\u00a0|", "\u3000|", "\f|", "\\|", "\\\\|", "|", "|", "|", "| "],
];
const marks = [
  ..."* ** _ ` `` [ ] ](/u) ](/u\" \") ]( ![ <b> </b> <a\ttitle=' '> \" <!-- --> <!--a--b <!--> <? ?> \\ &lt; &#96; <http://a.b> [^1] [^n] [^a] [r] ][r] ~~ | \\| < \\` \\< \\[ <b\n <u> <img\talt='".split(
    " ",
  ),
  ...["  \n", "\n\n", " | ", "\n", "`|`", "[^n b]"],
];
const few = ["the", "tests", "all", "read", "delete", "now"];

export function textOf(seed: string): string {
  const random = randomOf(seed);
  const own = random.chance(0.6);
  const kinds = some(random, blocks, 2, 8);
  const within = some(random, marks, 1, 5);
  let count = 0;
  const word = () => (own ? `zq${count++}q` : random.pick(few));
  const parts = Array.from({ length: random.int(4, 26) }, () => {
    const kind = random.int(20);
    if (kind < 8) return `${word()}${random.pick(["", " ", " ", "\n"])}`;
    if (kind < 10) return random.pick(["\n", "\n", "\n\n"]);
    if (kind < 17) return `${random.pick(["", "\n", "\n"])}${random.pick(kinds)}`;
    return random.pick(within);
  });
  return parts.join("");
}
function some(random: Random, all: readonly string[], low: number, high: number): string[] {
  return Array.from({ length: random.int(low, high) }, () => random.pick(all));
}
