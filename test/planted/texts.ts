/** Small bugs in what the command line says around its answers, in what a plan may hold unseen, and in how GitHub's texts are read. */
import type { Plant } from "./plants.ts";

const texts = { test: "test/cli/texts.test.ts" } as const;
const work = { test: "test/domain/github-text-work.test.ts" } as const;
const sight = { test: "test/domain/github-text-sight.test.ts" } as const;

export const textPlants: readonly Plant[] = [
  {
    id: "texts-json-first",
    file: "src/cli/run.ts",
    find: 'const between = words[1] === "--json";',
    replace: 'const between = words[2] === "--json";',
    why: "--json between the words of a command is taken for one of them",
    subset: texts,
  },
  {
    id: "texts-taint-unchecked",
    file: "src/cli/policy.ts",
    find: 'oneOf(call, "taint", taints)',
    replace: 'call.text("taint")',
    why: "a misspelt taint is sent, and its refusal reads like a denial",
    subset: texts,
  },
  {
    id: "texts-limit-zero",
    file: "src/cli/command.ts",
    find: "/^[1-9]\\d{0,5}$/",
    replace: "/^\\d{1,6}$/",
    why: "a limit of 0 is sent",
    subset: texts,
  },
  {
    id: "texts-token-over-another",
    file: "src/cli/token.ts",
    find: `absent(\`\${out}.\${at + 1}\`)`,
    replace: `\`\${out}.\${at + 1}\``,
    why: "the first of several tokens is written before it is seen that the second's file is taken",
    subset: texts,
  },
  {
    id: "texts-no-token-done",
    file: "src/cli/token.ts",
    find: "return out === null ? exit.done : exit.failed;",
    replace: "return exit.done;",
    why: "a script that asked for a file of tokens goes on without one",
    subset: texts,
  },
  {
    id: "plan-unseen-fillers",
    file: "src/domain/plan-document.ts",
    find: "\\p{Default_Ignorable_Code_Point}\\u{2800}",
    replace: "\\u{2800}",
    why: "a plan may hold fillers and selectors that nobody sees",
    subset: { test: "test/domain/plan.test.ts" },
  },
  {
    id: "text-looked-for-again",
    file: "src/domain/github/text-page.ts",
    find: "const found = nextOf(state, close, pos + open.length);",
    replace: "const found = src.indexOf(close, pos + open.length);",
    why: "a comment that never ends is looked for again at each that begins: a text takes seconds",
    subset: work,
  },
  {
    id: "text-command-any-length",
    file: "src/domain/github/commands.ts",
    find: "if (comment.length > limits.github_command_chars) return unclear;",
    replace: "",
    why: "a comment is parsed however long it is, before it is asked who wrote it",
    subset: work,
  },
  {
    id: "text-sum-one-dollar",
    file: "src/domain/github/text-sums.ts",
    find: "const end = Math.max(next, free, dollar.double ? double : -1, outside);",
    replace: "const end = next;",
    why: "a sum ends at the first dollar in it, and what stands behind that is hidden from people alone",
    subset: sight,
  },
  {
    id: "text-only-letters",
    file: "src/domain/github/text-words.ts",
    find: `const word = new RegExp(\`[^\${mark}]+\`, "gu");`,
    replace: "const word = /[\\p{L}\\p{N}\\p{M}]+/gu;",
    why: "words in enclosed letters or Braille pass the judge",
    subset: sight,
  },
  {
    id: "text-out-of-sight",
    file: "src/domain/github/text-shown.ts",
    find: "if (aside && read < line.length)",
    replace: "if (aside && read > line.length)",
    why: "words far to the right of a line of code reach the model, and nobody sees them",
    subset: sight,
  },
  {
    id: "text-many-tokens",
    file: "src/domain/github/text-tokens.ts",
    find: "if (tokens > limits.github_page_tokens)",
    replace: "if (tokens > 1e9)",
    why: "a table of few signs makes 66,000 cells, and holds up whoever reads it for seconds",
    subset: work,
  },
  {
    id: "text-cut-sums",
    file: "src/domain/github/text-tokens.ts",
    find: "if (parts.length === 0) return;",
    replace: "return;",
    why: "words of a sum that a tag parts are hidden from people alone",
    subset: sight,
  },
];
