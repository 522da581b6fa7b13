/**
 * What all objects of one simulated deployment share: the clock, the dice, the lines between them, the figures, and
 * what somebody outside would have seen.
 */
import type { Entry } from "../history.ts";
import type { Random } from "../random.ts";
import type { Life } from "./crashing.ts";
import { Network } from "./network.ts";
import { Node } from "./node.ts";

type Without<T> = T extends unknown ? Omit<T, "at" | "process" | "queue" | "message_id"> : never;
/** What a history entry says besides when, who and about what. */
export type Said = Without<Entry>;

export interface Figures {
  steps: number;
  crashes: number;
  lost: number;
  repeated: number;
  messages: number;
  effects: number;
  dead: number;
  alarms: number;
}
export const noFigures = (): Figures => ({
  ...{ steps: 0, crashes: 0, lost: 0, repeated: 0, messages: 0, effects: 0, dead: 0, alarms: 0 },
});

const turns = 24;
/** Where the virtual clock begins. */
export const start = Date.UTC(2026, 0, 1);

export class World {
  readonly random: Random;
  readonly figures = noFigures();
  readonly nodes: Node[] = [];
  readonly runtimes: Node[] = [];
  readonly crew: Node[] = [];
  readonly network: Network;
  now = start;
  /** While true, anything may be lost, repeated, late or cut short. */
  faulty = true;
  /** With faults off: who was woken and has not yet found nothing to do. */
  readonly awake = new Set<Node>();
  /** Promises may be waiting to go on. */
  stirred = false;
  /** Null when nobody watches. */
  readonly history: Entry[] | null;
  readonly #byObject = new Map<string, Node>();
  readonly #armed: Life[] = [];
  #ids = 0;
  #broken: unknown = null;

  constructor(random: Random, watched: boolean) {
    this.random = random;
    this.history = watched ? [] : null;
    this.network = new Network(this);
    const scopes = random.int(2, 3);
    for (let scope = 1; scope <= scopes; scope++)
      for (const name of ["runtime", "proxy", "crew-1", "crew-2"])
        this.#add(`scope${scope}scopescope`.slice(0, 16), name);
  }
  #add(scope: string, name: string): void {
    const node = new Node(this, scope.padEnd(16, "x"), name);
    this.nodes.push(node);
    if (node.isCrew) this.crew.push(node);
    if (name === "runtime") this.runtimes.push(node);
    this.#byObject.set(node.object, node);
  }
  node(object: string): Node | null {
    return this.#byObject.get(object) ?? null;
  }
  linesOf(node: Node): Network["lines"] extends (node: Node) => infer L ? L : never {
    return this.network.lines(node);
  }
  close(): void {
    for (const node of this.nodes) node.close();
  }

  freshId(): string {
    this.#ids += 1;
    return `lease-${this.#ids}-of-this-world`;
  }
  /** Lets a life end after so many more crash points, now and then. */
  arm(life: Life): void {
    if (!this.faulty || !this.random.chance(0.03)) return;
    life.arm(this.random.int(14));
    this.#armed.push(life);
  }
  disarm(): void {
    for (const life of this.#armed) life.disarm();
    this.#armed.length = 0;
  }

  saw(process: string, about: { queue: string; message_id: string }, said: Said): void {
    // A spread of the union keeps each member whole; the compiler sees only their sum.
    this.history?.push({ at: this.now, process, ...about, ...said } as Entry);
  }
  mark(): number {
    return this.history?.length ?? 0;
  }
  /** What was seen inside a transaction that came to nothing was not seen. */
  settle(mark: number, committed: boolean): void {
    if (!committed && this.history !== null) this.history.length = mark;
  }

  /** An error nobody waits for. It ends the run at the next step. */
  broken(error: unknown): void {
    this.#broken ??= error;
  }
  heard(check: () => void): void {
    try {
      check();
    } catch (error) {
      this.broken(error);
    }
  }
  /** Lets everything that waits for nothing but its turn go on. */
  async calm(): Promise<void> {
    // Nothing here waits for a timer or for the disk: what can go on does so within a few turns.
    if (this.stirred) for (let turn = 0; turn < turns; turn++) await null;
    this.stirred = false;
    if (this.#broken !== null) throw this.#broken;
  }
}
