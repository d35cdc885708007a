DROP INDEX "stars_repository_idx";--> statement-breakpoint
DROP INDEX "watches_repository_idx";--> statement-breakpoint
DROP INDEX "follows_followed_idx";--> statement-breakpoint
CREATE INDEX "follows_follower_idx" ON "follows" USING btree ("follower_id","created_at","followed_id");--> statement-breakpoint
CREATE INDEX "stars_repository_idx" ON "stars" USING btree ("repository_id","created_at","user_id");--> statement-breakpoint
CREATE INDEX "watches_repository_idx" ON "watches" USING btree ("repository_id","created_at","user_id");--> statement-breakpoint
CREATE INDEX "follows_followed_idx" ON "follows" USING btree ("followed_id","created_at","follower_id");