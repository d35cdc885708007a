CREATE TABLE "repository_transfers" (
	"repository_id" bigint PRIMARY KEY NOT NULL,
	"doer_id" bigint NOT NULL,
	"recipient_id" bigint NOT NULL,
	"team_ids" bigint[] DEFAULT '{}'::bigint[] NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "repository_transfers" ADD CONSTRAINT "repository_transfers_repository_id_repositories_id_fk" FOREIGN KEY ("repository_id") REFERENCES "public"."repositories"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "repository_transfers" ADD CONSTRAINT "repository_transfers_doer_id_users_id_fk" FOREIGN KEY ("doer_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "repository_transfers" ADD CONSTRAINT "repository_transfers_recipient_id_users_id_fk" FOREIGN KEY ("recipient_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "repository_transfers_recipient_idx" ON "repository_transfers" USING btree ("recipient_id","repository_id");--> statement-breakpoint
CREATE INDEX "repository_transfers_doer_idx" ON "repository_transfers" USING btree ("doer_id");