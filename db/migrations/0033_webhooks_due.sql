CREATE INDEX "hook_deliveries_due_idx" ON "hook_deliveries" USING btree ("hook_id","next_attempt_at","id") WHERE state = 'waiting';--> statement-breakpoint
DELETE FROM "jobs" WHERE name = 'webhooks.send';--> statement-breakpoint
INSERT INTO "jobs" (name, payload, queue, key, max_attempts)
SELECT 'webhooks.send', jsonb_build_object('hookId', hook_id), 'hook:' || hook_id, 'hook:' || hook_id, 25
FROM (SELECT DISTINCT hook_id FROM "hook_deliveries" WHERE state = 'waiting') waiting;
