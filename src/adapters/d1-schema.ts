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
  (row) => [
    primaryKey({ columns: [row.object, row.seq] }),
    index("audit_by_time").on(row.scope_id, row.created_at, row.object, row.seq),
    index("audit_by_trace").on(row.scope_id, row.trace_id, row.created_at),
    index("audit_by_type").on(row.scope_id, row.event_type, row.created_at),
  ],
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
    index("telemetry_by_name").on(row.scope_id, row.event_name, row.created_at),
  ],
);
