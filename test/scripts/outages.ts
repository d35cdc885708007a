// Takes the database away from a working service in every way that comes to mind, at random, and looks after each time whether all of it
// goes on by itself: writes, events, jobs, tokens. By hand, a quarter of an hour or so:
//
//   bun test/scripts/outages.ts --rounds 60
//
// Prints a line for each round and ends with 1 if something did not come back.
import { parseArgs } from 'node:util'
import { type Database, openDatabase } from '../../db/client.ts'
import { type Replica, startReplica } from '../features/transport/replica.ts'
import { type Cable, layCableToDatabase } from '../harness/cable.ts'
import { type Client, createClient } from '../harness/client.ts'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../harness/service.ts'
import { until } from '../harness/until.ts'

/** A service that does not work its jobs, and beside it the replica that does, at the end of a cable. */
interface Stage {
  service: TestService
  cable: Cable
  replica: Replica
  owner: TestUser
  /** Of the owner, to the replica. */
  client: Client
  repository: TestRepository
  /** A connection that nobody ends. */
  observer: Database
}

const upTo = (milliseconds: number) => Bun.sleep(Math.random() * milliseconds)

/** Of the service and of the replica. */
const some = `datname = current_database() and application_name like 'hearth%' and random() < 0.6`

const outages: Record<string, (stage: Stage) => Promise<void>> = {
  async 'cut for a moment'({ cable }) {
    cable.cut()
    cable.reconnect()
  },
  async 'away for seconds'({ cable }) {
    cable.cut()
    await upTo(8000)
    cable.reconnect()
  },
  async 'silent for seconds, then another host'({ cable }) {
    cable.mute()
    await upTo(15_000)
    cable.cut()
    cable.reconnect()
  },
  async 'cut in the middle of messages'({ cable }) {
    for (let times = 0; times < 8; times++) {
      cable.cutAfter(1 + Math.floor(Math.random() * 5000))
      await upTo(300)
    }
    cable.cutAfter(Number.POSITIVE_INFINITY)
  },
  async 'sessions ended by an administrator'({ observer }) {
    for (let times = 0; times < 5; times++) {
      await observer.sql.unsafe(`select pg_terminate_backend(pid) from pg_stat_activity where ${some}`)
      await upTo(500)
    }
  },
  async 'statements cancelled'({ observer }) {
    for (let times = 0; times < 20; times++) {
      await observer.sql.unsafe(`select pg_cancel_backend(pid) from pg_stat_activity where ${some}`)
      await upTo(60)
    }
  },
}

/** Asks for this and that until it is over; what is answered while the database is away is not looked at. */
async function work({ client, repository }: Stage, isOver: () => boolean): Promise<void> {
  for (let round = 0; !isOver(); round++) {
    const name = crypto.randomUUID()
    const asked =
      round % 5 === 0
        ? client.post(`${repository.path}/contents/${name}.txt`, { content: 'aGVhcnRo' })
        : round % 5 === 1
          ? client.get('/user/repos')
          : client.post(`${repository.path}/issues`, { title: name })
    await asked.catch(() => undefined)
    await upTo(60)
  }
}

/** Everything that has to come back, and how long it may take: a job whose claim was lost is free after 25 s. */
async function expectBack({ service, client, owner, replica, repository, observer: { sql } }: Stage): Promise<void> {
  const isWritten = async () => (await client.post(`${repository.path}/issues`, { title: 'again' })).status === 201
  await until(isWritten, 'an issue is made', 20_000)
  const [last] = await sql`select max(id) as event, now() as time from events`
  const isEmpty = async (rows: Promise<readonly unknown[]>) => (await rows).length === 0
  const waiting = () => sql`select 1 from events where fanned_out_at is null and id <= ${last?.event} limit 1`
  await until(() => isEmpty(waiting()), 'the events have become jobs', 30_000)
  const undone = () => sql`
    select 1 from jobs
    where created_at <= ${last?.time} and run_at <= ${last?.time} and retired_at is null limit 1`
  await until(() => isEmpty(undone()), 'the jobs are done', 60_000)
  const direct = service.client({ basic: `${owner.name}:${owner.password}` })
  const tokens = `/users/${owner.name}/tokens`
  const make = () => direct.post(tokens, { name: crypto.randomUUID(), scopes: ['all'] })
  let made = await make()
  const isMade = async () => {
    // The sessions of the service itself may have been ended as well.
    if (made.status !== 201) made = await make()
    return made.status === 201
  }
  await until(isMade, 'a token is made')
  const bearer = createClient({ url: replica.url, credential: { token: made.string('sha1') } })
  await until(async () => (await bearer.get('/user')).status === 200, 'a new token is known')
  await direct.delete(`${tokens}/${made.number('id')}`)
  await until(async () => (await bearer.get('/user')).status === 401, 'a token that is gone is refused', 1000)
}

async function run(rounds: number): Promise<number> {
  const service = await startTestService({ checksContract: false })
  const owner = await service.createUser()
  const repository = await service.createRepository(owner)
  const { cable, url } = await layCableToDatabase(service.databaseUrl)
  const replica = await startReplica(service, { DATABASE_URL: url })
  const client = createClient({ url: replica.url, credential: { token: owner.token } })
  const observer = openDatabase(service.databaseUrl, { poolSize: 1, applicationName: 'observer' })
  const stage = { service, cable, replica, owner, client, repository, observer }
  let isOver = false
  const workers = Array.from({ length: 3 }, () => work(stage, () => isOver))
  let faults = 0
  const names = Object.keys(outages)
  for (let round = 1; round <= rounds; round++) {
    const name = names[Math.floor(Math.random() * names.length)] ?? ''
    await outages[name]?.(stage)
    const since = performance.now()
    const outcome = await expectBack(stage).then(
      () => `all is back after ${((performance.now() - since) / 1000).toFixed(1)} s`,
      (error: unknown) => `FAULT ${error}`,
    )
    if (outcome.startsWith('FAULT')) faults += 1
    process.stdout.write(`${round} ${name}: ${outcome}, ${Math.round(replica.memory().now / 2 ** 20)} MiB\n`)
  }
  isOver = true
  await Promise.all(workers)
  const exitCode = await replica.stop()
  await observer.close()
  await cable.close()
  await service.stop()
  process.stdout.write(`${faults} faults in ${rounds} rounds; the replica ended with ${exitCode}\n`)
  return faults === 0 && exitCode === 0 ? 0 : 1
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { rounds: { type: 'string', default: '30' } } })
  process.exit(await run(Number(values.rounds)))
}
