CREATE TABLE `checkpoints` (
	`scope_id` text NOT NULL,
	`seq` integer NOT NULL,
	`hash` text NOT NULL,
	`jws` text NOT NULL,
	`at` text NOT NULL,
	PRIMARY KEY(`scope_id`, `seq`)
);
--> statement-breakpoint
DROP INDEX `audit_by_time`;--> statement-breakpoint
DROP INDEX `audit_by_trace`;--> statement-breakpoint
DROP INDEX `audit_by_type`;--> statement-breakpoint
CREATE INDEX `audit_by_arrival` ON `audit` (`scope_id`);--> statement-breakpoint
CREATE INDEX `audit_by_trace` ON `audit` (`scope_id`,`trace_id`);--> statement-breakpoint
CREATE INDEX `audit_by_type` ON `audit` (`scope_id`,`event_type`);--> statement-breakpoint
DROP INDEX `telemetry_by_name`;--> statement-breakpoint
CREATE INDEX `telemetry_by_arrival` ON `telemetry` (`scope_id`);--> statement-breakpoint
CREATE INDEX `telemetry_by_age` ON `telemetry` (`created_at`);