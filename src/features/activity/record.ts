import type { Db } from '../../../db/client.ts'
import { type Reaction, reaction } from '../../events/reaction.ts'
import { operationsOf, type RecordedEvent, recordedKinds } from './kinds.ts'
import { findFullNames, followOwner, insertActivities } from './store.ts'

/** Queues that the records of one repository share, so that its feed is in the order of events. */
const QUEUES = 4

/** Writes what is news about each event, whoever follows whom: feeds are put together when they are read. */
export const activityRecord: Reaction = reaction({
  name: 'activity.record',
  kinds: recordedKinds,
  queueOf: ({ repositoryId }) => `activity:${(repositoryId ?? 0) % QUEUES}`,
  react: (context, event) => record(context.db, [event]),
  reactToAll: (context, events) => record(context.db, events),
})

async function record(db: Db, events: readonly RecordedEvent[]): Promise<void> {
  // What nobody did, such as a repair after a crash, is no news of anybody.
  const news = events.flatMap((event) => {
    const { actorId, repositoryId } = event
    return actorId === null || repositoryId === null ? [] : [{ event, actorId, repositoryId }]
  })
  for (const { event, repositoryId } of news)
    if (event.kind === 'repository.transferred') await followOwner(db, repositoryId)
  const names = await findFullNames(
    db,
    news.map(({ repositoryId }) => repositoryId),
  )
  const made = news.flatMap(({ event, actorId, repositoryId }) => {
    const fullName = names.get(repositoryId)
    const operations = fullName === undefined ? [] : operationsOf(event, fullName)
    const subject = { eventId: event.id, actorId, repositoryId, createdAt: event.createdAt }
    return operations.map((operation) => ({ ...subject, ...operation }))
  })
  await insertActivities(db, made)
}
