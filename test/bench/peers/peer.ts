/** Another queue, asked for the same work in its own best way. */
export interface PeerQueue {
  readonly name: string;
  /** What has reached the disk when a call returns. */
  readonly durable: string;
  /** Whether that is what ours promises: each call on disk before it returns. */
  readonly equal: boolean;
  /** One message added, taken and finished, `count` times, `abreast` at a time; seconds for all. */
  cycles(series: string, count: number, abreast: number): Promise<number>;
  /** As many batches one after the other, each added, taken and finished; seconds for all. */
  batches(series: string, batches: number, size: number): Promise<number>;
  close(): Promise<void>;
}

/** Not there, and how it would be. */
export interface MissingPeer {
  readonly name: string;
  readonly missing: string;
}
export type Peer = PeerQueue | MissingPeer;

export const isThere = (peer: Peer): peer is PeerQueue => !("missing" in peer);

/** Counts down what others report; resolves when all of it came. */
export class Countdown {
  readonly done: Promise<void>;
  #left: number;
  #resolve: () => void = () => undefined;
  constructor(count: number) {
    this.#left = count;
    this.done = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }
  one(): void {
    this.#left -= 1;
    if (this.#left === 0) this.#resolve();
  }
}
