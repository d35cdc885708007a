ALTER TABLE "emails" ADD COLUMN "is_proven" boolean DEFAULT false NOT NULL;--> statement-breakpoint
UPDATE "emails" SET "is_proven" = "is_activated";
