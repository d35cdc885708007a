import { t } from 'elysia'
import type { NotificationRow } from '../../db/schema/notifications.ts'
import { wireTime } from '../kernel/time.ts'
import { int64 } from './fields.ts'
import { presentRepository, Repository, type ShownRepository } from './repository.ts'
import type { Viewer } from './viewer.ts'

export const NotificationSubject = t.Object(
  {
    title: t.String(),
    url: t.String(),
    latest_comment_url: t.String({ description: 'Empty without comments' }),
    html_url: t.String(),
    latest_comment_html_url: t.String({ description: 'Empty without comments' }),
    type: t.String({ description: '`Issue` or `Pull`' }),
    state: t.String({ description: '`open` or `closed`' }),
  },
  { $id: 'NotificationSubject' },
)

export type NotificationThread = typeof NotificationThread.static
export const NotificationThread = t.Object(
  {
    id: int64(),
    repository: Repository,
    subject: NotificationSubject,
    unread: t.Boolean(),
    pinned: t.Boolean(),
    updated_at: t.String({ format: 'date-time' }),
    url: t.String(),
  },
  { $id: 'NotificationThread' },
)

export const NotificationCount = t.Object({ new: int64() }, { $id: 'NotificationCount' })

export interface ShownThread {
  thread: NotificationRow
  repository: ShownRepository
  subject: {
    number: number
    title: string
    isPull: boolean
    isClosed: boolean
    /** Null while nobody has commented. */
    lastCommentId: number | null
  }
}

export function presentThread({ thread, repository, subject }: ShownThread, viewer: Viewer): NotificationThread {
  return {
    id: thread.id,
    repository: presentRepository(repository, viewer),
    subject: presentSubject({ repository, subject }, viewer),
    // Wire: a pinned thread is not unread.
    unread: thread.status === 'unread',
    pinned: thread.status === 'pinned',
    updated_at: wireTime(thread.updatedAt),
    url: `${viewer.baseUrl}/api/v1/notifications/threads/${thread.id}`,
  }
}

function presentSubject(
  { repository: { repository, owner }, subject }: Omit<ShownThread, 'thread'>,
  { baseUrl }: Viewer,
): typeof NotificationSubject.static {
  const fullName = `${owner.name}/${repository.name}`
  const issues = `${baseUrl}/api/v1/repos/${fullName}/issues`
  const page = `${baseUrl}/${fullName}/${subject.isPull ? 'pulls' : 'issues'}/${subject.number}`
  const { lastCommentId } = subject
  return {
    title: subject.title,
    // Wire: of a pull request too.
    url: `${issues}/${subject.number}`,
    latest_comment_url: lastCommentId === null ? '' : `${issues}/comments/${lastCommentId}`,
    html_url: page,
    latest_comment_html_url: lastCommentId === null ? '' : `${page}#issuecomment-${lastCommentId}`,
    type: subject.isPull ? 'Pull' : 'Issue',
    state: subject.isClosed ? 'closed' : 'open',
  }
}
