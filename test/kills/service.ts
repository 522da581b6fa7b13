/**
 * A service that is killed at random moments and started again on the same state: all of it at once, only workerd,
 * only the sandbox host, or in the middle of its start. Clients are told while it is down.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { killGroup, readRecords, survivors } from "../../src/dev/processes.ts";
import type { JourneyService } from "../journeys/helpers.ts";
import type { Random } from "../simulation/random.ts";

const holder = z.object({ pid: z.number().int() });
export const manners = ["all", "workerd", "sandbox host", "starting"] as const;
export type Manner = (typeof manners)[number];

const startsMost = 4;

export class MortalService {
  readonly service: JourneyService;
  readonly kills: Record<Manner, number> = { all: 0, workerd: 0, "sandbox host": 0, starting: 0 };
  #up: Promise<void> = Promise.resolve();
  #over = false;
  constructor(service: JourneyService) {
    this.service = service;
  }
  get killed(): number {
    return manners.reduce((sum, manner) => sum + this.kills[manner], 0);
  }
  /** Settles once it is believed to be up; rejects when the run was given up, so that nobody asks on for ever. */
  async up(): Promise<void> {
    await this.#up;
    if (this.#over) throw new Error("the run was given up");
  }
  /** No death comes after this, and no request. */
  giveUp(): void {
    this.#over = true;
  }
  get over(): boolean {
    return this.#over;
  }

  /** One death, and what follows it until the service answers again. */
  async kill(manner: Manner, random: Random): Promise<void> {
    this.kills[manner] += 1;
    if (manner === "sandbox host") {
      // The service itself starts its host again, once.
      this.#signal("sandbox host", () => true);
      return;
    }
    let isUp: () => void = () => undefined;
    this.#up = new Promise((resolve) => {
      isUp = resolve;
    });
    try {
      if (manner === "workerd") {
        this.#signal("worker", (pid) => nameOf(pid) === "workerd");
        await sleep(random.int(1_200));
      }
      await this.service.kill();
      if (manner === "starting") await this.#killStart(random.int(200, 3_000));
      await this.#start();
    } finally {
      isUp();
    }
  }

  /** Ends everything now, a start that is under way too, for somebody who pressed Ctrl-C. */
  slay(): void {
    for (const pid of lockedBy(this.service.state)) end(pid);
    for (const record of readRecords(join(this.service.state, "processes.json"))) killGroup(record);
  }

  /** A start may find what a killed start left in its way; the next one clears it. */
  async #start(): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.service.restart();
      } catch (error) {
        if (tries === startsMost) throw error;
      }
    }
  }
  async #killStart(afterMs: number): Promise<void> {
    const starting = this.service.restart().then(
      () => true,
      () => false,
    );
    await sleep(afterMs);
    for (const pid of lockedBy(this.service.state)) end(pid);
    for (const record of readRecords(join(this.service.state, "processes.json"))) killGroup(record);
    await starting;
  }
  #signal(role: string, which: (pid: number) => boolean): void {
    for (const record of readRecords(join(this.service.state, "processes.json")))
      if (record.role === role) for (const pid of survivors(record)) if (which(pid)) end(pid);
  }
}

function lockedBy(state: string): number[] {
  try {
    return [holder.parse(JSON.parse(readFileSync(join(state, "lock"), "utf8"))).pid];
  } catch {
    return [];
  }
}
function end(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // Gone already: what was wanted.
  }
}
function nameOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, "utf8").trim();
  } catch {
    return "";
  }
}
