ALTER TABLE "actions_jobs" ALTER COLUMN "attempt" SET DEFAULT 0;--> statement-breakpoint
ALTER TABLE "actions_jobs" ADD COLUMN "task_id" bigint;--> statement-breakpoint
ALTER TABLE "actions_jobs" ADD COLUMN "is_cancelled" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "actions_jobs" ADD COLUMN "error" text;--> statement-breakpoint
ALTER TABLE "actions_runs" ADD COLUMN "workflow_path" text NOT NULL;--> statement-breakpoint
ALTER TABLE "actions_runs" ADD COLUMN "files" jsonb NOT NULL;--> statement-breakpoint
ALTER TABLE "actions_runs" ADD COLUMN "event_id" bigint;--> statement-breakpoint
ALTER TABLE "actions_runs" ADD COLUMN "github" jsonb NOT NULL;--> statement-breakpoint
ALTER TABLE "actions_runs" ADD COLUMN "vars" jsonb NOT NULL;--> statement-breakpoint
ALTER TABLE "actions_runs" ADD COLUMN "is_cancelled" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "actions_runs" ADD COLUMN "revision" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "actions_tasks" ADD COLUMN "masks" "bytea";--> statement-breakpoint
ALTER TABLE "actions_tasks" ADD COLUMN "log_bytes" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "repository_counters" ADD COLUMN "last_run_number" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX "actions_runs_event_key" ON "actions_runs" USING btree ("event_id","repository_id","workflow_path");