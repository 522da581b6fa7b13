/**
 * Clients at work on a whole service that is killed again and again, and the comparison of what they were answered
 * with what stands in the end. `node test/kills/run.ts [--kills N] [--clients N] [--seed N] [--json]`. [KILL-4]
 */

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { safeGitEnv } from "../../src/dev/git.ts";
import { makeSample } from "../../src/dev/sample.ts";
import { type JourneyService, startService } from "../journeys/helpers.ts";
import type { Repository } from "../journeys/road.ts";
import { type Random, random } from "../simulation/random.ts";
import { Client } from "./client.ts";
import { type Broken, compare } from "./compare.ts";
import { type Asked, countsOf } from "./journal.ts";
import { Line } from "./line.ts";
import { quiet } from "./quiet.ts";
import { type Manner, MortalService } from "./service.ts";
import { readStored, type Stored } from "./stored.ts";

export interface Ordered {
  readonly seed: string;
  readonly kills: number;
  readonly clients: number;
  /** How many tasks each client asks for, spread over the kills. */
  readonly tasks: number;
  readonly say: (line: string) => void;
  /** Told, once the service runs, how to end all of it at once. */
  readonly born?: (slay: () => void) => void;
}
export interface Figures {
  readonly seed: string;
  readonly kills: number;
  readonly manners: Readonly<Record<Manner, number>>;
  readonly requests: number;
  readonly answered: number;
  readonly dropped: number;
  readonly tasks: number;
  readonly done: number;
  readonly lost: number;
  readonly doubled: number;
  readonly violations: number;
  readonly wall_ms: number;
}
export interface Outcome {
  readonly figures: Figures;
  readonly asked: readonly Asked[];
  readonly stored: Stored;
  readonly broken: readonly Broken[];
  /** Where everything stands; null once it was removed. */
  readonly kept: string | null;
}

const aliveMs = [150, 2_500] as const;
/** Dealt out in another order each time. */
const manyDeaths: readonly Manner[] = [
  ...Array.from({ length: 6 }, () => "all" as const),
  ...(["workerd", "workerd", "sandbox host", "starting"] as const),
];

const restsMost = 3;

export async function killAgainAndAgain(order: Ordered): Promise<Outcome> {
  const begun = Date.now();
  const dice = random(order.seed);
  const folder = mkdtempSync(join(tmpdir(), "countersign-kills-"));
  const repo = repositoryIn(join(folder, "pager"));
  const service = await startService({ seed: false, repoRoots: [folder] });
  const mortal = new MortalService(service);
  order.born?.(() => {
    mortal.slay();
    for (const left of [service.state, folder]) rmSync(left, { recursive: true, force: true });
  });
  const steps = turns(order);
  const clients = Array.from({ length: order.clients }, (_, at) => {
    const own = dice.fork(`client ${at}`);
    const line = new Line({ url: service.url, token: service.token, up: () => mortal.up() }, own);
    return new Client({ name: `client-${at}`, repo: repo.url, tasks: order.tasks, turn: steps.turn }, line, own);
  });
  const killing = deaths(order, mortal, dice.fork("killer"), steps);
  try {
    const working = clients.map((client) =>
      client.run().catch((error: unknown) => Promise.reject(named(client, error))),
    );
    await Promise.all([killing, ...working]);
    const look = new Line({ ...service, up: () => mortal.up() }, dice.fork("look"));
    const asked = clients.flatMap((client) => client.asked).sort((a, b) => a.asked_at - b.asked_at);
    const stored = await settled(service, look, () => readStored(service.state, repo), order.say);
    const broken = compare(asked, stored);
    const figures = figuresOf(order, mortal, { ...countsOf(asked), stored, broken, wall_ms: Date.now() - begun });
    if (broken.length > 0) return { figures, asked, stored, broken, kept: service.state };
    await service.discard();
    rmSync(folder, { recursive: true, force: true });
    return { figures, asked, stored, broken, kept: null };
  } catch (error) {
    // The killer would start again what is stopped here.
    mortal.giveUp();
    await killing.catch(() => undefined);
    await service.stop().catch(() => null);
    throw new Error(`SEED=${order.seed}: the run broke off; its state is kept in ${service.state}`, { cause: error });
  }
}

/** What stands once all is quiet. Heads of chains are signed by the clock: a row may be written as the service is put out. */
async function settled(
  service: JourneyService,
  look: Line,
  read: () => Stored,
  say: (line: string) => void,
): Promise<Stored> {
  for (let tries = 1; ; tries++) {
    await quiet(look, say);
    await service.stop();
    const stored = read();
    const sent = stored.objects.every(({ links, shipped }) => shipped === links.length);
    if (sent || tries === restsMost) return stored;
    say("a row was written as it was put out: it is started once more");
    await service.restart();
  }
}

