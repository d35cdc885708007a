import type { RefRow } from '../../../db/schema/refs.ts'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { isGitError } from '../../git/errors.ts'
import { isValidTagName } from '../../git/names.ts'
import { conflict, invalid, notFound } from '../../kernel/errors.ts'
import { ownIdentity } from '../contents/signatures.ts'
import { mayChangeTag } from '../protections/decide.ts'
import { loadGuard } from '../protections/guard.ts'
import { changeRefs, pusherOf, recordPush, requireOwnRefs } from '../refs/change.ts'
import { TAGS } from '../refs/names.ts'
import type { CreateTagOption } from './schema.ts'
import { findTag, hasRelease } from './store.ts'

/** A repository and who changes it. */
export interface Subject {
  actor: Actor
  repo: RepositoryAccess
}

/** @throws Refusal 404 */
export async function getTag({ db }: Context, { repository }: RepositoryAccess, name: string): Promise<RefRow> {
  const row = await findTag(db, repository.id, name)
  if (!row) throw notFound(`tag doesn't exist: ${name}`)
  return row
}

/** @throws Refusal 403 for a mirror, 404 for an unknown target, 409 when the name is in use, 422 for one that cannot be */
export async function createTag(context: Context, subject: Subject, option: CreateTagOption): Promise<RefRow> {
  const { repo } = subject
  const { id, defaultBranch } = repo.repository
  const { tag_name: name, message, target: asked } = option
  requireOwnRefs(repo)
  if (!isValidTagName(name)) throw invalid('GitRefName', 'tag_name')
  if (await findTag(context.db, id, name)) throw exists(name)
  const target = await context.git.findCommit(id, asked || defaultBranch)
  if (target === undefined)
    throw notFound(`target not found: object does not exist [id: ${asked || defaultBranch}, rel_path: ]`)
  await requireUnprotected(context, subject, { name, message: 'user not allowed to create protected tag' })
  await makeTag(context, subject, { name, target, message })
  return getTag(context, repo, name)
}

/**
 * Makes a tag that rules allow, in the name of the caller.
 * @param tag `target`: a commit; with a message the tag is annotated
 * @throws Refusal 409 when the name is in use, 422 past MAX_REFS
 */
export async function makeTag(
  context: Context,
  { actor, repo }: Subject,
  { name, target, message }: { name: string; target: string; message: string | undefined },
): Promise<void> {
  const { id } = repo.repository
  const pusher = pusherOf(actor.user, repo)
  const tagger = { ...ownIdentity(context, actor.user), date: context.clock.now() }
  const tag = { name, target, tagger, ...(message?.trim() && { message }) }
  try {
    await recordPush(context, { repositoryId: id, pusher, newRefs: 1 }, async () => ({
      refs: [TAGS + name],
      result: await context.git.createTag(id, tag, { pusher }),
    }))
  } catch (error) {
    if (!isGitError(error, 'conflict')) throw error
    throw error.code === 'ref-name-conflict' ? conflict('A tag with a conflicting name exists.') : exists(name)
  }
}

const exists = (name: string) => conflict(`tag already exists [name: ${name}]`)

/** @throws Refusal 403 for a mirror, 404, 409 where a release stands on it, 422 for a protected tag */
export async function deleteTag(context: Context, { actor, repo }: Subject, name: string): Promise<void> {
  const { id } = repo.repository
  requireOwnRefs(repo)
  const row = await findTag(context.db, id, name)
  if (!row) throw notFound()
  if (await hasRelease(context.db, id, name)) throw conflict('a tag attached to a release cannot be deleted directly')
  await requireUnprotected(context, { actor, repo }, { name, message: 'user not allowed to delete protected tag' })
  const pusher = pusherOf(actor.user, repo)
  try {
    await changeRefs(context, { repositoryId: id, pusher }, [{ ref: TAGS + name, old: row.sha, new: null }])
  } catch (error) {
    if (!isGitError(error, 'conflict')) throw error
    throw conflict('The tag has moved meanwhile.')
  }
}

/** Wire: a rule for tags makes a request one that cannot be done. @throws Refusal 422 */
async function requireUnprotected(
  context: Context,
  { actor, repo: { repository } }: Subject,
  { name, message }: { name: string; message: string },
): Promise<void> {
  const { tagRules, mover } = await loadGuard(context, { actor, repository })
  if (!mayChangeTag(tagRules, mover, name)) throw invalid(message)
}
