CREATE TABLE "repository_checks" (
	"repository_id" bigint PRIMARY KEY NOT NULL,
	"checked_at" timestamp with time zone,
	"problems" text[] DEFAULT '{}' NOT NULL,
	"maintained_at" timestamp with time zone
);
--> statement-breakpoint
ALTER TABLE "hooks" ADD COLUMN "copied_from_id" bigint;--> statement-breakpoint
ALTER TABLE "repository_checks" ADD CONSTRAINT "repository_checks_repository_id_repositories_id_fk" FOREIGN KEY ("repository_id") REFERENCES "public"."repositories"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "repository_checks_checked_idx" ON "repository_checks" USING btree ("checked_at");--> statement-breakpoint
CREATE INDEX "repository_checks_maintained_idx" ON "repository_checks" USING btree ("maintained_at");--> statement-breakpoint
CREATE UNIQUE INDEX "hooks_copy_key" ON "hooks" USING btree ("repository_id","copied_from_id") WHERE copied_from_id is not null;