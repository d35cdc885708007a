CREATE TABLE "pull_mirrors" (
	"repository_id" bigint PRIMARY KEY NOT NULL,
	"url" text NOT NULL,
	"credentials" "bytea",
	"next_at" timestamp with time zone,
	"attempted_at" timestamp with time zone,
	"last_error" text DEFAULT '' NOT NULL,
	"failures" integer DEFAULT 0 NOT NULL,
	"prunes" boolean DEFAULT true NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "push_mirrors" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "push_mirrors_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"repository_id" bigint NOT NULL,
	"remote_name" text NOT NULL,
	"url" text NOT NULL,
	"credentials" "bytea",
	"next_at" timestamp with time zone,
	"attempted_at" timestamp with time zone,
	"last_error" text DEFAULT '' NOT NULL,
	"failures" integer DEFAULT 0 NOT NULL,
	"interval_seconds" integer NOT NULL,
	"syncs_on_commit" boolean NOT NULL,
	"last_update_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "repositories" ADD COLUMN "mirror_interval_seconds" integer;--> statement-breakpoint
ALTER TABLE "repositories" ADD COLUMN "mirror_updated_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "pull_mirrors" ADD CONSTRAINT "pull_mirrors_repository_id_repositories_id_fk" FOREIGN KEY ("repository_id") REFERENCES "public"."repositories"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "push_mirrors" ADD CONSTRAINT "push_mirrors_repository_id_repositories_id_fk" FOREIGN KEY ("repository_id") REFERENCES "public"."repositories"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "pull_mirrors_next_idx" ON "pull_mirrors" USING btree ("next_at") WHERE next_at is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "push_mirrors_name_key" ON "push_mirrors" USING btree ("repository_id","remote_name");--> statement-breakpoint
CREATE INDEX "push_mirrors_next_idx" ON "push_mirrors" USING btree ("next_at") WHERE next_at is not null;