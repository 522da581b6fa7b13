/**
 * Everything between objects: queues that lose, repeat, reorder and delay, answers that do not come, and a stand-in
 * for D1. What an object hands over becomes packets; each packet's next stop is an event of the scheduler.
 */
import { addressOf } from "../../../durable-objects/outbox.ts";
import type { Lines } from "../../../durable-objects/post.ts";
import type { Message } from "../../../src/domain/message.ts";
import type { Referred, Sent } from "../../../src/domain/posted.ts";
import type { RecordsBatch } from "../../../src/domain/records.ts";
import type { Life } from "./crashing.ts";
import type { Node } from "./node.ts";
import { must } from "./row.ts";
import type { World } from "./world.ts";

export type Packet =
  | { readonly stop: "fetch"; readonly sent: Referred; readonly born: number }
  | {
      readonly stop: "deliver" | "confirm" | "refuse" | "put off";
      readonly from: string;
      readonly message: Message;
      readonly born: number;
    }
  | { readonly stop: "store"; readonly batch: RecordsBatch; readonly born: number }
  | { readonly stop: "stored"; readonly batch: RecordsBatch; readonly born: number };
interface Pending {
  readonly life: Life;
  readonly answer: (took: boolean) => void;
}

/** A queue keeps a message this long. */
const keptMs = 14 * 86_400_000;
const lostChance = 0.06;
const repeatedChance = 0.06;
const throwsChance = 0.05;

export class Network {
  readonly #world: World;
  readonly packets: Packet[] = [];
  readonly pending: Pending[] = [];
  readonly blobs = new Map<string, string>();
  /** Per object: the hashes of the audit rows that D1 holds, from seq 1 without a gap. */
  readonly stored = new Map<string, string[]>();

  constructor(world: World) {
    this.#world = world;
  }

