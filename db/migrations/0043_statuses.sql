CREATE TABLE "commit_statuses" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "commit_statuses_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"repository_id" bigint NOT NULL,
	"sha" text NOT NULL,
	"context" text DEFAULT '' NOT NULL,
	"state" text NOT NULL,
	"description" text DEFAULT '' NOT NULL,
	"target_url" text DEFAULT '' NOT NULL,
	"creator_id" bigint,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "commit_statuses_context_length" CHECK (char_length(context) <= 255)
);
--> statement-breakpoint
ALTER TABLE "commit_statuses" ADD CONSTRAINT "commit_statuses_repository_id_repositories_id_fk" FOREIGN KEY ("repository_id") REFERENCES "public"."repositories"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "commit_statuses" ADD CONSTRAINT "commit_statuses_creator_id_users_id_fk" FOREIGN KEY ("creator_id") REFERENCES "public"."users"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "commit_statuses_context_idx" ON "commit_statuses" USING btree ("repository_id","sha","context","id");--> statement-breakpoint
CREATE INDEX "commit_statuses_recent_idx" ON "commit_statuses" USING btree ("repository_id","sha","id");--> statement-breakpoint
CREATE INDEX "commit_statuses_creator_idx" ON "commit_statuses" USING btree ("creator_id");