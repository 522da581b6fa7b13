import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { safeGitEnv } from "../../src/dev/git.ts";
import { limits } from "../../src/limits.ts";
import { probe, tamper } from "./hostile.ts";
import { planOf } from "./plan-of.ts";
import { openRoad, processesSaying, type Road, until } from "./road.ts";

let road: Road;
/** Whoever runs outside a sandbox can leave a mark here. */
let outside: string;
beforeAll(async () => {
  road = await openRoad();
  outside = mkdtempSync(join(tmpdir(), "countersign-outside-"));
  chmodSync(outside, 0o777);
});
afterAll(async () => {
  await road.close();
  rmSync(outside, { recursive: true, force: true });
});

/** Has a person approve a plan of these steps. */
async function run(...steps: string[]): Promise<string> {
  const id = await road.ask(planOf([{ id: "probe", steps, max_attempts: 1 }]));
  await road.countersign(id);
  return id;
}
/** A step that writes a program and runs it. */
const program = (name: string, text: string, out: string) =>
  `cat > src/${name} <<'END'\n${text}END\nnode src/${name} > src/${out}\ncat src/${out}`;
/** What is said of a step that could not end well. */
async function whyFailed(id: string): Promise<string> {
  const card = await road.card(id, "escalation");
  await road.deny(card, "as expected");
  await road.ended(id);
  return card.card.facts.join("\n");
}
/** A number that only this run's processes have in their command lines. */
const markOf = (nth: number) => `${86_400 + process.pid}.${nth}`;
const alive = (mark: string) => processesSaying(mark).length;

const found = z.object({ read: z.array(z.string()), reached: z.array(z.string()), seen: z.array(z.string()) });

describe.concurrent("a step of an approved plan", () => {
  it("[BOX-1] [BOX-2] finds no file, port or process of the host and nothing of another sandbox; outside, the same program finds them all", async () => {
    const neighbour = await run(`echo mine > src/neighbour.txt; sleep ${markOf(1)}`);
    await until("a neighbour at work", async () => (alive(markOf(1)) > 0 ? true : null));
    const { state, port } = road.service;
    const root = join(state, "sandboxes");
    const theirs = readdirSync(root, { recursive: true, encoding: "utf8" }).find((path) =>
      path.endsWith("src/neighbour.txt"),
    );
    const { SANDBOX_URL } = parseEnv(readFileSync(join(state, "vars.env"), "utf8"));
    const host = Number(new URL(SANDBOX_URL ?? "").port);

    const names = ["secrets.env", "token", "vars.env", "persist", "sandboxes", join("sandboxes", theirs ?? "")];
    const paths = [...names.map((name) => join(state, name)), road.repo.folder, import.meta.filename];
    const all = { read: paths, reached: [`127.0.0.1:${port}`, `127.0.0.1:${host}`], seen: [state, markOf(1)] };
    const text = probe(all);
    const outsideToo = execFileSync(process.execPath, ["--input-type=module", "--eval", text], { encoding: "utf8" });
    expect(found.parse(JSON.parse(outsideToo))).toEqual(all);

    const id = await run(
      program("probe.mjs", probe({ ...all, reached: [...all.reached, "1.1.1.1:443"] }), "found.json"),
    );
    expect((await road.ended(id)).status).toBe("done");
    const inside = road.repo.file(`countersign/${id}`, "src/found.json");
    expect(found.parse(JSON.parse(inside))).toEqual({ read: [], reached: [], seen: [] });
    await road.client.post(`/api/tasks/${neighbour}/cancel`, {}, z.unknown());
  });

  it("[BOX-3] leaves nothing running behind: not when it ends, however well its processes hide", async () => {
    // Added up inside, so that only the hidden process itself has the mark in its command line.
    const sum = `$((86400 + ${process.pid})).2`;
    const id = await run(`setsid nohup sleep ${sum} > /dev/null 2>&1 &\nsleep 5; echo done > src/done.txt`);
    const mark = markOf(2);
    await until("the hidden process", async () => (alive(mark) > 0 ? true : null));
    expect((await road.ended(id)).status).toBe("done");
    expect(alive(mark)).toBe(0);
  });

  it("[BOX-4] that forks without end stops at the limit of processes, and all of them are gone afterwards", async () => {
    const mark = markOf(3);
    // Only the number of its shells tells them from others, so the mark stands in their command line.
    const id = await run(`bomb() { bomb | bomb & }; bomb; sleep 2; : ${mark}`);
    let most = 0;
    await until("the bomb to be over", async () => {
      most = Math.max(most, alive(mark));
      const { status } = await road.task(id);
      return status === "active" ? null : true;
    });
    expect(most).toBeGreaterThan(10);
    expect(most).toBeLessThanOrEqual(limits.sandbox_processes + 10);
    expect(alive(mark)).toBe(0);
    await road.client.post(`/api/tasks/${id}/cancel`, {}, z.unknown()).catch(() => null);
  });

  it("[BOX-5] that takes memory without end is ended, and what went wrong is said", async () => {
    const id = await run('node -e "const held = []; for (;;) held.push(Buffer.alloc(64e6, 1))"');
    // Killed by the kernel where a control group counts, given up by itself where each process has its own limit.
    expect(await whyFailed(id)).toMatch(/step 1 ended with exit code 13[47]/);
  });

  it("[BOX-6] that writes a file of 10 GB is ended at the largest size of a file", async () => {
    const most = limits.sandbox_file_mb;
    // The first part of the file is a hole, so that only the crossing of the limit costs time.
    const id = await run(
      `yes | dd of=src/huge bs=1M seek=${most - 8} count=${10_240 - most} iflag=fullblock status=none`,
    );
    expect(await whyFailed(id)).toMatch(/step 1 ended with exit code 153/); // 128 and the number of SIGXFSZ
  });

  it("[BOX-7] cannot have a program run outside by what it writes into .git", async () => {
    const text = tamper(outside);
    const clone = mkdtempSync(join(tmpdir(), "countersign-journey-clone-"));
    const git = (...args: string[]) => execFileSync("git", args, { cwd: clone, env: safeGitEnv(), stdio: "ignore" });
    git("clone", "--quiet", road.repo.folder, ".");
    execFileSync(process.execPath, ["--input-type=module", "--eval", text], { cwd: clone });
    git("add", "--all");
    git("commit", "--message", "x");
    expect(readdirSync(outside).toSorted()).toEqual(["filter", "fsmonitor", "hook"]);
    for (const name of readdirSync(outside)) rmSync(join(outside, name));
    rmSync(clone, { recursive: true });

    const id = await run(program("tamper.mjs", text, "tampered.txt"));
    // What git is told about files takes power later, so a person lets it through: even then nothing of it runs.
    const card = await road.card(id, "gate");
    expect(card.card.facts.join("\n")).toContain("src/.gitattributes");
    await road.approve(card);
    const task = await road.ended(id);
    expect(task).toMatchObject({ status: "done", attempts: [{ verifications: [{ verdict: "pass" }] }] });
    expect(road.repo.file(`countersign/${id}`, "src/tampered.txt")).toBe("tampered\n");
    expect(readdirSync(outside)).toEqual([]);
  });
});

describe("after all of that", () => {
  it("[BOX-8] the service takes the next task as if nothing had been", async () => {
    const id = await run("echo calm > src/calm.txt");
    expect((await road.ended(id)).status).toBe("done");
    expect(road.repo.file(`countersign/${id}`, "src/calm.txt")).toBe("calm\n");
  });
});
