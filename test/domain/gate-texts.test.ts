import { describe, expect, it } from "vitest";
import { heldBytes, heldCard, keepNotes, wordsOf } from "../../src/domain/gate-card.ts";
import { invisibleIn, SearchedText, secretIn } from "../../src/domain/gate-texts.ts";
import { defaultPolicy } from "../../src/domain/policy.ts";
import { evaluateGates, gate } from "../../src/domain/policy-gates.ts";
import { limits } from "../../src/limits.ts";
import { testMessage } from "../fakes/messages.ts";

const wordIn = (words: readonly string[], text: string) => new SearchedText(text).wordIn(words);
const key = (prefix: string, length: number) => `${prefix}${"aB3".repeat(20).slice(0, length)}`;

describe("what gates find in a text", () => {
  it.each([
    "deploy to production",
    "DEPLOY to Production",
    "ｄｅｐｌｏｙ now",
    "de\u{200b}pl\u{ad}oy",
    "de\u{2066}ploy\u{2069}",
    "d\u{e0041}eploy",
  ])("[GATE-1] a word is found in %j", (text) => {
    expect(wordIn(["nothing", "Deploy"], text)).toBe("Deploy");
  });
  it("[GATE-1] what is not there is not found, and a word of hidden characters is looked for as it is", () => {
    expect(wordIn(["deploy"], "employ the depot")).toBeNull();
    expect(wordIn(["\u{200b}"], "plain")).toBeNull();
    expect(wordIn(["\u{200b}"], "pl\u{200b}ain")).toBe("\u{200b}");
  });
  it.each([
    "drop  database",
    "drop\ndatabase",
    "drop\u{a0}\u{2003}\t\r\n database",
    "drop\u{85}database",
    "drop\u{2800}database",
    "drop \u{200b} database",
    "d\u{301}rop data\u{336}base",
    "ＤＲÓＰ dätäbäse",
    "dr\u{0}op data\u{8}base",
    "please DROP\u{2028}DATABASE now",
  ])("[GATE-45] a word is found in %j", (text) => {
    expect(wordIn(["Drop  Database"], text)).toBe("Drop  Database");
  });
  it.each([
    ..."\u{3164}\u{200b}\u{0}\u{1f}\u{115f}\u{180e}\u{2060}\u{8}\u{7f}\u{feff}\u{e0020}\u{34f}\u{ffa0}\u{2063}",
  ])("[GATE-45] a word is found whether what nobody sees (%j) stands for a blank, for nothing, or for both", (mark) => {
    for (const text of [
      `production${mark}database`,
      `the PRODU${mark}CTION${mark}database!`,
      `pro${mark}duc${mark}tion ${mark} data${mark}base`,
    ])
      expect(wordIn(["no", "production database"], text)).toBe("production database");
    const lists = [["no"], ["production database"]];
    expect(new SearchedText(`production${mark}data${mark}base`, lists).wordIn(lists[1] ?? [])).not.toBeNull();
    expect(wordIn(["productiondatabase"], `production${mark}database`)).toBe("productiondatabase");
    expect(wordIn(["production database"], `product${mark}ion data base`)).toBeNull();
    expect(wordIn([" rm "], `a${mark}rm${mark}b`)).toBe(" rm ");
    expect(wordIn(["production database"], `pro${mark}duction${mark}${mark} ${mark}database`)).not.toBeNull();
  });
  it.each([..."\u{fffc}\u{fffd}\u{e000}\u{f0000}\u{fdd0}", "\ud800"])(
    "[GATE-50] what is no character of any script (%j) hides no word",
    (mark) => {
      for (const text of [`production${mark}database`, `prod${mark}uction database`])
        expect(wordIn(["production database"], text)).toBe("production database");
    },
  );
  it.each([
    "prod\u{1b}]0;x\u{7}uction database",
    "prod\u{1b}]8;;https://x\u{1b}\\uction\u{1b}]8;;\u{1b}\\ database",
    "prod\u{9d}0;x\u{9c}uction database",
    "prod\u{1b}Px\u{1b}\\uction database",
    "prod\u{1b}(Buction database",
    "prod\u{1b}7uction\u{1b}8 database",
    "prod\u{1b}=uction database",
    "prod\u{9b}0muction database",
    "prodd\u{8}uction database",
    "proxx\u{8}\u{8}duction database",
    "prodd\u{1b}[0m\u{8}uction database",
    "p\u{8}pr\u{8}ro\u{8}oduction database",
    "product\u{131}on database",
  ])("[GATE-50] a word is found as a terminal shows it: %j", (text) => {
    expect(wordIn(["production database"], text)).toBe("production database");
    const lists = [["no"], ["production database"]];
    expect(new SearchedText(text, lists).wordIn(lists[1] ?? [])).toBe("production database");
  });
  it("[GATE-50] many sequences without an end, and many steps back, take time in proportion", () => {
    const start = performance.now();
    for (const text of ["\u{1b}]0;x", "\u{1b}[1", "a\u{8}", "\u{1b}\u{8}[", "\u{9d}x", "\u{1b}("])
      expect(wordIn(["production database"], text.repeat(50_000))).toBeNull();
    expect(performance.now() - start).toBeLessThan(5_000);
  });
  it.each([
    ["production\u{1b}[0mdatabase", true],
    ["pro\u{1b}[1;31mduction database\u{1b}[0m", true],
    ["\u{1b}[production database", true],
    ["production\u{1b}[0", false],
  ])("[GATE-45] in %j colours of a terminal count as what nobody sees", (text, found) => {
    expect(wordIn(["production database"], text) !== null).toBe(found);
  });
  it("[GATE-45] a blank is still one, a word of blanks is looked for as it is, and letters of other scripts stay others", () => {
    expect(wordIn(["drop database"], "dropdatabase")).toBeNull();
    expect(wordIn(["\n\n"], "one two")).toBeNull();
    expect(wordIn(["\n\n"], "one\n\ntwo")).toBe("\n\n");
    expect(wordIn(["drop"], "dr\u{43e}p")).toBeNull();
    expect(wordIn(["가"], "각")).toBeNull();
    expect(wordIn(["ΟΔΟΣ"], "η οδός μου")).toBe("ΟΔΟΣ");
  });
  it.each([
    ["a\u{202e}b", "U+202E"],
    ["a\u{2066}b", "U+2066"],
    ["a\u{200b}b", "U+200B"],
    ["\u{feff}a", "U+FEFF"],
    ["a\u{e0041}", "U+E0041"],
    ["a\u{e0100}", "U+E0100"],
    ["a\u{200d}b", "U+200D"],
    ["👍\u{fe0f}\u{fe0f}\u{fe01}", "U+FE0F"],
  ])("[GATE-2] %j holds what nobody sees", (text, found) => {
    expect(invisibleIn(text)).toBe(found);
  });
  it("[GATE-2] what emoji and scripts need is no hidden text", () => {
    for (const text of [
      "plain\n\ttext",
      "❤\u{fe0f}\u{200d}🔥 👨\u{200d}👩\u{200d}👧",
      "می\u{200c}خواهم",
      "1\u{fe0f}\u{20e3}",
      "ﬁ ｗｉｄｅ é",
    ])
      expect(invisibleIn(text)).toBeNull();
  });
  it.each([
    [key("ghp_", 36), "a GitHub token"],
    [key("github_pat_", 40), "a GitHub token"],
    [key("glpat-", 20), "a GitLab token"],
    [key("sk-ant-", 40), "an API key"],
    ["AKIAIOSFODNN7EXAMPLE", "an AWS access key"],
    [key("AIza", 35), "a Google API key"],
    ["xoxb-123456789012-abc", "a Slack token"],
    [key("npm_", 36), "an npm token"],
    ["-----BEGIN OPENSSH PRIVATE KEY-----", "a private key"],
    ["-----BEGIN PRIVATE KEY-----", "a private key"],
    [`cs_abcdefghijklmnop0123456789_${"x".repeat(40)}`, "a token of this service"],
  ])("[GATE-3] %s is found, and only its kind is said", (secret, kind) => {
    const one = gate.parse({
      ...{ id: "s", trigger: "every_user_message", lane: "policy", action: "block", check: "secret_like", params: {} },
    });
    const said = evaluateGates([one], "every_user_message", { text: `use ${secret}.`, taint: "owner", call: null });
    expect(secretIn(`use ${secret}.`)).toBe(kind);
    expect(said).toMatchObject({ action: "block", reason: `the text seems to hold ${kind}` });
  });
  it("[GATE-3] ordinary words are no secrets", () => {
    for (const text of [
      "ask-me",
      "sk-",
      "the AKIA prefix",
      "npm_config_cache",
      "-----BEGIN CERTIFICATE-----",
      "ghp_short",
    ])
      expect(secretIn(text)).toBeNull();
  });
  it("[GATE-4] by default hidden text is remarked on in messages and responses, and nothing else holds words up", () => {
    for (const trigger of ["every_user_message", "every_agent_response"] as const) {
      const said = (text: string) => evaluateGates(defaultPolicy.gates, trigger, { text, taint: "web", call: null });
      expect(said("a\u{202e}b")).toMatchObject({
        action: "pass",
        notes: [{ reason: expect.stringContaining("U+202E") }],
      });
      expect(said(`${key("ghp_", 36)} rm -rf /`)).toMatchObject({ action: "pass", notes: [] });
    }
    expect(defaultPolicy.gates.filter((one) => one.action !== "annotate").map((one) => one.id)).toEqual([
      "rule-of-two",
    ]);
  });
});

