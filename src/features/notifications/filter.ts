import { and, eq, or, type SQL, sql } from 'drizzle-orm'
import { notifications, type ThreadStatus, threadStatuses } from '../../../db/schema/notifications.ts'
import { type TimeRange, within } from '../../../db/time-range.ts'

/** What a thread is about. Gitea also notifies of commits and repositories; there are no such threads here. */
export type SubjectKind = 'issue' | 'pull'

export interface ThreadFilter extends TimeRange {
  userId: number
  repositoryId?: number
  /** Undefined: every status. */
  statuses?: readonly ThreadStatus[] | undefined
  /** Undefined: of everything. */
  kinds?: readonly SubjectKind[] | undefined
}

/** As literals: only then PostgreSQL sees that the index on the open threads serves. */
const hasStatus: Record<ThreadStatus, SQL> = {
  unread: sql`${notifications.status} = 'unread'`,
  read: sql`${notifications.status} = 'read'`,
  pinned: sql`${notifications.status} = 'pinned'`,
}

export function threadsOf({ userId, repositoryId, statuses, kinds, ...range }: ThreadFilter): SQL | undefined {
  return and(
    eq(notifications.userId, userId),
    repositoryId === undefined ? undefined : eq(notifications.repositoryId, repositoryId),
    statuses && or(...statuses.map((status) => hasStatus[status])),
    kinds && ofKinds(kinds),
    within(notifications.updatedAt, range),
  )
}

function ofKinds(kinds: readonly SubjectKind[]): SQL | undefined {
  const [issues, pulls] = [kinds.includes('issue'), kinds.includes('pull')]
  if (issues && pulls) return undefined
  return issues || pulls ? eq(notifications.isPull, pulls) : sql`false`
}

/** Wire: unknown words count for nothing, and none but unknown ones ask for every status. */
export function readStatuses(
  words: readonly string[] | undefined,
  otherwise: readonly ThreadStatus[],
): readonly ThreadStatus[] | undefined {
  if (words === undefined) return otherwise
  const known = threadStatuses.filter((status) => words.some((word) => word.toLowerCase() === status))
  return known.length === 0 ? undefined : known
}

const subjectWords = ['issue', 'pull', 'commit', 'repository']

/** Wire: in the same way. */
export function readKinds(words: readonly string[] | undefined): readonly SubjectKind[] | undefined {
  const known = subjectWords.filter((kind) => words?.some((word) => word.toLowerCase() === kind))
  return known.length === 0 ? undefined : known.filter((kind) => kind === 'issue' || kind === 'pull')
}

/** Wire: an unknown status means read. */
export const readStatus = (word: string | undefined): ThreadStatus =>
  threadStatuses.find((status) => status === word?.toLowerCase()) ?? 'read'
