/** Everything one agent object stores, opened once and handed to its parts. */
import { AuditLog, auditSchema } from "../audit-log.ts";
import { DurableQueue } from "../durable-queue.ts";
import { Letters, lettersSchema } from "../letters.ts";
import { Outbox, outboxSchema } from "../outbox.ts";
import { OutputLog, outputSchema } from "../output-log.ts";
import { queueSchema } from "../queue-rows.ts";
import { applySchemas, type Sql } from "../sql.ts";
import { TelemetryLog, telemetrySchema } from "../telemetry-log.ts";
import { Notes, notesSchema } from "./notes.ts";
import { Runs, runsSchema } from "./runs.ts";
import { AgentSelf, selfSchema } from "./self.ts";
import { Turns, turnsSchema } from "./turns.ts";

/** The name of an agent's own queue in its rows. */
export const inbox = "inbox";

export interface AgentStores {
  readonly sql: Sql;
  readonly self: AgentSelf;
  readonly queue: DurableQueue;
  readonly outbox: Outbox;
  readonly letters: Letters;
  readonly audit: AuditLog;
  readonly telemetry: TelemetryLog;
  readonly output: OutputLog;
  readonly runs: Runs;
  readonly turns: Turns;
  readonly notes: Notes;
}

export function openStores(sql: Sql): AgentStores {
  applySchemas(sql, {
    self: selfSchema,
    queue: queueSchema,
    outbox: outboxSchema,
    audit: auditSchema,
    telemetry: telemetrySchema,
    output: outputSchema,
    runs: runsSchema,
    turns: turnsSchema,
    notes: notesSchema,
    letters: lettersSchema,
  });
  return {
    sql,
    self: new AgentSelf(sql),
    queue: new DurableQueue(sql),
    outbox: new Outbox(sql),
    letters: new Letters(sql),
    audit: new AuditLog(sql),
    telemetry: new TelemetryLog(sql),
    output: new OutputLog(sql),
    runs: new Runs(sql),
    turns: new Turns(sql),
    notes: new Notes(sql),
  };
}
