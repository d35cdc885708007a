CREATE TABLE "freed_names" (
	"lower_name" text PRIMARY KEY NOT NULL,
	"freed_at" timestamp with time zone NOT NULL
);
