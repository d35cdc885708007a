CREATE TABLE "deploy_keys" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "deploy_keys_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"repository_id" bigint NOT NULL,
	"key_id" bigint NOT NULL,
	"title" text NOT NULL,
	"is_read_only" boolean DEFAULT false NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "deploy_keys_title_length" CHECK (char_length(title) between 1 and 255)
);
--> statement-breakpoint
ALTER TABLE "public_keys" ALTER COLUMN "user_id" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "deploy_keys" ADD CONSTRAINT "deploy_keys_repository_id_repositories_id_fk" FOREIGN KEY ("repository_id") REFERENCES "public"."repositories"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "deploy_keys" ADD CONSTRAINT "deploy_keys_key_id_public_keys_id_fk" FOREIGN KEY ("key_id") REFERENCES "public"."public_keys"("id") ON DELETE restrict ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "deploy_keys_key" ON "deploy_keys" USING btree ("key_id","repository_id");--> statement-breakpoint
CREATE UNIQUE INDEX "deploy_keys_title_key" ON "deploy_keys" USING btree ("repository_id","title");--> statement-breakpoint
CREATE INDEX "deploy_keys_repository_idx" ON "deploy_keys" USING btree ("repository_id","id");