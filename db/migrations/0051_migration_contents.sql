CREATE TABLE "migration_items" (
	"repository_id" bigint NOT NULL,
	"part" text NOT NULL,
	"id_there" bigint NOT NULL,
	"id_here" bigint,
	CONSTRAINT "migration_items_repository_id_part_id_there_pk" PRIMARY KEY("repository_id","part","id_there")
);
--> statement-breakpoint
CREATE TABLE "migration_parts" (
	"repository_id" bigint NOT NULL,
	"name" text NOT NULL,
	"place" integer NOT NULL,
	"page" integer DEFAULT 1 NOT NULL,
	"digest" text DEFAULT '' NOT NULL,
	"total" integer,
	"seen" integer DEFAULT 0 NOT NULL,
	"carried" integer DEFAULT 0 NOT NULL,
	"ended_at" timestamp with time zone,
	CONSTRAINT "migration_parts_repository_id_name_pk" PRIMARY KEY("repository_id","name")
);
--> statement-breakpoint
CREATE TABLE "migrations" (
	"repository_id" bigint PRIMARY KEY NOT NULL,
	"service" text NOT NULL,
	"api_url" text NOT NULL,
	"credentials" "bytea",
	"doer_id" bigint,
	"doer_id_there" bigint,
	"not_carried" text[] DEFAULT '{}' NOT NULL,
	"opens_issues" boolean DEFAULT false NOT NULL,
	"started_at" timestamp with time zone NOT NULL,
	"attempted_at" timestamp with time zone,
	"greeted_at" timestamp with time zone,
	"next_at" timestamp with time zone,
	"last_error" text DEFAULT '' NOT NULL,
	"failures" integer DEFAULT 0 NOT NULL,
	"ended_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "comments" ADD COLUMN "original_author" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "comments" ADD COLUMN "original_author_id" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "issues" ADD COLUMN "original_author" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "issues" ADD COLUMN "original_author_id" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "migration_items" ADD CONSTRAINT "migration_items_repository_id_migrations_repository_id_fk" FOREIGN KEY ("repository_id") REFERENCES "public"."migrations"("repository_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "migration_parts" ADD CONSTRAINT "migration_parts_repository_id_migrations_repository_id_fk" FOREIGN KEY ("repository_id") REFERENCES "public"."migrations"("repository_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "migrations" ADD CONSTRAINT "migrations_repository_id_repositories_id_fk" FOREIGN KEY ("repository_id") REFERENCES "public"."repositories"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "migrations" ADD CONSTRAINT "migrations_doer_id_users_id_fk" FOREIGN KEY ("doer_id") REFERENCES "public"."users"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "migrations_doer_idx" ON "migrations" USING btree ("doer_id");