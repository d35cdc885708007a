import type { Db } from '../../../db/client.ts'
import type { IssueRow } from '../../../db/schema/issues.ts'
import type { TrackedTimeRow } from '../../../db/schema/tracked-times.ts'
import { type HistoryEntry, recordHistory } from '../issues/history.ts'
import { touchIssues } from '../issues/store.ts'
import { insertTime } from './store.ts'

/** Who does something to an issue, and when. */
export interface Deed {
  doerId: number
  at: Date
}

/** Notes in the issue's history what was done to its times. Returns the id of the entry. The issue is locked. */
export async function note(tx: Db, issueId: number, { doerId, at }: Deed, entry: HistoryEntry): Promise<number> {
  const [id] = await recordHistory(tx, { issueId, posterId: doerId }, [entry])
  if (id === undefined) throw new Error('insert returned no row')
  await touchIssues(tx, [issueId], at)
  return id
}

interface Work {
  kind: 'stop_tracking' | 'add_time_manual'
  userId: number
  seconds: number
  createdAt: Date
  /** When it is booked. */
  at: Date
}

/** Writes a time with its entry of the timeline. Wire: that names whose time it is, whoever booked it. The issue is locked. */
export async function book(tx: Db, issue: IssueRow, { kind, at, ...work }: Work): Promise<TrackedTimeRow> {
  const commentId = await note(tx, issue.id, { doerId: work.userId, at }, { kind, body: String(work.seconds) })
  return insertTime(tx, { ...work, commentId, issueId: issue.id, repositoryId: issue.repositoryId })
}
