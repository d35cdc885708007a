ALTER TABLE "comments" ADD COLUMN "ref_repository_id" bigint;--> statement-breakpoint
ALTER TABLE "comments" ADD COLUMN "ref_issue_id" bigint;--> statement-breakpoint
ALTER TABLE "comments" ADD COLUMN "ref_comment_id" bigint;--> statement-breakpoint
ALTER TABLE "comments" ADD COLUMN "ref_commit_sha" text;--> statement-breakpoint
ALTER TABLE "comments" ADD COLUMN "ref_action" text;--> statement-breakpoint
ALTER TABLE "comments" ADD CONSTRAINT "comments_ref_repository_id_repositories_id_fk" FOREIGN KEY ("ref_repository_id") REFERENCES "public"."repositories"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "comments" ADD CONSTRAINT "comments_ref_issue_id_issues_id_fk" FOREIGN KEY ("ref_issue_id") REFERENCES "public"."issues"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "comments" ADD CONSTRAINT "comments_ref_comment_id_comments_id_fk" FOREIGN KEY ("ref_comment_id") REFERENCES "public"."comments"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "comments_ref_repository_idx" ON "comments" USING btree ("ref_repository_id") WHERE ref_repository_id is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "comments_issue_ref_key" ON "comments" USING btree ("ref_issue_id","issue_id") WHERE kind = 'issue_ref';--> statement-breakpoint
CREATE UNIQUE INDEX "comments_comment_ref_key" ON "comments" USING btree ("ref_comment_id","issue_id") WHERE ref_comment_id is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "comments_commit_key" ON "comments" USING btree ("issue_id","kind","ref_commit_sha") WHERE ref_commit_sha is not null;--> statement-breakpoint
CREATE INDEX "comments_ref_issue_idx" ON "comments" USING btree ("ref_issue_id") WHERE ref_issue_id is not null;