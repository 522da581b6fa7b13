/**
 * `npm run bench`: how fast the queue is, measured, with the durability of each figure beside it. Tables, not
 * assertions: nothing here runs in `npm test`. It stops by itself and leaves no process and no file.
 */
import { loadavg } from "node:os";
import { sentence } from "../../src/dev/files.ts";
import { inProject } from "../../src/dev/project.ts";
import { type BenchFlags, parseFlags, usage } from "./flags.ts";
import { type Ground, processesFile, standOn } from "./ground.ts";
import { agents } from "./groups/agents.ts";
import { approvals } from "./groups/approvals.ts";
import { batch } from "./groups/batch.ts";
import { context } from "./groups/context.ts";
import { cycle } from "./groups/cycle.ts";
import { depth } from "./groups/depth.ts";
import { http } from "./groups/http.ts";
import { latency } from "./groups/latency.ts";
import { loop } from "./groups/loop.ts";
import { policy } from "./groups/policy.ts";
import { restart } from "./groups/restart.ts";
import { text } from "./groups/text.ts";
import { describe, productVersion, showMachine } from "./machine.ts";
import { Peers } from "./peers/all.ts";
import { isMet, show, type Table } from "./table.ts";
import { watch } from "./watchdog.ts";
import { fullSizes, type Group, quickSizes } from "./world.ts";

const groups: readonly Group[] = [
  cycle,
  http,
  batch,
  latency,
  restart,
  depth,
  agents,
  policy,
  approvals,
  context,
  loop,
  text,
];
/** Whatever hangs, the run ends: in good order, and if even that hangs, a little later without. */
const allMs = 45 * 60_000;
const graceMs = 30_000;
const names = groups.map(({ name }) => name);

const parsed = parseFlags(process.argv.slice(2), names);
if (parsed.kind === "help") console.log(usage(names));
else if (parsed.kind === "usage") {
  console.error(`${parsed.problem}\n\n${usage(names)}`);
  process.exitCode = 2;
} else process.exitCode = await bench(parsed.flags);
// A client of a server that is gone may keep the process alive for as long as it hopes.
process.exit();

async function bench(flags: BenchFlags): Promise<number> {
  const began = performance.now();
  const say = (line: string): void => {
    console.error(`[${((performance.now() - began) / 1_000).toFixed(0).padStart(4)} s] ${line}`);
  };
  let ground: Ground;
  try {
    ground = await standOn(flags.dir);
  } catch (error) {
    console.error(sentence(error));
    return 1;
  }
  const stop = (why: string) => {
    console.error(`stopped: ${why}`);
    ground.kill();
    process.exit(1);
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => stop(signal));
  const watchdog = watch({ processesFile, afterMs: allMs + graceMs });
  const timer = setTimeout(() => stop(`after ${allMs / 60_000} minutes`), allMs);
  const peers = new Peers(ground, flags.peers, say);
  try {
    return await runGroups(flags, ground, peers, say);
  } finally {
    clearTimeout(timer);
    await peers.close().catch((error: unknown) => console.error(sentence(error)));
    await ground.end();
    watchdog.stop();
  }
}

/** A group that fails is said and does not take the others with it. */
async function runGroups(
  flags: BenchFlags,
  ground: Ground,
  peers: Peers,
  say: (line: string) => void,
): Promise<number> {
  const sizes = flags.quick ? quickSizes : fullSizes;
  const chosen = groups.filter(({ name }) => flags.only.length === 0 || flags.only.includes(name));
  const tables: Table[] = [];
  const failures: { group: string; reason: string }[] = [];
  const load = loadavg()[0] ?? 0;
  for (const group of chosen) {
    say(`${group.name}: ${group.about}`);
    try {
      const world = { ground, peers, sizes, say: (line: string) => say(`${group.name}: ${line}`) };
      const made = await group.run(world);
      tables.push(...made);
      if (!flags.json) for (const table of made) console.log(`\n${show(table)}`);
    } catch (error) {
      failures.push({ group: group.name, reason: sentence(error) });
      console.error(`${group.name} failed: ${sentence(error)}\n${ground.tail("workerd")}`);
    }
  }
  const machine = describe(flags.dir, load);
  const product = productVersion(inProject("package.json"));
  if (flags.json) {
    const shown = tables.map((table) => ({
      ...table,
      targets: table.targets.map((target) => ({ ...target, met: isMet(target) })),
    }));
    console.log(JSON.stringify({ product, quick: flags.quick, machine, tables: shown, failures }, null, 2));
  } else {
    const rounds = `medians of ${sizes.rounds} alternating rounds after one thrown away`;
    console.log(
      `\n${showMachine(machine)}\ncountersign ${product}; ${rounds}${flags.quick ? "; QUICK: not figures to quote" : ""}`,
    );
  }
  return failures.length === 0 ? 0 : 1;
}
