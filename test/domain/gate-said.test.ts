/** What a git server's answer says of one branch, and what it does not. */
import { describe, expect, it } from "vitest";
import { asksFor, pushTaken, standsAt } from "../../src/domain/gate-said.ts";

const push = { branch: "countersign/t", commit: "c".repeat(40) };
const utf8 = new TextEncoder();
const packet = (text: string) => (text.length + 4).toString(16).padStart(4, "0") + text;
const report = (...lines: string[]) => `${lines.map((line) => packet(`${line}\n`)).join("")}0000`;
const taken = (answer: string) => pushTaken(utf8.encode(answer), push);
const ok = `ok refs/heads/${push.branch}`;

describe("what a git server says", () => {
  it("[CON-19] a push was taken when it was unpacked and that one branch was set, in bands or without", () => {
    const whole = report("unpack ok", ok);
    expect(taken(whole)).toBe(true);
    const banded = `${packet("\x02remote: words of a hook\n")}${packet(`\x01${whole.slice(0, 9)}`)}${packet(`\x01${whole.slice(9)}`)}0000`;
    expect(taken(banded)).toBe(true);
    const others = [
      "",
      "0000",
      report("unpack ok"),
      report("unpack error", ok),
      report("unpack ok", `ng refs/heads/${push.branch} no`),
      report("unpack ok", `${ok}-2`),
      report("unpack ok", ok, "option refname refs/heads/main"),
      report(ok, "unpack ok"),
      `${packet(`\x02${whole}`)}0000`,
      `${packet(`\x01${report("unpack ok", "ng refs/heads/x no")}`)}${packet(`\x02${whole}`)}0000`,
      whole.slice(0, 20),
    ];
    for (const answer of others) expect([answer, taken(answer)]).toEqual([answer, false]);
  });

  it("[CON-19] a branch stands where a line of its own says so", () => {
    const at = (...lines: string[]) => standsAt(utf8.encode(report(...lines)), push);
    const line = `${push.commit} refs/heads/${push.branch}`;
    expect(at(`${"d".repeat(40)} refs/heads/countersign/t-2`, line)).toBe(true);
    for (const other of [`${line}2`, `x${line}`, line.replace("c", "d"), `ERR ${line}`, line.replace("heads", "tags")])
      expect([other, at(other)]).toEqual([other, false]);
    expect(standsAt(utf8.encode(line), push)).toBe(false);
    expect(asksFor(push)).toBe("0014command=ls-refs\n00010028ref-prefix refs/heads/countersign/t\n0000");
  });
});
