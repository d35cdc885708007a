CREATE TABLE "audit_entries" (
	"id" bigserial NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"actor_id" bigint,
	"actor_name" text DEFAULT '' NOT NULL,
	"sudoer_id" bigint,
	"sudoer_name" text DEFAULT '' NOT NULL,
	"method" text NOT NULL,
	"token_id" bigint,
	"address" text DEFAULT '' NOT NULL,
	"route" text DEFAULT '' NOT NULL,
	"request_id" text DEFAULT '' NOT NULL,
	"action" text NOT NULL,
	"subject_kind" text NOT NULL,
	"subject_id" bigint,
	"subject_name" text DEFAULT '' NOT NULL,
	"changes" jsonb DEFAULT '{}'::jsonb NOT NULL,
	CONSTRAINT "audit_entries_created_at_id_pk" PRIMARY KEY("created_at","id")
) PARTITION BY RANGE ("created_at");
--> statement-breakpoint
CREATE TABLE "avatars" (
	"hash" text PRIMARY KEY NOT NULL,
	"media_type" text NOT NULL,
	"content" "bytea" NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE INDEX "audit_entries_id_idx" ON "audit_entries" USING btree ("id");--> statement-breakpoint
CREATE INDEX "audit_entries_actor_idx" ON "audit_entries" USING btree ("actor_id","id");--> statement-breakpoint
CREATE INDEX "audit_entries_sudoer_idx" ON "audit_entries" USING btree ("sudoer_id","id");--> statement-breakpoint
CREATE INDEX "audit_entries_subject_idx" ON "audit_entries" USING btree ("subject_kind","subject_id","id");--> statement-breakpoint
CREATE INDEX "audit_entries_action_idx" ON "audit_entries" USING btree ("action","id");--> statement-breakpoint
-- Takes what no month holds, so that a change never fails because a partition is missing.
CREATE TABLE "audit_entries_default" PARTITION OF "audit_entries" DEFAULT;--> statement-breakpoint
-- Makes the partitions of this month and the two after it. A month whose entries already lie in the default partition stays there.
CREATE FUNCTION "ensure_audit_partitions"("at" timestamp with time zone) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	first timestamp with time zone;
	partition text;
BEGIN
	PERFORM pg_advisory_xact_lock(5190332);
	FOR month IN 0..2 LOOP
		first := (date_trunc('month', at AT TIME ZONE 'UTC') + make_interval(months => month)) AT TIME ZONE 'UTC';
		partition := 'audit_entries_' || to_char(first AT TIME ZONE 'UTC', 'YYYY_MM');
		CONTINUE WHEN to_regclass(partition) IS NOT NULL;
		CONTINUE WHEN EXISTS (SELECT FROM audit_entries_default AS entry
			WHERE entry.created_at >= first AND entry.created_at < (first AT TIME ZONE 'UTC' + interval '1 month') AT TIME ZONE 'UTC');
		EXECUTE format('CREATE TABLE %I PARTITION OF audit_entries FOR VALUES FROM (%L) TO (%L)',
			partition, first, (first AT TIME ZONE 'UTC' + interval '1 month') AT TIME ZONE 'UTC');
	END LOOP;
END $$;--> statement-breakpoint
SELECT "ensure_audit_partitions"(now());--> statement-breakpoint
-- Entries are never changed; only the retention task may delete, and says so in its transaction.
CREATE FUNCTION "keep_audit_entries"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF TG_OP = 'DELETE' AND current_setting('hearth.audit_retention', true) = 'on' THEN
		RETURN OLD;
	END IF;
	RAISE EXCEPTION 'audit entries cannot be changed';
END $$;--> statement-breakpoint
CREATE TRIGGER "audit_entries_kept" BEFORE UPDATE OR DELETE ON "audit_entries" FOR EACH ROW EXECUTE FUNCTION "keep_audit_entries"();
