import type { Db } from '../../../db/client.ts'
import type { NewRepository } from '../../../db/schema/repositories.ts'
import type { UserRow } from '../../../db/schema/users.ts'
import { recordAudit } from '../../audit/record.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { appendEvent } from '../../events/append.ts'
import type { Commit } from '../../git/model.ts'
import { conflict, forbidden, invalid } from '../../kernel/errors.ts'
import { tipOf } from '../refs/disk.ts'
import { NAME_TAKEN, requireBranchName, requireRepositoryName } from '../repositories/names.ts'
import {
  countOwned,
  insertCreatorAsAdmin,
  insertFirstBranch,
  insertLabelSet,
  insertRepository,
  insertTeamWatches,
  insertWatch,
  isNameTaken,
} from '../repositories/store.ts'
import { auditSubjectOf, payloadOf, subjectOf } from '../repositories/subject.ts'
import { type Beginning, prepareBeginning } from './initial.ts'
import { buildRepository } from './reserved.ts'
import type { CreateRepoOption } from './schema.ts'

interface Creation {
  actor: Actor
  owner: UserRow
  option: CreateRepoOption
  /** Where its content is to come from later. */
  source?: {
    columns: Pick<NewRepository, 'originalUrl' | 'isMirror' | 'mirrorIntervalSeconds' | 'hasIssues'>
    insertRows(tx: Db, id: number): Promise<void>
  }
}

interface Plan extends Creation {
  beginning: Beginning
  defaultBranch: string
  objectFormat: 'sha1' | 'sha256'
}

/**
 * Makes a repository whole or not at all (see reserved.ts).
 * @throws Refusal 403 when the owner may own no more, 409 when the name is taken, 422 for a name, a template or a format that
 * cannot be
 */
export async function createRepository(context: Context, creation: Creation): Promise<number> {
  const plan = await planCreation(context, creation)
  const { objectFormat, defaultBranch, beginning } = plan
  let commit: Commit | undefined
  return buildRepository(context, {
    async buildFolder(id) {
      const built = await context.git.createRepository(id, {
        objectFormat,
        defaultBranch,
        initialCommit: beginning.commit,
      })
      commit = built.commit
    },
    async insertRows(tx, id) {
      const { bytes } = await context.git.sizeOnDisk(id)
      await insertRows({ ...context, db: tx }, plan, { id, sizeBytes: bytes, commit })
    },
  })
}

/** Everything that can be refused before anything is made. */
async function planCreation(context: Context, creation: Creation): Promise<Plan> {
  const { actor, owner, option } = creation
  if (actor.publicOnly) throw forbidden('the token only reaches public things')
  requireRepositoryName(option.name)
  const defaultBranch = option.default_branch || 'main'
  requireBranchName(defaultBranch)
  const objectFormat = option.object_format_name || 'sha1'
  if (!context.git.objectFormats.includes(objectFormat))
    throw invalid(`the installed git cannot make ${objectFormat} repositories`, 'object_format_name')
  requireQuota(context, actor, { owner, owned: await countOwned(context.db, owner.id), more: 1 })
  if (await isNameTaken(context.db, owner.id, option.name)) throw conflict(NAME_TAKEN)
  const beginning = await prepareBeginning(context, { creator: actor.user, owner }, option)
  return { ...creation, beginning, defaultBranch, objectFormat }
}

/** Wire: site administrators are not limited. */
export function requireQuota(
  { config }: Context,
  actor: Actor,
  { owner, owned, more }: { owner: UserRow; owned: number; more: number },
): void {
  const limit = owner.maxRepoCreation < 0 ? config.maxRepoCreation : owner.maxRepoCreation
  if (limit >= 0 && owned + more > limit && !actor.user.isAdmin)
    throw forbidden(`The owner has reached the limit of ${limit} repositories.`)
}

interface Built {
  id: number
  sizeBytes: number
  commit: Commit | undefined
}

async function insertRows(context: Context, plan: Plan, { id, sizeBytes, commit }: Built): Promise<void> {
  const { db, clock } = context
  const { actor, owner, option, source, beginning, defaultBranch, objectFormat } = plan
  const now = clock.now()
  const row = await insertRepository(db, {
    id,
    ownerId: owner.id,
    name: option.name,
    description: option.description ?? '',
    isPrivate: option.private ?? false,
    isTemplate: option.template ?? false,
    // Wire: a template begins without actions, so that it runs nothing by itself.
    hasActions: option.template !== true,
    trustModel: option.trust_model || 'default',
    defaultBranch,
    objectFormat,
    isEmpty: commit === undefined,
    licenses: beginning.licenses,
    sizeBytes,
    createdAt: now,
    updatedAt: now,
    ...source?.columns,
  })
  await source?.insertRows(db, id)
  // The trigger of the insert holds the owner's row from here on: the number is final.
  requireQuota(context, actor, { owner, owned: await countOwned(db, owner.id), more: 0 })
  await insertWatch(db, actor.user.id, id)
  if (owner.kind === 'organization') await insertTeamWatches(db, id)
  if (owner.kind === 'organization' && !actor.user.isAdmin)
    await insertCreatorAsAdmin(db, { repositoryId: id, organizationId: owner.id, userId: actor.user.id })
  await insertLabelSet(db, id, beginning.labels)
  if (commit !== undefined) await insertBranch(context, plan, { id, commit })
  await appendEvent(db, { ...subjectOf(row, actor), kind: 'repository.created', payload: payloadOf(row, owner) })
  const after = { isPrivate: row.isPrivate }
  await recordAudit(db, actor, {
    action: 'repository.create',
    subject: auditSubjectOf({ repository: row, owner }),
    after,
  })
}

async function insertBranch(
  { db }: Context,
  { actor, defaultBranch }: Plan,
  { id, commit }: { id: number; commit: Commit },
): Promise<void> {
  const { sha } = commit
  await insertFirstBranch(db, {
    repositoryId: id,
    name: defaultBranch,
    sha,
    commit: tipOf(commit),
    pusherId: actor.user.id,
  })
}
