import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { writePrivate } from "../../src/dev/files.ts";
import {
  beganAt,
  endGroup,
  endLeftovers,
  type ProcessRecord,
  processList,
  survivors,
} from "../../src/dev/processes.ts";

let file: string;
const started: ProcessRecord[] = [];
beforeEach(() => {
  file = join(mkdtempSync(join(tmpdir(), "countersign-processes-")), "processes.json");
});
afterEach(async () => {
  for (const record of started.splice(0)) await endGroup(record, 0);
  rmSync(join(file, ".."), { recursive: true });
});

/** A shell that says "up" and then lives on with a child in its group. */
async function family(script: string): Promise<{ child: ChildProcess; record: ProcessRecord }> {
  const list = processList(file);
  const child = list.spawn("test", "bash", ["-c", script], { stdio: ["ignore", "pipe", "ignore"] });
  const [record] = list.records();
  if (record === undefined) throw new Error("it was not recorded");
  started.push(record);
  await new Promise((resolve) => child.stdout?.once("data", resolve));
  return { child, record };
}
const withChild = "sleep 1000 & echo up; wait";
const stubborn = "trap '' TERM; (trap '' TERM; while :; do sleep 0.05; done) & echo up; while :; do sleep 0.05; done";

describe("left-over processes", () => {
  it("[START-3] a killed start's groups are found on disk and ended, children and all", async () => {
    const { record } = await family(withChild);
    expect(survivors(record)).toHaveLength(2);
    expect(await endLeftovers(file, 1_000)).toBe(1);
    expect(survivors(record)).toEqual([]);
    expect(existsSync(file)).toBe(false);
  });

  it("[START-3] children whose leader was killed are ended too", async () => {
    const { child, record } = await family(withChild);
    child.kill("SIGKILL");
    await new Promise((resolve) => child.once("exit", resolve));
    expect(survivors(record)).toHaveLength(1);
    expect(await endLeftovers(file, 1_000)).toBe(1);
    expect(survivors(record)).toEqual([]);
  });

  it("[START-3] what does not listen to a polite end is killed", async () => {
    const { record } = await family(stubborn);
    expect(await endGroup(record, 100)).toBe(true);
    expect(survivors(record)).toEqual([]);
  });

  it("[START-3] nothing left, or nothing recorded, is nothing to do", async () => {
    expect(await endLeftovers(file, 0)).toBe(0);
    const { record } = await family(withChild);
    await endGroup(record, 1_000);
    expect(await endLeftovers(file, 0)).toBe(0);
  });

  it("[START-4] a process that has a recorded id but began at another time is left alone", async () => {
    const bystander = spawn("sleep", ["1000"], { detached: true, stdio: "ignore" });
    const { pid } = bystander;
    if (pid === undefined) throw new Error("it did not start");
    const began = beganAt(pid);
    if (began === null) throw new Error("it has no beginning");
    const [boot, ticks] = began.split(":");
    started.push({ role: "bystander", pid, began });
    for (const other of [`${boot}:${Number(ticks) - 1}`, `${boot}:${Number(ticks) + 1}`, `otherboot:${ticks}`]) {
      writePrivate(file, JSON.stringify([{ role: "worker", pid, began: other }]));
      expect(await endLeftovers(file, 0)).toBe(0);
    }
    expect(beganAt(pid)).toBe(began);
  });
});

describe("the list of one start", () => {
  it("[START-3] is on disk as soon as a process runs, and gone once all have ended", async () => {
    const { record } = await family(withChild);
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual([record]);
  });

  it("[START-3] ends the newest first, and starts nothing more once it is ending", async () => {
    const order = `${file}.order`;
    const list = processList(file);
    for (const role of ["first", "second"]) {
      const script = `trap 'echo ${role} >> ${order}; exit' TERM; echo up; while :; do sleep 0.02; done`;
      const child = list.spawn(role, "bash", ["-c", script], { stdio: ["ignore", "pipe", "ignore"] });
      await new Promise((resolve) => child.stdout?.once("data", resolve));
    }
    started.push(...list.records());
    expect(await list.endAll(5_000)).toBe(true);
    expect(readFileSync(order, "utf8")).toBe("second\nfirst\n");
    expect(() => list.spawn("third", "sleep", ["1000"], {})).toThrow(/stopping/);
    expect(existsSync(file)).toBe(false);
  });

  it("[START-3] a program that is not there is an error event, not a record", async () => {
    const list = processList(file);
    const child = list.spawn("absent", "/no/such/program", [], { stdio: "ignore" });
    await new Promise((resolve) => child.once("error", resolve));
    expect(list.records()).toEqual([]);
  });
});
