import { eq, sql } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import type { Versioned } from '../../../db/kept-rows.ts'
import { prepared } from '../../../db/prepared.ts'
import { type RepositoryRow, repositories, repositoryCounters } from '../../../db/schema/repositories.ts'
import { type UserRow, users } from '../../../db/schema/users.ts'
import { decideRights, type RepositoryRights } from '../../access/decide.ts'
import { Level } from '../../access/levels.ts'
import { findRepositoryById } from '../../access/load.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { notFound } from '../../kernel/errors.ts'
import type { ShownRepository } from '../../wire/repository.ts'
import {
  cachedOwners,
  cachedRepositories,
  type FoundRepository,
  foundColumns,
  ownerVersion,
  type Pair,
  repositoryVersion,
} from './cached-rows.ts'
import { loadRelations } from './relations.ts'

/** A repository as it is shown, and what its ETag is made of. */
export interface LoadedForShow extends ShownRepository {
  version: string
}

/** One that the reader may see, without the numbers that change all the time. */
type Judged = Omit<LoadedForShow, 'counters' | 'parent'>

/** The columns of `FoundRepository` for a composed statement over `repositories` and `users`. */
export const foundText = sql`${repositories.id} as "id", ${repositoryVersion} as "version",
  ${repositories.ownerId} as "ownerId", ${ownerVersion} as "ownerVersion"`

/** Of a row of numbers, as `rowVersion`. */
const countersVersion = sql<string>`${repositoryCounters}.xmin::text || ${repositoryCounters}.ctid::text`

const anyId = sql`any(${sql.placeholder('ids')}::bigint[])`

const foundById = prepared((db) =>
  db
    .select(foundColumns)
    .from(repositories)
    .innerJoin(users, eq(users.id, repositories.ownerId))
    .where(eq(repositories.id, anyId))
    .prepare('repository_versions'),
)
const repositoriesById = prepared((db) =>
  db
    .select({ row: repositories, version: repositoryVersion })
    .from(repositories)
    .where(eq(repositories.id, anyId))
    .prepare('repositories_by_ids'),
)
const countersById = prepared((db) =>
  db
    .select({ counters: repositoryCounters, version: countersVersion })
    .from(repositoryCounters)
    .where(eq(repositoryCounters.repositoryId, anyId))
    .prepare('repository_counters_by_ids'),
)
const ownersById = prepared((db) =>
  db.select({ row: users, version: ownerVersion }).from(users).where(eq(users.id, anyId)).prepare('owners_by_ids'),
)

/**
 * Adds what a reader is shown of each repository beside its row: owner, rights, and the parent where the reader may see it. A
 * fixed number of statements, however many rows. All rows stay in, whatever the rights: the caller has chosen them.
 */
export async function loadShownRepositories(
  context: Context,
  actor: Actor | undefined,
  rows: readonly RepositoryRow[],
): Promise<ShownRepository[]> {
  if (rows.length === 0) return []
  const owners = await readRows(ownersById(context.db), { ids: rows.map(({ ownerId }) => ownerId) })
  const ownerById = new Map(owners.map((owner) => [owner.row.id, owner]))
  const pairs = rows.flatMap((row): Pair[] => {
    const owner = ownerById.get(row.ownerId)
    return owner ? [{ repository: { row, version: '' }, owner }] : []
  })
  return withParents(context, actor, await judge(context, actor, pairs))
}

/** The same for ids in their order, with versions. Those that are gone or hidden from the reader are left out. */
export async function loadRepositoriesById(
  context: Context,
  actor: Actor | undefined,
  ids: readonly number[],
): Promise<LoadedForShow[]> {
  const found = await findByIds(context.db, ids)
  return loadFound(context, actor, found)
}

