/** The terminals open on an attempt's output: each is sent the log from where it asked, then what is added. [TERM-*] */
import { z } from "zod";
import { limits } from "../src/limits.ts";
import type { OutputLog } from "./output-log.ts";

const attachment = z.strictObject({ owner: z.string(), offset: z.number().int(), credential_id: z.string() });
const asked = z.object({ attempt: z.string().max(128), from: z.coerce.number().int().min(0) });
const vouched = z.object({ credential_id: z.string() });

export class OutputSockets {
  readonly #ctx: DurableObjectState;
  readonly #log: OutputLog;
  readonly #running: (owner: string) => boolean;
  constructor(ctx: DurableObjectState, log: OutputLog, running: (owner: string) => boolean) {
    this.#ctx = ctx;
    this.#log = log;
    this.#running = running;
  }

  /** The door has authenticated the caller and says so in a header that only it can set. */
  open(request: Request): Response {
    const query = asked.safeParse(Object.fromEntries(new URL(request.url).searchParams));
    const caller = vouched.safeParse(JSON.parse(request.headers.get("x-countersign-caller") ?? "null"));
    if (!query.success || !caller.success) return new Response("bad request", { status: 400 });
    const [client, server] = Object.values(new WebSocketPair());
    if (client === undefined || server === undefined) return new Response("no socket", { status: 500 });
    this.#ctx.acceptWebSocket(server, [query.data.attempt]);
    server.serializeAttachment({
      owner: query.data.attempt,
      offset: query.data.from,
      credential_id: caller.data.credential_id,
    });
    this.#send(server);
    if (!this.#running(query.data.attempt)) this.#end(server);
    return new Response(null, { status: 101, webSocket: client });
  }

  push(owner: string, ended: boolean): void {
    for (const socket of this.#ctx.getWebSockets(owner)) {
      this.#send(socket);
      if (ended) this.#end(socket);
    }
  }
  close(credentials: readonly string[]): void {
    for (const socket of this.#ctx.getWebSockets()) {
      const known = attachment.safeParse(socket.deserializeAttachment());
      if (!known.success || credentials.includes(known.data.credential_id)) socket.close(4001, "revoked");
    }
  }

  #send(socket: WebSocket): void {
    const known = attachment.safeParse(socket.deserializeAttachment());
    if (!known.success) return;
    let { offset } = known.data;
    try {
      for (;;) {
        const part = this.#log.read(known.data.owner, offset, limits.output_chunk_bytes);
        if (part.bytes.byteLength === 0) break;
        socket.send(part.bytes);
        offset = part.next_offset;
      }
      socket.serializeAttachment({ ...known.data, offset });
    } catch {
      socket.close();
    }
  }
  #end(socket: WebSocket): void {
    try {
      socket.send(JSON.stringify({ type: "exit" }));
      socket.close(1000, "the attempt is over");
    } catch {
      // It was closed from the other side.
    }
  }
}
