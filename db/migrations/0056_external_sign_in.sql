CREATE TABLE "auth_sources" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "auth_sources_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"name" text NOT NULL,
	"label" text NOT NULL,
	"issuer" text NOT NULL,
	"client_id" text NOT NULL,
	"client_secret" "bytea",
	"scopes" text[] NOT NULL,
	"is_active" boolean DEFAULT true NOT NULL,
	"registration" text DEFAULT 'site' NOT NULL,
	"required_claim" text,
	"required_value" text,
	"group_claim" text,
	"removes_from_teams" boolean DEFAULT false NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "auth_sources_name_form" CHECK (name ~ '^[A-Za-z0-9][A-Za-z0-9_.-]{0,39}$'),
	CONSTRAINT "auth_sources_label_length" CHECK (char_length(label) between 1 and 100),
	CONSTRAINT "auth_sources_required" CHECK (required_claim is not null or required_value is null)
);
--> statement-breakpoint
CREATE TABLE "auth_source_teams" (
	"source_id" bigint NOT NULL,
	"group_name" text NOT NULL,
	"team_id" bigint NOT NULL,
	CONSTRAINT "auth_source_teams_source_id_group_name_team_id_pk" PRIMARY KEY("source_id","group_name","team_id")
);
--> statement-breakpoint
CREATE TABLE "external_identities" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "external_identities_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"user_id" bigint NOT NULL,
	"source_id" bigint NOT NULL,
	"subject" text NOT NULL,
	"label" text DEFAULT '' NOT NULL,
	"last_used_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "pending_identities" (
	"handle_hash" text PRIMARY KEY NOT NULL,
	"source_id" bigint NOT NULL,
	"subject" text NOT NULL,
	"label" text NOT NULL,
	"profile" jsonb NOT NULL,
	"authenticated_at" timestamp with time zone NOT NULL,
	"redirect_to" text,
	"expires_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "users" ALTER COLUMN "source_id" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "users" ALTER COLUMN "source_id" DROP NOT NULL;--> statement-breakpoint
-- Until now 0 stood for this site, and there was nothing else.
UPDATE "users" SET "source_id" = NULL;--> statement-breakpoint
ALTER TABLE "auth_source_teams" ADD CONSTRAINT "auth_source_teams_source_id_auth_sources_id_fk" FOREIGN KEY ("source_id") REFERENCES "public"."auth_sources"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "auth_source_teams" ADD CONSTRAINT "auth_source_teams_team_id_teams_id_fk" FOREIGN KEY ("team_id") REFERENCES "public"."teams"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "external_identities" ADD CONSTRAINT "external_identities_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "external_identities" ADD CONSTRAINT "external_identities_source_id_auth_sources_id_fk" FOREIGN KEY ("source_id") REFERENCES "public"."auth_sources"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "pending_identities" ADD CONSTRAINT "pending_identities_source_id_auth_sources_id_fk" FOREIGN KEY ("source_id") REFERENCES "public"."auth_sources"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "auth_sources_name_key" ON "auth_sources" USING btree (lower("name"));--> statement-breakpoint
CREATE INDEX "auth_source_teams_team_idx" ON "auth_source_teams" USING btree ("team_id");--> statement-breakpoint
CREATE UNIQUE INDEX "external_identities_subject_key" ON "external_identities" USING btree ("source_id","subject");--> statement-breakpoint
CREATE UNIQUE INDEX "external_identities_user_key" ON "external_identities" USING btree ("user_id","source_id");--> statement-breakpoint
CREATE INDEX "pending_identities_source_idx" ON "pending_identities" USING btree ("source_id");--> statement-breakpoint
CREATE INDEX "pending_identities_expires_idx" ON "pending_identities" USING btree ("expires_at");--> statement-breakpoint
ALTER TABLE "users" ADD CONSTRAINT "users_source_id_auth_sources_id_fk" FOREIGN KEY ("source_id") REFERENCES "public"."auth_sources"("id") ON DELETE restrict ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "users" ADD CONSTRAINT "users_login_name_of_source" CHECK (source_id is null or login_name <> '');