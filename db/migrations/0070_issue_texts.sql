-- Words of a text, in small letters, of no language. Signs are blanks, so that `a-b.c` is three words and not one of the parser's own
-- kinds. A tsvector has an end, and so have searched texts.
CREATE FUNCTION searched_words(text) RETURNS tsvector LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS
  $$ SELECT to_tsvector('simple'::regconfig, translate(left($1, 65536), '!"#$%&''()*+,-./:;<=>?@[\]^_`{|}~', repeat(' ', 32))) $$;
--> statement-breakpoint
CREATE TABLE "issue_texts" (
	"issue_id" bigint PRIMARY KEY NOT NULL,
	"repository_id" bigint NOT NULL,
	"number" integer NOT NULL,
	"title" text NOT NULL,
	"words" "tsvector" NOT NULL
);
--> statement-breakpoint
-- Before the indexes, which are built in one go behind it.
INSERT INTO issue_texts (issue_id, repository_id, number, title, words)
  SELECT id, repository_id, number, title, setweight(searched_words(title), 'A') || setweight(searched_words(body), 'B')
  FROM issues;
--> statement-breakpoint
DROP INDEX "issues_updated_idx";--> statement-breakpoint
ALTER TABLE "issue_texts" ADD CONSTRAINT "issue_texts_issue_id_issues_id_fk" FOREIGN KEY ("issue_id") REFERENCES "public"."issues"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "issue_texts_repository_idx" ON "issue_texts" USING btree ("repository_id","number");--> statement-breakpoint
CREATE INDEX "issue_texts_number_idx" ON "issue_texts" USING btree ("number");--> statement-breakpoint
CREATE INDEX "issue_texts_search_idx" ON "issue_texts" USING gin ("words","title" gin_trgm_ops);--> statement-breakpoint
CREATE INDEX "comments_words_idx" ON "comments" USING gin (searched_words(body)) WHERE kind = 'comment';--> statement-breakpoint
CREATE INDEX "labels_name_idx" ON "labels" USING btree ("name");--> statement-breakpoint
CREATE INDEX "milestones_title_idx" ON "milestones" USING btree ("title");--> statement-breakpoint
CREATE INDEX "issues_updated_idx" ON "issues" USING btree ("updated_at","repository_id","id");
--> statement-breakpoint
CREATE FUNCTION copy_issue_texts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO issue_texts (issue_id, repository_id, number, title, words)
    SELECT id, repository_id, number, title, setweight(searched_words(title), 'A') || setweight(searched_words(body), 'B')
    FROM changed;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER issues_inserted_texts AFTER INSERT ON issues
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION copy_issue_texts();
--> statement-breakpoint
CREATE FUNCTION copy_changed_issue_text() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE issue_texts
    SET title = NEW.title, words = setweight(searched_words(NEW.title), 'A') || setweight(searched_words(NEW.body), 'B')
    WHERE issue_id = NEW.id;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER issues_changed_texts AFTER UPDATE OF title, body ON issues FOR EACH ROW
  WHEN ((OLD.title, OLD.body) IS DISTINCT FROM (NEW.title, NEW.body))
  EXECUTE FUNCTION copy_changed_issue_text();
