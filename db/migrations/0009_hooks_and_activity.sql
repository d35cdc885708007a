CREATE TABLE "hook_deliveries" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "hook_deliveries_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"hook_id" bigint NOT NULL,
	"uuid" uuid DEFAULT gen_random_uuid() NOT NULL,
	"event_id" bigint,
	"event_type" text NOT NULL,
	"payload" text NOT NULL,
	"request" jsonb,
	"response" jsonb,
	"error" text,
	"attempts" integer DEFAULT 0 NOT NULL,
	"is_succeeded" boolean DEFAULT false NOT NULL,
	"delivered_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "hooks" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "hooks_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"scope" text NOT NULL,
	"owner_id" bigint,
	"repository_id" bigint,
	"type" text NOT NULL,
	"name" text DEFAULT '' NOT NULL,
	"url" text NOT NULL,
	"content_type" text NOT NULL,
	"http_method" text DEFAULT 'POST' NOT NULL,
	"settings" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"secret" "bytea",
	"authorization_header" "bytea",
	"events" text[] NOT NULL,
	"branch_filter" text DEFAULT '' NOT NULL,
	"is_active" boolean DEFAULT false NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "hooks_one_parent" CHECK ((scope = 'repository') = (repository_id is not null) and (scope = 'owner') = (owner_id is not null)),
	CONSTRAINT "hooks_branch_filter_length" CHECK (char_length(branch_filter) <= 256)
);
--> statement-breakpoint
ALTER TABLE "activities" ADD COLUMN "issue_id" bigint;--> statement-breakpoint
ALTER TABLE "hook_deliveries" ADD CONSTRAINT "hook_deliveries_hook_id_hooks_id_fk" FOREIGN KEY ("hook_id") REFERENCES "public"."hooks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "hooks" ADD CONSTRAINT "hooks_owner_id_users_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "hooks" ADD CONSTRAINT "hooks_repository_id_repositories_id_fk" FOREIGN KEY ("repository_id") REFERENCES "public"."repositories"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "hook_deliveries_uuid_key" ON "hook_deliveries" USING btree ("uuid");--> statement-breakpoint
CREATE UNIQUE INDEX "hook_deliveries_event_key" ON "hook_deliveries" USING btree ("hook_id","event_id","event_type") WHERE event_id is not null;--> statement-breakpoint
CREATE INDEX "hook_deliveries_hook_idx" ON "hook_deliveries" USING btree ("hook_id","id");--> statement-breakpoint
CREATE INDEX "hook_deliveries_created_idx" ON "hook_deliveries" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "hooks_repository_idx" ON "hooks" USING btree ("repository_id","id");--> statement-breakpoint
CREATE INDEX "hooks_owner_idx" ON "hooks" USING btree ("owner_id","id");--> statement-breakpoint
CREATE INDEX "hooks_site_idx" ON "hooks" USING btree ("scope","id") WHERE scope in ('site', 'default');--> statement-breakpoint
ALTER TABLE "activities" ADD CONSTRAINT "activities_issue_id_issues_id_fk" FOREIGN KEY ("issue_id") REFERENCES "public"."issues"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "activities" ADD CONSTRAINT "activities_comment_id_comments_id_fk" FOREIGN KEY ("comment_id") REFERENCES "public"."comments"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "activities_issue_idx" ON "activities" USING btree ("issue_id") WHERE issue_id is not null;--> statement-breakpoint
CREATE INDEX "activities_comment_idx" ON "activities" USING btree ("comment_id") WHERE comment_id is not null;