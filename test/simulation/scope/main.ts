/** `node test/simulation/run.ts scope --seed 7 [--seeds 10] [--steps 20000] [--no-faults] [--lines 60] [--json]`: one line a run, exit 1 on a violation. */
import "../platform/register.ts";
import { parseArgs } from "node:util";

export async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      seed: { type: "string", default: "1" },
      seeds: { type: "string", default: "1" },
      steps: { type: "string", default: "10000" },
      "no-faults": { type: "boolean", default: false },
      lines: { type: "string", default: "60" },
      json: { type: "boolean", default: false },
    },
  });
  const { runScopes } = await import("./run.ts");
  const steps = Number(values.steps);
  let worst = 0;
  for (let number = 0; number < Number(values.seeds); number++) {
    const seed = Number(values.seeds) === 1 ? values.seed : String(Number(values.seed) + number);
    const began = performance.now();
    const report = await runScopes({ seed, steps, faults: !values["no-faults"], lines: Number(values.lines) });
    const seconds = (performance.now() - began) / 1_000;
    if (values.json) console.log(JSON.stringify(report));
    else {
      const { counts } = report;
      console.log(
        `scope SEED=${seed} steps=${report.steps} per_s=${Math.round(report.steps / seconds)} virtual_s=${report.virtual_s} crashes=${report.crashes} ` +
          `${Object.entries(counts)
            .map(([name, count]) => `${name}=${count}`)
            .join(" ")} hash=${report.hash} violations=${report.violation === null ? 0 : 1}`,
      );
    }
    if (report.violation === null) continue;
    worst = 1;
    if (!values.json) console.log(failure(report, steps));
  }
  return worst;
}

export function failure(
  report: { seed: string; violation: string | null; trace: readonly string[] },
  steps: number,
): string {
  return [
    ...report.trace,
    `SEED=${report.seed} ${report.violation}`,
    `node test/simulation/run.ts scope --seed ${report.seed} --steps ${steps}`,
  ].join("\n");
}
