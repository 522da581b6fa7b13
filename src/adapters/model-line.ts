/**
 * The one request of a model's call, watched: whether the provider began to answer, and whether its answer broke off,
 * is what a failure is called by. [MODEL-*]
 */

/** What came back over the wire, as far as it matters to what a failure is called. */
export interface Line {
  answered: boolean;
  stream: boolean;
  /** The answer's bytes ended in an error. */
  broken: boolean;
}

/** A redirect would carry the key and the prompt elsewhere, so none is followed: it is told as a refusal. */
export function fetchOf(line: Line): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, { ...init, redirect: "manual" });
    line.answered = response.ok;
    line.stream = response.headers.get("content-type")?.includes("event-stream") === true;
    return response.ok && response.body !== null ? new Response(watched(response.body, line), response) : response;
  };
}

/** The SDK calls a connection that broke by many names: here it is seen where it happens. */
function watched(body: ReadableStream<Uint8Array>, line: Line): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream({
    pull: async (out) => {
      try {
        const { done, value } = await reader.read();
        if (done) out.close();
        else out.enqueue(value);
      } catch (error) {
        line.broken = true;
        out.error(error);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
