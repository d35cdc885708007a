CREATE FUNCTION note_removed_attachments() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO removed_objects (key)
    SELECT 'attachments/' || left(uuid::text, 2) || '/' || uuid FROM gone ORDER BY uuid
    ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER attachments_deleted AFTER DELETE ON attachments
  REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION note_removed_attachments();
