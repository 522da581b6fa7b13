/** What the ledger keeps of one message in one queue, and how a broken promise is said. */

/** The run stops at the first: what is said after it follows from it. */
export class Violation extends Error {
  constructor(sentence: string) {
    super(sentence);
    this.name = "Violation";
  }
}
export function must(holds: boolean, sentence: () => string): asserts holds {
  if (!holds) throw new Violation(sentence());
}

export interface Row {
  readonly object: string;
  readonly scope: string;
  readonly queue: string;
  readonly message_id: string;
  readonly trace_id: string;
  readonly content: string;
  readonly priority: number;
  readonly max: number;
  readonly seq: number;
  state: "queued" | "leased" | "acked" | "dead";
  deliveries: number;
  epoch: number;
  available_at: number;
  /** The back-off may have drawn anything up to here; what it drew is read from the row and kept. */
  available_to: number;
  lease_id: string | null;
  holder: string | null;
  leased_at: number;
  expires_at: number;
  heartbeats: number;
  /** Its stored bytes were spoilt by the simulation. */
  spoilt: boolean;
  effects: number;
  acked_at: number;
  died_at: number;
}
/** An audit event and what is measured with it, as a change must leave them. */
export interface Trail {
  readonly audit: { readonly event: string; readonly decision: string; readonly row: About }[];
  readonly telemetry: { readonly name: string; readonly row: About; readonly value: number | null }[];
}
/** What a record names. A queue's own standing is about no message. */
export interface About {
  readonly message_id: string | null;
  readonly trace_id: string;
}
