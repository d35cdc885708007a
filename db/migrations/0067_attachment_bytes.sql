ALTER TABLE "repository_counters" ADD COLUMN "attachment_bytes" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
-- The bytes of the files of a repository's releases, issues and comments. Counters are locked in the order of ids, as everywhere.
CREATE FUNCTION count_attachments() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  step integer := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
BEGIN
  PERFORM 1 FROM repository_counters
    WHERE repository_id IN (SELECT repository_id FROM changed) ORDER BY repository_id FOR NO KEY UPDATE;
  UPDATE repository_counters SET attachment_bytes = attachment_bytes + step * tally.bytes
    FROM (SELECT repository_id, sum(size) AS bytes FROM changed GROUP BY repository_id) tally
    WHERE repository_counters.repository_id = tally.repository_id;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER attachments_counted_in AFTER INSERT ON attachments
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_attachments();
--> statement-breakpoint
CREATE TRIGGER attachments_counted_out AFTER DELETE ON attachments
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_attachments();
--> statement-breakpoint
UPDATE repository_counters SET attachment_bytes = tally.bytes
  FROM (SELECT repository_id, sum(size) AS bytes FROM attachments GROUP BY repository_id) tally
  WHERE repository_counters.repository_id = tally.repository_id;
