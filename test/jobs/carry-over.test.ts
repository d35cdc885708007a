import { expect, test } from 'bun:test'
import { openDatabase } from '../../db/client.ts'
import { migrate } from '../../db/migrate.ts'
import { migrations } from '../../db/migrations/index.ts'
import { listFailedJobs } from '../../src/jobs/failures.ts'
import { createBareDatabase } from '../harness/database.ts'
import { openQueue } from './queue.ts'

/** The tables of the library that kept the queue before, with the columns that its last version had. */
const FORMER = `
  create schema graphile_worker;
  create table graphile_worker._private_tasks (id int primary key, identifier text not null);
  create table graphile_worker._private_job_queues (id int primary key, queue_name text not null);
  create table graphile_worker._private_jobs (
    id bigint primary key, job_queue_id int, task_id int not null, payload json not null, priority smallint not null default 0,
    run_at timestamptz not null default now(), attempts smallint not null default 0, max_attempts smallint not null default 25,
    last_error text, created_at timestamptz not null default now(), updated_at timestamptz not null default now(),
    key text unique, locked_at timestamptz, locked_by text);
  insert into graphile_worker._private_tasks values (1, 'events.react'), (2, 'repository.refresh');
  insert into graphile_worker._private_job_queues values (1, 'one');
  insert into graphile_worker._private_jobs (id, task_id, payload, job_queue_id, run_at) values
    (10, 1, '{"eventIds":[2],"reaction":""}', 1, now() - interval '1 minute'),
    (11, 1, '{"eventIds":[1],"reaction":""}', 1, now() - interval '2 minutes'),
    (12, 1, '{"eventIds":[9],"reaction":""}', null, now() + interval '1 day');
  insert into graphile_worker._private_jobs (id, task_id, payload, attempts, max_attempts, locked_at, last_error, key) values
    (20, 1, '{"eventIds":[3],"reaction":""}', 1, 25, now(), null, null),
    (21, 1, '{"eventIds":[4],"reaction":""}', 2, 2, null, 'no luck', null),
    (22, 2, '{"repositoryId":5}', 25, 25, null, 'died', null),
    (23, 2, '{"repositoryId":5}', 0, 25, null, null, 'repository.refresh:5');
`

const NAME = /_job_queue$/

test('what waits in the queue of an older version is carried over in its order, and the old tables go', async () => {
  const home = await createBareDatabase()
  const own = migrations.findIndex(({ name }) => NAME.test(name))
  expect(own).toBeGreaterThan(0)
  await migrate(home.url, { migrations: migrations.slice(0, own) })
  const before = openDatabase(home.url, { poolSize: 1 })
  await before.sql.unsafe(FORMER)
  await migrate(home.url)
  const ran: string[] = []
  const queue = openQueue(home.url, {
    async react({ id, attempt }) {
      ran.push(`${id} ${attempt}`)
    },
    handlers: {
      async 'repository.refresh'(_, { repositoryId }) {
        ran.push(`refresh ${repositoryId}`)
      },
    },
  })
  await queue.jobs.drain()
  expect(ran.filter((line) => /^[12] /.test(line))).toEqual(['1 1', '2 1'])
  // The third ran in a process of the older version, and runs again.
  expect(ran.sort()).toEqual(['1 1', '2 1', '3 2', 'refresh 5'])
  const [failed, ...others] = await listFailedJobs(queue.database.db)
  expect(failed).toMatchObject({ name: 'events.react', lastError: 'no luck', attempts: 2, nextAttemptAt: null })
  expect(others).toEqual([])
  expect(await before.sql`select to_regnamespace('graphile_worker') as former`).toMatchObject([{ former: null }])
  await before.close()
  await queue.close()
  await home.drop()
})
