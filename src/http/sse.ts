/**
 * The scope's events as a stream, made by asking again and again: what was stored is sent in order,
 * once; a quiet stream says that it lives; a revoked caller's stream ends before the next event. [HTTP-28] [HTTP-29]
 */
import type { Context } from "hono";
import type { EventView } from "../domain/record-view.ts";
import { limits } from "../limits.ts";
import type { CallerEnv } from "./ports.ts";

/** One question's wait: also the longest that a revoked caller keeps a silent stream. */
const waitMs = 5_000;
const keepAliveMs = 15_000;
/** A stream ends by itself after an hour; its reader comes back with Last-Event-ID and misses nothing. */
const streamMs = 3_600_000;

export interface Following {
  /** Null: from now on. */
  readonly after: number | null;
  readonly types: string[] | null;
}

export function stream(c: Context<CallerEnv>, following: Following): Response {
  const frames = follow(c, following);
  const encoder = new TextEncoder();
  // Pulled, never pushed: a reader that does not read costs one batch, and one that left asks nothing more.
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await frames.next();
        if (done) controller.close();
        else controller.enqueue(encoder.encode(value));
      },
      async cancel() {
        await frames.return();
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers: { "content-type": "text/event-stream; charset=utf-8" } });
}

async function* follow(c: Context<CallerEnv>, following: Following): AsyncGenerator<string, void, void> {
  const { runtime, caller, credentialHash, ports } = c.var;
  const until = ports.now() + streamMs;
  let spokenAt = ports.now();
  let after = following.after;
  yield ": open\n\n";
  while (ports.now() < until) {
    const found = await runtime.events(caller, {
      after,
      limit: limits.page_max,
      types: following.types,
      wait_ms: waitMs,
    });
    // Asked after the wait, not before: nothing that happened since a revocation is told.
    if (!found.ok || (await runtime.authenticate(caller.scope_id, credentialHash)) === null) return;
    const { events, last_seq, reset } = found.value;
    if (reset !== null) yield frame(JSON.stringify({ type: "reset", oldest: reset }));
    for (const event of events) yield eventFrame(event);
    after = events.at(-1)?.seq ?? last_seq;
    if (events.length > 0) spokenAt = ports.now();
    else if (ports.now() - spokenAt >= keepAliveMs) {
      yield ": still here\n\n";
      spokenAt = ports.now();
    }
  }
}

function eventFrame(event: EventView): string {
  return `id: ${event.seq}\n${frame(JSON.stringify(event))}`;
}

/** JSON has no raw line breaks, so a frame is always one line of data. */
function frame(data: string): string {
  return `data: ${data}\n\n`;
}
