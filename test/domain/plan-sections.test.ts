import { describe, expect, it } from "vitest";
import { limits } from "../../src/limits.ts";
import { good, planOf, problems, stepsPlan } from "./plan-text.ts";

describe("sections", () => {
  const one = ["id: a, verify: none"];
  it("[PLAN-10] each item has one section with words in it, and each section an item", () => {
    expect(problems(planOf(one, { sections: "" }))).toEqual([
      '5:11 a: has no briefing: write a section "## a" below the front matter',
    ]);
    expect(problems(planOf(one, { sections: "## a\n\n" }))).toHaveLength(1);
    expect(problems(planOf(one, { sections: "## a\nx\n## a\ny\n" }))).toEqual([
      '9:1 the section "a" stands twice: join them',
    ]);
    expect(problems(planOf(one, { sections: "## a\nx\n## Notes\ny\n" }))).toEqual([
      expect.stringContaining('no item has the id "Notes"'),
    ]);
  });
  it("[PLAN-10] other headings, and headings inside a fence, belong to the section", () => {
    const [item] = good(
      planOf(one, { sections: "intro\n\n## a ##\n\n### how\n```text\n## b\n```\n# c\nend\n\n" }),
    ).items;
    expect(item?.section).toBe("### how\n```text\n## b\n```\n# c\nend");
  });
  it("[PLAN-11] the fenced sh blocks are the steps, verbatim and in order", () => {
    const [item] = good(
      stepsPlan(
        "First:\n```sh\nset -e\n\n  npm test  \n```\nthen\n~~~sh title\necho '```'\n```\n~~~\n````sh\n```sh\nx\n```\n````\n```text\nno\n```\n",
      ),
    ).items;
    expect(item?.steps).toEqual(["set -e\n\n  npm test  ", "echo '```'\n```", "```sh\nx\n```"]);
  });
  it("[PLAN-11] a block indented by up to three blanks loses that indent", () => {
    expect(good(stepsPlan("1. x\n\n   ```sh\n   if a; then\n     b\n   fi\n   ```\n")).items[0]?.steps).toEqual([
      "if a; then\n  b\nfi",
    ]);
  });
  it("[PLAN-11] a byte order mark and CRLF line ends change nothing", () => {
    const text = stepsPlan("```sh\na\nb\n```\n");
    expect(good(`\ufeff${text.replaceAll("\n", "\r\n")}`)).toEqual(good(text));
  });
  it("[PLAN-11] blocks of an item that is not of steps are prose", () => {
    const [item] = good(planOf(one, { sections: "## a\n```sh\nx\n```\n```bash\ny\n```\n" })).items;
    expect(item?.steps).toEqual([]);
  });
  it("[PLAN-26] a section that a card could not show whole is refused where it stands; steps stand on it one by one", () => {
    const long = "x".repeat(limits.card_section_chars);
    expect(good(planOf(one, { sections: `## a\n${long}\n` })).items).toHaveLength(1);
    expect(problems(planOf(one, { sections: `## a\n${long}y\n` }))).toEqual([
      expect.stringMatching(/^7:1 a: its section has 32001 characters, and a card shows at most 32000/),
    ]);
    expect(good(stepsPlan(`${long}\n\`\`\`sh\ntrue\n\`\`\`\n`)).items).toHaveLength(1);
  });
  it("[PLAN-12] a steps item whose steps would not run as they look is refused", () => {
    expect(problems(stepsPlan("prose\n"))).toEqual([
      "7:1 a: runner steps needs at least one fenced sh block in its section",
    ]);
    expect(problems(stepsPlan("```sh\n\n```\n"))).toEqual(["8:1 a: this step is empty"]);
    expect(problems(stepsPlan("```sh\na\n```\n```bash\nb\n```\n"))).toEqual([
      expect.stringContaining("11:1 a: a block marked bash is not a step"),
    ]);
    expect(problems(stepsPlan("```sh\na\n```\n\n> ```sh\n> b\n> ```\n"))).toEqual([
      expect.stringContaining("12:1 a: this block is not at the left margin"),
    ]);
    expect(problems(stepsPlan("```sh\na\n```\n\n- x\n\n      ```sh\n      b\n"))).toEqual([
      expect.stringContaining("not at the left margin"),
    ]);
    expect(problems(stepsPlan("```sh\na\n"))).toEqual([
      "8:1 the block that opens here is never closed: end it with a line ```",
    ]);
    expect(problems(stepsPlan("```sh\na\n```\n".repeat(limits.plan_steps + 1)))).toEqual([
      expect.stringContaining("has 65 steps, at most 64"),
    ]);
  });
});
