CREATE TABLE "issue_dependencies" (
	"issue_id" bigint NOT NULL,
	"dependency_id" bigint NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "issue_dependencies_issue_id_dependency_id_pk" PRIMARY KEY("issue_id","dependency_id"),
	CONSTRAINT "issue_dependencies_two_issues" CHECK (issue_id <> dependency_id)
);
--> statement-breakpoint
ALTER TABLE "comments" ADD COLUMN "dependent_issue_id" bigint;--> statement-breakpoint
ALTER TABLE "issue_dependencies" ADD CONSTRAINT "issue_dependencies_issue_id_issues_id_fk" FOREIGN KEY ("issue_id") REFERENCES "public"."issues"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "issue_dependencies" ADD CONSTRAINT "issue_dependencies_dependency_id_issues_id_fk" FOREIGN KEY ("dependency_id") REFERENCES "public"."issues"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "issue_dependencies_dependency_idx" ON "issue_dependencies" USING btree ("dependency_id","issue_id");--> statement-breakpoint
ALTER TABLE "comments" ADD CONSTRAINT "comments_dependent_issue_id_issues_id_fk" FOREIGN KEY ("dependent_issue_id") REFERENCES "public"."issues"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "comments_dependent_issue_idx" ON "comments" USING btree ("dependent_issue_id") WHERE dependent_issue_id is not null;