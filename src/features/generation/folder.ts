import type { RepositoryRow } from '../../../db/schema/repositories.ts'
import type { UserRow } from '../../../db/schema/users.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { signaturesOf, signFor } from '../contents/signatures.ts'
import { findExpansions } from './expansion.ts'
import type { Plan } from './plan.ts'
import { type Described, variablesOf } from './variables.ts'

/** Builds the folder of a repository that is generated: its one commit, and Git hooks. */
export async function buildGenerated(context: Context, plan: Plan, id: number): Promise<void> {
  const { git } = context
  const { actor, template, option, defaultBranch, hasContent } = plan
  if (hasContent) await copyContent(context, plan, id)
  else await git.createRepository(id, { objectFormat: template.repository.objectFormat, defaultBranch })
  if (option.git_hooks && maySetHooks(context, actor)) await copyGitHooks(context, template.repository.id, id)
}

/** Programs that run on the server come only with those who may set them. */
const maySetHooks = ({ config }: Context, { user }: Actor): boolean =>
  config.enableGitHooks && (user.isAdmin || user.allowGitHook)

async function copyContent(context: Context, plan: Plan, id: number): Promise<void> {
  const { git, clock } = context
  const { actor, template, owner, option, defaultBranch } = plan
  const source = template.repository
  const { sha: commit } = await git.readCommit(source.id, `refs/heads/${source.defaultBranch}`)
  const made = { name: option.name, description: option.description ?? '' }
  const subjects = {
    REPO: describe(context, owner, made),
    TEMPLATE: describe(context, template.owner, source),
  }
  const changes = await findExpansions(git, { repositoryId: source.id, commit }, variablesOf(subjects, clock.now()))
  const by = signaturesOf(context, actor.user, {})
  const sign = await signFor(context, actor, by)
  // Wire: Gitea's words.
  const message = 'Initial commit\n'
  await git.copyTree(id, { ...by, sourceId: source.id, commit, defaultBranch, changes, message, sign })
}

function describe(
  { baseUrl, sshRoot }: Context,
  owner: UserRow,
  { name, description }: Pick<RepositoryRow, 'name' | 'description'>,
): Described {
  const path = `${owner.name}/${name}`
  return {
    owner: owner.name,
    name,
    description,
    htmlUrl: `${baseUrl}/${path}`,
    cloneUrl: `${baseUrl}/${path}.git`,
    sshUrl: `${sshRoot}${path}.git`,
  }
}

async function copyGitHooks({ git }: Context, from: number, to: number): Promise<void> {
  for (const hook of await git.listHooks(from)) if (hook.content !== undefined) await git.setHook(to, hook)
}
