-- The numbers of a repository move to a row of their own. Whoever forked one repository twice keeps the first as a fork.
UPDATE repositories SET parent_id = NULL, is_fork = false WHERE id IN (
  SELECT id FROM (
    SELECT id, row_number() OVER (PARTITION BY owner_id, parent_id ORDER BY id) AS place
    FROM repositories WHERE parent_id IS NOT NULL) AS forks
  WHERE place > 1);
--> statement-breakpoint
CREATE TABLE "repository_counters" (
	"repository_id" bigint PRIMARY KEY NOT NULL,
	"stars_count" integer DEFAULT 0 NOT NULL,
	"forks_count" integer DEFAULT 0 NOT NULL,
	"watchers_count" integer DEFAULT 0 NOT NULL,
	"branch_count" integer DEFAULT 0 NOT NULL,
	"releases_count" integer DEFAULT 0 NOT NULL,
	"open_issues_count" integer DEFAULT 0 NOT NULL,
	"open_pulls_count" integer DEFAULT 0 NOT NULL,
	"last_issue_number" integer DEFAULT 0 NOT NULL,
	"size_bytes" bigint DEFAULT 0 NOT NULL,
	"refs_generation" bigint DEFAULT 0 NOT NULL
);
--> statement-breakpoint
INSERT INTO repository_counters (repository_id, stars_count, forks_count, watchers_count, branch_count, releases_count,
    open_issues_count, open_pulls_count, last_issue_number, size_bytes)
  SELECT id, stars_count, forks_count, watchers_count, branch_count, releases_count,
    open_issues_count, open_pulls_count, last_issue_number, size_bytes FROM repositories;
--> statement-breakpoint
DROP INDEX "repositories_stars_idx";--> statement-breakpoint
DROP INDEX "repositories_forks_idx";--> statement-breakpoint
DROP INDEX "repositories_size_idx";--> statement-breakpoint
CREATE INDEX "repository_counters_stars_idx" ON "repository_counters" USING btree ("stars_count","repository_id");--> statement-breakpoint
CREATE INDEX "repository_counters_forks_idx" ON "repository_counters" USING btree ("forks_count","repository_id");--> statement-breakpoint
CREATE INDEX "repository_counters_size_idx" ON "repository_counters" USING btree ("size_bytes","repository_id");--> statement-breakpoint
CREATE UNIQUE INDEX "repositories_fork_key" ON "repositories" USING btree ("owner_id","parent_id") WHERE parent_id is not null;--> statement-breakpoint
ALTER TABLE "repositories" DROP COLUMN "size_bytes";--> statement-breakpoint
ALTER TABLE "repositories" DROP COLUMN "stars_count";--> statement-breakpoint
ALTER TABLE "repositories" DROP COLUMN "forks_count";--> statement-breakpoint
ALTER TABLE "repositories" DROP COLUMN "watchers_count";--> statement-breakpoint
ALTER TABLE "repositories" DROP COLUMN "branch_count";--> statement-breakpoint
ALTER TABLE "repositories" DROP COLUMN "releases_count";--> statement-breakpoint
ALTER TABLE "repositories" DROP COLUMN "open_issues_count";--> statement-breakpoint
ALTER TABLE "repositories" DROP COLUMN "open_pulls_count";--> statement-breakpoint
ALTER TABLE "repositories" DROP COLUMN "last_issue_number";
--> statement-breakpoint
-- Every count is kept by a trigger, so that it is right whoever writes the rows, cascades and repairs by hand included. Rows of users are
-- locked before rows of counters, and those before milestones, each in the order of their ids: two writers never wait for each other.

