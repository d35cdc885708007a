ALTER TABLE "hook_deliveries" DROP COLUMN "is_succeeded";--> statement-breakpoint
ALTER TABLE "hook_deliveries" DROP COLUMN "delivered_at";