CREATE TABLE "actions_turns" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "actions_turns_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"repository_id" bigint NOT NULL,
	"group_name" text NOT NULL,
	"run_id" bigint NOT NULL,
	"holder" text NOT NULL,
	"is_held" boolean DEFAULT false NOT NULL,
	"is_ousted" boolean DEFAULT false NOT NULL
);
--> statement-breakpoint
DROP INDEX "actions_runs_open_idx";--> statement-breakpoint
ALTER TABLE "actions_turns" ADD CONSTRAINT "actions_turns_repository_id_repositories_id_fk" FOREIGN KEY ("repository_id") REFERENCES "public"."repositories"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "actions_turns" ADD CONSTRAINT "actions_turns_run_id_actions_runs_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."actions_runs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "actions_turns_held_key" ON "actions_turns" USING btree ("repository_id","group_name") WHERE is_held;--> statement-breakpoint
CREATE UNIQUE INDEX "actions_turns_holder_key" ON "actions_turns" USING btree ("run_id","holder","group_name");--> statement-breakpoint
CREATE INDEX "actions_turns_line_idx" ON "actions_turns" USING btree ("repository_id","group_name","id");--> statement-breakpoint
ALTER TABLE "actions_runs" DROP COLUMN "concurrency_group";