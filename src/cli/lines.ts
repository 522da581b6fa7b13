/** Lines of a file or a stream, one at a time; a line that never ends cannot fill the memory. */
import { createReadStream } from "node:fs";

/** A checkpoint of a scope with hundreds of chains is far below this. */
const lineBytes = 1024 * 1024;

export class BadLine extends Error {}

/** A last line without its newline is a line too. */
export async function* linesOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const text = new TextDecoder("utf-8", { ignoreBOM: true });
  let rest = "";
  let number = 1;
  for await (const chunk of bytes) {
    const parts = (rest + text.decode(chunk, { stream: true })).split("\n");
    rest = parts.pop() ?? "";
    for (const line of parts) {
      number++;
      yield line;
    }
    if (rest.length > lineBytes) throw new BadLine(`line ${number} is longer than ${lineBytes} letters`);
  }
  rest += text.decode();
  if (rest !== "") yield rest;
}

export function fileLines(path: string): AsyncGenerator<string> {
  return linesOf(createReadStream(path));
}
