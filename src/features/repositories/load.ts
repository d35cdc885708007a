import { eq, sql } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { prepared } from '../../../db/prepared.ts'
import { type RepositoryRow, repositories } from '../../../db/schema/repositories.ts'
import { type UserRow, users } from '../../../db/schema/users.ts'
import { decideRights } from '../../access/decide.ts'
import { Level } from '../../access/levels.ts'
import { findRepositoryById } from '../../access/load.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { notFound } from '../../kernel/errors.ts'
import type { ShownRepository } from '../../wire/repository.ts'
import { loadRelations } from './relations.ts'

export interface VersionedRepository {
  repository: RepositoryRow
  /** Changes with every change of the row. */
  version: string
}

interface VersionedOwner {
  owner: UserRow
  version: string
}

/** A repository as it is shown, and what its ETag is made of. */
export interface LoadedForShow extends ShownRepository {
  version: string
}

const rowsById = prepared((db) =>
  db
    .select({ repository: repositories, version: sql<string>`${repositories}.xmin::text` })
    .from(repositories)
    .where(eq(repositories.id, sql`any(${sql.placeholder('ids')}::bigint[])`))
    .prepare('repositories_by_ids'),
)

const ownersById = prepared((db) =>
  db
    .select({ owner: users, version: sql<string>`${users}.xmin::text` })
    .from(users)
    .where(eq(users.id, sql`any(${sql.placeholder('ids')}::bigint[])`))
    .prepare('owners_by_ids'),
)

const distinct = (ids: readonly number[]): string => `{${[...new Set(ids)].join(',')}}`

/** The rows in the order of the ids; ids without a row are left out. */
export async function loadRepositoryRows(db: Db, ids: readonly number[]): Promise<VersionedRepository[]> {
  if (ids.length === 0) return []
  const rows = await rowsById(db).execute({ ids: distinct(ids) })
  const byId = new Map(rows.map((row) => [row.repository.id, row]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}

/**
 * Adds what a reader is shown of each repository beside its row: owner, rights, and the parent where the reader may see it. Three
 * statements, or five with forks among them, however many rows there are. Rows that the reader may not see stay in: the
 * caller has chosen them.
 */
export async function loadShownRepositories(
  context: Context,
  actor: Actor | undefined,
  rows: readonly RepositoryRow[],
): Promise<ShownRepository[]> {
  const versioned = rows.map((repository) => ({ repository, version: '' }))
  return loadForShow(context, actor, versioned)
}

/** The same, by ids and with versions. */
export async function loadRepositoriesById(
  context: Context,
  actor: Actor | undefined,
  ids: readonly number[],
): Promise<LoadedForShow[]> {
  return loadForShow(context, actor, await loadRepositoryRows(context.db, ids))
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

/** Adds the parent to a repository that was loaded by its path. */
export async function withParent(
  context: Context,
  actor: Actor | undefined,
  shown: LoadedForShow,
): Promise<LoadedForShow> {
  const { repository, owner, rights, version } = shown
  if (repository.parentId === null) return { repository, owner, rights, version }
  const [parent] = await loadParents(context, actor, [repository.parentId])
  return parent
    ? { repository, owner, rights, parent, version: `${version}.${parent.version}` }
    : { repository, owner, rights, version }
}

async function loadForShow(
  context: Context,
  actor: Actor | undefined,
  rows: readonly VersionedRepository[],
): Promise<LoadedForShow[]> {
  if (rows.length === 0) return []
  const parentIds = rows.flatMap(({ repository }) => repository.parentId ?? [])
  const [alone, parents] = await Promise.all([
    withRights(context, actor, rows),
    parentIds.length === 0 ? [] : loadParents(context, actor, parentIds),
  ])
  const parentById = new Map(parents.map((parent) => [parent.repository.id, parent]))
  return alone.map((shown) => {
    const parent = parentById.get(shown.repository.parentId ?? 0)
    return parent ? { ...shown, parent, version: `${shown.version}.${parent.version}` } : shown
  })
}

async function loadParents(context: Context, actor: Actor | undefined, ids: number[]): Promise<LoadedForShow[]> {
  const rows = await loadRepositoryRows(context.db, [...new Set(ids)])
  const shown = await withRights(context, actor, rows)
  return shown.filter(({ rights }) => rights.highest >= Level.read)
}

async function withRights(
  { db, config }: Context,
  actor: Actor | undefined,
  rows: readonly VersionedRepository[],
): Promise<LoadedForShow[]> {
  const subjects = rows.map(({ repository }) => repository)
  const [owners, relationOf] = await Promise.all([
    ownersById(db).execute({ ids: distinct(subjects.map(({ ownerId }) => ownerId)) }),
    loadRelations(db, actor, subjects),
  ])
  const ownerById = new Map(owners.map((found): [number, VersionedOwner] => [found.owner.id, found]))
  return rows.flatMap(({ repository, version }) => {
    const found = ownerById.get(repository.ownerId)
    // An owner cannot go while a repository is left; both went between two statements.
    if (!found) return []
    const rights = decideRights(config, actor, { repository, owner: found.owner, relation: relationOf(repository) })
    const grant = `${rights.overall}${rights.level('repo.code')}`
    return [{ repository, owner: found.owner, rights, version: `${version}.${found.version}.${grant}` }]
  })
}
