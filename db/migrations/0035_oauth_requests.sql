CREATE TABLE "oauth_requests" (
	"handle" text PRIMARY KEY NOT NULL,
	"session_id" bigint NOT NULL,
	"application_id" bigint NOT NULL,
	"redirect_uri" text NOT NULL,
	"state" text,
	"scopes" text[] NOT NULL,
	"requested_scope" text NOT NULL,
	"nonce" text,
	"code_challenge" text,
	"code_challenge_method" text,
	"created_at" timestamp with time zone NOT NULL,
	CONSTRAINT "oauth_requests_challenge" CHECK ((code_challenge is null) = (code_challenge_method is null))
);
--> statement-breakpoint
ALTER TABLE "oauth_requests" ADD CONSTRAINT "oauth_requests_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "oauth_requests" ADD CONSTRAINT "oauth_requests_application_id_oauth_applications_id_fk" FOREIGN KEY ("application_id") REFERENCES "public"."oauth_applications"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "oauth_requests_session_idx" ON "oauth_requests" USING btree ("session_id","created_at");--> statement-breakpoint
CREATE INDEX "oauth_requests_application_idx" ON "oauth_requests" USING btree ("application_id");--> statement-breakpoint
CREATE INDEX "oauth_requests_created_idx" ON "oauth_requests" USING btree ("created_at");