-- The owners' rows are locked before their visibility is read: a visibility that changes at the same time waits, and then counts the new
-- rows too.
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
    FROM (SELECT parent_id, count(*) AS number FROM changed WHERE parent_id IS NOT NULL GROUP BY parent_id) added
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
  UPDATE repository_counters SET forks_count = forks_count - gone.number
    FROM (SELECT parent_id, count(*) AS number FROM changed WHERE parent_id IS NOT NULL GROUP BY parent_id) gone
    WHERE repository_id = gone.parent_id;
  -- Last: the cascades have counted down in it.
  DELETE FROM repository_counters USING changed WHERE repository_id = changed.id;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION count_changed_fork() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE repository_counters SET forks_count = forks_count - 1 WHERE repository_id = OLD.parent_id;
  UPDATE repository_counters SET forks_count = forks_count + 1 WHERE repository_id = NEW.parent_id;
  RETURN NULL;
END $$;
--> statement-breakpoint
-- Which name leads where is a rule of the service (features/repositories/store.ts), and no count.
DROP TRIGGER repositories_name_taken ON repositories;
--> statement-breakpoint
DROP FUNCTION end_repository_redirect();
--> statement-breakpoint
CREATE OR REPLACE FUNCTION count_stars() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  step integer := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
BEGIN
  PERFORM 1 FROM users WHERE id IN (SELECT user_id FROM changed) ORDER BY id FOR NO KEY UPDATE;
  UPDATE users SET stars_count = stars_count + step * given.number
    FROM (SELECT user_id, count(*) AS number FROM changed GROUP BY user_id) given WHERE users.id = given.user_id;
  PERFORM 1 FROM repository_counters
    WHERE repository_id IN (SELECT repository_id FROM changed) ORDER BY repository_id FOR NO KEY UPDATE;
  UPDATE repository_counters SET stars_count = stars_count + step * starred.number
    FROM (SELECT repository_id, count(*) AS number FROM changed GROUP BY repository_id) starred
    WHERE repository_counters.repository_id = starred.repository_id;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION count_watchers() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  step integer := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
BEGIN
  PERFORM 1 FROM repository_counters
    WHERE repository_id IN (SELECT repository_id FROM changed) ORDER BY repository_id FOR NO KEY UPDATE;
  UPDATE repository_counters SET watchers_count = watchers_count + step * watched.number
    FROM (SELECT repository_id, count(*) AS number FROM changed WHERE is_subscribed GROUP BY repository_id) watched
    WHERE repository_counters.repository_id = watched.repository_id;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION count_changed_watch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE repository_counters SET watchers_count = watchers_count + CASE WHEN NEW.is_subscribed THEN 1 ELSE -1 END
    WHERE repository_id = NEW.repository_id;
  RETURN NULL;
