import type { MigrationRow, PartName } from '../../../db/schema/migrations.ts'
import type { RepositoryRow } from '../../../db/schema/repositories.ts'
import type { UserRow } from '../../../db/schema/users.ts'
import type { Context } from '../../context.ts'
import type { JobRun } from '../../jobs/handlers.ts'
import { type Fields, fieldsOf, idOf, lineOf } from './read.ts'
import type { Source } from './source.ts'

/** One run of a job. */
export interface Attempt {
  migration: MigrationRow
  source: Source
  run: JobRun
}

/** What the rows of one page are written with. */
export interface Batch {
  /** `db` is the transaction. */
  context: Context
  migration: MigrationRow
  repository: RepositoryRow
  doer: UserRow | undefined
  now: Date
  /** Whether labels were asked for. */
  bringsLabels: boolean
  /** Whether files of releases are to come. */
  bringsFiles: boolean
}

/** What the API lists page by page. */
export type PagedPart = Exclude<PartName, 'release_files' | 'wiki'>

/** One kind of content: where it is listed, and how a page of it is written. */
export interface Part {
  name: PagedPart
  path: string
  query: Readonly<Record<string, string>>
  /** Writes what has not come yet, and returns how many that are. What cannot be stored here is left out. */
  carry(batch: Batch, items: readonly Fields[]): Promise<number>
}

/** The first of each. */
export const distinctBy = <Item>(items: readonly Item[], keyOf: (item: Item) => number | string): Item[] =>
  [...new Map(items.toReversed().map((item) => [keyOf(item), item])).values()].toReversed()

const MAX_NAME = 255

/**
 * Who wrote something. Wire: the doer stands for every author, and the name there is stored beside it. What another server says of people
 * proves nothing here: only what the account of the doer's own credentials wrote is the doer's.
 */
export function authorOf({ migration, doer }: Batch, item: Fields) {
  const user = fieldsOf(item.user)
  const [first, id] = [lineOf(item.original_author, MAX_NAME), idOf(item.original_author_id)]
  const isOwn = first === '' && migration.doerIdThere !== null && user.id === migration.doerIdThere
  const posterId = doer?.id ?? null
  if (isOwn) return { posterId, originalAuthor: '', originalAuthorId: 0 }
  // What was migrated there already keeps its first author.
  if (first !== '') return { posterId, originalAuthor: first, originalAuthorId: id ?? 0 }
  return {
    posterId,
    originalAuthor: lineOf(user.login, MAX_NAME) || 'unknown',
    originalAuthorId: idOf(user.id) ?? 0,
  }
}
