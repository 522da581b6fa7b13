/**
 * From the platform's queue to the objects: each message to its scope's runtime, which sees it, and to its addressee;
 * when both have it, its sender forgets it. What goes wrong with one message is that message's affair. [OUT-9] [RTO-*]
 */
import { agentOf, runtimeOf, senderOf } from "../durable-objects/remote.ts";
import { sha256Hex } from "./domain/canonical.ts";
import { envelope, type Message } from "./domain/message.ts";
import { type Referred, readSent, sendsFor } from "./domain/posted.ts";
import { type Bindings, worldOf } from "./env.ts";
import { limits } from "./limits.ts";

/** What is not delivered, for whatever reason, goes back to the queue; its sender still has it, and sends it again. */
export async function deliverAll(messages: readonly QueuedMessage[], bindings: Bindings): Promise<void> {
  await Promise.all(
    messages.map(async (queued) => {
      try {
        await inTime(deliver(queued.body, bindings));
        queued.ack();
      } catch (error) {
        console.warn("a message was not delivered; it is sent again", error);
        queued.retry();
      }
    }),
  );
}
/** The part of the platform's message that is needed. */
interface QueuedMessage {
  readonly body: unknown;
  ack(): void;
  retry(): void;
}

async function deliver(body: unknown, bindings: Bindings): Promise<void> {
  const sent = readSent(body);
  const known = "message" in sent ? envelope.parse(sent.message) : await fetched(sent, bindings);
  const { from } = sent;
  if (!sendsFor(from, known.scope_id)) throw new Error(`${from} sends for another scope`);
  const runtime = runtimeOf(bindings, known.scope_id);
  await runtime.observe(known);
  const { refused, closed } =
    known.recipient === "runtime_queue" || known.recipient === "executor_queue"
      ? await runtime.deliver(known)
      : await agentOf(bindings, known.scope_id, known.recipient).deliver(known);
  const sender = senderOf(bindings, from);
  if (closed === true) return sender.putOff([known.message_id]);
  // The sender's letter is dead then, and it is the sender who has it put before a person.
  if (refused !== null) return sender.refuseOwn(known.message_id, refused);
  await sender.confirm([known.message_id]);
}

/** A body that is missing or not what was sent is put again when its sender sends it again: nobody is refused for it. */
async function fetched(sent: Referred, bindings: Bindings): Promise<Message> {
  const bytes = await worldOf(bindings).artifacts.get(sent.key);
  if (bytes === null) throw new Error(`${sent.message_id}: its body is not there`);
  if (bytes.byteLength !== sent.bytes || sha256Hex(bytes) !== sent.sha256)
    throw new Error(`${sent.message_id}: its body is not the one that was sent`);
  const message = envelope.parse(JSON.parse(new TextDecoder().decode(bytes)));
  if (message.message_id !== sent.message_id || message.scope_id !== sent.scope_id)
    throw new Error(`${sent.message_id}: its body is another message`);
  return message;
}

async function inTime(work: Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error("the delivery takes too long")), limits.deliver_timeout_ms);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
