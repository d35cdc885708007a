import { afterAll, beforeAll, expect, test } from 'bun:test'
import { openChannels } from '../../db/channels.ts'
import { type Database, openDatabase } from '../../db/client.ts'
import { type Cable, layCableToDatabase } from '../harness/cable.ts'
import { createTestDatabase, type TestDatabase } from '../harness/database.ts'
import { until } from '../harness/until.ts'

let home: TestDatabase
let database: Database
beforeAll(async () => {
  home = await createTestDatabase()
  database = openDatabase(home.url, { poolSize: 2 })
})
afterAll(async () => {
  await database.close()
  await home.drop()
})

interface Setup extends AsyncDisposable {
  cable: Cable
  wakes(): number
}

/** Listens through a cable, while messages to try it go the straight way. */
async function listening(channel: string): Promise<Setup> {
  const { cable, url } = await layCableToDatabase(home.url)
  const channels = openChannels({ url, sql: database.sql, beatSeconds: 0.1 })
  let wakes = 0
  channels.listen(channel, () => {
    wakes += 1
  })
  await until(() => wakes > 0, 'it listens')
  return {
    cable,
    wakes: () => wakes,
    async [Symbol.asyncDispose]() {
      await channels.close()
      await cable.close()
    },
  }
}

const isHeard = async (wakes: () => number, channel: string) => {
  const before = wakes()
  await database.sql`select pg_notify(${channel}, '')`
  await until(() => wakes() > before, 'the message is heard')
}

test('who listens is woken by each message, and once at first', async () => {
  await using setup = await listening('plain')
  await isHeard(setup.wakes, 'plain')
})

test('a connection that was closed is opened anew, and who listens is woken for what it may have missed', async () => {
  await using setup = await listening('closed')
  const before = setup.wakes()
  setup.cable.cut()
  setup.cable.reconnect()
  await until(() => setup.wakes() > before, 'it listens again')
  await isHeard(setup.wakes, 'closed')
})

test('a connection that fell silent is replaced', async () => {
  await using setup = await listening('silent')
  const { sql } = database
  const [silent] = await sql`
    select pid from pg_stat_activity where datname = current_database() and application_name = 'hearth listener'`
  setup.cable.mute()
  const left = () => sql`select 1 from pg_stat_activity where pid = ${silent?.pid}`
  await until(async () => (await left()).length === 0, 'it is given up')
  const before = setup.wakes()
  setup.cable.reconnect()
  await until(() => setup.wakes() > before, 'it listens again')
  await isHeard(setup.wakes, 'silent')
})

test('who has stopped is woken no more, and others on the channel are', async () => {
  const channels = openChannels({ url: home.url, sql: database.sql })
  const wakes = { one: 0, two: 0 }
  const stop = channels.listen('shared', () => {
    wakes.one += 1
  })
  channels.listen('shared', () => {
    wakes.two += 1
  })
  await until(() => wakes.one > 0 && wakes.two > 0, 'both listen')
  stop()
  const before = { ...wakes }
  await database.sql`select pg_notify('shared', '')`
  await until(() => wakes.two > before.two, 'the message is heard')
  expect(wakes.one).toBe(before.one)
  await channels.close()
})
