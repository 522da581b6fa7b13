/** Attempts over the sample repository: scripted steps, and what a run of them leaves behind. */
import { executor } from "../../src/agents/executor.ts";
import { SandboxFailure } from "../../src/agents/ports.ts";
import type { ExecutionOrder } from "../../src/domain/result.ts";
import type { MemoryProgram } from "./memory-sandboxes.ts";
import { testScope } from "./messages.ts";
import { attemptMessage, attemptOrder, type Sample, sample } from "./orders.ts";
import { type Driven, type Driving, drive, runContext } from "./world.ts";

export const box = `${testScope}.p1.fix.1.0`;

const programs: Record<string, MemoryProgram> = {
  edit: (process) => {
    process.print("editing\n");
    process.write("src/a.txt", `${process.read("src/a.txt") ?? ""}two\n`);
    return 0;
  },
  more: (process) => {
    process.write("src/b.txt", "more\n");
    return 0;
  },
  break: (process) => {
    process.print("it broke\n");
    return 3;
  },
  linger: (process) => {
    process.print("working\n");
    return new Promise(() => {});
  },
  install: (process) => {
    process.write("node_modules/x", "x");
    return 0;
  },
  litter: (process) => {
    process.write("litter.txt", "x");
    return 0;
  },
};

export const world = (): Sample => sample(programs);
export function run(w: Sample, order: Partial<ExecutionOrder> = {}, driving: Driving = {}): Promise<Driven> {
  return drive(executor, runContext(attemptMessage(attemptOrder(w.main, order))), w.ports, driving);
}
/** The calls that really began, oldest first. */
export function begunIn(w: Sample): string[] {
  return w.memory.begun.map(({ call_id }) => call_id);
}
/** Where an attempt stood, from its stored state. */
export function at(stored: unknown): string {
  return (stored as { at: string }).at; // every state of an attempt has its place
}
export function unreachable(): SandboxFailure {
  return new SandboxFailure("unreachable", "the host does not answer", true);
}
export function silent(): SandboxFailure {
  return new SandboxFailure("silent", "the host did not answer in time", true);
}
