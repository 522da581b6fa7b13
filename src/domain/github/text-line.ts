/** A line as Markdown's blocks are read from it: by columns, in which a tab may be taken in parts. [GHI-65] */

const tabStop = 4;

export class Line {
  readonly text: string;
  /** What is taken of it so far. */
  #at = 0;
  #column = 0;
  #inTab = false;
  /** Where the next thing that is no blank stands, and how many columns before it are left. */
  #next = 0;
  #indent = 0;

  constructor(text: string, at = 0) {
    this.text = text;
    this.#at = at;
    this.#look();
  }

  get indent(): number {
    return this.#indent;
  }
  get blank(): boolean {
    return this.#next >= this.text.length;
  }
  /** From the next thing that is no blank on. */
  get rest(): string {
    return this.text.slice(this.#next);
  }
  starts(mark: string): boolean {
    return this.text.startsWith(mark, this.#next);
  }
  /** All that is left of it, blanks too. */
  get left(): string {
    if (!this.#inTab) return this.text.slice(this.#at);
    return " ".repeat(tabStop - (this.#column % tabStop)) + this.text.slice(this.#at + 1);
  }
  /** Takes the blanks, and so many characters behind them. */
  take(chars: number): void {
    while (this.#at < this.#next) this.#pass(Number.POSITIVE_INFINITY);
    this.#at += chars;
    this.#column += chars;
    this.#look();
  }
  /** Takes so many columns of blanks, or what there is of them. */
  takeBlanks(columns: number): void {
    let taken = 0;
    while (taken < columns && this.#at < this.#next) taken += this.#pass(columns - taken);
    this.#look();
  }
  takeAll(): void {
    this.#at = this.text.length;
    this.#inTab = false;
    this.#look();
  }
  /** One blank, or as much of a tab as is asked for. */
  #pass(most: number): number {
    const width = this.text.charAt(this.#at) === "\t" ? tabStop - (this.#column % tabStop) : 1;
    const columns = Math.min(width, most);
    this.#inTab = width > most;
    if (!this.#inTab) this.#at++;
    this.#column += columns;
    return columns;
  }
  #look(): void {
    let column = this.#column;
    this.#next = this.#at;
    for (; ; this.#next++) {
      const mark = this.text.charAt(this.#next);
      if (mark === " ") column++;
      else if (mark === "\t") column += tabStop - (column % tabStop);
      else break;
    }
    this.#indent = column - this.#column;
  }
}
