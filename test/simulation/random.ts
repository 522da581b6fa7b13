/**
 * Seeded randomness for the simulations: sfc32 from a string or a number. The same seed gives the same draws, and a
 * `fork` has a stream of its own, so that one more draw in one place does not move the draws of another.
 */
export interface Random {
  /** A number from 0 (included) to 1 (excluded). */
  next(): number;
  /** A whole number below `below`, or from `low` to `high` with both included. */
  int(below: number): number;
  int(low: number, high: number): number;
  /** True with probability `p`. */
  chance(p: number): boolean;
  /** One of the items; an empty list is the caller's fault and throws. */
  pick<T>(items: readonly T[]): T;
  /** The items in another order; the list given stays as it was. */
  shuffle<T>(items: readonly T[]): T[];
  bytes(length: number): Uint8Array;
  /** A stream of its own, named: it depends on this one's seed and the name, not on how much was drawn. */
  fork(name: string): Random;
}

/** Four words from a text (FNV-1a with four offsets, each then mixed). */
function words(text: string): [number, number, number, number] {
  const from = (offset: number): number => {
    let hash = offset;
    for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    return (hash ^ (hash >>> 16)) >>> 0;
  };
  return [from(0x811c9dc5), from(0x9e3779b9), from(0x243f6a88), from(0xb7e15162)];
}

export function random(seed: string | number): Random {
  const root = String(seed);
  let [a, b, c, d] = words(root);
  const draw = (): number => {
    const t = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + t) | 0;
    return t >>> 0;
  };
  for (let warm = 0; warm < 12; warm++) draw();
  const next = (): number => draw() / 0x1_0000_0000;
  const int = (low: number, high?: number): number =>
    high === undefined ? Math.floor(next() * low) : low + Math.floor(next() * (high - low + 1));
  return {
    next,
    int,
    chance: (p) => next() < p,
    pick: (items) => {
      const item = items[int(items.length)];
      if (item === undefined) throw new Error("nothing to pick from");
      return item;
    },
    shuffle: (items) => {
      const order = [...items];
      for (let last = order.length - 1; last > 0; last--) {
        const other = int(last + 1);
        // Both indexes lie inside the list.
        [order[last], order[other]] = [order[other] as (typeof order)[number], order[last] as (typeof order)[number]];
      }
      return order;
    },
    bytes: (length) => Uint8Array.from({ length }, () => draw() & 0xff),
    fork: (name) => random(`${root}/${name}`),
  };
}
