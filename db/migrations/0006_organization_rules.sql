-- Somebody belongs to an organization exactly while in one of its teams, and an organization never loses its last owner.
CREATE FUNCTION team_member_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO organization_members (organization_id, user_id) VALUES (NEW.organization_id, NEW.user_id)
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER team_member_added AFTER INSERT ON team_members FOR EACH ROW EXECUTE FUNCTION team_member_added();
--> statement-breakpoint
CREATE FUNCTION team_member_removed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM organization_members m
  WHERE m.organization_id = OLD.organization_id AND m.user_id = OLD.user_id AND NOT EXISTS (
    SELECT 1 FROM team_members t WHERE t.organization_id = OLD.organization_id AND t.user_id = OLD.user_id);
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER team_member_removed AFTER DELETE ON team_members FOR EACH ROW EXECUTE FUNCTION team_member_removed();
--> statement-breakpoint
-- Judged at the end of the transaction, so that one owner can be exchanged for another. The organization's row is locked first:
-- two owners who leave at the same time wait for each other.
CREATE FUNCTION organization_keeps_an_owner() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM users WHERE id = OLD.organization_id FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  IF NOT EXISTS (
    SELECT 1 FROM team_members m JOIN teams t ON t.id = m.team_id
    WHERE t.organization_id = OLD.organization_id AND t.permission = 'owner'
  ) THEN
    RAISE EXCEPTION 'the organization would have no owner'
      USING ERRCODE = 'check_violation', CONSTRAINT = 'organization_keeps_an_owner', TABLE = 'team_members';
  END IF;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE CONSTRAINT TRIGGER organization_keeps_an_owner AFTER DELETE ON team_members
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION organization_keeps_an_owner();