END $$;
--> statement-breakpoint
-- Open issues and pull requests of repositories, open and closed ones of milestones.
CREATE FUNCTION count_issues() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  step integer := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
BEGIN
  PERFORM 1 FROM repository_counters
    WHERE repository_id IN (SELECT repository_id FROM changed) ORDER BY repository_id FOR NO KEY UPDATE;
  UPDATE repository_counters SET
    open_issues_count = open_issues_count + step * tally.issues, open_pulls_count = open_pulls_count + step * tally.pulls
    FROM (SELECT repository_id, count(*) FILTER (WHERE NOT is_pull) AS issues, count(*) FILTER (WHERE is_pull) AS pulls
      FROM changed WHERE NOT is_closed GROUP BY repository_id) tally
    WHERE repository_counters.repository_id = tally.repository_id;
  PERFORM 1 FROM milestones WHERE id IN (SELECT milestone_id FROM changed) ORDER BY id FOR NO KEY UPDATE;
  UPDATE milestones SET
    open_issues_count = open_issues_count + step * tally.open, closed_issues_count = closed_issues_count + step * tally.closed
    FROM (SELECT milestone_id, count(*) FILTER (WHERE NOT is_closed) AS open, count(*) FILTER (WHERE is_closed) AS closed
      FROM changed WHERE milestone_id IS NOT NULL GROUP BY milestone_id) tally
    WHERE milestones.id = tally.milestone_id;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER issues_inserted AFTER INSERT ON issues
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_issues();
--> statement-breakpoint
CREATE TRIGGER issues_deleted AFTER DELETE ON issues
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_issues();
--> statement-breakpoint
CREATE FUNCTION count_changed_issue() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  step integer := CASE WHEN NEW.is_closed THEN -1 ELSE 1 END;
BEGIN
  IF OLD.is_closed <> NEW.is_closed THEN
    UPDATE repository_counters SET
      open_issues_count = open_issues_count + CASE WHEN NEW.is_pull THEN 0 ELSE step END,
      open_pulls_count = open_pulls_count + CASE WHEN NEW.is_pull THEN step ELSE 0 END
      WHERE repository_id = NEW.repository_id;
  END IF;
  PERFORM 1 FROM milestones WHERE id IN (OLD.milestone_id, NEW.milestone_id) ORDER BY id FOR NO KEY UPDATE;
  UPDATE milestones SET
    open_issues_count = open_issues_count
      + (id IS NOT DISTINCT FROM NEW.milestone_id AND NOT NEW.is_closed)::integer
      - (id IS NOT DISTINCT FROM OLD.milestone_id AND NOT OLD.is_closed)::integer,
    closed_issues_count = closed_issues_count
      + (id IS NOT DISTINCT FROM NEW.milestone_id AND NEW.is_closed)::integer
      - (id IS NOT DISTINCT FROM OLD.milestone_id AND OLD.is_closed)::integer
    WHERE id IN (OLD.milestone_id, NEW.milestone_id);
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER issues_changed AFTER UPDATE OF is_closed, milestone_id ON issues FOR EACH ROW
  WHEN ((OLD.is_closed, OLD.milestone_id) IS DISTINCT FROM (NEW.is_closed, NEW.milestone_id))
  EXECUTE FUNCTION count_changed_issue();
--> statement-breakpoint
-- What people wrote to an issue; what happened to it is kept beside that, and not counted.
CREATE FUNCTION count_comments() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  step integer := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
BEGIN
  PERFORM 1 FROM issues WHERE id IN (SELECT issue_id FROM changed WHERE kind = 'comment') ORDER BY id FOR NO KEY UPDATE;
  UPDATE issues SET comments_count = comments_count + step * tally.number
    FROM (SELECT issue_id, count(*) AS number FROM changed WHERE kind = 'comment' GROUP BY issue_id) tally
    WHERE issues.id = tally.issue_id;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER comments_inserted AFTER INSERT ON comments
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_comments();
--> statement-breakpoint
CREATE TRIGGER comments_deleted AFTER DELETE ON comments
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_comments();
--> statement-breakpoint
CREATE FUNCTION count_branches() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  step integer := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
BEGIN
  UPDATE repository_counters SET branch_count = branch_count + step * tally.number
    FROM (SELECT repository_id, count(*) AS number FROM changed WHERE kind = 'branch' GROUP BY repository_id) tally
    WHERE repository_counters.repository_id = tally.repository_id;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER refs_inserted AFTER INSERT ON refs
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_branches();
--> statement-breakpoint
CREATE TRIGGER refs_deleted AFTER DELETE ON refs
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_branches();
--> statement-breakpoint
-- Milestones were counted anew with each change, and two at once could miss one of them.
UPDATE milestones SET
  open_issues_count = (SELECT count(*) FROM issues WHERE milestone_id = milestones.id AND NOT is_closed),
  closed_issues_count = (SELECT count(*) FROM issues WHERE milestone_id = milestones.id AND is_closed);
--> statement-breakpoint
UPDATE repository_counters SET
  open_issues_count = (SELECT count(*) FROM issues WHERE issues.repository_id = repository_counters.repository_id AND NOT is_pull AND NOT is_closed),
  open_pulls_count = (SELECT count(*) FROM issues WHERE issues.repository_id = repository_counters.repository_id AND is_pull AND NOT is_closed);
