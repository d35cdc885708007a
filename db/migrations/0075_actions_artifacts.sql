CREATE TABLE "actions_artifact_blocks" (
	"artifact_id" bigint NOT NULL,
	"block_id" text NOT NULL,
	"store_key" text NOT NULL,
	"size_bytes" bigint NOT NULL,
	CONSTRAINT "actions_artifact_blocks_artifact_id_block_id_pk" PRIMARY KEY("artifact_id","block_id")
);
--> statement-breakpoint
CREATE TABLE "actions_artifacts" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "actions_artifacts_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"repository_id" bigint NOT NULL,
	"run_id" bigint NOT NULL,
	"run_attempt" integer NOT NULL,
	"job_id" bigint NOT NULL,
	"task_id" bigint NOT NULL,
	"name" text NOT NULL,
	"state" text NOT NULL,
	"held_bytes" bigint DEFAULT 0 NOT NULL,
	"store_key" text,
	"size_bytes" bigint,
	"sha256" text,
	"block_list_hash" text,
	"expires_at" timestamp with time zone NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "actions_artifacts_whole" CHECK ((store_key is null) or (size_bytes is not null and sha256 is not null)),
	CONSTRAINT "actions_artifacts_finalized" CHECK (state <> 'finalized' or store_key is not null),
	CONSTRAINT "actions_artifacts_expired" CHECK (state <> 'expired' or (store_key is null and held_bytes = 0)),
	CONSTRAINT "actions_artifacts_sizes" CHECK (held_bytes >= 0 and size_bytes >= 0)
);
--> statement-breakpoint
ALTER TABLE "repository_counters" ADD COLUMN "artifact_bytes" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "actions_artifact_blocks" ADD CONSTRAINT "actions_artifact_blocks_artifact_id_actions_artifacts_id_fk" FOREIGN KEY ("artifact_id") REFERENCES "public"."actions_artifacts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "actions_artifacts" ADD CONSTRAINT "actions_artifacts_repository_id_repositories_id_fk" FOREIGN KEY ("repository_id") REFERENCES "public"."repositories"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "actions_artifacts" ADD CONSTRAINT "actions_artifacts_run_id_actions_runs_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."actions_runs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "actions_artifact_blocks_store_key" ON "actions_artifact_blocks" USING btree ("store_key");--> statement-breakpoint
CREATE UNIQUE INDEX "actions_artifacts_name_key" ON "actions_artifacts" USING btree ("run_id","run_attempt","name");--> statement-breakpoint
CREATE UNIQUE INDEX "actions_artifacts_store_key" ON "actions_artifacts" USING btree ("store_key");--> statement-breakpoint
CREATE INDEX "actions_artifacts_run_idx" ON "actions_artifacts" USING btree ("run_id","id");--> statement-breakpoint
CREATE INDEX "actions_artifacts_repository_idx" ON "actions_artifacts" USING btree ("repository_id","id");--> statement-breakpoint
CREATE INDEX "actions_artifacts_repository_name_idx" ON "actions_artifacts" USING btree ("repository_id","name","id");--> statement-breakpoint
CREATE INDEX "actions_artifacts_expiry_idx" ON "actions_artifacts" USING btree ("expires_at") WHERE state = 'finalized';--> statement-breakpoint
CREATE INDEX "actions_artifacts_uploading_idx" ON "actions_artifacts" USING btree ("id") WHERE state = 'uploading';--> statement-breakpoint
-- Bytes that a repository's artifacts hold. Counters are locked in the order of ids, as everywhere.
CREATE FUNCTION count_artifacts() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  ids bigint[];
  steps bigint[];
BEGIN
  IF TG_OP = 'INSERT' THEN
    SELECT array_agg(repository_id), array_agg(step) INTO ids, steps
      FROM (SELECT repository_id, sum(held_bytes)::bigint AS step FROM arrived GROUP BY repository_id) tally WHERE step <> 0;
  ELSIF TG_OP = 'DELETE' THEN
    SELECT array_agg(repository_id), array_agg(step) INTO ids, steps
      FROM (SELECT repository_id, -sum(held_bytes)::bigint AS step FROM gone GROUP BY repository_id) tally WHERE step <> 0;
  ELSE
    SELECT array_agg(repository_id), array_agg(step) INTO ids, steps FROM (
      SELECT repository_id, sum(bytes)::bigint AS step FROM (
        SELECT repository_id, held_bytes AS bytes FROM arrived
        UNION ALL SELECT repository_id, -held_bytes FROM gone
      ) moves GROUP BY repository_id
    ) tally WHERE step <> 0;
  END IF;
  IF ids IS NULL THEN RETURN NULL; END IF;
  PERFORM 1 FROM repository_counters WHERE repository_id = ANY(ids) ORDER BY repository_id FOR NO KEY UPDATE;
  UPDATE repository_counters SET artifact_bytes = artifact_bytes + tally.step
    FROM unnest(ids, steps) AS tally (id, step) WHERE repository_counters.repository_id = tally.id;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER actions_artifacts_counted_in AFTER INSERT ON actions_artifacts
  REFERENCING NEW TABLE AS arrived FOR EACH STATEMENT EXECUTE FUNCTION count_artifacts();
--> statement-breakpoint
CREATE TRIGGER actions_artifacts_counted AFTER UPDATE ON actions_artifacts
  REFERENCING NEW TABLE AS arrived OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION count_artifacts();
--> statement-breakpoint
CREATE TRIGGER actions_artifacts_counted_out AFTER DELETE ON actions_artifacts
  REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION count_artifacts();
--> statement-breakpoint
-- Objects that no row names any more: those of rows that are gone, and those that a row has let go of.
CREATE FUNCTION note_removed_artifacts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    INSERT INTO removed_objects (key)
      SELECT store_key FROM gone WHERE store_key IS NOT NULL ORDER BY store_key ON CONFLICT DO NOTHING;
  ELSE
    INSERT INTO removed_objects (key)
      SELECT gone.store_key FROM gone JOIN arrived USING (id)
        WHERE gone.store_key IS NOT NULL AND gone.store_key IS DISTINCT FROM arrived.store_key
        ORDER BY gone.store_key ON CONFLICT DO NOTHING;
  END IF;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER actions_artifacts_deleted AFTER DELETE ON actions_artifacts
  REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION note_removed_artifacts();
--> statement-breakpoint
CREATE TRIGGER actions_artifacts_let_go AFTER UPDATE ON actions_artifacts
  REFERENCING NEW TABLE AS arrived OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION note_removed_artifacts();
--> statement-breakpoint
CREATE TRIGGER actions_artifact_blocks_deleted AFTER DELETE ON actions_artifact_blocks
  REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION note_removed_artifacts();
