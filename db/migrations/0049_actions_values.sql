CREATE TABLE "actions_values" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "actions_values_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"kind" text NOT NULL,
	"owner_id" bigint,
	"repository_id" bigint,
	"name" text NOT NULL,
	"value" text,
	"sealed_value" "bytea",
	"description" text DEFAULT '' NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "actions_values_one_holder" CHECK (num_nonnulls(owner_id, repository_id) = 1),
	CONSTRAINT "actions_values_one_value" CHECK (num_nonnulls(value, sealed_value) = 1),
	CONSTRAINT "actions_values_sealed" CHECK ((kind = 'secret') = (sealed_value is not null)),
	CONSTRAINT "actions_values_name_form" CHECK (name ~ '^[A-Z_][A-Z0-9_]*$')
);
--> statement-breakpoint
ALTER TABLE "actions_values" ADD CONSTRAINT "actions_values_owner_id_users_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "actions_values" ADD CONSTRAINT "actions_values_repository_id_repositories_id_fk" FOREIGN KEY ("repository_id") REFERENCES "public"."repositories"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "actions_values_owner_key" ON "actions_values" USING btree ("owner_id","kind","name") WHERE owner_id is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "actions_values_repository_key" ON "actions_values" USING btree ("repository_id","kind","name") WHERE repository_id is not null;