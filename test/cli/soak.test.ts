import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { inProject, project } from "../../src/dev/project.ts";
import { endOf, flagsOf, isClean, tableOf } from "../../src/dev/soak.ts";
import { runsOf } from "../../src/dev/soak-runs.ts";

const flags = { steps: 1_000_000, evictions: 20, kills: 5, scripts: 9, walks: 40, seed: 7 };
const run = (name: string) => runsOf(flags).find((each) => each.name === name) ?? missing(name);
function missing(name: string): never {
  throw new Error(`there is no run ${name}`);
}

describe("the soak", () => {
  it("[SOAK-1] runs both simulations, the evictions, the kills, the shell scripts and the walks with one seed, as much of each as asked", () => {
    const args = [
      "--steps",
      "5",
      "--evictions",
      "6",
      "--kills",
      "7",
      "--scripts",
      "4",
      "--walks",
      "3",
      "--seed",
      "8",
      "--json",
    ];
    expect(flagsOf(args, 0)).toEqual({ steps: 5, evictions: 6, kills: 7, scripts: 4, walks: 3, seed: 8, json: true });
    expect(flagsOf([], 123)).toEqual({
      ...{ steps: 10_000_000, evictions: 2_000, kills: 100, scripts: 100_000, walks: 200_000, seed: 123, json: false },
    });
    for (const wrong of [["--steps", "many"], ["--kills", "-1"], ["--bogus"], ["stray"]])
      expect(flagsOf(wrong, 0)).toBeNull();
    const names = (given: Partial<typeof flags>) => runsOf({ ...flags, ...given }).map(({ name }) => name);
    expect(names({})).toEqual(["messaging", "scope", "evictions", "kills", "shell", "approvals"]);
    expect(names({ steps: 0, kills: 0, scripts: 0, walks: 0 })).toEqual(["evictions"]);
    expect(run("messaging").args.join(" ")).toContain("messaging --seed 7 --steps 1000000 --jobs 2");
    expect(run("scope").args.join(" ")).toContain("--seed 7 --seeds 5 --steps 10000");
    expect(run("evictions").env).toEqual({ COUNTERSIGN_EVICTIONS: "20", COUNTERSIGN_SEED: "7" });
    expect(run("kills").args.join(" ")).toContain("--seed 7 --kills 5");
    expect(run("approvals").args.join(" ")).toContain("approvals --seed 7 --walks 40 --jobs 2");
    expect(run("shell").args.join(" ")).toContain("shell --seed 7 --scripts 9 --jobs 2");
  });

  it("[SOAK-2] says in one table what was asked, done, lost and doubled; a violation, a failure or a silent run is never clean", () => {
    const said = {
      messaging: { figures: { messages: 9, effects: 8 }, failures: [] },
      scope: { counts: { accepted: 4, acked: 4 }, violation: null, virtual_s: 1 },
      kills: { kills: 5, answered: 6, done: 3, lost: 0, doubled: 0, violations: 0 },
    };
    const lives = 'evictions {"evictions":3,"aborts":4,"commands":50}\naborts {"aborts":2,"calls":7,"answers":6}\n';
    const counts = { "ran by a person's yes": 4, "ran by plan or policy": 3, deny: 9 };
    const walked = { approvals: { walks: 40, steps: 600, counts, failures: [] } };
    const ended = [
      endOf(run("messaging"), `${JSON.stringify(said.messaging)}\n`, 0, 1_000),
      endOf(run("scope"), `${JSON.stringify(said.scope)}\n${JSON.stringify(said.scope)}\n`, 0, 1_000),
      endOf(run("evictions"), lives, 0, 1_500),
      endOf(run("kills"), JSON.stringify(said.kills), 0, 2_000),
      endOf(run("shell"), '{"shell":{"scripts":9,"claimed":5,"programs":8,"late":0,"missing":0}}', 0, 2_000),
      endOf(run("approvals"), JSON.stringify(walked), 0, 3_000),
    ];
    expect(isClean(ended)).toBe(true);
    const cells = tableOf(ended, 7)
      .split("\n")
      .map((line) => line.split(/ {2,}/));
    expect(cells[0]).toEqual(["run", "asked", "done", "lost", "doubled", "violations", "seed", "wall s"]);
    expect(cells[1]).toEqual(["messaging", "9", "8", "0", "0", "0", "7", "1.0"]);
    expect(cells[2]?.[1]).toBe("8");
    expect(cells[3]?.slice(0, 3)).toEqual(["evictions", "57", "56"]);
    expect(cells[4]?.slice(0, 3)).toEqual(["kills", "6", "3"]);
    expect(cells[5]?.slice(0, 6)).toEqual(["shell", "9", "5", "0", "0", "0"]);
    expect(cells[6]?.slice(0, 6)).toEqual(["approvals", "40", "7", "0", "0", "0"]);

    const failures = [{ violation: "x is lost" }, { violation: "it happened 2 times" }];
    const bad = endOf(run("messaging"), JSON.stringify({ ...said.messaging, failures }), 1, 1);
    expect(bad).toMatchObject({ lost: 1, doubled: 1, violations: 2, broke: "it ended with 1" });
    const silent = endOf(run("kills"), "Error: it broke off", 1, 1);
    expect(silent).toMatchObject({ violations: 1, broke: "it ended with 1 and no figures" });
    const failed = endOf(run("evictions"), lives, 1, 1);
    for (const one of [bad, silent, failed]) expect(isClean([...ended, one])).toBe(false);
    expect(tableOf([silent], 7)).toContain("kills: it ended with 1 and no figures");
  });

  it("[SOAK-3] Ctrl-C ends it and every process it started", async () => {
    const mark = `${process.pid}${Date.now() % 1_000}`;
    const args = [
      "--steps",
      "20000000",
      "--evictions",
      "0",
      "--kills",
      "0",
      "--scripts",
      "0",
      "--walks",
      "0",
      "--seed",
      mark,
    ];
    const child = spawn(process.execPath, [inProject("src/dev/soak.ts"), ...args], { cwd: project, stdio: "ignore" });
    const code = new Promise<number | null>((resolve) => child.on("exit", resolve));
    await until(() => commandsSaying(mark).length > 3);
    child.kill("SIGINT");
    expect(await code).toBe(130);
    expect(commandsSaying(mark)).toEqual([]);
  }, 60_000);
});

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 50));
}
/** Every process whose command line has the text as an argument. */
function commandsSaying(text: string): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const said = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
        return said.some((part) => part === text || part.startsWith(`${text}.`))
          ? [`${pid} ${said.join(" ").slice(0, 100)}`]
          : [];
      } catch {
        return [];
      }
    });
}
