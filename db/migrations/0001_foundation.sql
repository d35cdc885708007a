CREATE TABLE "activities" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "activities_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"event_id" bigint NOT NULL,
	"actor_id" bigint NOT NULL,
	"owner_id" bigint NOT NULL,
	"repository_id" bigint NOT NULL,
	"op_type" text NOT NULL,
	"ref_name" text DEFAULT '' NOT NULL,
	"comment_id" bigint,
	"content" text DEFAULT '' NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "access_token_repositories" (
	"token_id" bigint NOT NULL,
	"repository_id" bigint NOT NULL,
	CONSTRAINT "access_token_repositories_token_id_repository_id_pk" PRIMARY KEY("token_id","repository_id")
);
--> statement-breakpoint
CREATE TABLE "access_tokens" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "access_tokens_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"user_id" bigint NOT NULL,
	"name" text NOT NULL,
	"token_hash" text NOT NULL,
	"last_eight" text NOT NULL,
	"scopes" text[] DEFAULT '{}'::text[] NOT NULL,
	"is_limited_to_repositories" boolean DEFAULT false NOT NULL,
	"expires_at" timestamp with time zone,
	"last_used_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "access_tokens_name_length" CHECK (char_length(name) between 1 and 255)
);
--> statement-breakpoint
CREATE TABLE "login_failures" (
	"subject" text PRIMARY KEY NOT NULL,
	"failures" integer DEFAULT 0 NOT NULL,
	"last_failed_at" timestamp with time zone NOT NULL,
	"blocked_until" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "public_keys" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "public_keys_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"user_id" bigint NOT NULL,
	"title" text NOT NULL,
	"key" text NOT NULL,
	"key_type" text NOT NULL,
	"fingerprint" text NOT NULL,
	"is_read_only" boolean DEFAULT false NOT NULL,
	"last_used_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recovery_codes" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "recovery_codes_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"user_id" bigint NOT NULL,
	"code_hash" text NOT NULL,
	"used_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "two_factors" (
	"user_id" bigint PRIMARY KEY NOT NULL,
	"secret" "bytea" NOT NULL,
	"confirmed_at" timestamp with time zone,
	"last_step" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "cron_tasks" (
	"name" text PRIMARY KEY NOT NULL,
	"schedule" text NOT NULL,
	"description" text NOT NULL,
	"is_active" boolean DEFAULT true NOT NULL,
	"exec_times" bigint DEFAULT 0 NOT NULL,
	"last_started_at" timestamp with time zone,
	"last_finished_at" timestamp with time zone,
	"last_error" text,
	"last_failed_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "cron_ticks" (
	"task" text NOT NULL,
	"due_at" timestamp with time zone NOT NULL,
	"claimed_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "cron_ticks_task_due_at_pk" PRIMARY KEY("task","due_at")
);
--> statement-breakpoint
CREATE TABLE "events" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "events_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"kind" text NOT NULL,
	"actor_id" bigint,
	"repository_id" bigint,
	"owner_id" bigint,
	"payload" jsonb NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"fanned_out_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "comments" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "comments_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"issue_id" bigint NOT NULL,
	"kind" text DEFAULT 'comment' NOT NULL,
	"poster_id" bigint,
	"body" text DEFAULT '' NOT NULL,
	"content_version" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "issue_assignees" (
	"issue_id" bigint NOT NULL,
	"user_id" bigint NOT NULL,
	CONSTRAINT "issue_assignees_issue_id_user_id_pk" PRIMARY KEY("issue_id","user_id")
);
--> statement-breakpoint
CREATE TABLE "issue_labels" (
	"issue_id" bigint NOT NULL,
	"label_id" bigint NOT NULL,
	CONSTRAINT "issue_labels_issue_id_label_id_pk" PRIMARY KEY("issue_id","label_id")
);
--> statement-breakpoint
CREATE TABLE "issues" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "issues_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"repository_id" bigint NOT NULL,
	"number" integer NOT NULL,
	"is_pull" boolean DEFAULT false NOT NULL,
	"poster_id" bigint,
	"title" text NOT NULL,
	"body" text DEFAULT '' NOT NULL,
	"content_version" integer DEFAULT 0 NOT NULL,
	"ref" text DEFAULT '' NOT NULL,
	"milestone_id" bigint,
	"is_closed" boolean DEFAULT false NOT NULL,
	"is_locked" boolean DEFAULT false NOT NULL,
	"lock_reason" text DEFAULT '' NOT NULL,
	"pin_order" integer DEFAULT 0 NOT NULL,
	"comments_count" integer DEFAULT 0 NOT NULL,
	"time_estimate_seconds" bigint DEFAULT 0 NOT NULL,
	"due_at" timestamp with time zone,
	"closed_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "issues_title_length" CHECK (char_length(title) <= 255)
);
--> statement-breakpoint
CREATE TABLE "labels" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "labels_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"repository_id" bigint,
	"organization_id" bigint,
	"name" text NOT NULL,
	"color" text NOT NULL,
	"description" text DEFAULT '' NOT NULL,
	"is_exclusive" boolean DEFAULT false NOT NULL,
	"is_archived" boolean DEFAULT false NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "labels_one_parent" CHECK ((repository_id is null) <> (organization_id is null)),
	CONSTRAINT "labels_color" CHECK (color ~ '^[0-9a-f]{6}$')
);
--> statement-breakpoint
CREATE TABLE "milestones" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "milestones_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"repository_id" bigint NOT NULL,
	"title" text NOT NULL,
	"description" text DEFAULT '' NOT NULL,
	"is_closed" boolean DEFAULT false NOT NULL,
	"open_issues_count" integer DEFAULT 0 NOT NULL,
	"closed_issues_count" integer DEFAULT 0 NOT NULL,
	"due_at" timestamp with time zone,
	"closed_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "milestones_title_length" CHECK (char_length(title) between 1 and 255)
);
--> statement-breakpoint
CREATE TABLE "job_workers" (
	"id" text PRIMARY KEY NOT NULL,
	"started_at" timestamp with time zone DEFAULT now() NOT NULL,
	"seen_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "organization_members" (
	"organization_id" bigint NOT NULL,
	"user_id" bigint NOT NULL,
	"is_public" boolean DEFAULT false NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "organization_members_organization_id_user_id_pk" PRIMARY KEY("organization_id","user_id"),
	CONSTRAINT "organization_members_not_self" CHECK (organization_id <> user_id)
);
--> statement-breakpoint
CREATE TABLE "team_members" (
	"team_id" bigint NOT NULL,
	"user_id" bigint NOT NULL,
	"organization_id" bigint NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "team_members_team_id_user_id_pk" PRIMARY KEY("team_id","user_id")
);
--> statement-breakpoint
CREATE TABLE "team_repositories" (
	"team_id" bigint NOT NULL,
	"repository_id" bigint NOT NULL,
	CONSTRAINT "team_repositories_team_id_repository_id_pk" PRIMARY KEY("team_id","repository_id")
);
--> statement-breakpoint
CREATE TABLE "team_units" (
	"team_id" bigint NOT NULL,
	"unit" text NOT NULL,
	"permission" text NOT NULL,
	CONSTRAINT "team_units_team_id_unit_pk" PRIMARY KEY("team_id","unit")
);
--> statement-breakpoint
CREATE TABLE "teams" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "teams_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"organization_id" bigint NOT NULL,
	"name" text NOT NULL,
	"lower_name" text GENERATED ALWAYS AS (lower(name)) STORED NOT NULL,
	"description" text DEFAULT '' NOT NULL,
	"permission" text DEFAULT 'none' NOT NULL,
	"visibility" text DEFAULT 'public' NOT NULL,
	"includes_all_repositories" boolean DEFAULT false NOT NULL,
	"can_create_org_repo" boolean DEFAULT false NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "pushes" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "pushes_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"repository_id" bigint NOT NULL,
	"pusher_id" bigint,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "refs" (
	"repository_id" bigint NOT NULL,
	"kind" text NOT NULL,
	"name" text NOT NULL,
	"sha" text NOT NULL,
	"commit" jsonb,
	"committed_at" timestamp with time zone,
	"pusher_id" bigint,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "refs_repository_id_kind_name_pk" PRIMARY KEY("repository_id","kind","name")
);
--> statement-breakpoint
CREATE TABLE "collaborations" (
	"repository_id" bigint NOT NULL,
	"user_id" bigint NOT NULL,
	"permission" text DEFAULT 'write' NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "collaborations_repository_id_user_id_pk" PRIMARY KEY("repository_id","user_id")
);
--> statement-breakpoint
CREATE TABLE "repositories" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "repositories_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"owner_id" bigint NOT NULL,
	"name" text NOT NULL,
	"lower_name" text GENERATED ALWAYS AS (lower(name)) STORED NOT NULL,
	"description" text DEFAULT '' NOT NULL,
	"website" text DEFAULT '' NOT NULL,
	"original_url" text DEFAULT '' NOT NULL,
	"default_branch" text DEFAULT 'main' NOT NULL,
	"object_format" text DEFAULT 'sha1' NOT NULL,
	"trust_model" text DEFAULT 'default' NOT NULL,
	"is_private" boolean DEFAULT false NOT NULL,
	"is_template" boolean DEFAULT false NOT NULL,
	"is_archived" boolean DEFAULT false NOT NULL,
	"archived_at" timestamp with time zone,
	"is_mirror" boolean DEFAULT false NOT NULL,
	"is_fork" boolean DEFAULT false NOT NULL,
	"parent_id" bigint,
	"is_empty" boolean DEFAULT true NOT NULL,
	"avatar" text DEFAULT '' NOT NULL,
	"size_bytes" bigint DEFAULT 0 NOT NULL,
	"language" text DEFAULT '' NOT NULL,
	"topics" text[] DEFAULT '{}'::text[] NOT NULL,
	"licenses" text[] DEFAULT '{}'::text[] NOT NULL,
	"has_code" boolean DEFAULT true NOT NULL,
	"has_issues" boolean DEFAULT true NOT NULL,
	"has_wiki" boolean DEFAULT true NOT NULL,
	"has_pull_requests" boolean DEFAULT true NOT NULL,
	"has_projects" boolean DEFAULT true NOT NULL,
	"projects_mode" text DEFAULT 'all' NOT NULL,
	"has_releases" boolean DEFAULT true NOT NULL,
	"has_packages" boolean DEFAULT true NOT NULL,
	"has_actions" boolean DEFAULT true NOT NULL,
	"external_tracker" jsonb,
	"external_wiki_url" text,
	"enable_time_tracker" boolean DEFAULT true NOT NULL,
	"allow_only_contributors_to_track_time" boolean DEFAULT true NOT NULL,
	"enable_issue_dependencies" boolean DEFAULT true NOT NULL,
	"ignore_whitespace_conflicts" boolean DEFAULT false NOT NULL,
	"allow_merge_commits" boolean DEFAULT true NOT NULL,
	"allow_rebase" boolean DEFAULT true NOT NULL,
	"allow_rebase_explicit" boolean DEFAULT true NOT NULL,
	"allow_squash_merge" boolean DEFAULT true NOT NULL,
	"allow_fast_forward_only_merge" boolean DEFAULT true NOT NULL,
	"allow_rebase_update" boolean DEFAULT true NOT NULL,
	"allow_manual_merge" boolean DEFAULT false NOT NULL,
	"autodetect_manual_merge" boolean DEFAULT false NOT NULL,
	"default_delete_branch_after_merge" boolean DEFAULT false NOT NULL,
	"default_merge_style" text DEFAULT 'merge' NOT NULL,
	"default_allow_maintainer_edit" boolean DEFAULT true NOT NULL,
	"stars_count" integer DEFAULT 0 NOT NULL,
	"forks_count" integer DEFAULT 0 NOT NULL,
	"watchers_count" integer DEFAULT 0 NOT NULL,
	"branch_count" integer DEFAULT 0 NOT NULL,
	"releases_count" integer DEFAULT 0 NOT NULL,
	"open_issues_count" integer DEFAULT 0 NOT NULL,
	"open_pulls_count" integer DEFAULT 0 NOT NULL,
	"last_issue_number" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "repositories_name_length" CHECK (char_length(name) between 1 and 100),
	CONSTRAINT "repositories_description_length" CHECK (char_length(description) <= 2048)
);
--> statement-breakpoint
CREATE TABLE "repository_languages" (
	"repository_id" bigint NOT NULL,
	"language" text NOT NULL,
	"bytes" bigint NOT NULL,
	CONSTRAINT "repository_languages_repository_id_language_pk" PRIMARY KEY("repository_id","language")
);
--> statement-breakpoint
CREATE TABLE "repository_redirects" (
	"owner_id" bigint NOT NULL,
	"lower_name" text NOT NULL,
	"repository_id" bigint NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "repository_redirects_owner_id_lower_name_pk" PRIMARY KEY("owner_id","lower_name")
);
--> statement-breakpoint
CREATE TABLE "stars" (
	"user_id" bigint NOT NULL,
	"repository_id" bigint NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "stars_user_id_repository_id_pk" PRIMARY KEY("user_id","repository_id")
);
--> statement-breakpoint
CREATE TABLE "watches" (
	"user_id" bigint NOT NULL,
	"repository_id" bigint NOT NULL,
	"is_subscribed" boolean DEFAULT true NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "watches_user_id_repository_id_pk" PRIMARY KEY("user_id","repository_id")
);
--> statement-breakpoint
CREATE TABLE "badges" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "badges_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"slug" text NOT NULL,
	"description" text DEFAULT '' NOT NULL,
	"image_url" text DEFAULT '' NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "blocks" (
	"blocker_id" bigint NOT NULL,
	"blocked_id" bigint NOT NULL,
	"note" text DEFAULT '' NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "blocks_blocker_id_blocked_id_pk" PRIMARY KEY("blocker_id","blocked_id"),
	CONSTRAINT "blocks_not_self" CHECK (blocker_id <> blocked_id)
);
--> statement-breakpoint
CREATE TABLE "emails" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "emails_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"user_id" bigint NOT NULL,
	"email" text NOT NULL,
	"lower_email" text GENERATED ALWAYS AS (lower(email)) STORED NOT NULL,
	"is_primary" boolean DEFAULT false NOT NULL,
	"is_activated" boolean DEFAULT false NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "follows" (
	"follower_id" bigint NOT NULL,
	"followed_id" bigint NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "follows_follower_id_followed_id_pk" PRIMARY KEY("follower_id","followed_id"),
	CONSTRAINT "follows_not_self" CHECK (follower_id <> followed_id)
);
--> statement-breakpoint
CREATE TABLE "user_badges" (
	"user_id" bigint NOT NULL,
	"badge_id" bigint NOT NULL,
	CONSTRAINT "user_badges_user_id_badge_id_pk" PRIMARY KEY("user_id","badge_id")
);
--> statement-breakpoint
CREATE TABLE "user_redirects" (
	"lower_name" text PRIMARY KEY NOT NULL,
	"user_id" bigint NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "users" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "users_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"kind" text DEFAULT 'user' NOT NULL,
	"name" text NOT NULL,
	"lower_name" text GENERATED ALWAYS AS (lower(name)) STORED NOT NULL,
	"full_name" text DEFAULT '' NOT NULL,
	"email" text DEFAULT '' NOT NULL,
	"keep_email_private" boolean DEFAULT false NOT NULL,
	"description" text DEFAULT '' NOT NULL,
	"location" text DEFAULT '' NOT NULL,
	"website" text DEFAULT '' NOT NULL,
	"language" text DEFAULT '' NOT NULL,
	"visibility" text DEFAULT 'public' NOT NULL,
	"avatar" text DEFAULT '' NOT NULL,
	"password_hash" text DEFAULT '' NOT NULL,
	"must_change_password" boolean DEFAULT false NOT NULL,
	"login_name" text DEFAULT '' NOT NULL,
	"source_id" bigint DEFAULT 0 NOT NULL,
	"is_admin" boolean DEFAULT false NOT NULL,
	"is_active" boolean DEFAULT true NOT NULL,
	"is_restricted" boolean DEFAULT false NOT NULL,
	"prohibit_login" boolean DEFAULT false NOT NULL,
	"max_repo_creation" integer DEFAULT -1 NOT NULL,
	"allow_create_organization" boolean DEFAULT true NOT NULL,
	"allow_git_hook" boolean DEFAULT false NOT NULL,
	"allow_import_local" boolean DEFAULT false NOT NULL,
	"last_login_at" timestamp with time zone,
	"theme" text DEFAULT 'auto' NOT NULL,
	"diff_view_style" text DEFAULT '' NOT NULL,
	"hide_activity" boolean DEFAULT false NOT NULL,
	"repo_admin_change_team_access" boolean DEFAULT false NOT NULL,
	"followers_count" integer DEFAULT 0 NOT NULL,
	"following_count" integer DEFAULT 0 NOT NULL,
	"stars_count" integer DEFAULT 0 NOT NULL,
	"repositories_count" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "users_name_present" CHECK ("users"."name" <> '')
);
--> statement-breakpoint
ALTER TABLE "activities" ADD CONSTRAINT "activities_actor_id_users_id_fk" FOREIGN KEY ("actor_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "activities" ADD CONSTRAINT "activities_owner_id_users_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "activities" ADD CONSTRAINT "activities_repository_id_repositories_id_fk" FOREIGN KEY ("repository_id") REFERENCES "public"."repositories"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "access_token_repositories" ADD CONSTRAINT "access_token_repositories_token_id_access_tokens_id_fk" FOREIGN KEY ("token_id") REFERENCES "public"."access_tokens"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "access_token_repositories" ADD CONSTRAINT "access_token_repositories_repository_id_repositories_id_fk" FOREIGN KEY ("repository_id") REFERENCES "public"."repositories"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "access_tokens" ADD CONSTRAINT "access_tokens_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "public_keys" ADD CONSTRAINT "public_keys_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "recovery_codes" ADD CONSTRAINT "recovery_codes_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "two_factors" ADD CONSTRAINT "two_factors_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "comments" ADD CONSTRAINT "comments_issue_id_issues_id_fk" FOREIGN KEY ("issue_id") REFERENCES "public"."issues"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "comments" ADD CONSTRAINT "comments_poster_id_users_id_fk" FOREIGN KEY ("poster_id") REFERENCES "public"."users"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "issue_assignees" ADD CONSTRAINT "issue_assignees_issue_id_issues_id_fk" FOREIGN KEY ("issue_id") REFERENCES "public"."issues"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "issue_assignees" ADD CONSTRAINT "issue_assignees_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "issue_labels" ADD CONSTRAINT "issue_labels_issue_id_issues_id_fk" FOREIGN KEY ("issue_id") REFERENCES "public"."issues"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "issue_labels" ADD CONSTRAINT "issue_labels_label_id_labels_id_fk" FOREIGN KEY ("label_id") REFERENCES "public"."labels"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "issues" ADD CONSTRAINT "issues_repository_id_repositories_id_fk" FOREIGN KEY ("repository_id") REFERENCES "public"."repositories"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "issues" ADD CONSTRAINT "issues_poster_id_users_id_fk" FOREIGN KEY ("poster_id") REFERENCES "public"."users"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "issues" ADD CONSTRAINT "issues_milestone_id_milestones_id_fk" FOREIGN KEY ("milestone_id") REFERENCES "public"."milestones"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "labels" ADD CONSTRAINT "labels_repository_id_repositories_id_fk" FOREIGN KEY ("repository_id") REFERENCES "public"."repositories"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "labels" ADD CONSTRAINT "labels_organization_id_users_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "milestones" ADD CONSTRAINT "milestones_repository_id_repositories_id_fk" FOREIGN KEY ("repository_id") REFERENCES "public"."repositories"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "organization_members" ADD CONSTRAINT "organization_members_organization_id_users_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "organization_members" ADD CONSTRAINT "organization_members_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "team_members" ADD CONSTRAINT "team_members_team_id_teams_id_fk" FOREIGN KEY ("team_id") REFERENCES "public"."teams"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "team_members" ADD CONSTRAINT "team_members_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "team_members" ADD CONSTRAINT "team_members_organization_id_users_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "team_repositories" ADD CONSTRAINT "team_repositories_team_id_teams_id_fk" FOREIGN KEY ("team_id") REFERENCES "public"."teams"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "team_repositories" ADD CONSTRAINT "team_repositories_repository_id_repositories_id_fk" FOREIGN KEY ("repository_id") REFERENCES "public"."repositories"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "team_units" ADD CONSTRAINT "team_units_team_id_teams_id_fk" FOREIGN KEY ("team_id") REFERENCES "public"."teams"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "teams" ADD CONSTRAINT "teams_organization_id_users_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "pushes" ADD CONSTRAINT "pushes_repository_id_repositories_id_fk" FOREIGN KEY ("repository_id") REFERENCES "public"."repositories"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "pushes" ADD CONSTRAINT "pushes_pusher_id_users_id_fk" FOREIGN KEY ("pusher_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "refs" ADD CONSTRAINT "refs_repository_id_repositories_id_fk" FOREIGN KEY ("repository_id") REFERENCES "public"."repositories"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "refs" ADD CONSTRAINT "refs_pusher_id_users_id_fk" FOREIGN KEY ("pusher_id") REFERENCES "public"."users"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "collaborations" ADD CONSTRAINT "collaborations_repository_id_repositories_id_fk" FOREIGN KEY ("repository_id") REFERENCES "public"."repositories"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "collaborations" ADD CONSTRAINT "collaborations_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "repositories" ADD CONSTRAINT "repositories_owner_id_users_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."users"("id") ON DELETE restrict ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "repositories" ADD CONSTRAINT "repositories_parent_id_repositories_id_fk" FOREIGN KEY ("parent_id") REFERENCES "public"."repositories"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "repository_languages" ADD CONSTRAINT "repository_languages_repository_id_repositories_id_fk" FOREIGN KEY ("repository_id") REFERENCES "public"."repositories"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "repository_redirects" ADD CONSTRAINT "repository_redirects_owner_id_users_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "repository_redirects" ADD CONSTRAINT "repository_redirects_repository_id_repositories_id_fk" FOREIGN KEY ("repository_id") REFERENCES "public"."repositories"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "stars" ADD CONSTRAINT "stars_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "stars" ADD CONSTRAINT "stars_repository_id_repositories_id_fk" FOREIGN KEY ("repository_id") REFERENCES "public"."repositories"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "watches" ADD CONSTRAINT "watches_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "watches" ADD CONSTRAINT "watches_repository_id_repositories_id_fk" FOREIGN KEY ("repository_id") REFERENCES "public"."repositories"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "blocks" ADD CONSTRAINT "blocks_blocker_id_users_id_fk" FOREIGN KEY ("blocker_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "blocks" ADD CONSTRAINT "blocks_blocked_id_users_id_fk" FOREIGN KEY ("blocked_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "emails" ADD CONSTRAINT "emails_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "follows" ADD CONSTRAINT "follows_follower_id_users_id_fk" FOREIGN KEY ("follower_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "follows" ADD CONSTRAINT "follows_followed_id_users_id_fk" FOREIGN KEY ("followed_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "user_badges" ADD CONSTRAINT "user_badges_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "user_badges" ADD CONSTRAINT "user_badges_badge_id_badges_id_fk" FOREIGN KEY ("badge_id") REFERENCES "public"."badges"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "user_redirects" ADD CONSTRAINT "user_redirects_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "activities_event_key" ON "activities" USING btree ("event_id","op_type","ref_name");--> statement-breakpoint
CREATE INDEX "activities_repository_idx" ON "activities" USING btree ("repository_id","id");--> statement-breakpoint
CREATE INDEX "activities_owner_idx" ON "activities" USING btree ("owner_id","id");--> statement-breakpoint
CREATE INDEX "activities_actor_idx" ON "activities" USING btree ("actor_id","id");--> statement-breakpoint
CREATE INDEX "activities_created_idx" ON "activities" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "access_token_repositories_repository_idx" ON "access_token_repositories" USING btree ("repository_id");--> statement-breakpoint
CREATE UNIQUE INDEX "access_tokens_hash_key" ON "access_tokens" USING btree ("token_hash");--> statement-breakpoint
CREATE UNIQUE INDEX "access_tokens_user_name_key" ON "access_tokens" USING btree ("user_id","name");--> statement-breakpoint
CREATE INDEX "access_tokens_expires_idx" ON "access_tokens" USING btree ("expires_at") WHERE expires_at is not null;--> statement-breakpoint
CREATE INDEX "login_failures_age_idx" ON "login_failures" USING btree ("last_failed_at");--> statement-breakpoint
CREATE UNIQUE INDEX "public_keys_fingerprint_key" ON "public_keys" USING btree ("fingerprint");--> statement-breakpoint
CREATE UNIQUE INDEX "public_keys_user_title_key" ON "public_keys" USING btree ("user_id","title");--> statement-breakpoint
CREATE INDEX "public_keys_user_idx" ON "public_keys" USING btree ("user_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "recovery_codes_key" ON "recovery_codes" USING btree ("user_id","code_hash");--> statement-breakpoint
CREATE INDEX "cron_ticks_claimed_idx" ON "cron_ticks" USING btree ("claimed_at");--> statement-breakpoint
CREATE INDEX "events_created_idx" ON "events" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "comments_issue_idx" ON "comments" USING btree ("issue_id","created_at","id");--> statement-breakpoint
CREATE INDEX "comments_poster_idx" ON "comments" USING btree ("poster_id");--> statement-breakpoint
CREATE INDEX "issue_assignees_user_idx" ON "issue_assignees" USING btree ("user_id","issue_id");--> statement-breakpoint
CREATE INDEX "issue_labels_label_idx" ON "issue_labels" USING btree ("label_id","issue_id");--> statement-breakpoint
CREATE UNIQUE INDEX "issues_repository_number_key" ON "issues" USING btree ("repository_id","number");--> statement-breakpoint
CREATE INDEX "issues_list_idx" ON "issues" USING btree ("repository_id","is_pull","is_closed","created_at","id");--> statement-breakpoint
CREATE INDEX "issues_updated_idx" ON "issues" USING btree ("repository_id","updated_at","id");--> statement-breakpoint
CREATE INDEX "issues_poster_idx" ON "issues" USING btree ("poster_id","created_at");--> statement-breakpoint
CREATE INDEX "issues_milestone_idx" ON "issues" USING btree ("milestone_id");--> statement-breakpoint
CREATE INDEX "issues_search_idx" ON "issues" USING gin (lower("title") gin_trgm_ops);--> statement-breakpoint
CREATE INDEX "labels_repository_idx" ON "labels" USING btree ("repository_id","name","id");--> statement-breakpoint
CREATE INDEX "labels_organization_idx" ON "labels" USING btree ("organization_id","name","id");--> statement-breakpoint
CREATE INDEX "milestones_repository_idx" ON "milestones" USING btree ("repository_id","is_closed","due_at","id");--> statement-breakpoint
CREATE INDEX "organization_members_user_idx" ON "organization_members" USING btree ("user_id","organization_id");--> statement-breakpoint
CREATE INDEX "team_members_user_idx" ON "team_members" USING btree ("user_id","organization_id");--> statement-breakpoint
CREATE INDEX "team_members_organization_idx" ON "team_members" USING btree ("organization_id");--> statement-breakpoint
CREATE INDEX "team_repositories_repository_idx" ON "team_repositories" USING btree ("repository_id","team_id");--> statement-breakpoint
CREATE UNIQUE INDEX "teams_organization_name_key" ON "teams" USING btree ("organization_id","lower_name");--> statement-breakpoint
CREATE UNIQUE INDEX "teams_owners_key" ON "teams" USING btree ("organization_id") WHERE permission = 'owner';--> statement-breakpoint
CREATE INDEX "pushes_repository_idx" ON "pushes" USING btree ("repository_id");--> statement-breakpoint
CREATE INDEX "pushes_created_idx" ON "pushes" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "refs_recent_idx" ON "refs" USING btree ("repository_id","kind","committed_at","name");--> statement-breakpoint
CREATE INDEX "refs_pusher_idx" ON "refs" USING btree ("pusher_id");--> statement-breakpoint
CREATE INDEX "collaborations_user_idx" ON "collaborations" USING btree ("user_id","repository_id");--> statement-breakpoint
CREATE UNIQUE INDEX "repositories_owner_name_key" ON "repositories" USING btree ("owner_id","lower_name");--> statement-breakpoint
CREATE INDEX "repositories_lower_name_idx" ON "repositories" USING btree ("lower_name","id");--> statement-breakpoint
CREATE INDEX "repositories_updated_idx" ON "repositories" USING btree ("updated_at","id");--> statement-breakpoint
CREATE INDEX "repositories_created_idx" ON "repositories" USING btree ("created_at","id");--> statement-breakpoint
CREATE INDEX "repositories_stars_idx" ON "repositories" USING btree ("stars_count","id");--> statement-breakpoint
CREATE INDEX "repositories_forks_idx" ON "repositories" USING btree ("forks_count","id");--> statement-breakpoint
CREATE INDEX "repositories_size_idx" ON "repositories" USING btree ("size_bytes","id");--> statement-breakpoint
CREATE INDEX "repositories_parent_idx" ON "repositories" USING btree ("parent_id");--> statement-breakpoint
CREATE INDEX "repositories_private_idx" ON "repositories" USING btree ("owner_id") WHERE is_private;--> statement-breakpoint
CREATE INDEX "repositories_topics_idx" ON "repositories" USING gin ("topics");--> statement-breakpoint
CREATE INDEX "repositories_name_search_idx" ON "repositories" USING gin ("lower_name" gin_trgm_ops);--> statement-breakpoint
CREATE INDEX "repositories_description_search_idx" ON "repositories" USING gin (lower("description") gin_trgm_ops);--> statement-breakpoint
CREATE INDEX "repository_redirects_repository_idx" ON "repository_redirects" USING btree ("repository_id");--> statement-breakpoint
CREATE INDEX "stars_repository_idx" ON "stars" USING btree ("repository_id","user_id");--> statement-breakpoint
CREATE INDEX "watches_repository_idx" ON "watches" USING btree ("repository_id","user_id");--> statement-breakpoint
CREATE UNIQUE INDEX "badges_slug_key" ON "badges" USING btree ("slug");--> statement-breakpoint
CREATE INDEX "blocks_blocked_idx" ON "blocks" USING btree ("blocked_id");--> statement-breakpoint
CREATE UNIQUE INDEX "emails_lower_email_key" ON "emails" USING btree ("lower_email");--> statement-breakpoint
CREATE UNIQUE INDEX "emails_primary_key" ON "emails" USING btree ("user_id") WHERE is_primary;--> statement-breakpoint
CREATE INDEX "emails_user_idx" ON "emails" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "follows_followed_idx" ON "follows" USING btree ("followed_id","follower_id");--> statement-breakpoint
CREATE INDEX "user_badges_badge_idx" ON "user_badges" USING btree ("badge_id");--> statement-breakpoint
CREATE UNIQUE INDEX "users_lower_name_key" ON "users" USING btree ("lower_name");--> statement-breakpoint
CREATE INDEX "users_kind_lower_name_idx" ON "users" USING btree ("kind","lower_name");--> statement-breakpoint
CREATE INDEX "users_kind_created_idx" ON "users" USING btree ("kind","created_at","id");--> statement-breakpoint
CREATE INDEX "users_login_name_idx" ON "users" USING btree ("source_id","login_name");--> statement-breakpoint
CREATE INDEX "users_search_idx" ON "users" USING gin (lower("name" || ' ' || "full_name" || ' ' || "email") gin_trgm_ops);