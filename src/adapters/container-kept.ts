/**
 * What is remembered of a container while it is there: one document, known at once and read once. Fields that came later
 * have a default, for containers that ran before them.
 */
import { z } from "zod";
import { sandboxSpec } from "../host/protocol.ts";

const kept = z.object({
  secret: z.string(),
  /** Null: no sandbox, only git. */
  spec: sandboxSpec.nullable(),
  /** Its host has answered, its sandbox is made, and its end was not asked for. */
  made: z.boolean(),
  /** What set-up was granted, until something else begins. */
  hosts: z.array(z.string()),
  /** Something else began: nothing is granted to this sandbox any more. */
  closed: z.boolean().default(false),
  /** What each preset means in its image, asked before anything of a plan could answer in the host's place. */
  presets: z.record(z.string(), z.array(z.string())).default({}),
  /** Of one for git: it did not answer, or an agent's bundle was read in it. Remembered, for its end may fail. */
  retired: z.enum(["silent", "spent"]).nullable().default(null),
});
export type Kept = z.infer<typeof kept>;

/** One document in an object's storage; gone after `clear`. */
export interface Keep {
  get(): Promise<unknown>;
  put(document: unknown): Promise<void>;
  clear(): Promise<void>;
}

export class Remembered {
  readonly #keep: Keep;
  #known: Kept | null | undefined;
  constructor(keep: Keep) {
    this.#keep = keep;
  }

  async known(): Promise<Kept | null> {
    if (this.#known === undefined) {
      const stored = await this.#keep.get();
      // A call that came meanwhile may know more by now.
      if (this.#known === undefined) this.#known = stored === undefined ? null : kept.parse(stored);
    }
    return this.#known;
  }
  /** Of a container that begins. */
  begin(begun: Pick<Kept, "secret" | "spec">): Promise<void> {
    return this.#put({ ...begun, made: false, hosts: [], closed: false, presets: {}, retired: null });
  }
  /** `changes` sees what is known when it is changed, and answers null for no change. False when there was none. */
  async note(changes: (known: Kept) => Partial<Kept> | null): Promise<boolean> {
    await this.known();
    const known = this.#known ?? null;
    const change = known === null ? null : changes(known);
    if (known === null || change === null) return false;
    await this.#put({ ...known, ...change });
    return true;
  }
  async clear(): Promise<void> {
    this.#known = null;
    await this.#keep.clear();
  }

  /** Known at once, lest two changes overwrite each other; what could not be kept is not known either. */
  async #put(document: Kept): Promise<void> {
    const before = this.#known;
    this.#known = document;
    try {
      await this.#keep.put(document);
    } catch (error) {
      if (this.#known === document) this.#known = before;
      throw error;
    }
  }
}
