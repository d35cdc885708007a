CREATE TABLE "wikis" (
	"repository_id" bigint PRIMARY KEY NOT NULL,
	"folder_id" bigint NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "pushes" ADD COLUMN "is_wiki" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "wikis" ADD CONSTRAINT "wikis_repository_id_repositories_id_fk" FOREIGN KEY ("repository_id") REFERENCES "public"."repositories"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "wikis_folder_key" ON "wikis" USING btree ("folder_id");