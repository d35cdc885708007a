-- Processes keep tokens that they recognized a moment ago. Whatever an account or one of its tokens becomes is told to them
-- with the commit, by the account's id. The last use of a token is no such change.
CREATE FUNCTION tell_account_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.kind = 'user' THEN
    PERFORM pg_notify('hearth_accounts', OLD.id::text);
  END IF;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER users_tell AFTER UPDATE OR DELETE ON users FOR EACH ROW EXECUTE FUNCTION tell_account_change();
--> statement-breakpoint
CREATE FUNCTION tell_token_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('hearth_accounts', OLD.user_id::text);
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER access_tokens_tell
  AFTER UPDATE OF user_id, name, token_hash, scopes, is_limited_to_repositories, expires_at OR DELETE
  ON access_tokens FOR EACH ROW EXECUTE FUNCTION tell_token_change();
--> statement-breakpoint
-- A token that goes takes its repositories with it, and has told of itself.
CREATE FUNCTION tell_token_reach_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  owner bigint;
BEGIN
  SELECT user_id INTO owner FROM access_tokens
  WHERE id = CASE TG_OP WHEN 'DELETE' THEN OLD.token_id ELSE NEW.token_id END;
  IF owner IS NOT NULL THEN
    PERFORM pg_notify('hearth_accounts', owner::text);
  END IF;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER access_token_repositories_tell
  AFTER INSERT OR UPDATE OR DELETE ON access_token_repositories
  FOR EACH ROW EXECUTE FUNCTION tell_token_reach_change();
