import type { RepositoryRow } from '../../../db/schema/repositories.ts'
import { recordAudit } from '../../audit/record.ts'
import type { Context } from '../../context.ts'
import { appendEvent } from '../../events/append.ts'
import { copyLfsObjects } from '../lfs/store.ts'
import { recordFirstRefs } from '../refs/sync.ts'
import { requireUnblocked } from '../repositories/people.ts'
import {
  countOwned,
  insertCreatorAsAdmin,
  insertRepository,
  insertTeamWatches,
  insertWatch,
} from '../repositories/store.ts'
import { auditSubjectOf, payloadOf, subjectOf } from '../repositories/subject.ts'
import { requireQuota } from '../repository-creation/create.ts'
import { buildRepository } from '../repository-creation/reserved.ts'
import { copyRows } from './copies.ts'
import { buildGenerated } from './folder.ts'
import { type Generation, type Plan, planGeneration } from './plan.ts'

/**
 * Makes a repository from a template, whole or not at all.
 * @throws Refusal 403 for another person, a full quota and somebody blocked, 404 for an unknown owner, 409 when the name is taken, 422
 * for a name that cannot be, for what is no template and where nothing of it is wanted
 */
export async function generateRepository(context: Context, generation: Generation): Promise<number> {
  const plan = await planGeneration(context, generation)
  return buildRepository(context, {
    buildFolder: (id) => buildGenerated(context, plan, id),
    async insertRows(tx, id) {
      await requireUnblocked(tx, plan.actor, plan.template.repository)
      const { bytes } = await context.git.sizeOnDisk(id)
      await insertRows({ ...context, db: tx }, plan, { id, sizeBytes: bytes })
    },
  })
}

async function insertRows(context: Context, plan: Plan, made: { id: number; sizeBytes: number }): Promise<void> {
  const { db } = context
  const { actor, owner, template, option } = plan
  const row = await insertRepository(db, { ...columnsOf(context, plan), ...made })
  requireQuota(context, actor, { owner, owned: await countOwned(db, owner.id), more: 0 })
  await insertWatch(db, actor.user.id, row.id)
  if (owner.kind === 'organization') {
    await insertTeamWatches(db, row.id)
    if (!actor.user.isAdmin)
      await insertCreatorAsAdmin(db, { repositoryId: row.id, organizationId: owner.id, userId: actor.user.id })
  }
  await copyRows(db, { id: row.id, templateId: template.repository.id }, option)
  if (plan.hasContent) await copyLfsObjects(db, { from: template.repository.id, to: row.id, now: context.clock.now() })
  await recordFirstRefs(context, row, actor.user)
  await recordCreation(context, plan, row)
}

function columnsOf({ clock }: Context, { owner, template, option, defaultBranch, hasContent }: Plan) {
  const { repository } = template
  const now = clock.now()
  return {
    ownerId: owner.id,
    name: option.name,
    description: option.description ?? '',
    isPrivate: option.private ?? false,
    defaultBranch,
    objectFormat: repository.objectFormat,
    trustModel: repository.trustModel,
    topics: option.topics ? repository.topics : [],
    avatar: option.avatar ? repository.avatar : '',
    licenses: hasContent ? repository.licenses : [],
    language: hasContent ? repository.language : '',
    createdAt: now,
    updatedAt: now,
  }
}

async function recordCreation({ db }: Context, { actor, owner, template }: Plan, row: RepositoryRow): Promise<void> {
  await appendEvent(db, { ...subjectOf(row, actor), kind: 'repository.created', payload: payloadOf(row, owner) })
  const after = { isPrivate: row.isPrivate, template: template.fullName }
  await recordAudit(db, actor, {
    action: 'repository.create',
    subject: auditSubjectOf({ repository: row, owner }),
    after,
  })
}