  lines(node: Node): Lines {
    const send = (packets: readonly Packet[], act: () => void = () => {}): Promise<void> => {
      const { life } = node;
      const { faulty, random } = this.#world;
      if (faulty && random.chance(throwsChance)) return Promise.reject(new Error("the queue is away"));
      act();
      for (const packet of packets) this.#carry(packet);
      this.#world.stirred = true;
      return new Promise((resolve, reject) => {
        const answer = (took: boolean): void => {
          if (took) resolve();
          else reject(new Error("the queue did not answer"));
        };
        this.pending.push({ life, answer });
      });
    };
    const messages = {
      sendBatch: (bodies: Iterable<{ body: Sent }>) => {
        const born = this.#world.now;
        const all = [...bodies].map(({ body }) => body);
        const ids = all.map((body) => ("message" in body ? body.message.message_id : body.message_id));
        // The post takes what is thrown here for the queue's: a broken promise must be heard past it.
        const big = all.some((body) => !("message" in body));
        this.#world.heard(() => node.promises.sent(ids, { object: node.object, big }, born));
        return send(
          all.map((body) =>
            "message" in body ? { stop: "deliver", ...body, born } : { stop: "fetch", sent: body, born },
          ),
        );
      },
    };
    const records = {
      send: (batch: RecordsBatch) => send([{ stop: "store", batch, born: this.#world.now }]),
    };
    const blobs = {
      put: (key: string, value: string) => send([], () => this.blobs.set(key, value)),
      delete: (keys: string[]) =>
        send([], () => {
          for (const key of keys) this.blobs.delete(key);
        }),
    };
    // Of a Queue the post uses these methods and nothing else.
    return { MESSAGES: messages, RECORDS: records, BLOBS: blobs } as unknown as Lines;
  }
  #carry(packet: Packet): void {
    const { faulty, random, figures } = this.#world;
    if (faulty && random.chance(lostChance)) {
      figures.lost += 1;
      return;
    }
    this.packets.push(packet);
    if (!faulty || !random.chance(repeatedChance)) return;
    figures.repeated += 1;
    this.packets.push(packet);
  }

  /** Some answer of some queue reaches who waits for it. False when nobody waits. */
  answer(): boolean {
    const { random, faulty } = this.#world;
    const next = takeOut(this.pending, faulty ? random.int(this.pending.length) : 0);
    if (next === null) return false;
    next.answer(!next.life.dead && (!faulty || !random.chance(throwsChance)));
    this.#world.stirred = true;
    return true;
  }
  /** Some packet comes to its next stop, or is lost on the way. False when none is under way. */
  move(): boolean {
    const { random, faulty, figures, now } = this.#world;
    const packet = takeOut(this.packets, faulty ? random.int(this.packets.length) : 0);
    if (packet === null) return false;
    if (now - packet.born > keptMs || (faulty && random.chance(0.02))) {
      figures.lost += 1;
      return true;
    }
    try {
      this.#stop(packet);
    } catch (error) {
      // Whoever was called died: the queue keeps the packet, most of the time.
      if (!faulty || !random.chance(0.3)) this.packets.push(packet);
      throw error;
    }
    return true;
  }
  #stop(packet: Packet): void {
    const { random, faulty, figures } = this.#world;
    switch (packet.stop) {
      case "fetch": {
        const { sent, born } = packet;
        const body = this.blobs.get(sent.key);
        // Without its body it goes back to the queue, which gives it up in the end: the sender sends it again.
        if (body !== undefined)
          this.packets.push({ stop: "deliver", from: sent.from, message: JSON.parse(body), born });
        return;
      }
      case "deliver": {
        const { message } = packet;
        const { object, queue } = addressOf(message);
        const addressee = this.#world.node(object);
        const outcome = addressee === null ? "refused" : this.#outcomeAt(addressee, queue, message);
        if (faulty && random.chance(0.04)) {
          // It was taken, and the answer got lost: the queue brings it again.
          figures.repeated += 1;
          this.packets.push(packet);
          return;
        }
        const taken = outcome === "accepted" || outcome === "duplicate";
        this.packets.push({ ...packet, stop: taken ? "confirm" : outcome === "closed" ? "put off" : "refuse" });
        return;
      }
      case "confirm":
        return this.#to(packet.from).mail.confirmed(packet.message.message_id);
      case "put off":
        return this.#to(packet.from).mail.putOff(packet.message.message_id);
      case "refuse":
        return this.#to(packet.from).mail.refused(packet.message.message_id, "nobody takes it");
      case "store":
        this.#store(packet.batch);
        this.packets.push({ ...packet, stop: "stored" });
        return;
      case "stored": {
        const { object, audit, telemetry } = packet.batch;
        const last = { audit: audit.at(-1)?.seq ?? 0, telemetry: telemetry.at(-1)?.seq ?? 0 };
        const node = this.#to(object);
        node.post.confirmRecords(last);
        if (node.post.recordsWait(this.#world.now)) node.flush();
        this.#world.awake.add(node);
        return;
      }
    }
  }
  #to(object: string): Node {
    const node = this.#world.node(object);
    must(node !== null, () => `something came from ${object}, which is nobody`);
    node.wake();
    return node;
  }
  #outcomeAt(node: Node, queue: string, message: Message): string {
    node.wake();
    this.#world.arm(node.life);
    const { object } = node;
    must(object.startsWith(`${message.scope_id}/`), () => `${message.message_id} reached another scope: ${object}`);
    const about = { queue: `${object}/${queue}`, message_id: message.message_id };
    const { priority, max_deliveries } = givenOf(message);
    this.#world.saw(message.sender, about, { what: "invoke", priority, max_deliveries });
    const outcome = node.tx(() => node.queues.enqueue(queue, message, { priority, max_deliveries }));
    this.#world.awake.add(node);
    if (outcome !== "closed") this.#world.saw(message.sender, about, { what: "return", ok: outcome !== "conflict" });
    return outcome;
  }
  #store({ object, audit }: RecordsBatch): void {
    const kept = this.stored.get(object) ?? [];
    this.stored.set(object, kept);
    for (const link of audit) {
      must(
        link.seq <= kept.length + 1,
        () => `${object}: row ${link.seq} was shipped, row ${kept.length + 1} never was`,
      );
      const known = kept[link.seq - 1];
      must(
        known === undefined || known === link.hash,
        () => `${object}: row ${link.seq} was shipped twice, differently`,
      );
      kept[link.seq - 1] = link.hash;
    }
  }
}

/** Priority and most deliveries follow from the message, as they follow from its kind in the product. */
export function givenOf(message: Pick<Message, "content">): { priority: number; max_deliveries: number } {
  const sign = message.content.charCodeAt(0) % 3;
  return { priority: sign * 10, max_deliveries: 3 + sign };
}

/** Takes one out of a list whose order means nothing when faults are on. */
function takeOut<T>(list: T[], at: number): T | null {
  const found = list[at];
  if (found === undefined) return null;
  list.splice(at, 1);
  return found;
}
