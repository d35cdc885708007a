ALTER TABLE "actions_runs" DROP COLUMN "workflows";--> statement-breakpoint
ALTER TABLE "actions_runs" DROP COLUMN "payload";