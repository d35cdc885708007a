import { eq } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import type { AttachmentRow } from '../../../db/schema/attachments.ts'
import { type CommentRow, type IssueRow, issues } from '../../../db/schema/issues.ts'
import { isBlockedInside } from '../../access/blocks.ts'
import { mayRead, unitOf } from '../../access/issues.ts'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import { Level } from '../../access/units.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { appendEvent } from '../../events/append.ts'
import type { EventKind, EventPayload } from '../../events/catalogue.ts'
import { commentFacts } from '../../events/issue-facts.ts'
import { badRequest, forbidden, notFound } from '../../kernel/errors.ts'
import { parseId } from '../../kernel/ids.ts'
import { listAttachments } from '../attachments/store.ts'
import { lockIssue, readFacts } from '../issues/store.ts'
import { type FoundComment, findComment, insertComment, lockComment, removeComment, updateComment } from './store.ts'

export interface Doer {
  actor: Actor
  repo: RepositoryAccess
}

const mayModerate = ({ rights }: RepositoryAccess, issue: { isPull: boolean }): boolean =>
  rights.level(unitOf(issue)) >= Level.write

/** @throws Refusal 403 for a blocked person or a locked conversation, 404 when the issue is gone */
export async function createComment(
  context: Context,
  { actor, repo }: Doer,
  { issue, body }: { issue: IssueRow; body: string },
): Promise<FoundComment> {
  const comment = await context.db.transaction(async (tx) => {
    if (await isBlockedInside(tx, { blockerId: [repo.owner.id, issue.posterId], blockedId: actor.user.id }))
      throw forbidden('the owner of the repository or the author of the issue has blocked you')
    // Whoever closes the conversation or deletes the issue at this moment waits, or was first.
    const locked = await lockIssue(tx, repo.repository.id, issue.number)
    if (!locked) throw notFound()
    if (locked.isLocked && !mayModerate(repo, issue)) throw forbidden('You cannot comment on a locked issue.')
    const row = await insertComment(tx, { issueId: issue.id, posterId: actor.user.id, body })
    await appendCommentEvent(tx, { actor, repo }, { kind: 'comment.created', payload: await payloadOf(tx, row, []) })
    return row
  })
  return { comment, poster: actor.user, issue, assets: [], version: '' }
}

/** @throws Refusal 404 for a comment of another repository, and on what the caller may not read */
export async function getComment(context: Context, repo: RepositoryAccess, id: string): Promise<FoundComment> {
  const found = await getEntry(context, repo, id)
  if (!isComment(found)) throw unknownComment(id)
  return found
}

/** What somebody wrote, or what happened. @throws Refusal 404 as above */
export async function getEntry({ db }: Context, repo: RepositoryAccess, id: string): Promise<FoundComment> {
  const number = parseId(id)
  const found = number === undefined ? undefined : await findComment(db, repo.repository.id, number)
  if (!found || !mayRead(repo.rights, found.issue)) throw unknownComment(id)
  return found
}

export const isComment = ({ comment }: FoundComment): boolean => comment.kind === 'comment'

const unknownComment = (id: string) =>
  notFound('not found', [`comment does not exist [id: ${parseId(id) ?? 0}, issue_id: 0]`])

/**
 * Wire: what happened is left as it is, without a word (undefined).
 * @throws Refusal 403 unless its author or a writer asks, 404 for a comment of another repository
 */
export async function editComment(
  context: Context,
  doer: Doer,
  { id, body }: { id: string; body: string },
): Promise<FoundComment | undefined> {
  const found = await getOwnEntry(context, doer, id)
  if (!isComment(found)) return undefined
  const comment = await context.db.transaction(async (tx) => {
    // Each of two edits at once says in its event what it has replaced.
    const before = await lockComment(tx, found.comment.id)
    if (!before) throw notFound()
    if (before.body === body) return before
    const change = { body, contentVersion: before.contentVersion + 1, updatedAt: context.clock.now() }
    const row = await updateComment(tx, before.id, change)
    await tellOfEdit(tx, doer, { comment: row, oldBody: before.body })
    return row
  })
  return { ...found, comment }
}

/** @throws Refusal 400 for what happened, 403 unless its author or a writer asks, 404 for a comment of another repository */
export async function deleteComment(context: Context, doer: Doer, id: string): Promise<void> {
  const found = await getOwnEntry(context, doer, id)
  if (!isComment(found)) throw badRequest('what happened to an issue is not deleted')
  const { comment, issue } = found
  await context.db.transaction(async (tx) => {
    // An issue is locked before its comments, as when it is deleted; the count of comments stands in its row.
    if (!(await lockIssue(tx, doer.repo.repository.id, issue.number))) throw notFound()
    // Its files go with it.
    const assets = await listAttachments(tx, filesOf(doer.repo, comment))
    const gone = await removeComment(tx, comment.id)
    if (!gone) throw notFound()
    const payload = { ...(await payloadOf(tx, gone, assets)), body: gone.body }
    await appendCommentEvent(tx, doer, { kind: 'comment.deleted', payload })
  })
}

async function getOwnEntry(context: Context, { actor, repo }: Doer, id: string): Promise<FoundComment> {
  const found = await getEntry(context, repo, id)
  if (found.comment.posterId !== actor.user.id && !mayModerate(repo, found.issue))
    throw forbidden('only the author and those with write access to issues may change a comment')
  return found
}

/** The place of a comment's files. */
export const filesOf = ({ repository }: RepositoryAccess, { id }: { id: number }) => ({
  repositoryId: repository.id,
  commentId: id,
})

/** Tells of a comment that has changed in this transaction. */
export async function tellOfEdit(
  tx: Db,
  doer: Doer,
  { comment, oldBody }: { comment: CommentRow; oldBody: string },
): Promise<void> {
  const assets = await listAttachments(tx, filesOf(doer.repo, comment))
  const payload = { ...(await payloadOf(tx, comment, assets)), oldBody }
  await appendCommentEvent(tx, doer, { kind: 'comment.edited', payload })
}

/** Read after the change, so that the issue's facts count it. */
async function payloadOf(tx: Db, comment: CommentRow, assets: readonly AttachmentRow[]) {
  const [issue] = await tx.select().from(issues).where(eq(issues.id, comment.issueId))
  if (!issue) throw notFound()
  return {
    ...{ issueId: issue.id, number: issue.number, isPull: issue.isPull },
    facts: await readFacts(tx, issue),
    commentId: comment.id,
    comment: commentFacts(comment, assets),
  }
}

type CommentEvent = {
  [Kind in Extract<EventKind, `comment.${string}`>]: { kind: Kind; payload: EventPayload<Kind> }
}[Extract<EventKind, `comment.${string}`>]

async function appendCommentEvent(tx: Db, { actor, repo }: Doer, event: CommentEvent): Promise<void> {
  await appendEvent(tx, { ...event, actorId: actor.user.id, repositoryId: repo.repository.id, ownerId: repo.owner.id })
}
