import type { RepositoryAccess } from '../../access/repository-access.ts'
import { recordAudit } from '../../audit/record.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import type { GitHook } from '../../git/model.ts'
import { notFound } from '../../kernel/errors.ts'
import { sha256Hex } from '../../kernel/hashing.ts'

/** @throws Refusal 404 for a name that is none of the three */
export async function getGitHook({ git }: Context, repositoryId: number, name: string): Promise<GitHook> {
  const hook = (await git.listHooks(repositoryId)).find((one) => one.name === name)
  if (!hook) throw notFound()
  return hook
}

export interface GitHookChange {
  actor: Actor
  repo: RepositoryAccess
  name: string
  content: string
}

/** Sets a hook or, with white space only, removes it. @throws Refusal 404 as `getGitHook` */
export async function setGitHook(context: Context, { actor, repo, ...change }: GitHookChange): Promise<GitHook> {
  const { id } = repo.repository
  const before = await getGitHook(context, id, change.name)
  // Wire: a script from a system of another kind of lines; the first of them would name no program that there is.
  const text = change.content.replaceAll('\r', '')
  const hook: GitHook = { name: before.name, content: text.trim() === '' ? undefined : text }
  if (hook.content === before.content) return hook
  const subject = { kind: 'repository', id, name: repo.fullName }
  const entry = { subject, before: auditOf(before), after: auditOf(hook) }
  // The event comes first. A change that the disk then refuses has an event too many; no change is without one.
  await recordAudit(context.db, actor, { action: 'repository.edit_git_hook', ...entry })
  await context.git.setHook(id, hook)
  return hook
}

/** The text itself may hold credentials; its digest says which of the known ones it was. */
const auditOf = ({ name, content }: GitHook) => ({
  [name]: content === undefined ? null : { sha256: sha256Hex(content), bytes: Buffer.byteLength(content) },
})
