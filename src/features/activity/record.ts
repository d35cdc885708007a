import { type Reaction, reaction } from '../../events/reaction.ts'
import { operationOf, recordedKinds } from './kinds.ts'
import { findFullName, followOwner, insertActivity } from './store.ts'

/** Queues that the records of one repository share, so that its feed is in the order of events. */
const QUEUES = 4

/** Writes one record for each event that is news, whoever follows whom: feeds are put together when they are read. */
export const activityRecord: Reaction = reaction({
  name: 'activity.record',
  kinds: recordedKinds,
  queueOf: ({ repositoryId }) => `activity:${(repositoryId ?? 0) % QUEUES}`,
  async react({ db }, event) {
    const { id, actorId, repositoryId, createdAt } = event
    // What nobody did, such as a repair after a crash, is no news of anybody.
    if (actorId === null || repositoryId === null) return
    if (event.kind === 'repository.transferred') await followOwner(db, repositoryId)
    const fullName = await findFullName(db, repositoryId)
    const operation = fullName === undefined ? undefined : operationOf(event, fullName)
    if (operation) await insertActivity(db, { eventId: id, actorId, repositoryId, createdAt, ...operation })
  },
})
