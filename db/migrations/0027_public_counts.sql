-- Stars, watchers and forks count what everybody may know of: stars and watches of public people, and public forks of public owners. A
-- number of others would tell of what is hidden. What is new is added; what ends, or becomes hidden or open, is rare and counted anew.
-- Whoever adds has locked the person, so that a visibility that changes at the same time waits and then counts the new rows too.

CREATE FUNCTION recount_public(ids bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM repository_counters WHERE repository_id = ANY (ids) ORDER BY repository_id FOR NO KEY UPDATE;
  -- A statement of its own, which sees what was committed before the lock.
  UPDATE repository_counters AS own SET
    stars_count = (SELECT count(*) FROM stars JOIN users ON users.id = stars.user_id
      WHERE stars.repository_id = own.repository_id AND users.visibility = 'public'),
    watchers_count = (SELECT count(*) FROM watches JOIN users ON users.id = watches.user_id
      WHERE watches.repository_id = own.repository_id AND watches.is_subscribed AND users.visibility = 'public'),
    forks_count = (SELECT count(*) FROM repositories AS fork JOIN users ON users.id = fork.owner_id
      WHERE fork.parent_id = own.repository_id AND NOT fork.is_private AND users.visibility = 'public')
    WHERE own.repository_id = ANY (ids);
END $$;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION count_new_repositories() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO repository_counters (repository_id) SELECT id FROM changed;
  PERFORM 1 FROM users WHERE id IN (SELECT owner_id FROM changed) ORDER BY id FOR NO KEY UPDATE;
  UPDATE users SET repositories_count = repositories_count + added.number
    FROM (SELECT owner_id, count(*) AS number FROM changed GROUP BY owner_id) added WHERE users.id = added.owner_id;
  INSERT INTO repository_totals
    SELECT users.visibility, is_private, is_archived, is_template, is_fork, is_mirror, count(*)
    FROM changed JOIN users ON users.id = changed.owner_id GROUP BY 1, 2, 3, 4, 5, 6;
  UPDATE repository_counters SET forks_count = forks_count + added.number
    FROM (SELECT parent_id, count(*) AS number FROM changed JOIN users ON users.id = changed.owner_id
      WHERE parent_id IS NOT NULL AND NOT is_private AND users.visibility = 'public' GROUP BY parent_id) added
    WHERE repository_id = added.parent_id;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION count_gone_repositories() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM users WHERE id IN (SELECT owner_id FROM changed) ORDER BY id FOR NO KEY UPDATE;
  UPDATE users SET repositories_count = repositories_count - gone.number
    FROM (SELECT owner_id, count(*) AS number FROM changed GROUP BY owner_id) gone WHERE users.id = gone.owner_id;
  INSERT INTO repository_totals
    SELECT users.visibility, is_private, is_archived, is_template, is_fork, is_mirror, -count(*)
    FROM changed JOIN users ON users.id = changed.owner_id GROUP BY 1, 2, 3, 4, 5, 6;
  PERFORM recount_public(ARRAY(SELECT parent_id FROM changed WHERE parent_id IS NOT NULL));
  -- Last: the cascades have counted down in it.
  DELETE FROM repository_counters USING changed WHERE repository_id = changed.id;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION count_changed_fork() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM recount_public(ARRAY[OLD.parent_id, NEW.parent_id]);
  RETURN NULL;
END $$;
--> statement-breakpoint
-- Its name sorts after that of `repositories_changed`, which locks the owners first.
DROP TRIGGER repositories_parent_changed ON repositories;
--> statement-breakpoint
CREATE TRIGGER repositories_fork_changed AFTER UPDATE OF parent_id, is_private, owner_id ON repositories FOR EACH ROW
  WHEN ((OLD.parent_id IS NOT NULL OR NEW.parent_id IS NOT NULL)
    AND (OLD.parent_id, OLD.is_private, OLD.owner_id) IS DISTINCT FROM (NEW.parent_id, NEW.is_private, NEW.owner_id))
  EXECUTE FUNCTION count_changed_fork();
--> statement-breakpoint
CREATE OR REPLACE FUNCTION count_owner_visibility() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO repository_totals
    SELECT visibility, is_private, is_archived, is_template, is_fork, is_mirror, sign * count(*)
    FROM repositories, (VALUES (OLD.visibility, -1), (NEW.visibility, 1)) AS step (visibility, sign)
    WHERE owner_id = NEW.id GROUP BY 1, 2, 3, 4, 5, 6, sign;
  IF (OLD.visibility = 'public') <> (NEW.visibility = 'public') THEN
    PERFORM recount_public(ARRAY(
      SELECT repository_id FROM stars WHERE user_id = NEW.id
      UNION SELECT repository_id FROM watches WHERE user_id = NEW.id
      UNION SELECT parent_id FROM repositories WHERE owner_id = NEW.id AND parent_id IS NOT NULL));
  END IF;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION count_stars() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  step integer := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
BEGIN
  PERFORM 1 FROM users WHERE id IN (SELECT user_id FROM changed) ORDER BY id FOR NO KEY UPDATE;
  UPDATE users SET stars_count = stars_count + step * given.number
    FROM (SELECT user_id, count(*) AS number FROM changed GROUP BY user_id) given WHERE users.id = given.user_id;
  IF TG_OP = 'DELETE' THEN
    -- Of a person who is deleted nobody can say any more whether they were public.
    PERFORM recount_public(ARRAY(SELECT DISTINCT repository_id FROM changed));
    RETURN NULL;
  END IF;
  PERFORM 1 FROM repository_counters
    WHERE repository_id IN (SELECT repository_id FROM changed) ORDER BY repository_id FOR NO KEY UPDATE;
  UPDATE repository_counters SET stars_count = stars_count + starred.number
    FROM (SELECT repository_id, count(*) AS number FROM changed JOIN users ON users.id = changed.user_id
      WHERE users.visibility = 'public' GROUP BY repository_id) starred
    WHERE repository_counters.repository_id = starred.repository_id;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION count_watchers() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    PERFORM recount_public(ARRAY(SELECT DISTINCT repository_id FROM changed));
    RETURN NULL;
  END IF;
  PERFORM 1 FROM users WHERE id IN (SELECT user_id FROM changed) ORDER BY id FOR SHARE;
  PERFORM 1 FROM repository_counters
    WHERE repository_id IN (SELECT repository_id FROM changed) ORDER BY repository_id FOR NO KEY UPDATE;
  UPDATE repository_counters SET watchers_count = watchers_count + watched.number
    FROM (SELECT repository_id, count(*) AS number FROM changed JOIN users ON users.id = changed.user_id
      WHERE is_subscribed AND users.visibility = 'public' GROUP BY repository_id) watched
    WHERE repository_counters.repository_id = watched.repository_id;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION count_changed_watch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM recount_public(ARRAY[NEW.repository_id]);
  RETURN NULL;
END $$;
--> statement-breakpoint
UPDATE repository_counters AS own SET
  stars_count = (SELECT count(*) FROM stars JOIN users ON users.id = stars.user_id
    WHERE stars.repository_id = own.repository_id AND users.visibility = 'public'),
  watchers_count = (SELECT count(*) FROM watches JOIN users ON users.id = watches.user_id
    WHERE watches.repository_id = own.repository_id AND watches.is_subscribed AND users.visibility = 'public'),
  forks_count = (SELECT count(*) FROM repositories AS fork JOIN users ON users.id = fork.owner_id
    WHERE fork.parent_id = own.repository_id AND NOT fork.is_private AND users.visibility = 'public');
