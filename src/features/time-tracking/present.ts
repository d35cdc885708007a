import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { presentTrackedTime, type TrackedTime } from '../../wire/tracked-time.ts'
import { presentElsewhere } from '../issues/elsewhere.ts'
import type { FoundTime } from './store.ts'

/** Each issue is presented once, however many times were booked on it. */
export async function presentTimes(
  context: Context,
  actor: Actor,
  found: readonly FoundTime[],
): Promise<TrackedTime[]> {
  const distinct = [...new Map(found.map((row) => [row.issue.id, row])).values()]
  const issues = await presentElsewhere(context, actor, distinct)
  const issueById = new Map(issues.map((issue) => [issue.id, issue]))
  return found.flatMap((row) => {
    const issue = issueById.get(row.issue.id)
    return issue ? [presentTrackedTime(row, issue)] : []
  })
}
