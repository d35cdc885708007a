CREATE TABLE "migration_files" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "migration_files_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"repository_id" bigint NOT NULL,
	"release_id" bigint NOT NULL,
	"name" text NOT NULL,
	"url" text NOT NULL,
	"size" bigint NOT NULL,
	"download_count" bigint NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"tries" integer DEFAULT 0 NOT NULL,
	"fault" text
);
--> statement-breakpoint
ALTER TABLE "migration_files" ADD CONSTRAINT "migration_files_repository_id_migrations_repository_id_fk" FOREIGN KEY ("repository_id") REFERENCES "public"."migrations"("repository_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "migration_files" ADD CONSTRAINT "migration_files_release_id_releases_id_fk" FOREIGN KEY ("release_id") REFERENCES "public"."releases"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "migration_files_open_idx" ON "migration_files" USING btree ("repository_id","fault","id");--> statement-breakpoint
CREATE INDEX "migration_files_release_idx" ON "migration_files" USING btree ("release_id");