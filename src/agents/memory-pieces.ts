/** What the scope remembered, as pieces of a context: best first, each with where it comes from. [MEM-*] */
import type { Piece } from "../domain/context.ts";
import type { Remembered } from "./mind-bus.ts";

export function memoryPieces(found: readonly Remembered[]): Piece[] {
  return found.map(({ id, kind, title, excerpt, at, taint }) => ({
    kind: "memory",
    title: `${kind}, ${title}`,
    text: excerpt,
    taint,
    source: `memory ${id} of ${at.slice(0, 10)}`,
  }));
}
