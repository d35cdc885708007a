import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createServer } from 'node:net'
import { eq, ilike, like, sql } from 'drizzle-orm'
import { openDatabase } from '../../db/client.ts'
import { allowPause } from '../../db/pause.ts'
import { users } from '../../db/schema/users.ts'
import { layCableToDatabase } from '../harness/cable.ts'
import { listen } from '../harness/listen.ts'
import { startTestService, type TestService } from '../harness/service.ts'
import { until } from '../harness/until.ts'

let service: TestService

beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.stop())

test('statements are kept by the database, but those with a pattern are planned for it each time', async () => {
  const kept = await service.context.db.transaction(async (tx) => {
    for (let times = 0; times < 3; times++) {
      await tx.select({ id: users.id }).from(users).where(eq(users.fullName, 'x'))
      await tx.select({ id: users.id }).from(users).where(like(users.lowerName, '%x%'))
      await tx.select({ id: users.id }).from(users).where(ilike(users.fullName, '%x%'))
    }
    const rows = await tx.execute<{ statement: string }>(sql`select statement from pg_prepared_statements`)
    return rows.map(({ statement }) => statement)
  })
  expect(kept.filter((statement) => statement.includes('"full_name" = $1'))).toHaveLength(1)
  expect(kept.filter((statement) => statement.includes('like $'))).toEqual([])
})

test('however many statements came before, one that comes again is kept, and those that come once are not', async () => {
  const database = openDatabase(service.databaseUrl, { poolSize: 1 })
  for (let index = 0; index < 1100; index++)
    await database.db.execute(sql`select ${index}::int as ${sql.identifier(`c${index}`)}`)
  for (let times = 0; times < 2; times++) await database.db.execute(sql`select ${times}::int as again`)
  const kept =
    await database.sql`select statement from pg_prepared_statements where statement like 'select $1::int as%'`
  expect(kept.map(({ statement }) => statement)).toEqual(['select $1::int as again'])
  await database.close()
})

test('a connection that is reset while it learns the types is told to who waits for it, and to nobody else', async () => {
  const { cable, url } = await layCableToDatabase(service.databaseUrl)
  const database = openDatabase(url, { poolSize: 1 })
  // A promise that fails and that nobody looks at fails the test by itself.
  cable.resetAt('pg_catalog.pg_type')
  expect(await database.sql`select 1`.catch((error: unknown) => error)).toMatchObject({ code: 'ECONNRESET' })
  expect([...(await database.sql`select 1 as answer`)]).toEqual([{ answer: 1 }])
  await database.close()
  await cable.close()
})

test('where connections are taken and ended at once, as by a proxy without a server, a statement fails', async () => {
  const proxy = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => socket.end())
  })
  const port = await listen(proxy)
  const database = openDatabase(`postgres://nobody:x@127.0.0.1:${port}/none`, { poolSize: 1 })
  expect(await database.sql`select 1`.catch((error: unknown) => error)).toMatchObject({ code: 'CONNECTION_CLOSED' })
  await database.close(0)
  await new Promise((resolve) => proxy.close(resolve))
})

test('a database that falls silent in the middle of statements is given up soon after their time, and asked anew', async () => {
  const { cable, url } = await layCableToDatabase(service.databaseUrl)
  const database = openDatabase(url, { poolSize: 1, timeoutSeconds: 1 })
  expect(await database.sql`select 1 as one`).toHaveLength(1)
  cable.mute()
  const failure = (statement: Promise<unknown>) => statement.catch((error: unknown) => error)
  const inTransaction = failure(database.sql.begin((sql) => sql`select 2 as two`))
  const queued = database.sql`select 3 as three`.execute()
  expect(await inTransaction).toMatchObject({ code: 'CONNECTION_CLOSED' })
  cable.reconnect()
  expect(await queued).toHaveLength(1)
  await database.close()
  await cable.close()
})

test('what a process that is gone without a word has locked is free again soon', async () => {
  const { cable, url } = await layCableToDatabase(service.databaseUrl)
  const database = openDatabase(url, { poolSize: 1, pauseSeconds: 1 })
  const gone = Promise.withResolvers<void>()
  const lock = (client: typeof database.sql) =>
    client`update users set full_name = 'locked' where name = ${service.admin.name}`
  const locked = Promise.withResolvers<void>()
  const held = database.sql
    .begin(async (client) => {
      await client`update users set full_name = 'lost' where name = ${service.admin.name}`
      locked.resolve()
      await gone.promise
      await client`select 1`
    })
    .catch((error: unknown) => error)
  await locked.promise
  cable.mute()
  // Else it waits for as long as one statement may take, and fails.
  expect((await lock(service.context.sql)).count).toBe(1)
  gone.resolve()
  cable.cut()
  expect(await held).toBeInstanceOf(Error)
  await database.close(0)
  await cable.close()
})

test('a transaction that says so may pause for longer', async () => {
  const database = openDatabase(service.databaseUrl, { poolSize: 1, pauseSeconds: 1, applicationName: 'pausing' })
  const paused = async () =>
    (
      await service.context.sql`
        select 1 from pg_stat_activity
        where application_name = 'pausing' and state = 'idle in transaction' and state_change < now() - interval '1.5 s'`
    ).length > 0
  await database.db.transaction(async (tx) => {
    await allowPause(tx, 60)
    await until(paused, 'it has paused')
    await tx.execute(sql`select 1`)
  })
  await database.close()
})
