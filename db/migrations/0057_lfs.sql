CREATE TABLE "lfs_locks" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "lfs_locks_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"repository_id" bigint NOT NULL,
	"owner_id" bigint NOT NULL,
	"path" text NOT NULL,
	"locked_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "lfs_objects" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "lfs_objects_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"oid" text NOT NULL,
	"size_bytes" bigint NOT NULL,
	"store_key" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "lfs_objects_oid" CHECK (oid ~ '^[0-9a-f]{64}$'),
	CONSTRAINT "lfs_objects_size" CHECK (size_bytes >= 0)
);
--> statement-breakpoint
CREATE TABLE "repository_lfs_objects" (
	"repository_id" bigint NOT NULL,
	"object_id" bigint NOT NULL,
	"used_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "repository_lfs_objects_repository_id_object_id_pk" PRIMARY KEY("repository_id","object_id")
);
--> statement-breakpoint
ALTER TABLE "repository_counters" ADD COLUMN "lfs_bytes" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "repository_counters" ADD COLUMN "total_bytes" bigint GENERATED ALWAYS AS (size_bytes + lfs_bytes) STORED NOT NULL;--> statement-breakpoint
ALTER TABLE "lfs_locks" ADD CONSTRAINT "lfs_locks_repository_id_repositories_id_fk" FOREIGN KEY ("repository_id") REFERENCES "public"."repositories"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "lfs_locks" ADD CONSTRAINT "lfs_locks_owner_id_users_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "repository_lfs_objects" ADD CONSTRAINT "repository_lfs_objects_repository_id_repositories_id_fk" FOREIGN KEY ("repository_id") REFERENCES "public"."repositories"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "repository_lfs_objects" ADD CONSTRAINT "repository_lfs_objects_object_id_lfs_objects_id_fk" FOREIGN KEY ("object_id") REFERENCES "public"."lfs_objects"("id") ON DELETE restrict ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "lfs_locks_path_key" ON "lfs_locks" USING btree ("repository_id","path");--> statement-breakpoint
CREATE INDEX "lfs_locks_list_idx" ON "lfs_locks" USING btree ("repository_id","id");--> statement-breakpoint
CREATE INDEX "lfs_locks_owner_idx" ON "lfs_locks" USING btree ("owner_id");--> statement-breakpoint
CREATE UNIQUE INDEX "lfs_objects_oid_key" ON "lfs_objects" USING btree ("oid");--> statement-breakpoint
CREATE UNIQUE INDEX "lfs_objects_store_key" ON "lfs_objects" USING btree ("store_key");--> statement-breakpoint
CREATE INDEX "repository_lfs_objects_object_idx" ON "repository_lfs_objects" USING btree ("object_id");--> statement-breakpoint
CREATE INDEX "repository_lfs_objects_used_idx" ON "repository_lfs_objects" USING btree ("repository_id","used_at");--> statement-breakpoint
CREATE INDEX "repository_counters_lfs_idx" ON "repository_counters" USING btree ("lfs_bytes","repository_id");--> statement-breakpoint
CREATE INDEX "repository_counters_total_idx" ON "repository_counters" USING btree ("total_bytes","repository_id");