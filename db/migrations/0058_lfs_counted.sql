-- The bytes of a repository's objects of Git LFS. Counters are locked in the order of ids.
CREATE FUNCTION count_lfs_objects() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  step integer := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
BEGIN
  UPDATE repository_counters SET lfs_bytes = lfs_bytes + step * tally.bytes
    FROM (SELECT changed.repository_id, sum(object.size_bytes) AS bytes
          FROM changed JOIN lfs_objects object ON object.id = changed.object_id
          GROUP BY changed.repository_id ORDER BY changed.repository_id) tally
    WHERE repository_counters.repository_id = tally.repository_id;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER repository_lfs_objects_inserted AFTER INSERT ON repository_lfs_objects
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_lfs_objects();
--> statement-breakpoint
CREATE TRIGGER repository_lfs_objects_deleted AFTER DELETE ON repository_lfs_objects
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_lfs_objects();
