import type { Db } from '../../../db/client.ts'
import type { CommentRow, IssueRow } from '../../../db/schema/issues.ts'
import { isBlockedInside } from '../../access/blocks.ts'
import { unitOf } from '../../access/issues.ts'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import { Level } from '../../access/units.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { forbidden, invalid, notFound } from '../../kernel/errors.ts'
import { REACTIONS, type ShownReaction } from '../../wire/reaction.ts'
import { lockComment } from '../comments/store.ts'
import { lockIssue } from '../issues/store.ts'
import { findReaction, insertReaction, type Reacting, removeReaction } from './store.ts'

/** Who reacts, where, and to what: a comment of the issue, or the issue itself. */
export interface ReactionPlace {
  actor: Actor
  repo: RepositoryAccess
  issue: Pick<IssueRow, 'number' | 'posterId'>
  comment?: Pick<CommentRow, 'id' | 'posterId'>
}

/**
 * Reacts to an issue or a comment; the same again changes nothing.
 * @throws Refusal 403 for another word, for a blocked person and while the conversation is locked, 404 when it is gone
 */
export async function react(
  context: Context,
  place: ReactionPlace,
  content: string,
): Promise<ShownReaction & { isNew: boolean }> {
  if (!REACTIONS.includes(content)) throw forbidden(`'${content}' is not an allowed reaction`)
  const { actor, repo, issue, comment } = place
  const blockerId = [repo.owner.id, issue.posterId, comment?.posterId ?? null]
  return context.db.transaction(async (tx) => {
    if (await isBlockedInside(tx, { blockerId, blockedId: actor.user.id }))
      throw forbidden('the owner of the repository or the author has blocked you')
    const reacting = await lockSubject(tx, place, content)
    const made = await insertReaction(tx, reacting, context.clock.now())
    const reaction = made ?? (await findReaction(tx, reacting))
    if (!reaction) throw new Error('a reaction is neither new nor there')
    return { reaction, user: actor.user, isNew: made !== undefined }
  })
}

/**
 * Takes one's own reaction back, if there is one.
 * @throws Refusal 403 while the conversation is locked, 404 when it is gone, 422 without a word
 */
export async function unreact(context: Context, place: ReactionPlace, content: string | undefined): Promise<void> {
  // Wire: without a word Gitea takes all of them, which nobody asks for knowingly.
  if (!content) throw invalid('Required', 'content')
  await context.db.transaction(async (tx) => {
    await removeReaction(tx, await lockSubject(tx, place, content))
  })
}

/** Whoever locks the conversation or deletes it at this moment waits, or was first. */
async function lockSubject(tx: Db, place: ReactionPlace, content: string): Promise<Reacting> {
  const { actor, repo, comment } = place
  const issue = await lockIssue(tx, repo.repository.id, place.issue.number)
  if (!issue) throw notFound()
  if (issue.isLocked && repo.rights.level(unitOf(issue)) < Level.write)
    throw forbidden('no permission to change reaction')
  if (comment && !(await lockComment(tx, comment.id))) throw notFound()
  const subject = comment ? { commentId: comment.id } : { issueId: issue.id }
  return { subject, userId: actor.user.id, content }
}
