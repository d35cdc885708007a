-- Counters of branches, releases and large files are locked in the order of repositories too, as all others are.
CREATE OR REPLACE FUNCTION count_branches() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  step integer := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
BEGIN
  PERFORM 1 FROM repository_counters
    WHERE repository_id IN (SELECT repository_id FROM changed WHERE kind = 'branch') ORDER BY repository_id FOR NO KEY UPDATE;
  UPDATE repository_counters SET branch_count = branch_count + step * tally.number
    FROM (SELECT repository_id, count(*) AS number FROM changed WHERE kind = 'branch' GROUP BY repository_id) tally
    WHERE repository_counters.repository_id = tally.repository_id;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION count_new_releases() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  step integer := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
BEGIN
  PERFORM 1 FROM repository_counters
    WHERE repository_id IN (SELECT repository_id FROM changed WHERE NOT is_draft) ORDER BY repository_id FOR NO KEY UPDATE;
  UPDATE repository_counters SET releases_count = releases_count + step * tally.number
    FROM (SELECT repository_id, count(*) AS number FROM changed WHERE NOT is_draft GROUP BY repository_id) tally
    WHERE repository_counters.repository_id = tally.repository_id;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION count_releases() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM repository_counters
    WHERE repository_id IN (SELECT after_change.repository_id FROM after_change JOIN before_change USING (id)
      WHERE after_change.is_draft <> before_change.is_draft) ORDER BY repository_id FOR NO KEY UPDATE;
  UPDATE repository_counters SET releases_count = releases_count + tally.difference
    FROM (SELECT after_change.repository_id, sum(before_change.is_draft::integer - after_change.is_draft::integer) AS difference
      FROM after_change JOIN before_change USING (id)
      WHERE after_change.is_draft <> before_change.is_draft GROUP BY 1) tally
    WHERE repository_counters.repository_id = tally.repository_id;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION count_lfs_objects() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  step integer := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
BEGIN
  PERFORM 1 FROM repository_counters
    WHERE repository_id IN (SELECT repository_id FROM changed) ORDER BY repository_id FOR NO KEY UPDATE;
  UPDATE repository_counters SET lfs_bytes = lfs_bytes + step * tally.bytes
    FROM (SELECT changed.repository_id, sum(object.size_bytes) AS bytes
      FROM changed JOIN lfs_objects object ON object.id = changed.object_id GROUP BY changed.repository_id) tally
    WHERE repository_counters.repository_id = tally.repository_id;
  RETURN NULL;
END $$;
