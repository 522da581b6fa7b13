/** Reads a Server-Sent Events stream and yields the data of each event, however the bytes were cut. [CLI-6] */

/** More than any event of ours; a stream that never ends a line must not fill the memory. */
const MAX_EVENT_CHARS = 4 * 1024 * 1024;

export async function* serverSentEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  let data: string[] = [];
  for await (const bytes of body) {
    rest += decoder.decode(bytes, { stream: true });
    // A lone "\r" at the end may be the first half of "\r\n": it waits for the next bytes.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line === "") {
        if (data.length > 0) yield data.join("\n");
        data = [];
      } else if (line.startsWith("data:")) data.push(line.slice(line.startsWith("data: ") ? 6 : 5));
    }
    if (rest.length + data.reduce((sum, part) => sum + part.length, 0) > MAX_EVENT_CHARS)
      throw new Error("the event stream sent an event that is too large");
  }
}
