/** Small bugs in what the command line says around its answers, and in what a plan may hold unseen. */
import type { Plant } from "./plants.ts";

const texts = { test: "test/cli/texts.test.ts" } as const;

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
];
