DROP INDEX "refs_recent_idx";--> statement-breakpoint
DROP INDEX "commit_statuses_context_idx";--> statement-breakpoint
CREATE INDEX "refs_newest_idx" ON "refs" USING btree ("repository_id","kind","committed_at" DESC NULLS LAST,"name");--> statement-breakpoint
CREATE INDEX "commit_statuses_latest_idx" ON "commit_statuses" USING btree ("repository_id","sha","context","id" DESC NULLS FIRST);