import { afterAll, beforeAll, expect, test } from 'bun:test'
import { appendEvent } from '../../src/events/append.ts'
import type { NewEvent } from '../../src/events/catalogue.ts'
import { eventHandlers, fanOutBatch } from '../../src/events/fan-out.ts'
import { pruneEvents } from '../../src/events/prune.ts'
import { reaction } from '../../src/events/reaction.ts'
import { findEvents } from '../../src/events/stored.ts'
import { enqueueJob } from '../../src/jobs/enqueue.ts'
import { listFailedJobs } from '../../src/jobs/failures.ts'
import { createTestDatabase, type TestDatabase } from '../harness/database.ts'
import { openQueue, type TestQueue } from '../jobs/queue.ts'

let home: TestDatabase
let queue: TestQueue
let told: string[] = []
let isTargetAway = false

const reactions = [
  reaction({
    name: 'pushes',
    kinds: ['push'],
    queueOf: ({ repositoryId }) => `pushes:${repositoryId}`,
    async react(_, { payload }) {
      told.push(`push ${payload.ref} ${payload.commitsCount}`)
    },
  }),
  reaction({
    name: 'all',
    kinds: ['push', 'issue.created', 'star.added'],
    async react(_, event) {
      if (isTargetAway) throw new Error('the target is away')
      told.push(event.kind === 'issue.created' ? `issue ${event.payload.number}` : event.kind)
    },
  }),
]

const push = (commitsCount: number): NewEvent => ({
  kind: 'push',
  actorId: 1,
  repositoryId: 2,
  ownerId: 3,
  payload: { ref: 'refs/heads/main', oldSha: '0'.repeat(40), newSha: '1'.repeat(40), commitsCount, isForced: false },
})
const issue: NewEvent = { kind: 'issue.created', actorId: 1, payload: { issueId: 4, number: 5, isPull: false } }

beforeAll(async () => {
  home = await createTestDatabase()
  queue = openQueue(home.url, { reactions })
})
afterAll(async () => {
  await queue.close()
  await home.drop()
})

async function drained(): Promise<string[]> {
  told = []
  await queue.jobs.drain()
  return told.sort()
}

test('an event reaches each reaction that wants its kind, with its payload', async () => {
  const { db } = queue.database
  const id = await appendEvent(db, push(3))
  await appendEvent(db, issue)
  await appendEvent(db, { kind: 'star.removed', actorId: 1, payload: {} })
  expect(await drained()).toEqual(['issue 5', 'push', 'push refs/heads/main 3'])
  expect(await findEvents(db, [id])).toMatchObject([{ id, ...push(3) }])
})

test('what did not happen is not told', async () => {
  const change = queue.database.db.transaction(async (tx) => {
    await appendEvent(tx, push(1))
    throw new Error('refused')
  })
  await expect(change).rejects.toThrow('refused')
  expect(await drained()).toEqual([])
})

test('a fan-out that runs again tells nobody twice', async () => {
  const { db } = queue.database
  await appendEvent(db, push(1))
  const counts = await Promise.all(Array.from({ length: 5 }, () => fanOutBatch(db, reactions)))
  expect(counts.filter((count) => count > 0)).toEqual([1])
  expect(await drained()).toEqual(['push', 'push refs/heads/main 1'])
  expect(await fanOutBatch(db, reactions)).toBe(0)
})

test('a reaction that fails is tried again alone', async () => {
  const { db, sql } = queue.database
  isTargetAway = true
  await appendEvent(db, push(2))
  expect(await drained()).toEqual(['push refs/heads/main 2'])
  expect(await listFailedJobs(db)).toMatchObject([{ name: 'events.react', lastError: 'the target is away' }])
  isTargetAway = false
  await sql`update jobs set run_at = now()`
  expect(await drained()).toEqual(['push'])
})

test('reactions of one queue run in the order of the events', async () => {
  for (let count = 1; count <= 10; count++) await appendEvent(queue.database.db, push(count))
  told = []
  await queue.jobs.drain()
  const counts = told.filter((line) => line.startsWith('push ')).map((line) => Number(line.split(' ')[2]))
  expect(counts).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
})

test('old events are deleted, and a reaction that comes too late does nothing', async () => {
  const { db, sql } = queue.database
  const old = await appendEvent(db, push(9))
  const young = await appendEvent(db, issue)
  await sql`update events set created_at = '2020-01-01T00:00:00Z' where id = ${old}`
  expect(await pruneEvents(db, new Date('2021-01-01T00:00:00Z'))).toBe(1)
  expect((await findEvents(db, [old, young])).map(({ id }) => id)).toEqual([young])
  await enqueueJob(db, 'events.react', { eventIds: [old], reaction: 'all' })
  expect(await drained()).toEqual(['issue 5'])
  expect(await listFailedJobs(db)).toEqual([])
})

test('a payload from the database that does not fit its kind fails its job', async () => {
  const { db, sql } = queue.database
  const id = await appendEvent(db, push(1))
  await sql`update events set payload = '{"ref": 1}' where id = ${id}`
  expect(await drained()).toEqual([])
  const failure = { name: 'events.react', lastError: expect.stringContaining('push') }
  expect(await listFailedJobs(db)).toMatchObject([failure, failure])
})

test('two reactions cannot have one name', () => {
  const twice = [...reactions, reaction({ name: 'all', kinds: ['push'], async react() {} })]
  expect(() => eventHandlers(twice)).toThrow('same name')
})
