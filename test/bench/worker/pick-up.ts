/**
 * The way of a message into an idle object: the sender commits and delivers by RPC, the consumer commits the row
 * and begins a shift as an agent's object does (it is the same `Shift`), in which the message is leased and acked.
 */
import { DurableObject } from "cloudflare:workers";
import { Shift } from "../../../durable-objects/agent/shift.ts";
import { durableSql } from "../../../durable-objects/sql.ts";
import type { Message } from "../../../src/domain/message.ts";
import type { BenchEnv } from "./entry.ts";
import { MeasuredQueue } from "./measured-queue.ts";
import { messageAt } from "./messages.ts";

const stayMs = 60_000;

type Deliver = (consumer: DurableObjectStub<ConsumerObject>, message: Message) => Promise<void>;

export class SenderObject extends DurableObject<BenchEnv> {
  readonly #waiting = new Map<string, () => void>();
  constructor(ctx: DurableObjectState, env: BenchEnv) {
    super(ctx, env);
    ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS sent (message_id TEXT NOT NULL)");
  }

  /** Answers when the consumer has told that it leased and acked the message, which it can only once both are on disk. */
  send({ series, number }: { series: string; number: number }): Promise<void> {
    return this.#send(messageAt(series, number), (consumer, message) => consumer.deliver(message));
  }
  /** As `send`, to a consumer that only sets its alarm: what it is to wait for one. */
  byAlarm({ series, number }: { series: string; number: number }): Promise<void> {
    return this.#send(messageAt(series, number), (consumer, message) => consumer.deliverByAlarm(message));
  }
  /** The same commit of the sender, a call there and one back: what `send` costs without the queue. */
  road({ series, number }: { series: string; number: number }): Promise<void> {
    return this.#send(messageAt(series, number), (consumer, message) => consumer.pass(message));
  }
  /** Answers when the consumer has answered: then its alarm stands, too. */
  async taken({ series, number }: { series: string; number: number }): Promise<void> {
    const message = messageAt(series, number);
    this.ctx.storage.sql.exec("INSERT INTO sent (message_id) VALUES (?)", message.message_id);
    await this.env.CONSUMER.getByName("consumer").deliver(message);
  }
  async picked(message_id: string): Promise<void> {
    this.#waiting.get(message_id)?.();
    this.#waiting.delete(message_id);
  }

  async #send(message: Message, deliver: Deliver): Promise<void> {
    this.ctx.storage.sql.exec("INSERT INTO sent (message_id) VALUES (?)", message.message_id);
    const picked = new Promise<void>((resolve) => this.#waiting.set(message.message_id, resolve));
    const delivered = deliver(this.env.CONSUMER.getByName("consumer"), message);
    // The consumer's answer is not waited for, but its failure is heard.
    await Promise.race([picked, delivered.then(() => picked)]);
  }
}

export class ConsumerObject extends DurableObject<BenchEnv> {
  readonly #queue: MeasuredQueue;
  readonly #shift: Shift;
  #wake: (() => void) | null = null;
  #stay = false;

  constructor(ctx: DurableObjectState, env: BenchEnv) {
    super(ctx, env);
    this.#queue = new MeasuredQueue(durableSql(ctx));
    this.#shift = new Shift(ctx.storage, {
      name: () => "consumer",
      work: (started) => this.#work(started + stayMs),
      nextDueAt: () => null,
    });
  }

  async deliver(message: Message): Promise<void> {
    const now = Date.now();
    this.#queue.enqueue(message);
    this.#wake?.();
    await this.#shift.begin(now);
  }
  async deliverByAlarm(message: Message): Promise<void> {
    this.#queue.enqueue(message);
    await this.ctx.storage.setAlarm(Date.now());
  }
  async pass({ message_id }: Message): Promise<void> {
    await this.#tell(message_id);
  }
  /** At work: the shift stays and is woken, as that of an agent with a run in hand. */
  async work({ stay }: { stay: boolean }): Promise<void> {
    this.#stay = stay;
    this.#wake?.();
    await this.#shift.begin(Date.now());
  }
  override async alarm(): Promise<void> {
    await this.#shift.alarm(Date.now());
  }

  async #work(until: number): Promise<void> {
    do {
      await this.#take();
      if (this.#stay) await this.#pause();
    } while (this.#stay && Date.now() < until);
  }
  async #take(): Promise<void> {
    for (let lease = this.#queue.lease(); lease !== null; lease = this.#queue.lease()) {
      this.#queue.ack(lease);
      await this.#tell(lease.message.message_id);
    }
  }
  async #tell(message_id: string): Promise<void> {
    await this.env.SENDER.getByName("sender").picked(message_id);
  }
  #pause(): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.#wake = null;
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(done, stayMs);
      this.#wake = done;
    });
  }
}
