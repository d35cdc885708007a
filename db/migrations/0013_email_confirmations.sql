CREATE TABLE "email_confirmations" (
	"email_id" bigint PRIMARY KEY NOT NULL,
	"code_hash" text NOT NULL,
	"expires_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
DROP INDEX "emails_user_idx";--> statement-breakpoint
DROP INDEX "emails_lower_email_key";--> statement-breakpoint
ALTER TABLE "email_confirmations" ADD CONSTRAINT "email_confirmations_email_id_emails_id_fk" FOREIGN KEY ("email_id") REFERENCES "public"."emails"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "email_confirmations_code_key" ON "email_confirmations" USING btree ("code_hash");--> statement-breakpoint
CREATE INDEX "email_confirmations_expires_idx" ON "email_confirmations" USING btree ("expires_at");--> statement-breakpoint
CREATE UNIQUE INDEX "emails_user_address_key" ON "emails" USING btree ("user_id","lower_email");--> statement-breakpoint
CREATE INDEX "emails_address_idx" ON "emails" USING btree ("lower_email","id");--> statement-breakpoint
CREATE UNIQUE INDEX "emails_lower_email_key" ON "emails" USING btree ("lower_email") WHERE is_activated;--> statement-breakpoint
ALTER TABLE "emails" ADD CONSTRAINT "emails_primary_verified" CHECK (is_activated or not is_primary);