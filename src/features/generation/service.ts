import type { RepositoryRow } from '../../../db/schema/repositories.ts'
import type { UserRow } from '../../../db/schema/users.ts'
import { maySeeOwner } from '../../access/decide.ts'
import { findAccount, mayCreateIn } from '../../access/load-account.ts'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import { recordAudit } from '../../audit/record.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { appendEvent } from '../../events/append.ts'
import { conflict, forbidden, invalid, notFound } from '../../kernel/errors.ts'
import { recordFirstRefs } from '../refs/sync.ts'
import { NAME_TAKEN, requireBranchName, requireRepositoryName } from '../repositories/names.ts'
import { requireUnblocked } from '../repositories/people.ts'
import {
  countOwned,
  insertCreatorAsAdmin,
  insertRepository,
  insertTeamWatches,
  insertWatch,
  isNameTaken,
} from '../repositories/store.ts'
import { auditSubjectOf, payloadOf, subjectOf } from '../repositories/subject.ts'
import { requireQuota } from '../repository-creation/create.ts'
import { buildRepository } from '../repository-creation/reserved.ts'
import { copyRows } from './copies.ts'
import { buildGenerated } from './folder.ts'
import type { GenerateRepoOption } from './schema.ts'

export interface Generation {
  actor: Actor
  template: RepositoryAccess
  option: GenerateRepoOption
}

/** What is decided before anything is made. */
export interface Plan extends Generation {
  owner: UserRow
  defaultBranch: string
  /** With the files of the template. An empty one has none. */
  hasContent: boolean
}

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

async function planGeneration(context: Context, generation: Generation): Promise<Plan> {
  const { actor, template, option } = generation
  // The gate has judged the template; what is made of it is another repository.
  if (actor.repositoryIds) throw forbidden('the token reaches chosen repositories only')
  if (actor.publicOnly) throw forbidden('the token only reaches public things')
  if (!template.repository.isTemplate) throw invalid('this is not a template repo')
  if (!isAnythingWanted(option)) throw invalid('must select at least one template item')
  requireRepositoryName(option.name)
  const owner = await requireOwner(context, actor, option.owner ?? '')
  const defaultBranch = option.default_branch || template.repository.defaultBranch
  requireBranchName(defaultBranch)
  requireQuota(context, actor, { owner, owned: await countOwned(context.db, owner.id), more: 1 })
  if (await isNameTaken(context.db, owner.id, option.name)) throw conflict(NAME_TAKEN)
  return { ...generation, owner, defaultBranch, hasContent: !!option.git_content && !template.repository.isEmpty }
}

const isAnythingWanted = (option: GenerateRepoOption): boolean =>
  [
    option.git_content,
    option.topics,
    option.git_hooks,
    option.webhooks,
    option.avatar,
    option.labels,
    option.protected_branch,
  ].includes(true)

async function requireOwner({ db, config }: Context, actor: Actor, name: string): Promise<UserRow> {
  const account = name === '' ? undefined : await findAccount(db, name, actor.user.id)
  if (!account || !maySeeOwner(config, actor, account.row, account.isRelated))
    throw notFound(`request owner \`${name}\` does not exist`)
  const owner = account.row
  if (owner.id === actor.user.id || actor.user.isAdmin) return owner
  if (owner.kind === 'user') throw forbidden('Only admin can generate repository for other user.')
  if (!(await mayCreateIn(db, owner.id, actor.user.id)))
    throw forbidden('Given user is not allowed to create repository in organization.')
  return owner
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
  await recordFirstRefs(context, row, actor.user)
  await tell(context, plan, row)
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

async function tell({ db }: Context, { actor, owner, template }: Plan, row: RepositoryRow): Promise<void> {
  await appendEvent(db, { ...subjectOf(row, actor), kind: 'repository.created', payload: payloadOf(row, owner) })
  const after = { isPrivate: row.isPrivate, template: template.fullName }
  await recordAudit(db, actor, { action: 'repository.create', subject: auditSubjectOf(row, owner), after })
}
