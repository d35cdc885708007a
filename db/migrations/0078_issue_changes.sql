ALTER TABLE "comments" ADD COLUMN "old_title" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "comments" ADD COLUMN "new_title" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "comments" ADD COLUMN "old_milestone_id" bigint;--> statement-breakpoint
ALTER TABLE "comments" ADD COLUMN "milestone_id" bigint;--> statement-breakpoint
ALTER TABLE "comments" ADD COLUMN "assignee_id" bigint;--> statement-breakpoint
ALTER TABLE "comments" ADD COLUMN "is_unassigned" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "comments" ADD CONSTRAINT "comments_old_milestone_id_milestones_id_fk" FOREIGN KEY ("old_milestone_id") REFERENCES "public"."milestones"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "comments" ADD CONSTRAINT "comments_milestone_id_milestones_id_fk" FOREIGN KEY ("milestone_id") REFERENCES "public"."milestones"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "comments" ADD CONSTRAINT "comments_assignee_id_users_id_fk" FOREIGN KEY ("assignee_id") REFERENCES "public"."users"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "comments_old_milestone_idx" ON "comments" USING btree ("old_milestone_id") WHERE old_milestone_id is not null;--> statement-breakpoint
CREATE INDEX "comments_milestone_idx" ON "comments" USING btree ("milestone_id") WHERE milestone_id is not null;--> statement-breakpoint
CREATE INDEX "comments_assignee_idx" ON "comments" USING btree ("assignee_id") WHERE assignee_id is not null;