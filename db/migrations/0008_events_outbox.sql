CREATE INDEX "events_waiting_idx" ON "events" USING btree ("id") WHERE fanned_out_at is null;--> statement-breakpoint
-- Told to all replicas at the commit; without a payload, so that the events of one transaction are one notification.
CREATE FUNCTION events_appended() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('hearth_events', '');
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER events_appended AFTER INSERT ON events FOR EACH STATEMENT EXECUTE FUNCTION events_appended();
