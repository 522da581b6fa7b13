/**
 * `npm run test:soak`: every test of failures for as long as asked, one after the other, and one table at the end.
 * Exits 1 when anything was lost, doubled or broken; Ctrl-C ends every process. [SOAK-1] [SOAK-2] [SOAK-3]
 */
import { type ChildProcess, spawn } from "node:child_process";
import { parseArgs } from "node:util";
import { beganAt, killGroup, type ProcessRecord, survivors } from "./processes.ts";
import { project } from "./project.ts";
import { type Row, type Run, runsOf, type SoakFlags } from "./soak-runs.ts";

const usage = `npm run test:soak -- [--steps N] [--evictions N] [--kills N] [--scripts N] [--walks N] [--seed N] [--json]

  --steps N      steps of the simulations (default 10000000); 0 leaves them out
  --evictions N  lives of objects that end in workerd (default 2000); 0 leaves them out
  --kills N      SIGKILLs of the whole service (default 100); 0 leaves them out
  --scripts N    shell scripts read and run by bash (default 100000); 0 leaves them out
  --walks N      random walks over approvals (default 200000); 0 leaves them out
  --seed N       a whole number that makes the same choices again (default: one of the clock's)
  --json         the table as one line of JSON on stdout`;

const progressEachMs = 60_000;
/** A killed service is taken down by its own run, which needs a moment for it. */
const endWithinMs = 20_000;

export interface Ended extends Row {
  readonly wall_ms: number;
  /** Why its figures are not the whole truth; null when they are. */
  readonly broke: string | null;
}

/** Null for what nobody can mean. */
export function flagsOf(args: readonly string[], clock: number): (SoakFlags & { readonly json: boolean }) | null {
  const whole = (text: string | undefined, otherwise: number) =>
    text === undefined ? otherwise : /^\d{1,12}$/.test(text) ? Number(text) : null;
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        ...{
          steps: { type: "string" },
          evictions: { type: "string" },
          kills: { type: "string" },
          scripts: { type: "string" },
          walks: { type: "string" },
          seed: { type: "string" },
        },
        json: { type: "boolean", default: false },
      },
    });
    const steps = whole(values.steps, 10_000_000);
    const evictions = whole(values.evictions, 2_000);
    const kills = whole(values.kills, 100);
    const scripts = whole(values.scripts, 100_000);
    const walks = whole(values.walks, 200_000);
    const seed = whole(values.seed, clock % 1_000_000);
    if (steps === null || evictions === null || kills === null) return null;
    if (scripts === null || walks === null || seed === null) return null;
    return { steps, evictions, kills, scripts, walks, seed, json: values.json };
  } catch {
    return null;
  }
}

/** What a run came to: its figures, and a violation of its own when it failed without one. */
export function endOf(run: Pick<Run, "name" | "read">, said: string, code: number | null, wall_ms: number): Ended {
  const row = run.read(said);
  const none = { run: run.name, asked: 0, done: 0, lost: 0, doubled: 0, violations: 0 };
  const found = row ?? none;
  if (row !== null && code === 0) return { ...found, wall_ms, broke: null };
  const broke = row === null ? `it ended with ${code} and no figures` : `it ended with ${code}`;
  return { ...found, violations: Math.max(1, found.violations), wall_ms, broke };
}
export function isClean(ended: readonly Ended[]): boolean {
  return ended.every(({ lost, doubled, violations }) => lost + doubled + violations === 0);
}
export function tableOf(ended: readonly Ended[], seed: number): string {
  const head = ["run", "asked", "done", "lost", "doubled", "violations", "seed", "wall s"];
  const rows = ended.map((each) => [
    ...[each.run, each.asked, each.done, each.lost, each.doubled, each.violations, seed],
    (each.wall_ms / 1_000).toFixed(1),
  ]);
  const all = [head, ...rows].map((cells) => cells.map(String));
  const widths = head.map((_, column) => Math.max(...all.map((cells) => cells[column]?.length ?? 0)));
  const lines = all.map((cells) =>
    cells
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join("  "),
  );
  const broke = ended.flatMap(({ run, broke }) => (broke === null ? [] : [`${run}: ${broke}`]));
  return [...lines, ...broke].join("\n");
}

/** The one child that runs, as a group of its own; what it says on stdout is kept, the rest is shown. */
class Children {
  #running: ProcessRecord | null = null;
  interrupted = false;

  start(run: Run): { child: ChildProcess; ended: Promise<{ code: number | null; said: string }> } {
    const child = spawn(process.execPath, [...run.args], {
      cwd: project,
      detached: true,
      env: { ...process.env, ...run.env },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const { pid } = child;
    const began = pid === undefined ? null : beganAt(pid);
    this.#running = pid === undefined || began === null ? null : { role: run.name, pid, began };
    let said = "";
    child.stdout?.on("data", (text: Buffer) => {
      said += text.toString("utf8");
    });
    const ended = new Promise<{ code: number | null; said: string }>((resolve) => {
      child.on("error", () => resolve({ code: null, said }));
      child.on("close", (code) => resolve({ code, said }));
    });
    return { child, ended };
  }
  /** Every process of the group is asked, for some of them have children in groups of their own. */
  async end(): Promise<void> {
    this.interrupted = true;
    const group = this.#running;
    if (group === null) return;
    for (const pid of survivors(group)) process.kill(pid, "SIGTERM");
    for (const end = Date.now() + endWithinMs; survivors(group).length > 0 && Date.now() < end; )
      await new Promise((resolve) => setTimeout(resolve, 100));
    killGroup(group);
  }
}

async function soak(flags: SoakFlags, say: (line: string) => void, children: Children): Promise<Ended[]> {
  const all: Ended[] = [];
  for (const run of runsOf(flags)) {
    if (children.interrupted) break;
    const began = Date.now();
    const passed = () => `${Math.round((Date.now() - began) / 1_000)} s`;
    say(`${run.name} (counting ${run.counting}) ...`);
    const timer = setInterval(() => say(`${run.name}: still running after ${passed()}`), progressEachMs);
    const { code, said } = await children.start(run).ended;
    clearInterval(timer);
    if (children.interrupted) break;
    const ended = endOf(run, said, code, Date.now() - began);
    if (!isClean([ended])) say(said.slice(-20_000));
    say(`${run.name}: ${ended.violations === 0 ? "sound" : `${ended.violations} violations`} after ${passed()}`);
    all.push(ended);
  }
  return all;
}

async function main(args: readonly string[]): Promise<number> {
  const flags = flagsOf(args, Date.now());
  if (flags === null) {
    console.error(usage);
    return 2;
  }
  const children = new Children();
  for (const name of ["SIGINT", "SIGTERM"] as const)
    process.on(name, () => void children.end().then(() => process.exit(130)));
  const ended = await soak(flags, (line) => console.error(line), children);
  if (children.interrupted) return 130;
  console.log(flags.json ? JSON.stringify({ seed: flags.seed, runs: ended }) : tableOf(ended, flags.seed));
  return isClean(ended) ? 0 : 1;
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));
