/** The outbox of one simulated object, held to what it has promised. */
import type { Message } from "../../../src/domain/message.ts";
import type { Node } from "./node.ts";
import { must } from "./row.ts";

export class HeldOutbox {
  readonly #node: Node;
  constructor(node: Node) {
    this.#node = node;
  }

  put(message: Message, cause: Message | null): void {
    must(
      message.scope_id === this.#node.scope,
      () => `${this.#node.object} promises ${message.message_id} of another scope`,
    );
    if (cause !== null)
      must(message.trace_id === cause.trace_id, () => `${message.message_id} left the trace of its cause`);
    this.#node.outbox.put(message, this.#node.world.now);
    this.#node.promises.put(message, this.#node.world.now);
  }
  /** The addressee has it, or never will. */
  confirmed(id: string): void {
    const { promises } = this.#node;
    const before = this.#node.life.commits;
    try {
      this.#node.post.confirm([id], this.#node.world.now);
    } finally {
      if (this.#node.life.commits > before) {
        promises.kept(id);
        promises.settle(true);
        this.#node.witness.look();
      }
    }
  }
  /** The addressee is being drained, and asked for patience. */
  putOff(id: string): void {
    const { now } = this.#node.world;
    const before = this.#node.life.commits;
    try {
      this.#node.post.putOff([id], now);
    } finally {
      if (this.#node.life.commits > before) this.#node.promises.putOff(id, now);
    }
  }
  refused(id: string, reason: string): void {
    const { now } = this.#node.world;
    this.#node.tx(() => {
      const dead = this.#node.outbox.refused(id, reason, now);
      const was = this.#node.promises.refused(id);
      must((dead !== null) === was, () => `${this.#node.object}: refusing ${id} answered ${dead !== null}`);
    });
  }
  revive(id: string): void {
    const { now } = this.#node.world;
    this.#node.tx(() => this.#node.promises.revived(id, this.#node.outbox.revive(id, now), now));
  }
}
