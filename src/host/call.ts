/**
 * One process that was asked for by an id: started at most once, its end written down, its output kept.
 * The intent is on disk before the process begins, so a host that died in between answers `unknown`.
 */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { bounds } from "./bounds.ts";
import { HostFailure } from "./failure.ts";
import { OutputLog } from "./output.ts";
import type { Output } from "./protocol.ts";
import { type CallRecord, callRecord, load, save, startedAt } from "./record.ts";

type Outcome = CallRecord["outcome"];

/** A started process as the call sees it: something with an id that can be ended. */
export interface Running {
  readonly pid: number;
  readonly status: string;
}
export interface End {
  readonly exit_code: number | null;
  readonly signal: string | null;
}

export class Call {
  readonly log: OutputLog;
  readonly #folder: string;
  readonly #settled: Promise<void>;
  #settle: () => void = () => {};
  #record: CallRecord;
  #running: Running | null = null;
  #ending: "killed" | "timed_out" | null = null;
  #timer: NodeJS.Timeout | null = null;
  #began_ms = 0;
  #begun = false;

  constructor(folder: string, record: CallRecord, state: "new" | "ended") {
    this.#folder = folder;
    this.#record = record;
    if (state === "new") mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.log = new OutputLog(join(folder, "output"), state);
    this.#settled = new Promise((resolve) => {
      this.#settle = resolve;
    });
    if (state === "new") this.#save();
  }

  static folder(sandbox: string, kind: CallRecord["kind"], call_id: string): string {
    return join(sandbox, "calls", createHash("sha256").update(`${kind}\0${call_id}`).digest("hex").slice(0, 32));
  }

  /** A call of an earlier host, or null. What ran then is dead now, and how it ended nobody saw. */
  static remembered(folder: string): Call | null {
    const record = load(join(folder, "call.json"), callRecord);
    if (record === null) return null;
    if (record.outcome.state !== "running") return new Call(folder, record, "ended");
    endLeader(record);
    const lost = new Call(folder, { ...record, leader: null, outcome: { state: "unknown" } }, "ended");
    lost.#save();
    return lost;
  }

  get outcome(): Outcome {
    return this.#record.outcome;
  }
  /** Whether a process was really begun. */
  get started_once(): boolean {
    return this.#begun;
  }
  /** Resolves when the process is gone. */
  get over(): Promise<void> {
    return this.#settled;
  }
  get live(): boolean {
    return this.#record.outcome.state === "running";
  }

  mustBe(command_hash: string): void {
    if (this.#record.command_hash === command_hash) return;
    throw new HostFailure(
      "call_mismatch",
      `call "${this.#record.call_id}" is known with another command; use a new call id`,
    );
  }

  started(running: Running, timeout_ms: number): void {
    this.#running = running;
    this.#begun = true;
    this.#began_ms = performance.now();
    this.#record = { ...this.#record, leader: { pid: running.pid, started: startedAt(running.pid) ?? "" } };
    this.#save();
    this.#timer = setTimeout(() => this.#end("timed_out"), timeout_ms);
    if (this.#ending !== null) killGroup(running.pid); // It was killed while it was being started.
  }

  neverStarted(reason: string): void {
    this.#finish({ state: "never_started", reason });
  }

  /** Called once, when the process is gone and all it wrote has been read. */
  ended(end: End): void {
    if (!this.live) return;
    const duration_ms = Math.round(performance.now() - this.#began_ms);
    const reason = this.#ending === null ? this.#setupError() : null;
    const signal = this.#ending === "killed" ? "SIGKILL" : end.signal;
    const exit_code = signal === null ? (end.exit_code ?? 1) : 137;
    if (this.#ending === "timed_out") this.#finish({ state: "timed_out", duration_ms });
    else if (reason !== null) this.#finish({ state: "never_started", reason });
    else this.#finish({ state: "exited", exit_code, signal, duration_ms });
  }

  /** Resolves when the process is gone. Killing bubblewrap's first process makes the kernel end every other one. */
  async kill(): Promise<void> {
    if (!this.live) return;
    this.#end("killed");
    await Promise.race([this.#settled, new Promise((resolve) => setTimeout(resolve, bounds.kill_ms).unref())]);
    if (this.live) throw new HostFailure("internal", "the process could not be ended in time", true);
  }

  async wait(offset: number, wait_ms: number): Promise<Output<"wait">> {
    await this.log.past(offset, wait_ms);
    // The outcome is read first: output that comes after it is then never missed by whoever stops at the end.
    const outcome = this.outcome;
    const chunk = this.log.read(offset);
    return { outcome, chunk: Buffer.from(chunk).toString("base64"), next_offset: offset + chunk.length };
  }

  #end(why: "killed" | "timed_out"): void {
    this.#ending ??= why;
    if (this.#running !== null) killGroup(this.#running.pid);
  }

  #finish(outcome: Outcome): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    if (this.#running !== null) rmSync(this.#running.status, { force: true });
    this.#record = { ...this.#record, leader: null, outcome };
    this.#running = null;
    this.#save();
    this.log.end();
    this.#settle();
  }

  /** Bubblewrap reports the exit of what it ran; without that report and without a kill the sandbox was never complete. */
  #setupError(): string | null {
    if (this.#running === null) return null;
    let status = "";
    try {
      status = readFileSync(this.#running.status, "utf8");
    } catch {
      // The launcher failed before it made the file.
    }
    if (status.includes('"exit-code"')) return null;
    const said = new TextDecoder().decode(this.log.read(0)).trim();
    if (status.includes('"child-pid"') && !said.startsWith("bwrap: ")) return null;
    return `the sandbox could not be set up: ${said.slice(0, 500) || "no reason given"}`;
  }

  #save(): void {
    save(join(this.#folder, "call.json"), this.#record);
  }
}

function killGroup(pid: number): void {
  for (const target of [-pid, pid]) {
    try {
      process.kill(target, "SIGKILL");
    } catch {
      // Gone already.
    }
  }
}

/** A host that was killed takes its sandboxes with it; one it was just starting may be left. */
function endLeader(record: CallRecord): void {
  if (record.leader !== null && startedAt(record.leader.pid) === record.leader.started) killGroup(record.leader.pid);
}
