import { and, eq, ne, not, type SQL, sql } from 'drizzle-orm'
import { anyOf } from '../../../db/any-of.ts'
import type { Db } from '../../../db/client.ts'
import { comments, issues } from '../../../db/schema/issues.ts'
import type { Context } from '../../context.ts'
import { issuesNamedIn } from '../../render/named-issues.ts'
import { findTargets, type Target } from './targets.ts'

/** Who wrote or changed a text, in which repository, and when. */
export interface Author {
  actorId: number
  repositoryId: number
  at: Date
}

type Place = { issueId: number } | { commentId: number }

interface Source {
  issueId: number
  isPull: boolean
  commentId: number | null
  body: string
}

/**
 * Lets the history of issues have exactly the references of a text: new ones as far as the author may read what is named; those that the text
 * has no longer go. It reads the text of now, so once more changes nothing.
 */
export async function recordText({ db }: Context, author: Author, place: Place): Promise<void> {
  await db.transaction(async (tx) => {
    const source = await findSource(tx, place)
    if (!source) return
    const targets = await findTargets(tx, author, issuesNamedIn(source.body))
    const others = targets.filter(({ issueId }) => issueId !== source.issueId)
    await tx.delete(comments).where(
      and(
        writtenIn(source),
        not(
          anyOf(
            comments.issueId,
            others.map(({ issueId }) => issueId),
          ),
        ),
      ),
    )
    const wanted = others.filter(({ mayRefer }) => mayRefer)
    const added = await insertReferences(tx, { author, source, wanted })
    await touch(tx, added, author.at)
  })
}

/** Its row is held, so that it is there until the references are. */
async function findSource(tx: Db, place: Place): Promise<Source | undefined> {
  if ('issueId' in place) {
    const [row] = await tx
      .select({ issueId: issues.id, isPull: issues.isPull, body: issues.body })
      .from(issues)
      .where(eq(issues.id, place.issueId))
      .for('key share')
    return row && { ...row, commentId: null }
  }
  const [row] = await tx
    .select({ issueId: issues.id, isPull: issues.isPull, commentId: comments.id, body: comments.body })
    .from(comments)
    .innerJoin(issues, eq(issues.id, comments.issueId))
    .where(and(eq(comments.id, place.commentId), eq(comments.kind, 'comment')))
    .for('key share')
  return row
}

const writtenIn = ({ issueId, commentId }: Source): SQL | undefined =>
  commentId === null
    ? and(eq(comments.kind, 'issue_ref'), eq(comments.refIssueId, issueId))
    : and(eq(comments.refCommentId, commentId), ne(comments.kind, 'comment'))

/** Returns the issues that had none of this text before. */
async function insertReferences(
  tx: Db,
  { author, source, wanted }: { author: Author; source: Source; wanted: readonly Target[] },
): Promise<number[]> {
  if (wanted.length === 0) return []
  const { issueId: refIssueId, commentId: refCommentId } = source
  const rows = await tx
    .insert(comments)
    .values(
      wanted.map(({ issueId, isPull, action }) => ({
        issueId,
        kind: refCommentId === null ? 'issue_ref' : 'comment_ref',
        posterId: author.actorId,
        refRepositoryId: author.repositoryId,
        refIssueId,
        refCommentId,
        // Wire: an issue asks nothing of another. What a pull request asks for happens when it is merged.
        refAction: source.isPull && !isPull ? action : 'none',
        createdAt: author.at,
        updatedAt: author.at,
      })),
    )
    .onConflictDoNothing()
    .returning({ issueId: comments.issueId })
  return rows.map(({ issueId }) => issueId)
}

/** Wire: an issue that is named elsewhere counts as changed. */
export async function touch(tx: Db, issueIds: readonly number[], at: Date): Promise<void> {
  if (issueIds.length === 0) return
  const held = tx.select({ id: issues.id }).from(issues).where(anyOf(issues.id, issueIds)).orderBy(issues.id)
  await held.for('no key update')
  await tx
    .update(issues)
    .set({ updatedAt: sql`greatest(${issues.updatedAt}, ${at.toISOString()}::timestamptz)` })
    .where(anyOf(issues.id, issueIds))
}
