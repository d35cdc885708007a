ALTER TABLE "repositories" ADD COLUMN "allow_merge_update" boolean DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE "repositories" ADD COLUMN "default_update_style" text DEFAULT 'merge' NOT NULL;--> statement-breakpoint
ALTER TABLE "repositories" ADD COLUMN "default_target_branch" text DEFAULT '' NOT NULL;