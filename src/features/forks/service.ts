import { and, eq } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { repositories } from '../../../db/schema/repositories.ts'
import type { UserRow } from '../../../db/schema/users.ts'
import { violatedConstraint } from '../../../db/violations.ts'
import { isBlocked } from '../../access/blocks.ts'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { appendEvent } from '../../events/append.ts'
import { conflict, forbidden, notFound } from '../../kernel/errors.ts'
import { copyLfsObjects } from '../lfs/store.ts'
import { recordFirstRefs } from '../refs/sync.ts'
import { NAME_TAKEN, requireRepositoryName } from '../repositories/names.ts'
import { requireUnblocked } from '../repositories/people.ts'
import { requiresPrivateForks } from '../repositories/privacy.ts'
import {
  countOwned,
  insertCreatorAsAdmin,
  insertRepository,
  insertTeamWatches,
  insertWatch,
  isNameTaken,
} from '../repositories/store.ts'
import { payloadOf, subjectOf } from '../repositories/subject.ts'
import { requireQuota } from '../repository-creation/create.ts'
import { buildRepository } from '../repository-creation/reserved.ts'
import type { CreateForkOption } from './schema.ts'

interface Fork {
  actor: Actor
  source: RepositoryAccess
  owner: UserRow
  option: CreateForkOption
}

/**
 * Copies a repository for another owner. A copy of what is not public is private, for nobody may see more through it.
 * @throws Refusal 403 for a blocked person or a full quota, 409 when the owner has one or the name is taken, 422 for a bad name
 */
export async function createFork(context: Context, fork: Fork): Promise<number> {
  try {
    return await buildFork(context, fork)
  } catch (error) {
    throw violatedConstraint(error) === 'repositories_fork_key' ? conflict(HAS_FORK) : error
  }
}

const HAS_FORK = 'The owner has a fork of this repository already.'

async function buildFork(context: Context, fork: Fork): Promise<number> {
  const { actor, source, owner, option } = fork
  const name = option.name || source.repository.name
  await requireForkable(context, fork, name)
  const branch = option.default_branch_only ? source.repository.defaultBranch : undefined
  return buildRepository(context, {
    buildFolder: (id) => context.git.forkRepository(id, source.repository.id, { branch }),
    async insertRows(tx, id) {
      await requireUnblocked(tx, actor, source.repository)
      const { bytes } = await context.git.sizeOnDisk(id)
      // Made private meanwhile, or deleted: the copy must not be more open than what it was made from.
      const isPrivate = await requiresPrivateForks(tx, source.repository.id)
      if (isPrivate === undefined) throw notFound()
      const now = context.clock.now()
      const given = { id, ownerId: owner.id, name, sizeBytes: bytes, isPrivate, createdAt: now, updatedAt: now }
      const row = await insertRepository(tx, { ...copiedFrom(source), ...given })
      requireQuota(context, actor, { owner, owned: await countOwned(tx, owner.id), more: 0 })
      if (owner.kind === 'organization' && !actor.user.isAdmin)
        await insertCreatorAsAdmin(tx, { repositoryId: id, organizationId: owner.id, userId: actor.user.id })
      await insertWatch(tx, actor.user.id, id)
      if (owner.kind === 'organization') await insertTeamWatches(tx, id)
      await recordFirstRefs({ ...context, db: tx }, row, actor.user)
      await copyLfsObjects(tx, { from: source.repository.id, to: id, now })
      await appendEvent(tx, {
        ...subjectOf(row, actor),
        kind: 'repository.forked',
        payload: {
          ...payloadOf(row, owner),
          forkedFromId: source.repository.id,
          forkedFromOwnerId: source.repository.ownerId,
        },
      })
    },
  })
}

async function requireForkable(context: Context, { actor, source, owner }: Fork, name: string): Promise<void> {
  const { db } = context
  // The gate has judged the source; the fork is another repository.
  if (actor.repositoryIds) throw forbidden('the token reaches chosen repositories only')
  if (actor.publicOnly && source.repository.isPrivate) throw forbidden('the token only reaches public things')
  if (await isBlocked(db, { blockerId: source.owner.id, blockedId: actor.user.id }))
    throw forbidden('the owner of the repository has blocked you')
  requireRepositoryName(name)
  requireQuota(context, actor, { owner, owned: await countOwned(db, owner.id), more: 1 })
  if (await findFork(db, source.repository.id, owner.id)) throw conflict(HAS_FORK)
  if (await isNameTaken(db, owner.id, name)) throw conflict(NAME_TAKEN)
}

async function findFork(db: Db, parentId: number, ownerId: number): Promise<boolean> {
  const mine = and(eq(repositories.parentId, parentId), eq(repositories.ownerId, ownerId))
  return (await db.$count(repositories, mine)) > 0
}

function copiedFrom({ repository }: RepositoryAccess) {
  return {
    description: repository.description,
    website: repository.website,
    isFork: true,
    parentId: repository.id,
    defaultBranch: repository.defaultBranch,
    objectFormat: repository.objectFormat,
    language: repository.language,
    licenses: repository.licenses,
    // Wire: a fork begins with code and pull requests only.
    hasIssues: false,
    hasWiki: false,
    hasProjects: false,
    hasReleases: false,
    hasPackages: false,
    hasActions: false,
  }
}
