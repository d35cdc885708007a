import type { Db } from '../../../db/client.ts'
import type { CommentRow } from '../../../db/schema/issues.ts'
import { isBlocked } from '../../access/blocks.ts'
import { Level } from '../../access/levels.ts'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { appendEvent } from '../../events/append.ts'
import type { EventKind, EventPayload } from '../../events/catalogue.ts'
import { forbidden, notFound } from '../../kernel/errors.ts'
import { parseId } from '../../kernel/ids.ts'
import { getIssue } from '../issues/service.ts'
import { type FoundComment, findComment, insertComment, removeComment, updateComment } from './store.ts'

export interface Doer {
  actor: Actor
  repo: RepositoryAccess
}

const mayModerate = (repo: RepositoryAccess): boolean => repo.rights.level('repo.issues') >= Level.write

/** @throws Refusal 403 for a blocked person or a locked conversation, 404 for an unknown issue */
export async function createComment(
  context: Context,
  { actor, repo }: Doer,
  { index, body }: { index: string; body: string },
): Promise<FoundComment> {
  const { issue } = await getIssue(context, repo, index)
  if (issue.isLocked && !mayModerate(repo)) throw forbidden('the conversation is locked')
  if (await isBlocked(context.db, { blockerId: [repo.owner.id, issue.posterId], blockedId: actor.user.id }))
    throw forbidden('the owner of the repository or the author of the issue has blocked you')
  const comment = await context.db.transaction(async (tx) => {
    const row = await insertComment(tx, { issueId: issue.id, posterId: actor.user.id, body })
    await appendCommentEvent(tx, { actor, repo }, { kind: 'comment.created', payload: payloadOf(row, issue) })
    return row
  })
  return { comment, poster: actor.user, issue, version: '' }
}

/** @throws Refusal 404 for a comment of another repository */
export async function getComment({ db }: Context, repo: RepositoryAccess, id: string): Promise<FoundComment> {
  const number = parseId(id)
  const found = number === undefined ? undefined : await findComment(db, repo.repository.id, number)
  if (!found) throw notFound()
  return found
}

/** @throws Refusal 403 unless its author or a writer asks, 404 for a comment of another repository */
export async function editComment(
  context: Context,
  doer: Doer,
  { id, body }: { id: string; body: string },
): Promise<FoundComment> {
  const found = await getOwnComment(context, doer, id)
  const { comment: before } = found
  if (before.body === body) return found
  const comment = await context.db.transaction(async (tx) => {
    const change = { body, contentVersion: before.contentVersion + 1, updatedAt: context.clock.now() }
    const row = await updateComment(tx, before.id, change)
    if (!row) throw notFound()
    const payload = { ...payloadOf(row, found.issue), oldBody: before.body }
    await appendCommentEvent(tx, doer, { kind: 'comment.edited', payload })
    return row
  })
  return { ...found, comment }
}

/** @throws Refusal 403 unless its author or a writer asks, 404 for a comment of another repository */
export async function deleteComment(context: Context, doer: Doer, id: string): Promise<void> {
  const { comment, issue } = await getOwnComment(context, doer, id)
  await context.db.transaction(async (tx) => {
    if (!(await removeComment(tx, comment.id))) throw notFound()
    const payload = { ...payloadOf(comment, issue), body: comment.body }
    await appendCommentEvent(tx, doer, { kind: 'comment.deleted', payload })
  })
}

async function getOwnComment(context: Context, { actor, repo }: Doer, id: string): Promise<FoundComment> {
  const found = await getComment(context, repo, id)
  if (found.comment.posterId !== actor.user.id && !mayModerate(repo))
    throw forbidden('only the author and those with write access to issues may change a comment')
  return found
}

const payloadOf = (comment: CommentRow, issue: { number: number; isPull: boolean }) => ({
  issueId: comment.issueId,
  number: issue.number,
  isPull: issue.isPull,
  commentId: comment.id,
})

type CommentEvent = {
  [Kind in Extract<EventKind, `comment.${string}`>]: { kind: Kind; payload: EventPayload<Kind> }
}[Extract<EventKind, `comment.${string}`>]

async function appendCommentEvent(tx: Db, { actor, repo }: Doer, event: CommentEvent): Promise<void> {
  await appendEvent(tx, { ...event, actorId: actor.user.id, repositoryId: repo.repository.id, ownerId: repo.owner.id })
}
