/**
 * The container of a scope's git, in which no sandbox is. It is asked whether it answers before it is used again; one
 * that did not is never used again, and one in which an agent's bundle was read ends as soon as nothing is under way in it,
 * so that whatever happened to it then is over. Both are remembered, for an end may fail. [CON-16] [CON-18]
 */
import { SandboxFailure } from "../agents/ports.ts";
import { limits } from "../limits.ts";
import type { Kept, Remembered } from "./container-kept.ts";
import { endMachine, Line, type Machine } from "./container-machine.ts";
import { Late } from "./container-time.ts";

interface Parts {
  readonly machine: Machine | null;
  readonly kept: Remembered;
  readonly inTurn: <T>(work: () => Promise<T>) => Promise<T>;
  /** A fresh container, whatever ran before it ended. */
  readonly begin: () => Promise<Line>;
}

export class GitContainer {
  readonly #parts: Parts;
  /** How many operations are under way, by their container's secret. */
  readonly #under = new Map<string, number>();
  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** `spends`: an agent's bundle goes in. Whatever is lost with the connection is asked once more, and what is late is not. */
  async use(spends: boolean, work: (line: Line) => Promise<Response>): Promise<Response> {
    const { inTurn } = this.#parts;
    for (let again = false; ; again = true) {
      const line = await inTurn(() => this.#enter(spends));
      try {
        return await work(line);
      } catch (error) {
        const lost = error instanceof SandboxFailure && error.code === "unreachable";
        if (lost || error instanceof Late) await inTurn(() => this.#giveUp(line.secret));
        if (!lost || again) throw error;
      } finally {
        this.#leave(line);
      }
    }
  }

  /** Ends one that is not to be used again. When that fails it is ended before the next operation, or by being idle. */
  tidy(): Promise<void> {
    return this.#parts.inTurn(async () => {
      const known = await this.#parts.kept.known();
      if (known === null || known.retired === null || this.#at(known.secret) > 0) return;
      await this.#end();
    });
  }

  async #enter(spends: boolean): Promise<Line> {
    const { machine, kept, begin } = this.#parts;
    const known = await kept.known();
    let line: Line | null = null;
    if (machine?.running && known?.made && this.#mayJoin(known)) {
      line = new Line(machine, known.secret);
      // One in which others are at work may only be busy; if it is dead, they find out, and all begin anew in another.
      if (this.#at(known.secret) === 0 && !(await answers(line))) {
        await this.#giveUp(known.secret);
        line = null;
      } else if (!this.#mayJoin(known)) line = null;
    }
    if (line === null) {
      line = await begin();
      await kept.note(() => ({ made: true }));
    }
    if (spends) await kept.note(() => ({ retired: "spent" }));
    this.#under.set(line.secret, this.#at(line.secret) + 1);
    return line;
  }
  /** Whoever leaves does not wait for its end, nor for another's beginning that stands before it. */
  #leave({ secret }: Line): void {
    const left = this.#at(secret) - 1;
    if (left > 0) this.#under.set(secret, left);
    else this.#under.delete(secret);
    void this.tidy().catch((error: unknown) => console.error("a container for git could not be looked at", error));
  }
  /** One that was spent takes others in only while it could not be ended anyway. */
  #mayJoin({ secret, retired }: Kept): boolean {
    return retired === null || (retired === "spent" && this.#at(secret) > 0);
  }

  /** Whoever is first to say so: later it is another container. */
  async #giveUp(secret: string): Promise<void> {
    const { kept } = this.#parts;
    if ((await kept.known())?.secret !== secret) return;
    await kept.note(() => ({ retired: "silent" }));
    await this.#end();
  }
  async #end(): Promise<void> {
    const { machine } = this.#parts;
    if (!machine?.running) return;
    await endMachine(machine).catch((error: unknown) => console.error("a container for git did not end", error));
  }
  #at(secret: string): number {
    return this.#under.get(secret) ?? 0;
  }
}

async function answers(line: Line): Promise<boolean> {
  try {
    await line.ask("sandboxes", {}, limits.container_ask_ms);
    return true;
  } catch {
    return false;
  }
}
