-- Counters that are right whoever writes the rows they count, cascades and repairs by hand included. Triggers of whole
-- statements, so that a bulk change costs one step of each.

-- The owners' rows are locked before their visibility is read: a visibility that changes at the same time waits, and then
-- counts the new rows too. In the order of ids, so that two statements cannot wait for each other.
CREATE FUNCTION count_new_repositories() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM users WHERE id IN (SELECT owner_id FROM changed) ORDER BY id FOR NO KEY UPDATE;
  UPDATE users SET repositories_count = repositories_count + added.number
    FROM (SELECT owner_id, count(*) AS number FROM changed GROUP BY owner_id) added WHERE users.id = added.owner_id;
  INSERT INTO repository_totals
    SELECT users.visibility, is_private, is_archived, is_template, is_fork, is_mirror, count(*)
    FROM changed JOIN users ON users.id = changed.owner_id GROUP BY 1, 2, 3, 4, 5, 6;
  UPDATE repositories SET forks_count = forks_count + added.number
    FROM (SELECT parent_id, count(*) AS number FROM changed WHERE parent_id IS NOT NULL GROUP BY parent_id) added
    WHERE repositories.id = added.parent_id;
  -- A name that is taken again leads no more to the one that had it before.
  DELETE FROM repository_redirects USING changed
    WHERE repository_redirects.owner_id = changed.owner_id AND repository_redirects.lower_name = changed.lower_name;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER repositories_inserted AFTER INSERT ON repositories
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_new_repositories();
--> statement-breakpoint
CREATE FUNCTION count_gone_repositories() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM users WHERE id IN (SELECT owner_id FROM changed) ORDER BY id FOR NO KEY UPDATE;
  UPDATE users SET repositories_count = repositories_count - gone.number
    FROM (SELECT owner_id, count(*) AS number FROM changed GROUP BY owner_id) gone WHERE users.id = gone.owner_id;
  INSERT INTO repository_totals
    SELECT users.visibility, is_private, is_archived, is_template, is_fork, is_mirror, -count(*)
    FROM changed JOIN users ON users.id = changed.owner_id GROUP BY 1, 2, 3, 4, 5, 6;
  UPDATE repositories SET forks_count = forks_count - gone.number
    FROM (SELECT parent_id, count(*) AS number FROM changed WHERE parent_id IS NOT NULL GROUP BY parent_id) gone
    WHERE repositories.id = gone.parent_id;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER repositories_deleted AFTER DELETE ON repositories
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_gone_repositories();
--> statement-breakpoint
CREATE FUNCTION count_changed_repository() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM users WHERE id IN (OLD.owner_id, NEW.owner_id) ORDER BY id FOR NO KEY UPDATE;
  IF OLD.owner_id <> NEW.owner_id THEN
    UPDATE users SET repositories_count = repositories_count + CASE WHEN id = NEW.owner_id THEN 1 ELSE -1 END
      WHERE id IN (OLD.owner_id, NEW.owner_id);
  END IF;
  INSERT INTO repository_totals
    SELECT visibility, OLD.is_private, OLD.is_archived, OLD.is_template, OLD.is_fork, OLD.is_mirror, -1
    FROM users WHERE id = OLD.owner_id
    UNION ALL
    SELECT visibility, NEW.is_private, NEW.is_archived, NEW.is_template, NEW.is_fork, NEW.is_mirror, 1
    FROM users WHERE id = NEW.owner_id;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER repositories_changed AFTER UPDATE ON repositories FOR EACH ROW
  WHEN ((OLD.owner_id, OLD.is_private, OLD.is_archived, OLD.is_template, OLD.is_fork, OLD.is_mirror)
    IS DISTINCT FROM (NEW.owner_id, NEW.is_private, NEW.is_archived, NEW.is_template, NEW.is_fork, NEW.is_mirror))
  EXECUTE FUNCTION count_changed_repository();
