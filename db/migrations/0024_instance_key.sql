CREATE TABLE "instance" (
	"is_only_row" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"key_fingerprint" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "instance_one_row" CHECK (is_only_row)
);
--> statement-breakpoint
ALTER TABLE "hooks" ADD COLUMN "sealed_url" "bytea";