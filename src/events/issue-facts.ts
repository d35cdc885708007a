import type { AttachmentRow } from '../../db/schema/attachments.ts'
import type { CommentRow, IssueRow } from '../../db/schema/issues.ts'
import { assetFacts } from './asset-facts.ts'
import type { AssetFacts, CommentFacts, IssueFacts } from './catalogue.ts'

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
  assets: AssetFacts[]
}

/** The same of a comment. */
export const commentFacts = (
  { posterId, body, createdAt, updatedAt, ...comment }: CommentRow,
  assets: readonly AttachmentRow[],
): CommentFacts => ({
  ...originalOf(comment),
  posterId,
  body,
  createdAt: createdAt.toISOString(),
  updatedAt: updatedAt.toISOString(),
  assets: assetFacts(assets),
})

const originalOf = ({ originalAuthor, originalAuthorId }: Pick<CommentRow, 'originalAuthor' | 'originalAuthorId'>) =>
  originalAuthor === '' ? {} : { originalAuthor, originalAuthorId }