/** One death after the other at random moments, the sandbox host's alone at most once a life of the service. */
async function deaths(order: Ordered, mortal: MortalService, dice: Random, steps: Turns): Promise<void> {
  let deck: Manner[] = [];
  let hostKilled = false;
  while (mortal.killed < order.kills && !mortal.over) {
    await sleep(dice.int(...aliveMs));
    if (deck.length === 0) deck = dice.shuffle(manyDeaths);
    const wanted = deck.pop() ?? "all";
    const manner: Manner = wanted === "sandbox host" && hostKilled ? "all" : wanted;
    hostKilled = manner === "sandbox host";
    const began = Date.now();
    await mortal.kill(manner, dice);
    steps.died(mortal.killed);
    order.say(`kill ${mortal.killed}/${order.kills}: ${manner}, answering again after ${Date.now() - began} ms`);
  }
}

interface Turns {
  turn(task: number): Promise<void>;
  died(times: number): void;
}
/** A client's tasks are spread over the deaths, so that there is work whenever the power fails. */
function turns({ kills, tasks }: Ordered): Turns {
  let deaths = 0;
  let waiting: (() => void)[] = [];
  return {
    async turn(task) {
      const after = Math.floor((task * kills) / tasks);
      while (deaths < after) await new Promise<void>((resolve) => waiting.push(resolve));
    },
    died(times) {
      deaths = times;
      for (const resolve of waiting.splice(0)) resolve();
      waiting = [];
    },
  };
}

function repositoryIn(folder: string): Repository {
  const url = makeSample(folder);
  const git = (...args: string[]) => execFileSync("git", args, { cwd: folder, env: safeGitEnv(), encoding: "utf8" });
  return { url, folder, git, file: (branch, path) => git("show", `${branch}:${path}`) };
}
function named(client: Client, error: unknown): Error {
  return new Error(`after ${client.asked.length} requests: ${String(error)}`, { cause: error });
}

function figuresOf(
  { seed }: Ordered,
  mortal: MortalService,
  found: {
    requests: number;
    answered: number;
    dropped: number;
    stored: Stored;
    broken: readonly Broken[];
    wall_ms: number;
  },
): Figures {
  const { stored, broken, ...counted } = found;
  const kind = (of: Broken["kind"]) => broken.filter((each) => each.kind === of).length;
  return {
    seed,
    kills: mortal.killed,
    manners: mortal.kills,
    ...counted,
    tasks: stored.tasks.length,
    done: stored.tasks.filter(({ status }) => status === "done").length,
    lost: kind("lost"),
    doubled: kind("doubled"),
    violations: broken.length,
  };
}
export function inOneLine(figures: Figures): string {
  const { manners, wall_ms, ...rest } = figures;
  const how = Object.entries(manners).map(([manner, times]) => `${manner} ${times}`);
  const words = Object.entries(rest).map(([name, value]) => `${name} ${value}`);
  return `${words.join(", ")} (kills of ${how.join(", ")}), ${Math.round(wall_ms / 1000)} s`;
}

async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      kills: { type: "string", default: "10" },
      clients: { type: "string", default: "8" },
      seed: { type: "string", default: String(Date.now() % 1_000_000) },
      json: { type: "boolean", default: false },
    },
  });
  const kills = Number(values.kills);
  const say = (line: string): void => console.error(line);
  say(`SEED=${values.seed}: ${kills} kills, ${values.clients} clients`);
  const tasks = Math.max(4, Math.ceil(kills / 3));
  let slay: () => void = () => undefined;
  for (const name of ["SIGINT", "SIGTERM"] as const)
    process.on(name, () => {
      slay();
      process.exit(130);
    });
  const { figures, broken, kept } = await killAgainAndAgain({
    seed: values.seed,
    kills,
    clients: Number(values.clients),
    tasks,
    say,
    born: (how) => {
      slay = how;
    },
  });
  for (const { kind, sentence } of broken) say(`${kind}: ${sentence}`);
  if (kept !== null) say(`the state is kept in ${kept}`);
  console.log(values.json ? JSON.stringify(figures) : inOneLine(figures));
  return broken.length === 0 ? 0 : 1;
}

if (import.meta.main)
  process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
    console.error(error);
    return 1;
  });
