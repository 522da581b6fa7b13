/** How long the hardest known GitHub texts take to be read, beside what their Markdown alone takes with the same parser. */
import MarkdownIt from "markdown-it";
import { cleanText } from "../../../src/domain/github/text.ts";
import { unread } from "../../../src/domain/github/text-judge.ts";
import { limits } from "../../../src/limits.ts";
import { hardTexts, ordinaryText } from "../../fakes/hard-texts.ts";
import { median } from "../stats.ts";
import type { Row, Table } from "../table.ts";
import type { Group, World } from "../world.ts";

const nothing = "nothing: it is read in memory";
const shown = 12;

export const text: Group = {
  name: "text",
  about: "the hardest GitHub texts that are read at all, beside their Markdown alone",
  run: async (world) => [measure(world)],
};

/** Of every shape as much as is read: up to 64 KB, halved until it is within the limits. */
function measure({ sizes, say }: World): Table {
  const plain = new MarkdownIt({ html: true });
  const lengths = [1, 2, 4, 8, 16].map((part) => limits.github_page_chars / part);
  const read = new Map<string, string>();
  for (const chars of lengths)
    for (const { name, text } of hardTexts(chars))
      if (!read.has(name) && cleanText(text).clean !== unread) read.set(name, text);
  say(`${read.size} shapes, ${sizes.rounds} rounds`);
  const rounds = Math.min(sizes.rounds, 5);
  const timed = (name: string, one: string): Row => {
    const all = Array.from(
      { length: rounds },
      () => [msOf(() => cleanText(one)), msOf(() => plain.render(one))] as const,
    );
    const figures = {
      cpu_ms: median(all.map(([ours]) => ours)),
      markdown_cpu_ms: median(all.map(([, theirs]) => theirs)),
      chars: one.length,
    };
    return { what: name, figures, durable: nothing };
  };
  const hard = [...read].map(([name, one]) => timed(name, one));
  const worst = hard.toSorted((a, b) => (b.figures.cpu_ms ?? 0) - (a.figures.cpu_ms ?? 0)).slice(0, shown);
  const ordinary = [20_000, 60_000].map((chars) => timed(`ordinary, ${chars / 1_000} KB`, ordinaryText(chars)));
  return {
    title: "Reading a GitHub text",
    how: `CPU time of one text: the ${shown} slowest of ${hard.length} hard shapes, each as long as it is still read; beside it markdown-it's rendering of it.`,
    rows: [...worst, ...ordinary],
    targets: [
      {
        ...{ what: "the slowest text", limit: 100, better: "at_most", unit: "ms" },
        seen: worst[0]?.figures.cpu_ms ?? null,
      },
    ],
  };
}

/** Of this process: others on the machine do not count. */
function msOf(work: () => void): number {
  const began = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1_000;
}
