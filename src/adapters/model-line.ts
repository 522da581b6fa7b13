/**
 * The one request of a model's call, watched: whether the provider began to answer, and whether its answer broke off,
 * is what a failure is called by. [MODEL-*]
 */
import { limits } from "../limits.ts";

/** What came back over the wire, as far as it matters to what a failure is called. */
export interface Line {
  answered: boolean;
  stream: boolean;
  /** The answer's bytes ended in an error. */
  broken: boolean;
  /** More bytes came than any answer has: the rest was not read. */
  endless: boolean;
}

/** A redirect would carry the key and the prompt elsewhere, so none is followed: it is told as a refusal. */
export function fetchOf(line: Line): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, { ...init, redirect: "manual" });
    line.answered = response.ok;
    line.stream = response.headers.get("content-type")?.includes("event-stream") === true;
    return response.body === null ? response : new Response(watched(response.body, line, response.ok), response);
  };
}

/**
 * The SDK calls a connection that broke by many names: here it is seen where it happens. Bytes are counted as they come,
 * since the SDK keeps a line whole until it ends. Of a refusal the beginning is enough to say what it is.
 */
function watched(body: ReadableStream<Uint8Array>, line: Line, ok: boolean): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let room = ok ? limits.model_wire_bytes : limits.model_refusal_bytes;
  return new ReadableStream({
    pull: async (out) => {
      try {
        const { done, value } = await reader.read();
        if (done) return out.close();
        if (value.length <= room) {
          room -= value.length;
          return out.enqueue(value);
        }
        if (!ok) out.enqueue(value.subarray(0, room));
      } catch (error) {
        // A refusal is known by its status, however its words ended.
        line.broken = ok;
        return out.error(error);
      }
      // Nobody waits for it: a provider that goes on and on may never let go.
      reader.cancel().catch(() => undefined);
      if (!ok) return out.close();
      line.endless = true;
      out.error(new Error("too many bytes"));
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
