CREATE TABLE "jobs" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "jobs_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"name" text NOT NULL,
	"payload" jsonb NOT NULL,
	"queue" text,
	"key" text,
	"priority" integer DEFAULT 0 NOT NULL,
	"run_at" timestamp with time zone DEFAULT now() NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"max_attempts" integer NOT NULL,
	"lease" uuid,
	"leased_until" timestamp with time zone,
	"last_error" text,
	"failed_at" timestamp with time zone,
	"retired_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
DROP TABLE "job_workers" CASCADE;--> statement-breakpoint
CREATE UNIQUE INDEX "jobs_key_idx" ON "jobs" USING btree ("key") WHERE lease is null;--> statement-breakpoint
CREATE UNIQUE INDEX "jobs_running_queue_idx" ON "jobs" USING btree ("queue") WHERE lease is not null;--> statement-breakpoint
CREATE INDEX "jobs_waiting_idx" ON "jobs" USING btree ("priority","id","run_at") WHERE lease is null and retired_at is null and queue is null;--> statement-breakpoint
CREATE INDEX "jobs_waiting_in_queue_idx" ON "jobs" USING btree ("queue","priority","id","run_at") WHERE lease is null and retired_at is null and queue is not null;--> statement-breakpoint
CREATE INDEX "jobs_leased_until_idx" ON "jobs" USING btree ("leased_until") WHERE lease is not null;--> statement-breakpoint
CREATE INDEX "jobs_failed_idx" ON "jobs" USING btree ("failed_at") WHERE last_error is not null;--> statement-breakpoint
-- Rows come and go all the time, and what is dead lies where the next claim looks: clean up early, whatever the table's size.
ALTER TABLE "jobs" SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);--> statement-breakpoint
-- The queue was a schema of another library before. What waits there is carried over in its order; what was running there runs
-- again. A job without a key that had one gave it to a later job, which does its work.
DO $$
BEGIN
	IF to_regclass('graphile_worker._private_jobs') IS NOT NULL THEN
		INSERT INTO "jobs" ("name", "payload", "queue", "key", "priority", "run_at", "attempts", "max_attempts", "last_error", "failed_at", "retired_at", "created_at")
		SELECT task.identifier, old.payload::jsonb, queue.queue_name, old.key, old.priority, old.run_at, old.attempts, old.max_attempts,
			CASE WHEN old.attempts >= old.max_attempts THEN coalesce(old.last_error, '') ELSE old.last_error END,
			CASE WHEN old.last_error IS NOT NULL OR old.attempts >= old.max_attempts THEN old.updated_at END,
			CASE WHEN old.attempts >= old.max_attempts AND old.locked_at IS NULL THEN old.updated_at END,
			old.created_at
		FROM graphile_worker._private_jobs old
		JOIN graphile_worker._private_tasks task ON task.id = old.task_id
		LEFT JOIN graphile_worker._private_job_queues queue ON queue.id = old.job_queue_id
		WHERE NOT (old.attempts >= old.max_attempts AND old.locked_at IS NULL AND old.key IS NULL
			AND task.identifier IN ('cron.run', 'repository.refresh'))
		ORDER BY old.priority, old.run_at, old.id;
		DROP SCHEMA graphile_worker CASCADE;
	END IF;
END $$;
