import { t } from 'elysia'
import type { CommentRow } from '../../db/schema/issues.ts'
import type { UserRow } from '../../db/schema/users.ts'
import { wireTime } from '../kernel/time.ts'
import { Attachment, presentAttachment, type ShownAttachment } from './attachment.ts'
import { int64 } from './fields.ts'
import { presentGhost, presentUserToVisitors, User } from './user.ts'
import type { Viewer } from './viewer.ts'

export type Comment = typeof Comment.static
export const Comment = t.Object(
  {
    id: int64(),
    html_url: t.String(),
    pull_request_url: t.String(),
    issue_url: t.String(),
    user: User,
    original_author: t.String({ description: 'Who wrote it on the server that it was migrated from' }),
    original_author_id: int64(),
    body: t.String(),
    assets: t.Array(Attachment),
    created_at: t.String({ format: 'date-time' }),
    updated_at: t.String({ format: 'date-time' }),
  },
  { $id: 'Comment' },
)

export interface ShownComment {
  comment: CommentRow
  poster: UserRow | undefined
  issue: { number: number; isPull: boolean }
  assets: readonly ShownAttachment[]
}

/** @param repositoryUrl the address of the repository's page */
export function commentAddresses(
  { id, issue }: { id: number; issue: { number: number; isPull: boolean } },
  repositoryUrl: string,
) {
  const page = `${repositoryUrl}/${issue.isPull ? 'pulls' : 'issues'}/${issue.number}`
  return {
    html_url: `${page}#issuecomment-${id}`,
    pull_request_url: issue.isPull ? page : '',
    issue_url: issue.isPull ? '' : page,
  }
}

/** @param repositoryUrl the address of the repository's page */
export function presentComment(shown: ShownComment, repositoryUrl: string, viewer: Viewer): Comment {
  const { comment, poster, issue } = shown
  return {
    id: comment.id,
    ...commentAddresses({ id: comment.id, issue }, repositoryUrl),
    // Wire: authors of comments are shown as visitors see them, whoever looks.
    user: poster ? presentUserToVisitors(poster, viewer) : presentGhost(viewer),
    original_author: comment.originalAuthor,
    original_author_id: comment.originalAuthorId,
    body: comment.body,
    assets: shown.assets.map((asset) => presentAttachment(asset, viewer)),
    created_at: wireTime(comment.createdAt),
    updated_at: wireTime(comment.updatedAt),
  }
}