--> statement-breakpoint
CREATE FUNCTION count_changed_fork() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE repositories SET forks_count = forks_count - 1 WHERE id = OLD.parent_id;
  UPDATE repositories SET forks_count = forks_count + 1 WHERE id = NEW.parent_id;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER repositories_parent_changed AFTER UPDATE OF parent_id ON repositories FOR EACH ROW
  WHEN (OLD.parent_id IS DISTINCT FROM NEW.parent_id) EXECUTE FUNCTION count_changed_fork();
--> statement-breakpoint
CREATE FUNCTION end_repository_redirect() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM repository_redirects WHERE owner_id = NEW.owner_id AND lower_name = NEW.lower_name;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER repositories_name_taken AFTER UPDATE OF name, owner_id ON repositories FOR EACH ROW
  WHEN ((OLD.owner_id, OLD.lower_name) IS DISTINCT FROM (NEW.owner_id, NEW.lower_name))
  EXECUTE FUNCTION end_repository_redirect();
--> statement-breakpoint
CREATE FUNCTION count_owner_visibility() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO repository_totals
    SELECT visibility, is_private, is_archived, is_template, is_fork, is_mirror, sign * count(*)
    FROM repositories, (VALUES (OLD.visibility, -1), (NEW.visibility, 1)) AS step (visibility, sign)
    WHERE owner_id = NEW.id GROUP BY 1, 2, 3, 4, 5, 6, sign;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER users_visibility_changed AFTER UPDATE OF visibility ON users FOR EACH ROW
  WHEN (OLD.visibility IS DISTINCT FROM NEW.visibility) EXECUTE FUNCTION count_owner_visibility();
--> statement-breakpoint
CREATE FUNCTION count_stars() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  step integer := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
BEGIN
  UPDATE repositories SET stars_count = stars_count + step * starred.number
    FROM (SELECT repository_id, count(*) AS number FROM changed GROUP BY repository_id) starred
    WHERE repositories.id = starred.repository_id;
  UPDATE users SET stars_count = stars_count + step * given.number
    FROM (SELECT user_id, count(*) AS number FROM changed GROUP BY user_id) given WHERE users.id = given.user_id;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER stars_inserted AFTER INSERT ON stars
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_stars();
--> statement-breakpoint
CREATE TRIGGER stars_deleted AFTER DELETE ON stars
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_stars();
--> statement-breakpoint
CREATE FUNCTION count_watchers() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  step integer := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
BEGIN
  UPDATE repositories SET watchers_count = watchers_count + step * watched.number
    FROM (SELECT repository_id, count(*) AS number FROM changed WHERE is_subscribed GROUP BY repository_id) watched
    WHERE repositories.id = watched.repository_id;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER watches_inserted AFTER INSERT ON watches
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_watchers();
--> statement-breakpoint
CREATE TRIGGER watches_deleted AFTER DELETE ON watches
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_watchers();
--> statement-breakpoint
CREATE FUNCTION count_changed_watch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE repositories SET watchers_count = watchers_count + CASE WHEN NEW.is_subscribed THEN 1 ELSE -1 END
    WHERE id = NEW.repository_id;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER watches_changed AFTER UPDATE OF is_subscribed ON watches FOR EACH ROW
  WHEN (OLD.is_subscribed <> NEW.is_subscribed) EXECUTE FUNCTION count_changed_watch();
--> statement-breakpoint
-- What was there before the triggers.
INSERT INTO repository_totals
  SELECT users.visibility, is_private, is_archived, is_template, is_fork, is_mirror, count(*)
  FROM repositories JOIN users ON users.id = owner_id GROUP BY 1, 2, 3, 4, 5, 6;
--> statement-breakpoint
UPDATE users SET
  repositories_count = (SELECT count(*) FROM repositories WHERE owner_id = users.id),
  stars_count = (SELECT count(*) FROM stars WHERE user_id = users.id);
--> statement-breakpoint
UPDATE repositories SET
  stars_count = (SELECT count(*) FROM stars WHERE repository_id = repositories.id),
  watchers_count = (SELECT count(*) FROM watches WHERE repository_id = repositories.id AND is_subscribed),
  forks_count = (SELECT count(*) FROM repositories fork WHERE fork.parent_id = repositories.id);
