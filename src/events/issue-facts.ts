import type { CommentRow, IssueRow } from '../../db/schema/issues.ts'
import type { CommentFacts, IssueFacts } from './catalogue.ts'

/** What an event keeps of an issue: see `IssueFacts`. */
export function issueFacts(issue: IssueRow, belongings: IssueBelongings): IssueFacts {
  const { posterId, title, body, ref, isClosed, isLocked, commentsCount, milestoneId } = issue
  const { timeEstimateSeconds, pinOrder, contentVersion } = issue
  return {
    ...originalOf(issue),
    ...{ posterId, title, body, ref, isClosed, isLocked, commentsCount, milestoneId },
    ...{ timeEstimateSeconds, pinOrder, contentVersion },
    dueAt: issue.dueAt?.toISOString() ?? null,
    closedAt: issue.closedAt?.toISOString() ?? null,
    createdAt: issue.createdAt.toISOString(),
    updatedAt: issue.updatedAt.toISOString(),
    ...belongings,
  }
}

/** What belongs to an issue beside its row. */
export interface IssueBelongings {
  labelIds: number[]
  assigneeIds: number[]
}

/** The same of a comment. */
export const commentFacts = ({ posterId, body, createdAt, updatedAt, ...comment }: CommentRow): CommentFacts => ({
  ...originalOf(comment),
  posterId,
  body,
  createdAt: createdAt.toISOString(),
  updatedAt: updatedAt.toISOString(),
})

const originalOf = ({ originalAuthor, originalAuthorId }: Pick<CommentRow, 'originalAuthor' | 'originalAuthorId'>) =>
  originalAuthor === '' ? {} : { originalAuthor, originalAuthorId }
