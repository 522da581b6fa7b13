/**
 * Which model calls this life of the object made. A step repeated after the object died must not make its call under
 * the id of the one that was lost: both cost. So the name of a call is the number the last commit gave it (`asked`)
 * and, after that, how often it was made in this life. What a former life did under a number nobody knows any more:
 * a number that this life did not see committed is not used, the loop commits the next one first. [LOOP-4]
 */
import { derivedId } from "../domain/ids.ts";
import { limits } from "../limits.ts";
import type { Models } from "./models.ts";

/** By run, then by number: calls made. */
type Calls = Map<number, number>;
/** As long as the port lives, so does what it was asked: a new process, or a new world in a test, begins without. */
const lives = new WeakMap<Models, Map<string, Calls>>();
/** The numbers before the last one are for a step that is repeated because its commit failed. */
const numbersKept = 3;

export class Life {
  readonly #runs: Map<string, Calls>;
  readonly #run_id: string;
  constructor(models: Models, run_id: string) {
    this.#runs = lives.get(models) ?? new Map();
    lives.set(models, this.#runs);
    this.#run_id = run_id;
  }
  /** Whether this life saw the run before. */
  knows(): boolean {
    return this.#runs.has(this.#run_id);
  }
  /** A step leads to the call of that number. Before the first, with none, the run is only met. */
  expect(asked: number | null): void {
    const calls: Calls = this.#runs.get(this.#run_id) ?? new Map();
    if (asked !== null && !calls.has(asked)) calls.set(asked, 0);
    for (const number of calls.keys()) if (asked !== null && number < asked - numbersKept) calls.delete(number);
    // The run that was stepped last stands last.
    this.#runs.delete(this.#run_id);
    this.#runs.set(this.#run_id, calls);
    const oldest = this.#runs.keys().next().value;
    if (this.#runs.size > limits.runs_remembered && oldest !== undefined) this.#runs.delete(oldest);
  }
  expects(asked: number): boolean {
    return this.#runs.get(this.#run_id)?.has(asked) === true;
  }
  /** The id of the call as it would be made now. Asked again before it is made, it is the same. */
  thoughtId(asked: number): string {
    const made = this.#runs.get(this.#run_id)?.get(asked) ?? 0;
    return derivedId(`${this.#run_id}/${asked}`, "thought", made);
  }
  /** Right before the call is made. */
  makes(asked: number): void {
    const calls = this.#runs.get(this.#run_id);
    calls?.set(asked, (calls.get(asked) ?? 0) + 1);
  }
}
