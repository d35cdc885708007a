import { t } from 'elysia'
import type { ActivityRow } from '../../db/schema/activity.ts'
import type { UserRow } from '../../db/schema/users.ts'
import { wireTime } from '../kernel/time.ts'
import { Comment, presentComment, type ShownComment } from './comment.ts'
import { int64 } from './fields.ts'
import { presentRepository, Repository, type ShownRepository } from './repository.ts'
import { presentUser, User } from './user.ts'
import type { Viewer } from './viewer.ts'

export type Activity = typeof Activity.static
export const Activity = t.Object(
  {
    id: int64(),
    user_id: int64({ description: 'Whose feed it is' }),
    op_type: t.String(),
    act_user_id: int64(),
    act_user: User,
    repo_id: int64(),
    repo: Repository,
    comment_id: int64(),
    comment: t.Nullable(Comment),
    ref_name: t.String(),
    is_private: t.Boolean(),
    content: t.String({ description: 'Of issues `number|title`, of comments `number|text`, of pushes JSON' }),
    created: t.String({ format: 'date-time' }),
  },
  { $id: 'Activity' },
)

export interface ShownActivity {
  activity: ActivityRow
  actor: UserRow
  repository: ShownRepository
  issue?: { number: number; title: string }
  comment?: ShownComment
}

/** Of a comment the feed repeats no more than this. */
const EXCERPT_LENGTH = 200

/** @param feedOf the person or organization whose feed it is */
export function presentActivity(shown: ShownActivity, feedOf: number, viewer: Viewer): Activity {
  const { activity, actor, repository, comment } = shown
  const page = `${viewer.baseUrl}/${repository.owner.name}/${repository.repository.name}`
  return {
    id: activity.id,
    user_id: feedOf,
    op_type: activity.opType,
    act_user_id: actor.id,
    act_user: presentUser(actor, viewer),
    repo_id: activity.repositoryId,
    repo: presentRepository(repository, viewer),
    comment_id: activity.commentId ?? 0,
    comment: comment ? presentComment(comment, page, viewer) : null,
    ref_name: activity.refName,
    is_private: repository.repository.isPrivate,
    content: contentOf(shown),
    created: wireTime(activity.createdAt),
  }
}

/** The present title or text: earlier texts are not stored here. */
function contentOf({ activity, issue, comment }: ShownActivity): string {
  if (!issue) return activity.content
  const text = comment?.comment.body ? excerpt(comment.comment.body) : issue.title
  return `${issue.number}|${text}`
}

const excerpt = (text: string): string => {
  const characters = [...text]
  return characters.length <= EXCERPT_LENGTH ? text : `${characters.slice(0, EXCERPT_LENGTH).join('')}…`
}
