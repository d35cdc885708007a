CREATE FUNCTION drop_unused_keys() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- Whoever gives such a key to another repository at this moment holds its row, and is waited for.
  PERFORM 1 FROM public_keys WHERE user_id IS NULL AND id IN (SELECT key_id FROM gone) ORDER BY id FOR UPDATE;
  DELETE FROM public_keys WHERE user_id IS NULL AND id IN (SELECT key_id FROM gone)
    AND NOT EXISTS (SELECT 1 FROM deploy_keys WHERE deploy_keys.key_id = public_keys.id);
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER deploy_keys_deleted AFTER DELETE ON deploy_keys
  REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION drop_unused_keys();
