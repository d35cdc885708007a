import { and, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { escapeLike } from '../../../db/like.ts'
import { issueTexts } from '../../../db/schema/issue-texts.ts'
import { comments, issues } from '../../../db/schema/issues.ts'

/** What a text asks of issues. */
export interface TextSearch {
  /** Over `issues`. */
  condition: SQL
  /** How well an issue fits, as a whole number: the highest come first. */
  rank: SQL<number>
}

/** More words than this make one statement too dear; the others count for nothing. */
const MAX_WORDS = 10

/** What the index of comments knows of a comment. */
const commentWords = sql`searched_words(${comments.body})`
const isComment = sql`${comments.kind} = 'comment'`

/**
 * Issues that have every word of a text in title and body together, or in one comment, in any letter case. A word is found at the beginning of
 * a word; three Latin letters or digits are found inside of the words of a title too. A number alone, with or without `#`, means the issue of that
 * number as well. Of other signs than letters and digits nothing is known. Words of titles count most for the rank.
 * @param repositoryId of the repository that is searched; undefined for a search over repositories
 */
export function searchText(text: string, repositoryId?: number): TextSearch {
  const words = [...new Set(text.toLowerCase().split(/\s+/))].filter((word) => runsOf(word).length > 0)
  const wanted = words.slice(0, MAX_WORDS)
  const number = wanted.length === 1 ? numberOf(wanted[0] ?? '') : undefined
  const ofRepository = repositoryId === undefined ? undefined : sql`${issueTexts.repositoryId} = ${repositoryId}`
  const inTexts = and(ofRepository, ...wanted.map(inText))
  const inComments = and(isComment, ...wanted.map((word) => sql`${commentWords} @@ ${startingWith(word)}`))
  const ways = [
    sql`select ${issueTexts.issueId} from ${issueTexts} where ${inTexts}`,
    sql`select ${comments.issueId} from ${comments} where ${inComments}`,
    ...(number === undefined ? [] : [numbered(number, ofRepository)]),
  ]
  const found = isAmong(issues.id, sql.join(ways, sql` union all `))
  return { condition: wanted.length === 0 ? sql`false` : found, rank: rankBy(wanted, number) }
}

/** Letters and digits that stand together: what `searched_words` makes words of. */
const runsOf = (word: string): string[] => word.match(/[\p{L}\p{N}\p{M}]+/gu) ?? []

/** `12` or `#12`. */
function numberOf(word: string): number | undefined {
  const digits = /^#?(\d{1,9})$/.exec(word)?.[1]
  return digits === undefined ? undefined : Number(digits)
}

/** Letters and digits alone cannot be taken for operators. */
const startingWith = (word: string): SQL => sql`to_tsquery('simple', ${`${runsOf(word).join(' <-> ')}:*`})`

/** The index on parts of words knows three in a row; in a database of the locale C it knows no other letters than these. */
const hasPart = (word: string): boolean => /[a-z\d]{3}/.test(word)

function inText(word: string): SQL {
  const isWord = sql`${issueTexts.words} @@ ${startingWith(word)}`
  return hasPart(word) ? sql`(${isWord} or ${issueTexts.title} ilike ${`%${escapeLike(word)}%`})` : isWord
}

const numbered = (number: number, ofRepository: SQL | undefined): SQL => sql`
  select ${issueTexts.issueId} from ${issueTexts} where ${and(ofRepository, sql`${issueTexts.number} = ${number}`)}`

function rankBy(words: readonly string[], number: number | undefined): SQL<number> {
  const isNamed =
    number === undefined ? sql`0` : sql`case when ${issueTexts.number} = ${number} then 1000000 else 0 end`
  const any = sql.join(words.map(startingWith), sql` || `)
  const fit = words.length === 0 ? sql`0` : sql`ts_rank(${issueTexts.words}, ${any}) * 100000`
  return sql<number>`(select (${isNamed} + ${fit})::bigint from ${issueTexts} where ${issueTexts.issueId} = ${issues.id})`
}

/**
 * Issues in whose body or comments somebody is called by `@name`.
 * @param name of an account that exists: letters, digits, `-`, `_` and `.`
 */
export function mentioning(name: string): SQL {
  // What may stand before and behind a name: as `mentionedNames` reads it.
  const called = `(^|[^\\w/@.\`-])@${name.replaceAll('.', '\\.')}(?![.-]*\\w)`
  const named = sql`to_tsquery('simple', ${runsOf(name.toLowerCase()).join(' <-> ')})`
  const candidates = sql`select ${issueTexts.issueId} from ${issueTexts} where ${issueTexts.words} @@ ${named}`
  return isAmong(
    issues.id,
    sql`select named.id from ${issues} as named where ${isAmong(sql`named.id`, candidates)} and named.body ~* ${called}
      union all
      select ${comments.issueId} from ${comments}
      where ${isComment} and ${commentWords} @@ ${named} and ${comments.body} ~* ${called}`,
  )
}

/**
 * As an array, whose rows are found by their index. PostgreSQL expects a fiftieth of all rows to have any beginning of a word, and would read the
 * whole table for one.
 */
const isAmong = (id: SQLWrapper, ids: SQL): SQL => sql`${id} = any(array(${ids}))`
