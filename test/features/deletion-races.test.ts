import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { findWrongCounters } from '../../src/features/admin/statistics.ts'
import type { Answer } from '../harness/client.ts'
import { startTestService, type TestService, type TestUser } from '../harness/service.ts'
import { until } from '../harness/until.ts'
import { findFaults } from './transport/twins.ts'

let service: TestService
let bystander: TestUser
beforeAll(async () => {
  service = await startTestService()
  bystander = await service.createUser('bystander')
})
afterAll(() => service.stop())

afterEach(async () => {
  const wrong = await Array.fromAsync(findWrongCounters(service.context.db, new AbortController().signal))
  expect(wrong).toEqual([])
})

/** Connections that wait for a lock of another one. */
const waiting = async (): Promise<number> => {
  const [row] = await service.context.sql<{ n: number }[]>`
    select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  return row?.n ?? 0
}

let orgs = 0
/** A person who owns an organization alone, with a template of somebody else that they have starred. */
async function company() {
  orgs += 1
  const person = await service.createUser()
  const organization = `company${orgs}`
  expect((await person.client.post('/orgs', { username: organization })).status).toBe(201)
  const source = await service.createRepository(bystander, { name: `source${orgs}`, auto_init: true })
  expect((await bystander.client.patch(source.path, { template: true })).status).toBe(200)
  expect((await person.client.put(`/user/starred/bystander/${source.name}`)).status).toBe(204)
  return { person, organization, source }
}
type Company = Awaited<ReturnType<typeof company>>

/** What locks an organization, and then the people who watch its new repository. */
const acts: readonly [string, (of: Company) => Promise<() => Promise<Answer>>][] = [
  [
    'who makes a repository in an organization',
    async ({ person, organization }) =>
      () =>
        person.client.post(`/orgs/${organization}/repos`, { name: 'new' }),
  ],
  [
    'who forks into an organization',
    async ({ person, organization, source }) =>
      () =>
        person.client.post(`${source.path}/forks`, { organization }),
  ],
  [
    'who makes a repository from a template in an organization',
    async ({ person, organization, source }) =>
      () =>
        person.client.post(`${source.path}/generate`, { owner: organization, name: 'new', git_content: true }),
  ],
  [
    'into whose organization somebody moves a repository',
    async ({ person, organization, source }) => {
      const team = { name: 'makers', can_create_org_repo: true, units_map: { 'repo.code': 'read' } }
      const { number } = await person.client.post(`/orgs/${organization}/teams`, team)
      expect((await person.client.put(`/teams/${number('id')}/members/bystander`)).status).toBe(204)
      return () => bystander.client.post(`${source.path}/transfer`, { new_owner: organization })
    },
  ],
  [
    'who takes a repository for an organization',
    async ({ person, organization, source }) => {
      const offered = await bystander.client.post(`${source.path}/transfer`, { new_owner: organization })
      expect(offered.status).toBe(201)
      return () => person.client.post(`${source.path}/transfer/accept`)
    },
  ],
]

test.each(acts)('a person %s while they are deleted is deleted with it, and neither fails', async (_, prepare) => {
  const { sql } = service.context
  const { person, organization, ...more } = await company()
  const act = await prepare({ person, organization, ...more })
  const held = await sql.reserve()
  await held`begin`
  await held`lock table watches in share mode`
  const acting = act()
  await until(async () => (await waiting()) === 1, 'the organization is locked, nobody watches yet')
  const deleting = service.admin.client.delete(`/admin/users/${person.name}?purge=true`)
  await until(async () => (await waiting()) === 2, 'the deletion waits')
  await held`commit`
  held.release()
  const [acted, deleted] = await Promise.all([acting, deleting])
  expect(deleted.status).toBe(204)
  // Its answer is read after the commit, when it may be gone.
  expect(acted.status).toBeOneOf([201, 202, 404])
  expect([...(await sql`select name from users where name in (${person.name}, ${organization})`)]).toEqual([])
  await service.drain()
  expect(await findFaults(service)).toEqual([])
})

test('whoever joins a team is locked before it', async () => {
  const { sql } = service.context
  const { person, organization } = await company()
  const team = await person.client.post(`/orgs/${organization}/teams`, {
    name: 't',
    units_map: { 'repo.code': 'read' },
  })
  const held = await sql.reserve()
  await held`begin`
  await held`select 1 from users where name = ${person.name} for update`
  const joining = service.admin.client.put(`/teams/${team.number('id')}/members/${person.name}`)
  await until(async () => (await waiting()) === 1, 'it waits for the person')
  const free = await sql`select 1 from teams where id = ${team.number('id')} for update skip locked`
  await held`commit`
  held.release()
  expect(free).toHaveLength(1)
  expect((await joining).status).toBe(204)
})
