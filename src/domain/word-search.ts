/**
 * Many words looked for in a long text at once: the text is read a single time, however many words there are
 * (Aho and Corasick, 1975). Time is in proportion to the text and to all words together. [GATE-47]
 */

/** Which of the words the text holds. Nothing is folded here; empty words are never found. */
export function wordsIn(text: string, words: Iterable<string>): ReadonlySet<string> {
  const trie = new Trie();
  for (const word of words) trie.add(word);
  trie.link();
  return trie.read(text);
}

/** How many different units a text is made of. */
const units = 0x1_00_00;

class Trie {
  /** From node and unit to node; node 0 is the beginning. */
  readonly #next = new Map<number, number>();
  readonly #parent = [0];
  readonly #unit = [0];
  readonly #depth = [0];
  readonly #word: (string | null)[] = [null];
  /** The node of the longest end of what was read that begins some word. */
  readonly #back = [0];
  /** The nearest node, this one or further back, at which a word ends; 0 when there is none. */
  readonly #ends = [0];

  add(word: string): void {
    let node = 0;
    for (let at = 0; at < word.length; at++) {
      const unit = word.charCodeAt(at);
      const known = this.#next.get(node * units + unit);
      node = known ?? this.#grow(node, unit);
    }
    if (node !== 0) this.#word[node] = word;
  }
  #grow(parent: number, unit: number): number {
    const node = this.#parent.push(parent) - 1;
    this.#unit.push(unit);
    this.#depth.push((this.#depth[parent] ?? 0) + 1);
    this.#word.push(null);
    this.#back.push(0);
    this.#ends.push(0);
    this.#next.set(parent * units + unit, node);
    return node;
  }

  /** Shorter beginnings first: each node builds on one nearer to the root. */
  link(): void {
    const nodes = Array.from(this.#parent.keys()).slice(1);
    nodes.sort((a, b) => (this.#depth[a] ?? 0) - (this.#depth[b] ?? 0));
    for (const node of nodes) {
      const parent = this.#parent[node] ?? 0;
      const back = parent === 0 ? 0 : this.#step(this.#back[parent] ?? 0, this.#unit[node] ?? 0);
      this.#back[node] = back;
      this.#ends[node] = this.#word[node] === null ? (this.#ends[back] ?? 0) : node;
    }
  }
  #step(from: number, unit: number): number {
    for (let node = from; ; node = this.#back[node] ?? 0) {
      const next = this.#next.get(node * units + unit);
      if (next !== undefined) return next;
      if (node === 0) return 0;
    }
  }

  read(text: string): ReadonlySet<string> {
    const found = new Set<string>();
    const seen = new Set<number>();
    let node = 0;
    for (let at = 0; at < text.length; at++) {
      node = this.#step(node, text.charCodeAt(at));
      // What lies behind a word that was found before was found with it.
      for (let end = this.#ends[node] ?? 0; end !== 0 && !seen.has(end); end = this.#ends[this.#back[end] ?? 0] ?? 0) {
        seen.add(end);
        found.add(this.#word[end] ?? "");
      }
    }
    return found;
  }
}
