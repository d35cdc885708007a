import type { Db } from '../../../db/client.ts'
import { enqueueJobs } from '../../jobs/enqueue.ts'

/** Updates at once: half of the places that Git has for transfers. Pulls of one repository go one after the other. */
const QUEUES = 8

export async function enqueuePulls(tx: Db, repositoryIds: readonly number[]): Promise<void> {
  await enqueueJobs(
    tx,
    'mirrors.pull',
    specsOf(repositoryIds, (repositoryId) => ({ repositoryId }), 'pull'),
  )
}

export async function enqueuePushes(tx: Db, mirrorIds: readonly number[]): Promise<void> {
  await enqueueJobs(
    tx,
    'mirrors.push',
    specsOf(mirrorIds, (mirrorId) => ({ mirrorId }), 'push'),
  )
}

function specsOf<Payload>(ids: readonly number[], payloadOf: (id: number) => Payload, kind: 'pull' | 'push') {
  return ids
    .map((id) => ({ payload: payloadOf(id), queue: `mirrors:${id % QUEUES}`, key: `mirrors.${kind}:${id}` }))
    .sort((one, other) => (one.key < other.key ? -1 : 1))
}
