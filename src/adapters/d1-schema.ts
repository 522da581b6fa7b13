/**
 * The deployment's shared tables: which scopes there are, and the audit and telemetry of all of them for
 * searching. Nothing a task needs to go on stands here. `npx drizzle-kit generate` makes the migrations.
 */
import { index, integer, primaryKey, real, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const scopes = sqliteTable("scopes", {
  id: text("id").primaryKey(),
  name: text("name").notNull(),
  created_at: text("created_at").notNull(),
});

/** Copies of the objects' chains. The chain's own place is its key, so that shipping twice stores once. */
export const audit = sqliteTable(
  "audit",
  {
    object: text("object").notNull(),
    seq: integer("seq").notNull(),
    prev_hash: text("prev_hash").notNull(),
    hash: text("hash").notNull(),
    event_type: text("event_type").notNull(),
    trace_id: text("trace_id").notNull(),
    message_id: text("message_id"),
    scope_id: text("scope_id").notNull(),
    actor: text("actor").notNull(),
    decision: text("decision"),
    reason: text("reason"),
    details: text("details").notNull(),
    created_at: text("created_at").notNull(),
  },
  // Every index ends in the row's own number, so each of them gives rows in the order they were stored.
  (row) => [
    primaryKey({ columns: [row.object, row.seq] }),
    index("audit_by_arrival").on(row.scope_id),
    index("audit_by_trace").on(row.scope_id, row.trace_id),
    index("audit_by_type").on(row.scope_id, row.event_type),
  ],
);

/** The scopes' signed checkpoints, as their runtimes made them. */
export const checkpoints = sqliteTable(
  "checkpoints",
  {
    scope_id: text("scope_id").notNull(),
    seq: integer("seq").notNull(),
    hash: text("hash").notNull(),
    jws: text("jws").notNull(),
    at: text("at").notNull(),
  },
  (row) => [primaryKey({ columns: [row.scope_id, row.seq] })],
);

export const telemetry = sqliteTable(
  "telemetry",
  {
    object: text("object").notNull(),
    seq: integer("seq").notNull(),
    event_name: text("event_name").notNull(),
    scope_id: text("scope_id").notNull(),
    trace_id: text("trace_id"),
    queue_name: text("queue_name"),
    message_id: text("message_id"),
    value: real("value").notNull(),
    labels: text("labels").notNull(),
    created_at: text("created_at").notNull(),
  },
  (row) => [
    primaryKey({ columns: [row.object, row.seq] }),
    index("telemetry_by_arrival").on(row.scope_id),
    index("telemetry_by_age").on(row.created_at),
  ],
);
