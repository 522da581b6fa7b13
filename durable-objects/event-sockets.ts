/**
 * The sockets on a scope's feed. Each says once what it wants and from where, then is sent every event in order;
 * where the feed no longer goes back so far, it is told to begin anew. [EVS-*]
 */
import { z } from "zod";
import type { EventLog } from "./event-log.ts";

const attachment = z.strictObject({
  credential_id: z.string(),
  subscribed: z.boolean(),
  after: z.number().int(),
  types: z.array(z.string()).nullable(),
});
const subscription = z.object({
  type: z.literal("subscribe"),
  events: z.array(z.string().max(60)).max(50).default([]),
  after: z.number().int().min(0).nullable().optional(),
});
const vouched = z.object({ credential_id: z.string() });
const batch = 200;

export class EventSockets {
  readonly #ctx: DurableObjectState;
  readonly #events: EventLog;
  readonly #live: (credential_id: string) => boolean;
  constructor(ctx: DurableObjectState, events: EventLog, live: (credential_id: string) => boolean) {
    this.#ctx = ctx;
    this.#events = events;
    this.#live = live;
  }

  open(request: Request): Response {
    const caller = vouched.safeParse(JSON.parse(request.headers.get("x-countersign-caller") ?? "null"));
    if (!caller.success) return new Response("bad request", { status: 400 });
    const [client, server] = Object.values(new WebSocketPair());
    if (client === undefined || server === undefined) return new Response("no socket", { status: 500 });
    this.#ctx.acceptWebSocket(server);
    const state: z.infer<typeof attachment> = {
      credential_id: caller.data.credential_id,
      subscribed: false,
      after: this.#events.newest(),
      types: null,
    };
    server.serializeAttachment(state);
    return new Response(null, { status: 101, webSocket: client });
  }

  message(socket: WebSocket, text: string | ArrayBuffer): void {
    const known = attachment.safeParse(socket.deserializeAttachment());
    const asked = typeof text === "string" && text.length < 8_192 ? subscription.safeParse(safeJson(text)) : null;
    if (!known.success || asked?.success !== true) {
      socket.send(JSON.stringify({ type: "error", detail: 'Send {"type":"subscribe","events":[],"after":<seq>}.' }));
      return;
    }
    const { events, after } = asked.data;
    socket.serializeAttachment({
      ...known.data,
      subscribed: true,
      after: after ?? known.data.after,
      types: events.length === 0 ? null : events,
    });
    this.#send(socket);
  }

  push(): void {
    for (const socket of this.#ctx.getWebSockets()) this.#send(socket);
  }
  close(credentials: readonly string[]): void {
    for (const socket of this.#ctx.getWebSockets()) {
      const known = attachment.safeParse(socket.deserializeAttachment());
      if (!known.success || credentials.includes(known.data.credential_id)) socket.close(4001, "revoked");
    }
  }

  #send(socket: WebSocket): void {
    const known = attachment.safeParse(socket.deserializeAttachment());
    if (!known.success || !known.data.subscribed) return;
    if (!this.#live(known.data.credential_id)) return socket.close(4001, "revoked");
    let { after } = known.data;
    try {
      for (;;) {
        const feed = this.#events.after(after, batch, known.data.types);
        if (feed.reset !== null) socket.send(JSON.stringify({ type: "reset", oldest: feed.reset }));
        for (const event of feed.events) socket.send(JSON.stringify(event));
        const done = feed.events.length < batch;
        after = feed.last_seq;
        if (done) break;
      }
      socket.serializeAttachment({ ...known.data, after });
    } catch {
      socket.close();
    }
  }
}

function safeJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