async function findByIds(db: Db, ids: readonly number[]): Promise<FoundRepository[]> {
  if (ids.length === 0) return []
  const found = await foundById(db).execute({ ids: listOf(ids) })
  const byId = new Map(found.map((one) => [one.id, one]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}

/** For lists that have found out ids and versions themselves, with `foundColumns`. */
export async function loadFound(
  context: Context,
  actor: Actor | undefined,
  found: readonly FoundRepository[],
): Promise<LoadedForShow[]> {
  return withParents(context, actor, await loadVisible(context, actor, found))
}

/** @throws Refusal 404 for one that does not exist and for one that the reader may not see alike */
export async function getShownRepository(
  context: Context,
  actor: Actor | undefined,
  id: number,
): Promise<LoadedForShow> {
  const loaded = await findRepositoryById(context.db, id, actor?.user.id)
  const rights = loaded && decideRights(context.config, actor, loaded)
  if (!loaded || !rights || rights.highest < Level.read) throw notFound()
  return withParent(context, actor, { ...loaded, rights })
}

interface LoadedByPath {
  repository: RepositoryRow
  owner: UserRow
  rights: RepositoryRights
  version: string
}

/** Adds the parent to a repository that was loaded by its path. */
export async function withParent(
  context: Context,
  actor: Actor | undefined,
  { repository, owner, rights, version }: LoadedByPath,
): Promise<LoadedForShow> {
  const alone = { repository, owner, rights, version: `${version}.${rightsVersion(rights)}` }
  const [shown] = await withParents(context, actor, [alone])
  if (!shown) throw notFound()
  return shown
}

async function withParents(
  context: Context,
  actor: Actor | undefined,
  shown: readonly Judged[],
): Promise<LoadedForShow[]> {
  const ids = shown.flatMap(({ repository }) => repository.parentId ?? [])
  const found = await findByIds(context.db, [...new Set(ids)])
  const parents = await loadVisible(context, actor, found)
  const all = await withCounters(context.db, [...shown, ...parents])
  const byId = new Map(all.map((one) => [one.repository.id, one]))
  return shown.flatMap(({ repository }): LoadedForShow[] => {
    const [one, parent] = [byId.get(repository.id), byId.get(repository.parentId ?? 0)]
    if (!one) return []
    return [parent ? { ...one, parent, version: `${one.version}.${parent.version}` } : one]
  })
}

/** Those that were deleted meanwhile have none, and are left out. */
async function withCounters(db: Db, judged: readonly Judged[]): Promise<LoadedForShow[]> {
  if (judged.length === 0) return []
  const rows = await countersById(db).execute({ ids: listOf(judged.map(({ repository }) => repository.id)) })
  const byId = new Map(rows.map((row) => [row.counters.repositoryId, row]))
  return judged.flatMap((one): LoadedForShow[] => {
    const found = byId.get(one.repository.id)
    return found ? [{ ...one, counters: found.counters, version: `${one.version}.${found.version}` }] : []
  })
}

async function loadVisible(
  context: Context,
  actor: Actor | undefined,
  found: readonly FoundRepository[],
): Promise<Judged[]> {
  if (found.length === 0) return []
  const { db } = context
  const [rows, owners] = await Promise.all([
    throughKept(cachedRepositories(db), found, (ids) => readRows(repositoriesById(db), { ids })),
    throughKept(
      cachedOwners(db),
      found.map((one) => ({ id: one.ownerId, version: one.ownerVersion })),
      (ids) => readRows(ownersById(db), { ids }),
    ),
  ])
  const pairs = found.flatMap(({ id, ownerId }): Pair[] => {
    const [repository, owner] = [rows.get(id), owners.get(ownerId)]
    return repository && owner ? [{ repository, owner }] : []
  })
  const judged = await judge(context, actor, pairs)
  return judged.filter(({ rights }) => rights.highest >= Level.read)
}

interface Kept<Row> {
  get(id: number, version: string): Versioned<Row> | undefined
  keep(read: Versioned<Row>): void
}

/** Rows by id: those that are kept in the wanted version, and the others read anew. */
async function throughKept<Row extends { id: number }>(
  kept: Kept<Row>,
  wanted: readonly { id: number; version: string }[],
  read: (ids: number[]) => Promise<Versioned<Row>[]>,
): Promise<Map<number, Versioned<Row>>> {
  const rows = new Map<number, Versioned<Row>>()
  const missing: number[] = []
  for (const { id, version } of wanted) {
    const known = kept.get(id, version)
    if (known) rows.set(id, known)
    else missing.push(id)
  }
  for (const one of missing.length === 0 ? [] : await read(missing)) {
    kept.keep(one)
    rows.set(one.row.id, one)
  }
  return rows
}

interface ById<Row> {
  execute(values: { ids: string }): Promise<Versioned<Row>[]>
}

const readRows = <Row>(statement: ById<Row>, { ids }: { ids: readonly number[] }): Promise<Versioned<Row>[]> =>
  statement.execute({ ids: listOf(ids) })

const listOf = (ids: readonly number[]): string => `{${[...new Set(ids)].join(',')}}`

async function judge({ db, config }: Context, actor: Actor | undefined, pairs: readonly Pair[]): Promise<Judged[]> {
  const relationOf = await loadRelations(
    db,
    actor,
    pairs.map(({ repository }) => repository.row),
  )
  return pairs.map(({ repository, owner }) => {
    const subject = { repository: repository.row, owner: owner.row, relation: relationOf(repository.row) }
    const rights = decideRights(config, actor, subject)
    const version = `${repository.version}.${owner.version}.${rightsVersion(rights)}`
    return { repository: repository.row, owner: owner.row, rights, version }
  })
}

/** The permissions that are shown depend on more rows than the repository's. */
const rightsVersion = (rights: RepositoryRights): string =>
  `${rights.overall}${rights.highest}${rights.level('repo.code')}`
