/**
 * `node test/simulation/run.ts worst-case [--json]`: the worst caller there is, against the runtime's own functions, and
 * what it was answered instead. [WORST-3]
 */
import { parseArgs } from "node:util";
import { visibleLine } from "../../../src/domain/visible.ts";
import { askAll, families, type Ruled, rulings } from "./asking.ts";
import { forged } from "./forged.ts";
import type { Answered, Outcome } from "./scene.ts";
import { smuggling } from "./smuggling.ts";
import { stale } from "./stale.ts";
import { standing } from "./standing.ts";
import { perform, type Trick } from "./tricks.ts";

export const tricks: readonly Trick[] = [...smuggling, ...stale, ...forged, ...standing];

/** Every family under one policy and grant. */
export async function asked(ruled: Ruled): Promise<Outcome[]> {
  const found: Outcome[] = [];
  for (const family of families) found.push(await askAll(family, ruled));
  return found;
}
export async function tricked(): Promise<Outcome[]> {
  const found: Outcome[] = [];
  for (const one of tricks) found.push(await perform(one));
  return found;
}

/** One line each: what was tried, and what was answered under each policy, or at each try. */
export function table(under: readonly (readonly Outcome[])[], ofTricks: readonly Outcome[]): string {
  const [first = []] = under;
  const calls = first.flatMap(({ answered }, family) =>
    answered.map(({ name, family: of }, at) => {
      const each = under.map((outcomes) => said(outcomes[family]?.answered[at]));
      return `${of} | ${shown(name)} | ${each.join(" | ")}`;
    }),
  );
  const steps = ofTricks.flatMap(({ answered }) =>
    answered.map((one) => `${one.family} | ${shown(one.name)} | ${said(one)}`),
  );
  const head = `what is tried | ${rulings.map(({ under: name }) => name).join(" | ")}`;
  return `${[head, ...calls, ...steps].join("\n")}\n`;
}
function said(one: Answered | undefined): string {
  // Which key a spoilt token names depends on where its signature's chance put the spoilt byte.
  return one === undefined ? "-" : `${one.answer} ${one.rule.replace(/ \(it names key [^)]*\)/, "")}`.trim();
}
function shown(name: string): string {
  const line = visibleLine(name);
  return line.length > 120 ? `${line.slice(0, 120)}...` : line;
}

export async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: { json: { type: "boolean", default: false } } });
  const under: Outcome[][] = [];
  for (const ruled of rulings) under.push(await asked(ruled));
  const ofTricks = await tricked();
  const all = [...under.flat(), ...ofTricks];
  const violations = all.flatMap(({ forbidden, missing }) => [
    ...forbidden.map((effect) => `took effect: ${effect}`),
    ...missing.map((effect) => `did not take effect: ${effect}`),
  ]);
  const answers = all.reduce((count, { answered }) => count + answered.length, 0);
  if (values.json) console.log(JSON.stringify({ answers, violations }));
  else
    console.log(
      `${table(under, ofTricks)}\n${[...violations, ""].join("\n")}${answers} answers, ${violations.length} violations`,
    );
  return violations.length === 0 ? 0 : 1;
}
