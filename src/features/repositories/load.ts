import { decideRights } from '../../access/decide.ts'
import { findRepositoryById } from '../../access/load.ts'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import { Level } from '../../access/units.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { notFound } from '../../kernel/errors.ts'
import type { ShownRepository, ShownTransfer } from '../../wire/repository.ts'
import { readRepositories } from './read-rows.ts'
import { loadRelations } from './relations.ts'
import { loadTransfers } from './transfers.ts'

/**
 * What a reader is shown of the repositories with these ids, in their order, each with the parent where the reader may see it. Those
 * that are gone or hidden from the reader are left out. A fixed number of statements, however many ids.
 */
export async function loadRepositoriesById(
  context: Context,
  actor: Actor | undefined,
  ids: readonly number[],
): Promise<ShownRepository[]> {
  return complete(context, actor, await loadReadable(context, actor, ids))
}

/** The same whatever their visibility: the caller has the right to show them. */
export const loadUnjudged = async (
  context: Context,
  actor: Actor | undefined,
  ids: readonly number[],
): Promise<ShownRepository[]> => complete(context, actor, await loadJudged(context, actor, ids))

/** The same for one repository. */
export async function loadRepository(
  context: Context,
  actor: Actor | undefined,
  id: number,
): Promise<ShownRepository | undefined> {
  const [shown] = await loadUnjudged(context, actor, [id])
  return shown
}

/** @throws Refusal 404 for one that does not exist and for one that the reader may not see alike */
export async function getShownRepository(
  context: Context,
  actor: Actor | undefined,
  id: number,
): Promise<ShownRepository> {
  const loaded = await findRepositoryById(context.db, id, actor?.user.id)
  const rights = loaded && decideRights(context.config, actor, loaded)
  if (!loaded || !rights || rights.highest < Level.read) throw notFound()
  return withRelatives(context, actor, { ...loaded, rights })
}

type Admitted = Pick<RepositoryAccess, 'repository' | 'owner' | 'counters' | 'rights' | 'isOffered' | 'relation'>

/** Adds the parent, and an offer to another owner, to a repository that was loaded by its path. */
export async function withRelatives(
  context: Context,
  actor: Actor | undefined,
  { repository, owner, counters, rights, isOffered, relation }: Admitted,
): Promise<ShownRepository> {
  const alone = { repository, owner, counters, rights, isOffered, isRecipient: relation.isRecipient }
  const [shown] = await complete(context, actor, [alone])
  return shown ?? alone
}

interface Judged extends ShownRepository {
  isOffered: boolean
  isRecipient: boolean
}

async function complete(
  context: Context,
  actor: Actor | undefined,
  judged: readonly Judged[],
): Promise<ShownRepository[]> {
  const concerned = judged.filter(
    ({ isOffered, isRecipient, rights }) => isOffered && (isRecipient || rights.overall >= Level.admin),
  )
  const offered = concerned.map(({ repository }) => repository.id)
  const transfers = offered.length === 0 ? new Map<number, ShownTransfer>() : await loadTransfers(context.db, offered)
  const shown = judged.map(({ isOffered: _, isRecipient: __, ...one }) => {
    const transfer = transfers.get(one.repository.id)
    return transfer ? { ...one, transfer } : one
  })
  return withParents(context, actor, shown)
}

async function withParents(
  context: Context,
  actor: Actor | undefined,
  shown: ShownRepository[],
): Promise<ShownRepository[]> {
  const ids = shown.flatMap(({ repository }) => repository.parentId ?? [])
  if (ids.length === 0) return shown
  const parents = await loadReadable(context, actor, ids)
  const byId = new Map(parents.map((parent) => [parent.repository.id, parent]))
  return shown.map((one) => {
    const parent = byId.get(one.repository.parentId ?? 0)
    return parent ? { ...one, parent } : one
  })
}

async function loadReadable(context: Context, actor: Actor | undefined, ids: readonly number[]): Promise<Judged[]> {
  const judged = await loadJudged(context, actor, ids)
  return judged.filter(({ rights }) => rights.highest >= Level.read)
}

async function loadJudged(
  { db, config }: Context,
  actor: Actor | undefined,
  ids: readonly number[],
): Promise<Judged[]> {
  const found = await readRepositories(db, ids)
  const relationOf = await loadRelations(
    db,
    actor,
    found.map(({ repository }) => repository),
  )
  return found.map((rows) => {
    const relation = relationOf(rows.repository)
    return { ...rows, rights: decideRights(config, actor, { ...rows, relation }), isRecipient: relation.isRecipient }
  })
}
