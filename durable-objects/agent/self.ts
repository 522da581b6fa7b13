/** Who an agent object is and where its machines stand, with its whole history of moves. [AGS-*] */
import { z } from "zod";
import {
  type Activity,
  type ActivityEvent,
  type AgentEvent,
  type AgentStanding,
  activities,
  agentStates,
  newAgent,
  step,
} from "../../src/domain/agent.ts";
import type { Sql } from "../sql.ts";

const selfRow = z.strictObject({
  scope: z.string(),
  name: z.string(),
  state: z.enum(agentStates),
  activity: z.enum(activities).nullable(),
  /** Grows with every change; `heard` is the last one the runtime knows of. */
  version: z.number().int(),
  heard: z.number().int(),
});
export type Self = z.infer<typeof selfRow>;

export interface Move {
  readonly from: string;
  readonly event: string;
  readonly to: string;
  readonly reason: string;
  readonly at: string;
}
/** What the runtime is told. `moves` are those of the lifecycle it has not heard of. */
export interface AgentReport {
  readonly scope: string;
  readonly name: string;
  readonly state: AgentStanding["state"];
  readonly activity: Activity | null;
  readonly current: string | null;
  readonly version: number;
  readonly moves: readonly (Move & { readonly seq: number })[];
}

export const selfSchema: readonly string[] = [
  `CREATE TABLE self (one INTEGER PRIMARY KEY CHECK (one = 1), doc TEXT NOT NULL);
   CREATE TABLE moves (seq INTEGER PRIMARY KEY AUTOINCREMENT, doc TEXT NOT NULL, heard INTEGER NOT NULL DEFAULT 0);`,
];

export class AgentSelf {
  readonly #sql: Sql;
  constructor(sql: Sql) {
    this.#sql = sql;
  }
  read(): Self | null {
    const row = this.#sql.one<{ doc: string }>("SELECT doc FROM self");
    return row === null ? null : selfRow.parse(JSON.parse(row.doc));
  }
  /** Throws when it was never started. */
  identity(): Self {
    const self = this.read();
    if (self === null) throw new Error("this agent was never started");
    return self;
  }
  /** An agent that was started for one scope answers no other. */
  belongs(scope: string): Self {
    const self = this.identity();
    if (self.scope !== scope) throw new Error("this agent belongs to another scope");
    return self;
  }
  #write(self: Self): void {
    this.#sql.run("INSERT OR REPLACE INTO self (one, doc) VALUES (1, ?)", JSON.stringify(self));
  }

  /** First use fixes the scope and the name. Returns the moves made: none when it was started before. */
  start(given: { scope: string; name: string }, now: number): Move[] {
    const known = this.read();
    if (known !== null && (known.scope !== given.scope || known.name !== given.name))
      throw new Error("this agent belongs to another scope");
    if (known !== null) return [];
    this.#write({ ...given, ...newAgent, version: 0, heard: 0 });
    return (["start", "spawned"] as const).flatMap((event) => this.move(event, "made by the runtime", now));
  }

  /** One event of the lifecycle; nothing when the machine refuses it. */
  move(event: AgentEvent, reason: string, now: number): Move[] {
    const self = this.read();
    if (self === null) return [];
    const next = step(self, event);
    if (!next.ok) return [];
    const moved: Move = { from: self.state, event, to: next.value.state, reason, at: new Date(now).toISOString() };
    this.#sql.run("INSERT INTO moves (doc) VALUES (?)", JSON.stringify(moved));
    this.#write({ ...self, ...next.value, version: self.version + 1 });
    return [moved];
  }
  /** One event of what it is doing. An agent that works on several things side by side is `working` throughout. */
  act(event: ActivityEvent): void {
    const self = this.read();
    const next = self === null ? null : step(self, event);
    if (self !== null && next?.ok === true) this.#write({ ...self, ...next.value, version: self.version + 1 });
  }

  transitions(): Move[] {
    return this.#sql
      .all<{ doc: string }>("SELECT doc FROM moves ORDER BY seq")
      .map((row) => JSON.parse(row.doc) as Move); // our own row
  }
  /** Null when the runtime knows everything. */
  report(current: string | null): AgentReport | null {
    const self = this.read();
    if (self === null || self.heard === self.version) return null;
    const moves = this.#sql
      .all<{ seq: number; doc: string }>("SELECT seq, doc FROM moves WHERE heard = 0 ORDER BY seq")
      .map(({ seq, doc }) => ({ ...(JSON.parse(doc) as Move), seq })); // our own row
    const { scope, name, state, activity, version } = self;
    return { scope, name, state, activity, version, current, moves };
  }
  reported(report: AgentReport): void {
    const self = this.read();
    if (self === null) return;
    this.#write({ ...self, heard: Math.max(self.heard, report.version) });
    const last = report.moves.at(-1);
    if (last !== undefined) this.#sql.run("UPDATE moves SET heard = 1 WHERE seq <= ?", last.seq);
  }
}
