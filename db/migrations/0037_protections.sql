CREATE TABLE "branch_protection_people" (
	"protection_id" bigint NOT NULL,
	"list" text NOT NULL,
	"user_id" bigint NOT NULL,
	CONSTRAINT "branch_protection_people_protection_id_list_user_id_pk" PRIMARY KEY("protection_id","list","user_id")
);
--> statement-breakpoint
CREATE TABLE "branch_protection_teams" (
	"protection_id" bigint NOT NULL,
	"list" text NOT NULL,
	"team_id" bigint NOT NULL,
	CONSTRAINT "branch_protection_teams_protection_id_list_team_id_pk" PRIMARY KEY("protection_id","list","team_id")
);
--> statement-breakpoint
CREATE TABLE "branch_protections" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "branch_protections_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"repository_id" bigint NOT NULL,
	"rule_name" text NOT NULL,
	"priority" integer NOT NULL,
	"enable_push" boolean DEFAULT false NOT NULL,
	"enable_push_whitelist" boolean DEFAULT false NOT NULL,
	"push_whitelist_deploy_keys" boolean DEFAULT false NOT NULL,
	"enable_force_push" boolean DEFAULT false NOT NULL,
	"enable_force_push_allowlist" boolean DEFAULT false NOT NULL,
	"force_push_allowlist_deploy_keys" boolean DEFAULT false NOT NULL,
	"enable_merge_whitelist" boolean DEFAULT false NOT NULL,
	"enable_status_check" boolean DEFAULT false NOT NULL,
	"status_check_contexts" text[],
	"required_approvals" integer DEFAULT 0 NOT NULL,
	"enable_approvals_whitelist" boolean DEFAULT false NOT NULL,
	"block_on_rejected_reviews" boolean DEFAULT false NOT NULL,
	"block_on_official_review_requests" boolean DEFAULT false NOT NULL,
	"block_on_outdated_branch" boolean DEFAULT false NOT NULL,
	"dismiss_stale_approvals" boolean DEFAULT false NOT NULL,
	"ignore_stale_approvals" boolean DEFAULT false NOT NULL,
	"require_signed_commits" boolean DEFAULT false NOT NULL,
	"protected_file_patterns" text DEFAULT '' NOT NULL,
	"unprotected_file_patterns" text DEFAULT '' NOT NULL,
	"block_admin_merge_override" boolean DEFAULT false NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "branch_protections_name_length" CHECK (char_length(rule_name) between 1 and 255),
	CONSTRAINT "branch_protections_approvals" CHECK (required_approvals >= 0)
);
--> statement-breakpoint
CREATE TABLE "tag_protection_people" (
	"protection_id" bigint NOT NULL,
	"user_id" bigint NOT NULL,
	CONSTRAINT "tag_protection_people_protection_id_user_id_pk" PRIMARY KEY("protection_id","user_id")
);
--> statement-breakpoint
CREATE TABLE "tag_protection_teams" (
	"protection_id" bigint NOT NULL,
	"team_id" bigint NOT NULL,
	CONSTRAINT "tag_protection_teams_protection_id_team_id_pk" PRIMARY KEY("protection_id","team_id")
);
--> statement-breakpoint
CREATE TABLE "tag_protections" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "tag_protections_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"repository_id" bigint NOT NULL,
	"name_pattern" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "tag_protections_pattern_length" CHECK (char_length(name_pattern) between 1 and 255)
);
--> statement-breakpoint
ALTER TABLE "branch_protection_people" ADD CONSTRAINT "branch_protection_people_protection_id_branch_protections_id_fk" FOREIGN KEY ("protection_id") REFERENCES "public"."branch_protections"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "branch_protection_people" ADD CONSTRAINT "branch_protection_people_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "branch_protection_teams" ADD CONSTRAINT "branch_protection_teams_protection_id_branch_protections_id_fk" FOREIGN KEY ("protection_id") REFERENCES "public"."branch_protections"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "branch_protection_teams" ADD CONSTRAINT "branch_protection_teams_team_id_teams_id_fk" FOREIGN KEY ("team_id") REFERENCES "public"."teams"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "branch_protections" ADD CONSTRAINT "branch_protections_repository_id_repositories_id_fk" FOREIGN KEY ("repository_id") REFERENCES "public"."repositories"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tag_protection_people" ADD CONSTRAINT "tag_protection_people_protection_id_tag_protections_id_fk" FOREIGN KEY ("protection_id") REFERENCES "public"."tag_protections"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tag_protection_people" ADD CONSTRAINT "tag_protection_people_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tag_protection_teams" ADD CONSTRAINT "tag_protection_teams_protection_id_tag_protections_id_fk" FOREIGN KEY ("protection_id") REFERENCES "public"."tag_protections"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tag_protection_teams" ADD CONSTRAINT "tag_protection_teams_team_id_teams_id_fk" FOREIGN KEY ("team_id") REFERENCES "public"."teams"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tag_protections" ADD CONSTRAINT "tag_protections_repository_id_repositories_id_fk" FOREIGN KEY ("repository_id") REFERENCES "public"."repositories"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "branch_protection_people_user_idx" ON "branch_protection_people" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "branch_protection_teams_team_idx" ON "branch_protection_teams" USING btree ("team_id");--> statement-breakpoint
CREATE UNIQUE INDEX "branch_protections_name_key" ON "branch_protections" USING btree ("repository_id","rule_name");--> statement-breakpoint
CREATE INDEX "tag_protection_people_user_idx" ON "tag_protection_people" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "tag_protection_teams_team_idx" ON "tag_protection_teams" USING btree ("team_id");--> statement-breakpoint
CREATE UNIQUE INDEX "tag_protections_pattern_key" ON "tag_protections" USING btree ("repository_id","name_pattern");