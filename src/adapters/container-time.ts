/** Nothing is waited for without a limit: what a container or its platform does not do in time is `silent`. [CON-15] */
import { SandboxFailure } from "../agents/ports.ts";

export class Late extends SandboxFailure {
  constructor(message: string) {
    super("silent", message, true);
  }
}
/** What takes longer is told to stop, and not waited for whether or not it does. */
export async function inTime<T>(ms: number, late: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const over = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new Late(late));
      over.abort();
    }, ms);
  });
  try {
    return await Promise.race([work(over.signal), limit]);
  } finally {
    clearTimeout(timer);
  }
}

/** The same for an answer and its body: one that has not ended by then is cut. What it brings along is its status alone. */
export async function answered(
  ms: number,
  late: string,
  work: (signal: AbortSignal) => Promise<Response>,
): Promise<Response> {
  const over = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new Late(late));
      over.abort();
    }, ms);
  });
  // Whoever reads on hears of it by the signal.
  limit.catch(() => {});
  const done = (): void => clearTimeout(timer);
  try {
    const { status, body } = await Promise.race([work(over.signal), limit]);
    if (body === null) done();
    const held = body === null ? null : until(body.getReader(), { signal: over.signal, late }, done);
    return new Response(held, { status, headers: { "content-type": "application/json" } });
  } catch (error) {
    done();
    throw error;
  }
}
/** The same bytes until the limit, and `done` at their end, whichever it is. */
function until(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  { signal, late }: { readonly signal: AbortSignal; readonly late: string },
  done: () => void,
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const cutOff = (): void => {
        controller.error(new Late(late));
        void reader.cancel().catch(() => {});
      };
      signal.addEventListener("abort", cutOff, { once: true });
    },
    async pull(controller) {
      try {
        const piece = await reader.read();
        if (signal.aborted) return;
        if (!piece.done) return controller.enqueue(piece.value);
        done();
        controller.close();
      } catch (error) {
        done();
        if (!signal.aborted) controller.error(error);
      }
    },
    cancel(reason) {
      done();
      return reader.cancel(reason);
    },
  });
}