describe("the card of a held message", () => {
  const task = { repo: "file:///r" };
  const pass = {
    by: "bob",
    what: "a message",
    read: { taint: "member", source: "message by bob" },
    carries_task: false,
  } as const;
  const why = { gate: "g", reason: "so", policy_hash: "p" };

  it("[GATE-15] shows the words, binds all of the message, and says what it leaves out", () => {
    const long = testMessage(1, { content: "x".repeat(limits.gate_shown_characters + 3) });
    const card = heldCard(task, { ...pass, message: long }, why);
    expect(card.facts).toEqual(["The text goes on for 3 characters that are not shown; its hash covers them."]);
    const other = { ...long, content: `${long.content.slice(0, -1)}y` };
    expect(heldBytes(other)).not.toBe(heldBytes(long));
    expect(heldBytes({ ...long, payload: { more: 1 } })).not.toBe(heldBytes(long));
    const cut = testMessage(2, { content: `${"x".repeat(limits.gate_shown_characters - 1)}🙂` });
    expect(heldCard(task, { ...pass, message: cut }, why).tool?.arguments).toContain("\u{fffd}");
  });
  it("[GATE-15] the words of a message are those of its plan and of a command's output too", () => {
    expect(wordsOf(testMessage(1, { content: "a", plan_markdown: "b" }))).toBe("a\n\nb");
  });
  it("[GATE-13] notes only join, and of too many the oldest go", () => {
    const note = (number: number) => ({ gate: "g", trigger: "after_step", reason: `${number}`, at: "now" });
    const many = Array.from({ length: limits.gate_notes }, (_, number) => note(number));
    expect(keepNotes(many, [])).toEqual(many);
    expect(keepNotes([note(1)], [note(1), note(2)])).toEqual([note(1), note(2)]);
    expect(keepNotes(many, [...many, note(99)])).toEqual([...many.slice(1), note(99)]);
  });
});
