CREATE TABLE "request_windows" (
	"caller" text PRIMARY KEY NOT NULL,
	"started_at" timestamp with time zone NOT NULL,
	"requests" integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX "request_windows_started_idx" ON "request_windows" USING btree ("started_at");--> statement-breakpoint
ALTER TABLE "request_windows" SET UNLOGGED;
