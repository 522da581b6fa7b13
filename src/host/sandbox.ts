/** One sandbox: its record, its places on disk, its calls, and the line its git work stands in. */
import type { ChildProcess } from "node:child_process";
import { join } from "node:path";
import { Call } from "./call.ts";
import { HostFailure } from "./failure.ts";
import type { Terminal } from "./pty.ts";
import { type CallRecord, type SandboxRecord, save } from "./record.ts";

export class Sandbox {
  readonly folder: string;
  /** The host's own git directory for it: never visible to a process of the agent. */
  readonly git: string;
  readonly work: string;
  readonly terminals = new Map<string, Terminal>();
  /** Short processes of the host working on its files, to be ended with it. */
  readonly helpers = new Set<ChildProcess>();
  readonly #calls = new Map<string, Call>();
  #record: SandboxRecord;
  #line: Promise<unknown> = Promise.resolve();
  #gone = false;

  constructor(root: string, record: SandboxRecord) {
    this.#record = record;
    this.folder = join(root, "sandboxes", record.id);
    this.git = join(root, "git", record.id);
    this.work = join(root, record.spec.worktree);
  }

  get record(): SandboxRecord {
    return this.#record;
  }
  get id(): string {
    return this.#record.id;
  }
  get calls(): Iterable<Call> {
    return this.#calls.values();
  }
  get gone(): boolean {
    return this.#gone;
  }
  close(): void {
    this.#gone = true;
  }

  update(change: Partial<SandboxRecord>): void {
    this.#record = { ...this.#record, ...change };
    save(join(this.folder, "sandbox.json"), this.#record);
  }

  /** From now on it may hold an agent's bytes: no cache is written from it any more. */
  touch(): void {
    if (!this.#record.touched) this.update({ touched: true });
  }

  call(kind: CallRecord["kind"], call_id: string): Call | null {
    const folder = Call.folder(this.folder, kind, call_id);
    const known = this.#calls.get(folder) ?? Call.remembered(folder);
    if (known !== null) this.#calls.set(folder, known);
    return known;
  }

  /** Written down as running before anything is started. */
  newCall(kind: CallRecord["kind"], call_id: string, command_hash: string): { call: Call; folder: string } {
    const folder = Call.folder(this.folder, kind, call_id);
    const call = new Call(folder, { call_id, kind, command_hash, leader: null, outcome: { state: "running" } }, "new");
    this.#calls.set(folder, call);
    return { call, folder };
  }

  /** One after another: two snapshots or merges at once would share one git directory. */
  inLine<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#line.then(() => {
      if (this.#gone) throw new HostFailure("no_such_sandbox", `sandbox "${this.id}" is being destroyed`);
      return work();
    });
    this.#line = turn.catch(() => {});
    return turn;
  }

  /** Resolves when what stood in line has ended. */
  async quiet(): Promise<void> {
    await this.#line;
  }
}
