ALTER TABLE "users" ALTER COLUMN "theme" SET DEFAULT 'gitea-auto';--> statement-breakpoint
-- The default theme has another name now; nobody chose the old one.
UPDATE "users" SET "theme" = 'gitea-auto' WHERE "theme" = 'auto';
