/** What is read of a script against what bash does with it. A miss found here becomes a named case of `seen`. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Ground, standOn } from "./shell/bash.ts";
import { judge } from "./shell/judge.ts";
import { compare, wordsOf } from "./shell/main.ts";
import { scriptOf } from "./shell/script.ts";

const scripts = Number(process.env.COUNTERSIGN_SHELL_SCRIPTS ?? 2_000);
const seed = process.env.COUNTERSIGN_SEED ?? "1";
/** Below this the rule would hold of little. */
const leastShare = 0.4;

/** Scripts of which bash once ran something that was not read in them. */
const seen: Readonly<Record<string, string>> = {
  "a brace that closes a later one": "p1 {a}\\{a,b}",
  "a brace that closes a later one, with a mark between": "p0 {a}%\\{a,b} | p2",
  "a substitution behind a digit": "p5 {} 2<(p2 {a}) b",
  "a substitution behind a descriptor": "p5 {fd}>(p2) 12<(p1)",
  "eval inside another shell than bash": "sh -c 'eval '\\''p0 $'\\''\\'\\'''\\''a\\tb'\\''\\'\\'''\\'''\\'''",
  "what another shell takes for a command": "sh -c '[[ a || p1 ]]'",
  "what another shell takes for a redirect": "sh -c '[[ p1 > f1 ]]; p1 &> f1'",
  "a quote that another shell does not know": "sh -c \"p1 \\$'a'\"",
  "an index inside a test": "[[ 'x[$(p1 idx)]' -eq 0 ]]; p0",
  "an index in the name of a variable": "printf -v 'a[$(p1 pv)]' x; test -v 'a[$(p1 t)]'",
  "a prompt that runs a command": "PS4='$(p1 x)'; set -x; p0",
  "a file that a shell reads first": "echo p1 > f1; BASH_ENV=f1 bash -c 'p0 z'",
  "words from the input of xargs": "echo p1 | xargs env",
  "a program joined to a descriptor that is closed": "<&-p0 p1 a; 2>& -p2 p1 b; p1 a <&-'' b",
  "a delimiter of which shells read another end": "sh -c 'p0 <<-` -c [[  ]] + p1 b'",
  "two digits before a redirect in another shell": "sh -c 'p0 10>f1 a'",
  "a sign that a shell steps over": "sh -c + p1 b; bash -c + p1 b",
  "a setting without a name": "env = p0 a; env a/b=c p1",
  "the name of a file that is expanded once more": "p0 >&'$(p1 a)x'; p0 >&\\$HOME",
};

describe("bash against the reading", () => {
  let ground: Ground;
  beforeAll(() => {
    ground = standOn();
  });
  afterAll(() => ground.end());

  for (const [what, script] of Object.entries(seen))
    it(`[ORA-1] ${what}: all that runs is told or flagged`, async () => {
      const ran = await ground.run(script);
      expect(judge(script, ran)).toMatchObject({ missed: [] });
    });

  it("[ORA-2] the same seed writes the same script, and what was not told is a miss", async () => {
    expect(scriptOf("7-1")).toBe(scriptOf("7-1"));
    const ran = await ground.run("p0 a; p1 > f1; echo b | xargs p2");
    expect(ran.argvs.map((argv) => argv.join(" ")).toSorted()).toEqual(["p0 a", "p1", "p2 b", "xargs p2"]);
    expect(ran.files).toEqual(["f1"]);
    expect(judge("p0 a; p1 > f1; echo b | xargs p2", ran)).toEqual({ flagged: null, missed: [] });
    expect(judge("p0 a; p1", ran).missed).toEqual(['ran ["xargs","p2"]', 'ran ["p2","b"]', 'wrote "f1"']);
    expect(judge("p0 $x", ran)).toEqual({ flagged: "dynamic", missed: [] });
  });

  it(`[ORA-1] of ${scripts} random scripts bash runs nothing and writes nothing that was not told`, async () => {
    const figures = await compare({ seed, scripts, jobs: 2 });
    expect(figures.misses.map(wordsOf)).toEqual([]);
    // Otherwise the rule would hold of nothing.
    expect(figures.claimed / scripts).toBeGreaterThan(leastShare);
    expect(figures.programs).toBeGreaterThan(figures.claimed);
    expect(figures.late).toBeLessThan(scripts / 100);
  });
});
