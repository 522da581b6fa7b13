/**
 * `node test/simulation/run.ts messaging --seed 7 --steps 1000000 --jobs 2`: runs a simulation and prints one line of
 * figures; exits 1 on a violation, with the one command that replays it. `scope` is the simulation of whole objects,
 * `shell` holds what is read of random scripts to what bash does with them, `texts` what a model reads of random texts to
 * what GitHub's own parser shows, `approvals` walks over people's decisions,
 * `worst-case` tries everything that may never happen.
 */
import { main } from "./messaging/main.ts";

const [which, ...rest] = process.argv.slice(2);
const help = `node test/simulation/run.ts messaging [--seed TEXT] [--steps N] [--jobs N] [--subset NAME] [--json]
node test/simulation/run.ts scope --help
node test/simulation/run.ts shell --help
node test/simulation/run.ts texts --help
node test/simulation/run.ts approvals [--seed TEXT] [--walks N] [--jobs N] [--json]
node test/simulation/run.ts worst-case [--json]`;

async function run(): Promise<number> {
  if (which === "messaging") return main(rest, import.meta.filename);
  // Loaded only when asked for: it puts a platform of its own under the objects first.
  if (which === "scope") return (await import("./scope/main.ts")).main(rest);
  if (which === "approvals") return (await import("./approvals/main.ts")).main(rest, import.meta.filename);
  if (which === "shell") return (await import("./shell/main.ts")).main(rest);
  if (which === "texts") return (await import("./texts/main.ts")).main(rest);
  if (which === "worst-case") return (await import("./worst-case/main.ts")).main(rest);
  console.error(help);
  return which === "--help" ? 0 : 2;
}
process.exitCode = await run();
