CREATE TABLE `audit` (
	`object` text NOT NULL,
	`seq` integer NOT NULL,
	`prev_hash` text NOT NULL,
	`hash` text NOT NULL,
	`event_type` text NOT NULL,
	`trace_id` text NOT NULL,
	`message_id` text,
	`scope_id` text NOT NULL,
	`actor` text NOT NULL,
	`decision` text,
	`reason` text,
	`details` text NOT NULL,
	`created_at` text NOT NULL,
	PRIMARY KEY(`object`, `seq`)
);
--> statement-breakpoint
CREATE INDEX `audit_by_time` ON `audit` (`scope_id`,`created_at`,`object`,`seq`);--> statement-breakpoint
CREATE INDEX `audit_by_trace` ON `audit` (`scope_id`,`trace_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `audit_by_type` ON `audit` (`scope_id`,`event_type`,`created_at`);--> statement-breakpoint
CREATE TABLE `scopes` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`created_at` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `telemetry` (
	`object` text NOT NULL,
	`seq` integer NOT NULL,
	`event_name` text NOT NULL,
	`scope_id` text NOT NULL,
	`trace_id` text,
	`queue_name` text,
	`message_id` text,
	`value` real NOT NULL,
	`labels` text NOT NULL,
	`created_at` text NOT NULL,
	PRIMARY KEY(`object`, `seq`)
);
--> statement-breakpoint
CREATE INDEX `telemetry_by_name` ON `telemetry` (`scope_id`,`event_name`,`created_at`);