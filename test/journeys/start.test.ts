import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { connect } from "../../src/cli/client.ts";
import { readRecords, survivors } from "../../src/dev/processes.ts";
import { inProject, project } from "../../src/dev/project.ts";
import { page, taskSummary } from "../../src/domain/view.ts";
import { type JourneyService, startService } from "./helpers.ts";

let service: JourneyService | null = null;
afterEach(async () => {
  await service?.discard();
  service = null;
});

const records = (state: string) => readRecords(join(state, "processes.json"));
const tasks = (up: JourneyService) => connect(up.url, up.token).get("/api/tasks", page(taskSummary));

describe("the service on one machine", () => {
  it("[START-13] comes up with the sample waiting, refuses a second start, survives a power cut, and ends without a trace", async () => {
    service = await startService({ seed: true });
    const { items } = await tasks(service);
    expect(items).toHaveLength(1);
    expect(statSync(join(service.state, "token")).mode & 0o777).toBe(0o600);

    const second = spawnSync(
      process.execPath,
      [inProject("src/dev/start.ts"), "--port", "0", "--state", service.state],
      { encoding: "utf8" },
    );
    expect(second.status).toBe(1);
    expect(second.stderr).toContain(service.url);

    await service.kill();
    await service.restart();
    expect((await tasks(service)).items.map((task) => task.id)).toEqual(items.map((task) => task.id));
    await connect(service.url, service.token).get("/healthz", z.object({ status: z.string() }));

    const groups = records(service.state);
    expect(groups.map((group) => group.role).sort()).toEqual(["sandbox host", "worker"]);
    expect(await service.stop()).toBe(0);
    expect(groups.flatMap(survivors)).toEqual([]);
    for (const name of ["lock", "processes.json", "service.json", "vars.env"])
      expect(existsSync(join(service.state, name))).toBe(false);
  });

  it("[START-13] without the sample it has a scope and no task", async () => {
    service = await startService({ seed: false });
    expect((await tasks(service)).items).toEqual([]);
  });
});

describe("what a start says", () => {
  it("[START-14] with --json each part is named on stderr as it begins, and stdout holds one line", async () => {
    const state = mkdtempSync(join(tmpdir(), "countersign-say-"));
    const args = [inProject("src/dev/start.ts"), "--json", "--port", "0", "--state", state];
    const child = spawn(process.execPath, args, { cwd: project, stdio: ["ignore", "pipe", "pipe"] });
    const said = { out: "", err: "" };
    child.stderr.on("data", (bytes: Buffer) => {
      said.err += bytes;
    });
    child.stdout.on("data", (bytes: Buffer) => {
      said.out += bytes;
      child.kill("SIGTERM");
    });
    await new Promise((resolve) => child.on("exit", resolve));
    rmSync(state, { recursive: true, force: true });
    expect(said.out).toMatch(/^\{"url":.*\}\n$/);
    const begins = [
      "Making the sample repository ...",
      "Starting the sandbox host ...",
      "Bringing the database up to date ...",
      "Starting the Worker ...",
      "Asking for the sample task ...",
    ];
    expect(said.err.split("\n").filter((line) => begins.includes(line))).toEqual(begins);
  });
});

describe("the demo", () => {
  it("[DEMO-1] ends well, names the branch last, and leaves nothing behind", () => {
    const folders = () => readdirSync(tmpdir()).filter((name) => name.startsWith("countersign-demo-"));
    const before = folders();
    const demo = spawnSync(process.execPath, [inProject("src/dev/demo.ts"), "--limit", "200"], {
      cwd: project,
      encoding: "utf8",
      timeout: 220_000,
    });
    expect(demo.status, `${demo.stderr}\n${demo.stdout.slice(-1_500)}`).toBe(0);
    expect(demo.stdout.trim().split("\n").at(-1)).toMatch(/countersign\/\S+$/);
    expect(folders()).toEqual(before);
  });
});
