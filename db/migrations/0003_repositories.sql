CREATE TABLE "repository_reservations" (
	"id" bigint PRIMARY KEY DEFAULT nextval('repositories_id_seq') NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "repository_totals" (
	"owner_visibility" text NOT NULL,
	"is_private" boolean NOT NULL,
	"is_archived" boolean NOT NULL,
	"is_template" boolean NOT NULL,
	"is_fork" boolean NOT NULL,
	"is_mirror" boolean NOT NULL,
	"repositories" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "topics" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "topics_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"name" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX "topics_name_key" ON "topics" USING btree ("name");--> statement-breakpoint
CREATE INDEX "topics_search_idx" ON "topics" USING gin ("name" gin_trgm_ops);--> statement-breakpoint
CREATE INDEX "repositories_open_idx" ON "repositories" USING btree ("lower_name","id") WHERE not is_private;