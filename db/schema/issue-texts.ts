import { customType, index, integer, pgTable, text } from 'drizzle-orm/pg-core'
import { reference } from './columns.ts'
import { issues } from './issues.ts'

const tsvector = customType<{ data: string }>({ dataType: () => 'tsvector' })

/**
 * What is searched of issues. It is a table of its own because every change of an issue's row (a comment, a label) writes all indexes of
 * that row anew, and those of a text are by far the dearest. Triggers on `issues` are its only writers.
 *
 * Parts of words are looked for in titles alone: an index on the parts of bodies took 5 ms for an issue of 100 words, where one on words takes
 * a tenth of that.
 */
export const issueTexts = pgTable(
  'issue_texts',
  {
    issueId: reference()
      .primaryKey()
      .references(() => issues.id, { onDelete: 'cascade' }),
    repositoryId: reference().notNull(),
    number: integer().notNull(),
    title: text().notNull(),
    /** Of the title, which count more, and of the first 65,536 characters of the body: see the function `searched_words`. */
    words: tsvector().notNull(),
  },
  (table) => [
    index('issue_texts_repository_idx').on(table.repositoryId, table.number),
    index('issue_texts_number_idx').on(table.number),
    index('issue_texts_search_idx').using('gin', table.words, table.title.op('gin_trgm_ops')),
  ],
)
