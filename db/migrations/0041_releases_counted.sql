CREATE FUNCTION count_releases() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE repository_counters SET releases_count = releases_count + tally.difference
    FROM (
      SELECT repository_id, sum(step) AS difference FROM (
        SELECT repository_id, 1 AS step FROM after_change WHERE NOT is_draft
        UNION ALL
        SELECT repository_id, -1 FROM before_change WHERE NOT is_draft
      ) AS steps GROUP BY repository_id HAVING sum(step) <> 0 ORDER BY repository_id
    ) tally
    WHERE repository_counters.repository_id = tally.repository_id;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE FUNCTION count_new_releases() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  step integer := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
BEGIN
  UPDATE repository_counters SET releases_count = releases_count + step * tally.number
    FROM (SELECT repository_id, count(*) AS number FROM changed WHERE NOT is_draft
          GROUP BY repository_id ORDER BY repository_id) tally
    WHERE repository_counters.repository_id = tally.repository_id;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER releases_inserted AFTER INSERT ON releases
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_new_releases();
--> statement-breakpoint
CREATE TRIGGER releases_deleted AFTER DELETE ON releases
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_new_releases();
--> statement-breakpoint
CREATE TRIGGER releases_changed AFTER UPDATE ON releases
  REFERENCING OLD TABLE AS before_change NEW TABLE AS after_change
  FOR EACH STATEMENT EXECUTE FUNCTION count_releases();
--> statement-breakpoint
-- A release whose tag has gone, by whatever way, is a draft again.
CREATE FUNCTION withdraw_releases() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE releases SET is_draft = true, updated_at = now()
    FROM gone WHERE gone.kind = 'tag' AND NOT releases.is_draft
      AND releases.repository_id = gone.repository_id AND releases.tag_name = gone.name;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER refs_deleted_releases AFTER DELETE ON refs
  REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION withdraw_releases();
