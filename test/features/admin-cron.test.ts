import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../harness/service.ts'

let service: TestService
let owner: TestUser
let repo: TestRepository

beforeAll(async () => {
  service = await startTestService()
  owner = await service.createUser()
  repo = await service.createRepository(owner)
})
afterAll(() => service.stop())

interface Task {
  name: string
  prev: string
  exec_times: number
  failed: boolean
}

async function taskNamed(name: string): Promise<Task> {
  const { body } = await service.admin.client.get('/admin/cron', { limit: 50 })
  const found: Task | undefined = Array.isArray(body) ? body.find((task) => task.name === name) : undefined
  if (!found) throw new Error(`no task ${name}`)
  return found
}

async function runTask(name: string): Promise<void> {
  expect((await service.admin.client.post(`/admin/cron/${name}`)).status).toBe(204)
  await service.drain()
}

const lastError = async (name: string) => {
  const [row] = await service.context.sql`select last_error from cron_tasks where name = ${name}`
  return row?.last_error
}

test('every task runs by hand and leaves its record', async () => {
  const { body } = await service.admin.client.get('/admin/cron', { limit: 50 })
  const tasks: Task[] = Array.isArray(body) ? body : []
  expect(tasks.map(({ name }) => name)).toEqual(tasks.map(({ name }) => name).sort())
  expect(tasks.map(({ name }) => name)).toContain('cleanup_hook_task_table')
  for (const { name, exec_times } of tasks) {
    await runTask(name)
    const after = await taskNamed(name)
    expect([name, after.exec_times, await lastError(name)]).toEqual([name, exec_times + 1, null])
    expect(after.prev).not.toBe('0001-01-01T00:00:00Z')
  }
}, 120_000)

test('the list has pages and a count but no links; unknown tasks and strangers are refused', async () => {
  const page = await service.admin.client.get('/admin/cron', { limit: 2, page: 2 })
  expect(page.body).toHaveLength(2)
  expect(page.headers.get('link')).toBeNull()
  expect((await service.admin.client.post('/admin/cron/no_such_task')).status).toBe(404)
  for (const [client, status] of [
    [owner.client, 403],
    [service.anonymous, 401],
  ] as const) {
    expect((await client.get('/admin/cron')).status).toBe(status)
    expect((await client.post('/admin/cron/check_repo_stats')).status).toBe(status)
  }
})

test('a failure is told until the next run, its reason is for the log', async () => {
  const name = 'check_repo_stats'
  await service.context.sql`update cron_tasks set last_error = 'no space left in /srv' where name = ${name}`
  expect((await taskNamed(name)).failed).toBe(true)
  expect((await service.admin.client.get('/admin/cron', { limit: 50 })).text).not.toContain('/srv')
  await runTask(name)
  expect((await taskNamed(name)).failed).toBe(false)
})

test('the statistics check sets wrong numbers right', async () => {
  const { sql } = service.context
  await owner.client.post(`${repo.path}/milestones`, { title: 'm' })
  await owner.client.post(`${repo.path}/issues`, { title: 'i', milestone: 1 })
  const counts = () => sql`
    select c.stars_count, c.open_issues_count, c.branch_count, c.watchers_count, c.releases_count, u.repositories_count, m.open_issues_count as planned
    from repositories r join repository_counters c on c.repository_id = r.id join users u on u.id = r.owner_id join milestones m on m.repository_id = r.id where r.id = ${repo.id}`
  const right = await counts()
  expect(right).toMatchObject([{ stars_count: 0, open_issues_count: 1, branch_count: 1, planned: 1 }])
  await sql`update repository_counters set stars_count = 7, open_issues_count = 7, branch_count = 7, watchers_count = 7, releases_count = 7 where repository_id = ${repo.id}`
  await sql`update users set repositories_count = 7 where name = ${owner.name}`
  await sql`update milestones set open_issues_count = 7`
  await sql`insert into repository_totals values ('public', false, false, false, false, false, 3)`
  const sum = async () =>
    (await sql`select sum(repositories)::int, (select count(*)::int from repositories) from repository_totals`)[0]
  expect(await counts()).not.toEqual(right)
  await runTask('check_repo_stats')
  expect(await counts()).toEqual(right)
  const total = await sum()
  expect(total?.sum).toBe(total?.count)
})

test('refs that were changed behind the back of the service are recorded', async () => {
  const ref = (await service.context.git.listRefs(repo.id, { prefix: 'refs/heads/' }))[0]
  if (!ref) throw new Error('the repository has no branch')
  const zeros = '0'.repeat(40)
  await service.context.git.updateRefs(repo.id, [{ ref: 'refs/heads/behind', old: zeros, new: ref.sha }])
  expect((await owner.client.get(`${repo.path}/branches/behind`)).status).toBe(404)
  await runTask('sync_repo_branches')
  expect((await owner.client.get(`${repo.path}/branches/behind`)).status).toBe(200)
})

test('the health check takes each repository in its turn and finds damage', async () => {
  const { sql, config } = service.context
  const broken = await service.createRepository(owner)
  const checks = async () => {
    const rows = await sql<{ repository_id: number; problems: string[] }[]>`
      select repository_id::integer, problems from repository_checks where checked_at is not null`
    return new Map(rows.map((row) => [row.repository_id, row.problems]))
  }
  await runTask('repo_health_check')
  expect((await checks()).get(broken.id)).toEqual([])
  const folder = join(config.repositoriesDir, '@repositories', (broken.id & 255).toString(16).padStart(2, '0'))
  const objects = join(folder, `${broken.id}.git`, 'objects')
  for (const name of await readdir(objects)) await rm(join(objects, name), { recursive: true, force: true })
  await runTask('repo_health_check')
  expect((await checks()).get(broken.id)).toEqual([])
  await sql`update repository_checks set checked_at = checked_at - interval '8 days' where repository_id = ${broken.id}`
  await runTask('repo_health_check')
  expect((await checks()).get(broken.id)?.length).toBeGreaterThan(0)
  expect((await checks()).get(repo.id)).toEqual([])
})

test('old deliveries and long expired tokens go, others stay', async () => {
  const { sql } = service.context
  await sql`insert into hooks (scope, type, url, content_type, events) values ('site', 'gitea', 'http://x.example/', 'json', '{push}')`
  await sql`insert into hook_deliveries (hook_id, event_type, payload, created_at)
    select id, 'push', '{}', now() - age from hooks, (values (interval '8 days'), (interval '6 days')) as of_age(age)`
  await runTask('cleanup_hook_task_table')
  expect(await sql`select 1 from hook_deliveries`).toHaveLength(1)
  await sql`insert into access_tokens (user_id, name, token_hash, last_eight, expires_at)
    select users.id, 'expired ' || age, md5(age::text), '', now() - age
    from users, (values (interval '31 days'), (interval '29 days')) as of_age(age) where users.name = ${owner.name}`
  await runTask('delete_expired_tokens')
  const left = await sql`select name from access_tokens where name like 'expired%'`
  expect([...left]).toEqual([{ name: 'expired 29 days' }])
})
