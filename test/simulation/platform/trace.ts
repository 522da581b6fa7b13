/** What happened, in words: the last lines for a reader, and one hash over all of them for the proof that two runs are one. */
export class Trace {
  /** How many lines are kept to be shown. */
  kept = 400;
  #lines: string[] = [];
  #next = 0;
  #low = 0x811c9dc5;
  #high = 0x243f6a88;

  add(step: number, now: number, what: string): void {
    this.#keep(`${step} ${stamp(now)} ${what}`);
  }
  /** A remark about the step under way: a crash, a fault, something the code under test logged. */
  note(what: string): void {
    this.#keep(`    ${what}`);
  }
  /** The newest lines, oldest first. */
  last(count: number): string[] {
    return [...this.#lines.slice(this.#next), ...this.#lines.slice(0, this.#next)].slice(-count);
  }
  get hash(): string {
    const hex = (word: number) => (word >>> 0).toString(16).padStart(8, "0");
    return hex(this.#high) + hex(this.#low);
  }

  #keep(line: string): void {
    if (this.#lines.length < this.kept) this.#lines.push(line);
    else {
      this.#lines[this.#next] = line;
      this.#next = (this.#next + 1) % this.kept;
    }
    let [low, high] = [this.#low, this.#high];
    for (let at = 0; at < line.length; at++) {
      const code = line.charCodeAt(at);
      low = Math.imul(low ^ code, 0x01000193);
      high = Math.imul(high ^ code, 0x85ebca6b) ^ (high >>> 15);
    }
    this.#low = low;
    this.#high = high;
  }
}

/** Virtual time since midnight, in hours, minutes, seconds and milliseconds. */
function stamp(now: number): string {
  const ms = Math.floor(now) % 86_400_000;
  const part = (value: number, digits: number) => String(Math.floor(value)).padStart(digits, "0");
  return `${part(ms / 3_600_000, 2)}:${part((ms / 60_000) % 60, 2)}:${part((ms / 1_000) % 60, 2)}.${part(ms % 1_000, 3)}`;
}
