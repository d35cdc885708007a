CREATE TABLE "gpg_keys" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "gpg_keys_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"user_id" bigint NOT NULL,
	"primary_id" bigint,
	"key_id" text NOT NULL,
	"fingerprint" text NOT NULL,
	"packet" "bytea" NOT NULL,
	"can_sign" boolean NOT NULL,
	"can_encrypt_comms" boolean NOT NULL,
	"can_encrypt_storage" boolean NOT NULL,
	"can_certify" boolean NOT NULL,
	"made_at" timestamp with time zone NOT NULL,
	"expires_at" timestamp with time zone,
	"certificate" "bytea",
	"emails" text[] DEFAULT '{}'::text[] NOT NULL,
	"is_verified" boolean DEFAULT false NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "gpg_keys_key_id_form" CHECK (key_id ~ '^[0-9A-F]{16}$')
);
--> statement-breakpoint
ALTER TABLE "gpg_keys" ADD CONSTRAINT "gpg_keys_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "gpg_keys" ADD CONSTRAINT "gpg_keys_primary_id_gpg_keys_id_fk" FOREIGN KEY ("primary_id") REFERENCES "public"."gpg_keys"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "gpg_keys_key_id_key" ON "gpg_keys" USING btree ("key_id") WHERE primary_id is null or can_sign;--> statement-breakpoint
CREATE INDEX "gpg_keys_user_idx" ON "gpg_keys" USING btree ("user_id","id");--> statement-breakpoint
CREATE INDEX "gpg_keys_primary_idx" ON "gpg_keys" USING btree ("primary_id") WHERE primary_id is not null;