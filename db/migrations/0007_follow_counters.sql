-- Counters of who follows whom, right whoever writes the rows, cascades of a deleted account included. The rows of the people are
-- locked in the order of their ids, so that two statements cannot wait for each other.
CREATE FUNCTION count_follows() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  step integer := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
BEGIN
  PERFORM 1 FROM users
    WHERE id IN (SELECT follower_id FROM changed UNION SELECT followed_id FROM changed) ORDER BY id FOR NO KEY UPDATE;
  UPDATE users SET following_count = following_count + step * tally.number
    FROM (SELECT follower_id, count(*) AS number FROM changed GROUP BY follower_id) tally WHERE users.id = tally.follower_id;
  UPDATE users SET followers_count = followers_count + step * tally.number
    FROM (SELECT followed_id, count(*) AS number FROM changed GROUP BY followed_id) tally WHERE users.id = tally.followed_id;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER follows_inserted AFTER INSERT ON follows
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_follows();
--> statement-breakpoint
CREATE TRIGGER follows_deleted AFTER DELETE ON follows
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_follows();
