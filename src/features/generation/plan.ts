import type { UserRow } from '../../../db/schema/users.ts'
import { maySeeOwner } from '../../access/decide.ts'
import { findAccount, mayCreateIn } from '../../access/load-account.ts'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { conflict, forbidden, invalid, notFound } from '../../kernel/errors.ts'
import { NAME_TAKEN, requireBranchName, requireRepositoryName } from '../repositories/names.ts'
import { countOwned, isNameTaken } from '../repositories/store.ts'
import { requireQuota } from '../repository-creation/create.ts'
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

/** @throws Refusal as `generateRepository` */
export async function planGeneration(context: Context, generation: Generation): Promise<Plan> {
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
