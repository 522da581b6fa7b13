/**
 * Cloudflare Queues: what was taken is delivered at least once, in batches, in no order, late or again; a message that
 * fails three times goes to the dead queue. As a fault one may be lost altogether, as the local runtime does.
 */
import { type Actor, as } from "./actors.ts";
import type { Faults } from "./faults.ts";
import type { Network } from "./network.ts";
import type { Timeline } from "./timeline.ts";

export interface Delivered {
  readonly queue: string;
  readonly messages: readonly {
    readonly id: string;
    readonly body: unknown;
    readonly attempts: number;
    readonly timestamp: Date;
    ack(): void;
    retry(options?: { delaySeconds?: number }): void;
  }[];
  ackAll(): void;
  retryAll(options?: { delaySeconds?: number }): void;
}
export interface QueueParts {
  readonly timeline: Timeline;
  readonly faults: Faults;
  readonly network: Network;
  /** The worker's `queue` handler. */
  readonly consume: (batch: Delivered) => Promise<void>;
}
interface Held {
  readonly id: string;
  readonly body: unknown;
  readonly attempts: number;
}

const messageBytes = 128_000;
const sendBytes = 256_000;
const sendMessages = 100;
const batchMessages = 5;
const mostAttempts = 3;

export class SimulatedQueue {
  readonly counts = { sent: 0, lost: 0, repeated: 0, delivered: 0, dead: 0 };
  /** Added to every delivery: a test may slow the queue down. */
  slow_ms = 0;
  /** While true it takes nothing. */
  down = false;
  readonly #name: string;
  readonly #parts: QueueParts;
  readonly #ready: Held[] = [];
  #pumping = false;
  #numbered = 0;
  /** Grows when all that is held is lost. */
  #life = 0;

  constructor(name: string, parts: QueueParts) {
    this.#name = name;
    this.#parts = parts;
  }

  send(body: unknown): Promise<void> {
    return this.sendBatch([{ body }]);
  }
  sendBatch(messages: Iterable<{ body: unknown }>): Promise<void> {
    const texts = Array.from(messages, ({ body }) => JSON.stringify(body));
    const answer = async () => this.#take(texts);
    const lost = () => new Error("Queue sendBatch failed: Network connection lost.");
    return this.#parts.network.call({ to: this.#name, method: "send", answer, lost });
  }

  /** All that it holds is lost, as by the local runtime when it ends. */
  lose(): void {
    this.#life++;
    this.counts.lost += this.#ready.splice(0).length;
  }

  #take(texts: readonly string[]): void {
    const { faults } = this.#parts;
    if (this.down || faults.chance("queue_refuses")) throw new Error("Queue sendBatch failed: internal error");
    if (texts.length > sendMessages) throw new Error("Queue sendBatch failed: more than 100 messages");
    const sizes = texts.map((text) => Buffer.byteLength(text));
    if (sizes.some((bytes) => bytes > messageBytes)) throw new Error("Queue send failed: message length exceeds limit");
    if (sizes.reduce((sum, bytes) => sum + bytes, 0) > sendBytes)
      throw new Error("Queue sendBatch failed: batch length exceeds limit");
    for (const text of texts) {
      this.counts.sent++;
      const id = `${this.#name}-${this.#numbered++}`;
      if (faults.chance("queue_lost")) this.counts.lost++;
      else this.#hold({ id, body: JSON.parse(text), attempts: 0 }, 0);
      if (!faults.chance("queue_repeated")) continue;
      this.counts.repeated++;
      this.#hold({ id, body: JSON.parse(text), attempts: 0 }, 0);
    }
  }

  #hold(message: Held, wait_ms: number): void {
    const { timeline, faults } = this.#parts;
    const late = faults.chance("queue_late") ? faults.upTo("queue_late_ms") : timeline.random.next() * 4;
    const life = this.#life;
    timeline.after(wait_ms + late + this.slow_ms, `${this.#name} has ${message.id}`, () => {
      if (life !== this.#life) {
        this.counts.lost++;
        return;
      }
      this.#ready.push(message);
      if (this.#pumping) return;
      this.#pumping = true;
      timeline.after(timeline.random.next(), `${this.#name} delivers`, () => this.#pump());
    });
  }
  #pump(): void {
    this.#pumping = false;
    const { random } = this.#parts.timeline;
    while (this.#ready.length > 0) {
      const batch = this.#ready.splice(0, random.int(1, batchMessages));
      void this.#deliver(this.#name, batch);
    }
  }

  async #deliver(queue: string, held: readonly Held[]): Promise<void> {
    const { timeline, faults, consume } = this.#parts;
    this.counts.delivered += held.length;
    const worker: Actor = { name: `worker(${held.map(({ id }) => id).join(" ")})`, alive: true };
    const verdicts = new Map<Held, number | null>();
    let rest: number | null | undefined;
    const batch: Delivered = {
      queue,
      messages: held.map((message) => ({
        id: message.id,
        body: message.body,
        attempts: message.attempts + 1,
        timestamp: new Date(),
        ack: () => void verdicts.set(message, null),
        retry: (options) => void verdicts.set(message, (options?.delaySeconds ?? 0) * 1_000),
      })),
      ackAll: () => {
        rest = null;
      },
      retryAll: (options) => {
        rest = (options?.delaySeconds ?? 0) * 1_000;
      },
    };
    const dies = !faults.chance("worker_dies")
      ? null
      : new Promise<"died">((resolve) => {
          timeline.after(timeline.random.next() * 20, `${worker.name} dies`, () => {
            worker.alive = false;
            resolve("died");
          });
        });
    const work = as(worker, async () => consume(batch)).then(
      () => "done" as const,
      () => "threw" as const,
    );
    const how = await (dies === null ? work : Promise.race([work, dies]));
    worker.alive = false;
    for (const message of held) {
      const said = how === "died" ? 0 : verdicts.has(message) ? verdicts.get(message) : rest;
      const wait = said === undefined && how === "threw" ? 0 : said;
      if (wait === null || wait === undefined) continue;
      if (message.attempts + 1 < mostAttempts) this.#hold({ ...message, attempts: message.attempts + 1 }, wait);
      else if (!queue.endsWith("-dead")) {
        this.counts.dead++;
        void this.#deliver(`${this.#name}-dead`, [{ ...message, attempts: 0 }]);
      }
    }
  }
}
