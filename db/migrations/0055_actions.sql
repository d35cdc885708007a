CREATE TABLE "actions_disabled_workflows" (
	"repository_id" bigint NOT NULL,
	"workflow_file" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "actions_jobs" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "actions_jobs_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"run_id" bigint NOT NULL,
	"repository_id" bigint NOT NULL,
	"key" text NOT NULL,
	"name" text NOT NULL,
	"position" integer NOT NULL,
	"needs" text[] NOT NULL,
	"labels" text[] NOT NULL,
	"plan" jsonb,
	"payload" text,
	"attempt" integer DEFAULT 1 NOT NULL,
	"status" text NOT NULL,
	"conclusion" text,
	"started_at" timestamp with time zone,
	"completed_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "actions_jobs_ready" CHECK (status not in ('queued', 'in_progress') or (plan is not null and payload is not null)),
	CONSTRAINT "actions_jobs_conclusion" CHECK ((status = 'completed') = (conclusion is not null)),
	CONSTRAINT "actions_jobs_completed_at" CHECK ((status = 'completed') = (completed_at is not null))
);
--> statement-breakpoint
CREATE TABLE "actions_log_chunks" (
	"task_id" bigint NOT NULL,
	"first_row" integer NOT NULL,
	"row_count" integer NOT NULL,
	"lines" "bytea" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "actions_registration_tokens" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "actions_registration_tokens_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"owner_id" bigint,
	"repository_id" bigint,
	"token_hash" text NOT NULL,
	"token" "bytea" NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "actions_registration_tokens_one_scope" CHECK (num_nonnulls(owner_id, repository_id) <= 1)
);
--> statement-breakpoint
CREATE TABLE "actions_runners" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "actions_runners_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"owner_id" bigint,
	"repository_id" bigint,
	"uuid" uuid DEFAULT gen_random_uuid() NOT NULL,
	"token_hash" text NOT NULL,
	"name" text NOT NULL,
	"version" text DEFAULT '' NOT NULL,
	"labels" text[] NOT NULL,
	"is_disabled" boolean DEFAULT false NOT NULL,
	"is_ephemeral" boolean DEFAULT false NOT NULL,
	"last_seen_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "actions_runners_one_scope" CHECK (num_nonnulls(owner_id, repository_id) <= 1),
	CONSTRAINT "actions_runners_labels_count" CHECK (cardinality(labels) <= 100)
);
--> statement-breakpoint
CREATE TABLE "actions_runs" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "actions_runs_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"repository_id" bigint NOT NULL,
	"number" integer NOT NULL,
	"workflow_file" text NOT NULL,
	"workflow_name" text NOT NULL,
	"workflows" jsonb NOT NULL,
	"title" text NOT NULL,
	"event" text NOT NULL,
	"payload" jsonb NOT NULL,
	"inputs" jsonb NOT NULL,
	"actor_id" bigint,
	"trigger_actor_id" bigint,
	"ref" text NOT NULL,
	"head_sha" text NOT NULL,
	"attempt" integer DEFAULT 1 NOT NULL,
	"status" text NOT NULL,
	"conclusion" text,
	"started_at" timestamp with time zone,
	"completed_at" timestamp with time zone,
	"concurrency_group" text,
	"needs_approval" boolean DEFAULT false NOT NULL,
	"error" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "actions_runs_conclusion" CHECK ((status = 'completed') = (conclusion is not null)),
	CONSTRAINT "actions_runs_completed_at" CHECK ((status = 'completed') = (completed_at is not null))
);
--> statement-breakpoint
CREATE TABLE "actions_tasks" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "actions_tasks_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"job_id" bigint NOT NULL,
	"attempt" integer NOT NULL,
	"runner_id" bigint NOT NULL,
	"runner_name" text NOT NULL,
	"status" text NOT NULL,
	"conclusion" text,
	"steps" jsonb NOT NULL,
	"outputs" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"token_hash" text NOT NULL,
	"log_rows" integer DEFAULT 0 NOT NULL,
	"is_log_complete" boolean DEFAULT false NOT NULL,
	"last_seen_at" timestamp with time zone DEFAULT now() NOT NULL,
	"started_at" timestamp with time zone DEFAULT now() NOT NULL,
	"completed_at" timestamp with time zone,
	CONSTRAINT "actions_tasks_conclusion" CHECK ((status = 'completed') = (conclusion is not null))
);
--> statement-breakpoint
ALTER TABLE "actions_disabled_workflows" ADD CONSTRAINT "actions_disabled_workflows_repository_id_repositories_id_fk" FOREIGN KEY ("repository_id") REFERENCES "public"."repositories"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "actions_jobs" ADD CONSTRAINT "actions_jobs_run_id_actions_runs_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."actions_runs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "actions_jobs" ADD CONSTRAINT "actions_jobs_repository_id_repositories_id_fk" FOREIGN KEY ("repository_id") REFERENCES "public"."repositories"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "actions_log_chunks" ADD CONSTRAINT "actions_log_chunks_task_id_actions_tasks_id_fk" FOREIGN KEY ("task_id") REFERENCES "public"."actions_tasks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "actions_registration_tokens" ADD CONSTRAINT "actions_registration_tokens_owner_id_users_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "actions_registration_tokens" ADD CONSTRAINT "actions_registration_tokens_repository_id_repositories_id_fk" FOREIGN KEY ("repository_id") REFERENCES "public"."repositories"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "actions_runners" ADD CONSTRAINT "actions_runners_owner_id_users_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "actions_runners" ADD CONSTRAINT "actions_runners_repository_id_repositories_id_fk" FOREIGN KEY ("repository_id") REFERENCES "public"."repositories"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "actions_runs" ADD CONSTRAINT "actions_runs_repository_id_repositories_id_fk" FOREIGN KEY ("repository_id") REFERENCES "public"."repositories"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "actions_runs" ADD CONSTRAINT "actions_runs_actor_id_users_id_fk" FOREIGN KEY ("actor_id") REFERENCES "public"."users"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "actions_runs" ADD CONSTRAINT "actions_runs_trigger_actor_id_users_id_fk" FOREIGN KEY ("trigger_actor_id") REFERENCES "public"."users"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "actions_tasks" ADD CONSTRAINT "actions_tasks_job_id_actions_jobs_id_fk" FOREIGN KEY ("job_id") REFERENCES "public"."actions_jobs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "actions_disabled_workflows_key" ON "actions_disabled_workflows" USING btree ("repository_id","workflow_file");--> statement-breakpoint
CREATE UNIQUE INDEX "actions_jobs_key" ON "actions_jobs" USING btree ("run_id","key");--> statement-breakpoint
CREATE INDEX "actions_jobs_repository_idx" ON "actions_jobs" USING btree ("repository_id","id");--> statement-breakpoint
CREATE INDEX "actions_jobs_queued_idx" ON "actions_jobs" USING btree ("id") WHERE status = 'queued';--> statement-breakpoint
CREATE UNIQUE INDEX "actions_log_chunks_key" ON "actions_log_chunks" USING btree ("task_id","first_row");--> statement-breakpoint
CREATE UNIQUE INDEX "actions_registration_tokens_hash_key" ON "actions_registration_tokens" USING btree ("token_hash");--> statement-breakpoint
CREATE UNIQUE INDEX "actions_registration_tokens_scope_key" ON "actions_registration_tokens" USING btree (coalesce("owner_id", 0),coalesce("repository_id", 0));--> statement-breakpoint
CREATE UNIQUE INDEX "actions_runners_uuid_key" ON "actions_runners" USING btree ("uuid");--> statement-breakpoint
CREATE INDEX "actions_runners_owner_idx" ON "actions_runners" USING btree ("owner_id","id");--> statement-breakpoint
CREATE INDEX "actions_runners_repository_idx" ON "actions_runners" USING btree ("repository_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "actions_runs_number_key" ON "actions_runs" USING btree ("repository_id","number");--> statement-breakpoint
CREATE INDEX "actions_runs_repository_idx" ON "actions_runs" USING btree ("repository_id","id");--> statement-breakpoint
CREATE INDEX "actions_runs_actor_idx" ON "actions_runs" USING btree ("trigger_actor_id","id");--> statement-breakpoint
CREATE INDEX "actions_runs_sha_idx" ON "actions_runs" USING btree ("repository_id","head_sha");--> statement-breakpoint
CREATE INDEX "actions_runs_open_idx" ON "actions_runs" USING btree ("repository_id","concurrency_group") WHERE status <> 'completed';--> statement-breakpoint
CREATE UNIQUE INDEX "actions_tasks_attempt_key" ON "actions_tasks" USING btree ("job_id","attempt");--> statement-breakpoint
CREATE UNIQUE INDEX "actions_tasks_token_key" ON "actions_tasks" USING btree ("token_hash");--> statement-breakpoint
CREATE INDEX "actions_tasks_runner_idx" ON "actions_tasks" USING btree ("runner_id") WHERE status = 'in_progress';