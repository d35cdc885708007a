DROP INDEX "hook_deliveries_event_key";--> statement-breakpoint
ALTER TABLE "hook_deliveries" ADD COLUMN "part" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "hook_deliveries" ADD COLUMN "subject" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "hook_deliveries" ADD COLUMN "state" text DEFAULT 'waiting' NOT NULL;--> statement-breakpoint
ALTER TABLE "hook_deliveries" ADD COLUMN "next_attempt_at" timestamp with time zone DEFAULT now() NOT NULL;--> statement-breakpoint
ALTER TABLE "hook_deliveries" ADD COLUMN "duration_ms" integer;--> statement-breakpoint
ALTER TABLE "hook_deliveries" ADD COLUMN "attempted_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "hooks" ADD COLUMN "failing_since" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "hooks" ADD COLUMN "paused_at" timestamp with time zone;--> statement-breakpoint
CREATE INDEX "events_repository_deleted_idx" ON "events" USING btree ("repository_id") WHERE kind = 'repository.deleted';--> statement-breakpoint
CREATE INDEX "hook_deliveries_waiting_idx" ON "hook_deliveries" USING btree ("hook_id","subject","id") WHERE state = 'waiting';--> statement-breakpoint
CREATE UNIQUE INDEX "hook_deliveries_event_key" ON "hook_deliveries" USING btree ("hook_id","event_id","part") WHERE event_id is not null;