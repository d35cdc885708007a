CREATE TABLE "actions_standing_triggers" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "actions_standing_triggers_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"repository_id" bigint NOT NULL,
	"event" text NOT NULL,
	"cron" text DEFAULT '' NOT NULL,
	"timezone" text DEFAULT '' NOT NULL,
	"next_at" timestamp with time zone,
	"actor_id" bigint,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "actions_standing_triggers_schedule" CHECK (event = 'schedule' or (cron = '' and timezone = '' and next_at is null))
);
--> statement-breakpoint
ALTER TABLE "actions_runs" ADD COLUMN "chain_length" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "actions_runs" ADD COLUMN "chain_root_id" bigint;--> statement-breakpoint
ALTER TABLE "actions_standing_triggers" ADD CONSTRAINT "actions_standing_triggers_repository_id_repositories_id_fk" FOREIGN KEY ("repository_id") REFERENCES "public"."repositories"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "actions_standing_triggers" ADD CONSTRAINT "actions_standing_triggers_actor_id_users_id_fk" FOREIGN KEY ("actor_id") REFERENCES "public"."users"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "actions_standing_triggers_key" ON "actions_standing_triggers" USING btree ("repository_id","event","cron","timezone");--> statement-breakpoint
CREATE INDEX "actions_standing_triggers_due_idx" ON "actions_standing_triggers" USING btree ("next_at") WHERE next_at is not null;--> statement-breakpoint
CREATE INDEX "actions_standing_triggers_actor_idx" ON "actions_standing_triggers" USING btree ("actor_id");--> statement-breakpoint
CREATE INDEX "actions_runs_chain_idx" ON "actions_runs" USING btree ("chain_root_id") WHERE chain_root_id is not null;--> statement-breakpoint
ALTER TABLE "actions_runs" ADD CONSTRAINT "actions_runs_chain" CHECK ((chain_length = 0) = (chain_root_id is null));