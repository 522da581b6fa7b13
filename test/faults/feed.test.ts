/** A feed that is cut after every seq, in every way: who comes back with the last seq seen gets each event once, in order. */
import { expect } from "vitest";
import { EventLog, eventSchema } from "../../durable-objects/event-log.ts";
import { EventSockets } from "../../durable-objects/event-sockets.ts";
import { Feed } from "../../durable-objects/runtime/feed.ts";
import { applySchema } from "../../durable-objects/sql.ts";
import { nodeSql } from "../fakes/node-sql.ts";
import { world } from "../http/world.ts";
import { row } from "./road.ts";

const few = 40;
/** More than the feed hands out at once. */
const many = 205;
const upTo = (count: number, from = 1) => Array.from({ length: count - from + 1 }, (_, index) => from + index);

/** One end of a socket. It takes so many events, then the line is cut. */
class Line {
  readonly seen: number[] = [];
  open = true;
  #attached: unknown;
  readonly #takes: number;
  constructor(takes = Number.POSITIVE_INFINITY) {
    this.#takes = takes;
    this.#attached = { credential_id: "someone", subscribed: false, after: 0, types: null };
  }
  send(text: string): void {
    if (this.seen.length >= this.#takes) throw new Error("the line is cut");
    this.seen.push(JSON.parse(text).seq);
  }
  serializeAttachment(value: unknown): void {
    this.#attached = structuredClone(value);
  }
  deserializeAttachment(): unknown {
    return structuredClone(this.#attached);
  }
  close(): void {
    this.open = false;
  }
}

/** A scope's feed as its object has it, behind the real doors. */
function following() {
  const sql = nodeSql();
  applySchema(sql, "events", eventSchema);
  const log = new EventLog(sql);
  let lines: Line[] = [];
  // As much of an object's state, and of a socket, as the sockets use.
  const ctx = { getWebSockets: () => lines.filter(({ open }) => open) } as unknown as DurableObjectState;
  const made = () => new EventSockets(ctx, log, () => true);
  let sockets = made();
  const { runtime, send } = world();
  Object.assign(runtime, { events: (...asked: Parameters<Feed["events"]>) => new Feed(log, sockets).events(...asked) });
  return {
    /** Until so many are stored. */
    store(count: number): void {
      while (log.newest() < count)
        log.append(
          "message",
          { scope_id: runtime.scope_id, task_id: null, trace_id: null, actor: "user", surfaces: [], detail: null },
          0,
        );
    },
    push: () => sockets.push(),
    evict(): void {
      sockets = made();
    },
    join(line: Line, after: number): number[] {
      lines = [line];
      const socket = line as unknown as WebSocket; // as above
      sockets.message(socket, JSON.stringify({ type: "subscribe", events: [], after }));
      return line.seen;
    },
    /** The stream after a seq, until it holds this one whole; then it is cut. */
    async read(after: number, last: number): Promise<string> {
      const response = await send("GET", "/api/events", { as: "viewer", headers: { "last-event-id": String(after) } });
      const reader = response.body?.getReader();
      let text = "";
      while (last > after && !new RegExp(`id: ${last}\ndata: .*\n\n`).test(text.slice(-2_000))) {
        const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
        if (done) break;
        text += new TextDecoder().decode(value);
      }
      await reader?.cancel();
      return text;
    },
    close: () => sql.close(),
  };
}
/** What a reader has of a text that may end anywhere: whole frames. */
function seqs(text: string): number[] {
  const whole = text.slice(0, text.lastIndexOf("\n\n") + 2);
  return [...whole.matchAll(/^id: (\d+)$/gm)].map((found) => Number(found[1]));
}
async function atEachSeq(count: number, cut: (feed: ReturnType<typeof following>, seq: number) => Promise<void>) {
  for (let seq = 0; seq <= count; seq++) {
    const feed = following();
    await cut(feed, seq);
    feed.close();
  }
}

row("socket cut at every seq", "[FLT-23] a feed cut at any seq goes on there: each event once, in order", {
  "before commit": () =>
    atEachSeq(few, async (feed, seq) => {
      feed.store(seq);
      const [stream, socket] = [seqs(await feed.read(0, seq)), feed.join(new Line(), 0)];
      feed.store(few);
      expect([...stream, ...seqs(await feed.read(seq, few))]).toEqual(upTo(few));
      expect([...socket, ...feed.join(new Line(), seq)]).toEqual(upTo(few));
    }),
  "after commit, before reply": () =>
    atEachSeq(few, async (feed, seq) => {
      feed.store(seq);
      const stream = seqs(await feed.read(0, seq));
      const line = new Line();
      feed.join(line, 0);
      feed.store(few);
      feed.evict();
      feed.push();
      expect(line.seen).toEqual(upTo(few));
      expect([...stream, ...seqs(await feed.read(seq, few))]).toEqual(upTo(few));
    }),
  "reply lost": async () => {
    const feed = following();
    feed.store(many);
    const whole = await feed.read(0, many);
    for (let seq = 0; seq < many; seq++) {
      // In the middle of the next frame: what was not whole is asked for again.
      const stream = seqs(whole.slice(0, whole.indexOf(`id: ${seq + 1}\n`) + 25));
      expect([...stream, ...seqs(await feed.read(stream.at(-1) ?? 0, many))]).toEqual(upTo(many));
      const line = new Line(seq);
      expect([...feed.join(line, 0), ...feed.join(new Line(), seq)]).toEqual(upTo(many));
      expect(line.open).toBe(false);
    }
    feed.close();
  },
  slow: async () => {
    const feed = following();
    const [stream, socket]: [number[], number[]] = [[], []];
    for (let seq = 0; seq < many; seq++) {
      // Two come while one is read, as long as there are more.
      feed.store(Math.min(many, 2 * (seq + 1)));
      stream.push(...seqs(await feed.read(seq, seq + 1)));
      socket.push(...feed.join(new Line(1), seq));
    }
    expect(stream).toEqual(upTo(many));
    expect(socket).toEqual(upTo(many));
    feed.close();
  },
});
