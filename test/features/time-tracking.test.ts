import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Client } from '../harness/client.ts'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../harness/service.ts'
import { recordStatements } from '../harness/statements.ts'

let service: TestService
let owner: TestUser
let writer: TestUser
let author: TestUser
let reader: TestUser
let repo: TestRepository
const clock = { time: Date.now(), now: () => new Date(clock.time) }
const pass = (seconds: number) => {
  clock.time += seconds * 1000
}
beforeAll(async () => {
  service = await startTestService({ clock })
  owner = await service.createUser()
  writer = await service.createUser()
  author = await service.createUser()
  reader = await service.createUser()
  repo = await make()
})
afterAll(() => service.stop())

/** A repository of the owner with two issues, the first one the author's. */
async function make(): Promise<TestRepository> {
  const made = await service.createRepository(owner)
  await owner.client.put(`${made.path}/collaborators/${writer.name}`, { permission: 'write' })
  await author.client.post(`${made.path}/issues`, { title: 'first' })
  await owner.client.post(`${made.path}/issues`, { title: 'second' })
  return made
}

const issueAt = (of = repo, index = 1) => `${of.path}/issues/${index}`
const add = (client: Client, time: unknown, of = repo, index = 1) =>
  client.post(`${issueAt(of, index)}/times`, { time })
const watch = (client: Client, word: 'start' | 'stop' | 'delete', of = repo, index = 1) =>
  client.request(`${issueAt(of, index)}/stopwatch/${word}`, { method: word === 'delete' ? 'DELETE' : 'POST' })
async function listed(client: Client, path: string): Promise<string[]> {
  const { status, body } = await client.get(path)
  expect([path, status]).toEqual([path, 200])
  return Array.isArray(body) ? body.map((one) => `${one.user_name} ${one.time} ${one.issue.title}`) : []
}
const setTracker = (of: TestRepository, tracker: { isOn?: boolean; contributorsOnly?: boolean }) =>
  owner.client.patch(of.path, {
    has_issues: true,
    internal_tracker: {
      enable_time_tracker: tracker.isOn ?? true,
      allow_only_contributors_to_track_time: tracker.contributorsOnly ?? true,
      enable_issue_dependencies: true,
    },
  })
async function history(of: TestRepository, index = 1): Promise<string[]> {
  const rows = await service.context.sql`select c.kind, c.body from comments c join issues i on i.id = c.issue_id
    where i.repository_id = ${of.id} and i.number = ${index} order by c.id`
  return rows.map(({ kind, body }) => `${kind} ${body}`.trim())
}

test('a stopwatch runs once, and its time is booked', async () => {
  const own = await make()
  expect((await writer.client.get('/user/stopwatches')).body).toEqual([])
  expect((await watch(writer.client, 'stop', own)).status).toBe(409)
  expect((await watch(writer.client, 'start', own)).status).toBe(201)
  expect((await watch(writer.client, 'start', own)).status).toBe(409)
  pass(3720)
  const shown = await writer.client.get('/user/stopwatches')
  expect(shown.headers.get('x-total-count')).toBe('1')
  expect(shown.body).toEqual([
    {
      created: expect.any(String),
      seconds: 3720,
      duration: '1 hour 2 minutes',
      issue_index: 1,
      issue_title: 'first',
      repo_owner_name: owner.name,
      repo_name: own.name,
    },
  ])
  // Another one stops it.
  expect((await watch(writer.client, 'start', own, 2)).status).toBe(201)
  expect(await listed(writer.client, `${own.path}/times`)).toEqual([`${writer.name} 3720 first`])
  expect((await watch(writer.client, 'stop', own)).status).toBe(409)
  pass(5)
  expect((await watch(writer.client, 'stop', own, 2)).status).toBe(201)
  expect(await listed(writer.client, `${issueAt(own, 2)}/times`)).toEqual([`${writer.name} 5 second`])
  await watch(writer.client, 'start', own)
  expect((await watch(writer.client, 'delete', own)).status).toBe(204)
  expect((await watch(writer.client, 'delete', own)).status).toBe(409)
  expect(await history(own)).toEqual(['start_tracking', 'stop_tracking 3720', 'start_tracking', 'cancel_tracking'])
  expect(await history(own, 2)).toEqual(['start_tracking', 'stop_tracking 5'])
})

test('twenty starts and stops at once lose and double nothing', async () => {
  const own = await make()
  const started = await Promise.all(
    Array.from({ length: 20 }, (_, n) => watch(writer.client, 'start', own, 1 + (n % 2)).then(({ status }) => status)),
  )
  const count = started.filter((status) => status === 201).length
  expect(started.every((status) => status === 201 || status === 409)).toBe(true)
  expect((await writer.client.get('/user/stopwatches')).headers.get('x-total-count')).toBe('1')
  expect(await listed(writer.client, `${own.path}/times`)).toHaveLength(count - 1)
  const stopped = await Promise.all(
    Array.from({ length: 20 }, (_, n) => watch(writer.client, 'stop', own, 1 + (n % 2)).then(({ status }) => status)),
  )
  expect(stopped.filter((status) => status === 201)).toHaveLength(1)
  expect(await listed(writer.client, `${own.path}/times`)).toHaveLength(count)
})

test.each([
  ['may not read any more', { private: true }, 'none'],
  ['may only read now', {}, 'read'],
  ['finds an archive', { archived: true }, 'write'],
  ['finds issues switched off', { has_issues: false }, 'write'],
])('a stopwatch books nothing where its owner %s', async (_, change, permission) => {
  const [lost, own] = [await make(), await make()]
  await watch(writer.client, 'start', lost)
  const place = `${lost.path}/collaborators/${writer.name}`
  await (permission === 'none' ? owner.client.delete(place) : owner.client.put(place, { permission }))
  await owner.client.patch(lost.path, change)
  pass(60)
  expect((await watch(writer.client, 'start', own)).status).toBe(201)
  await owner.client.patch(lost.path, { archived: false, has_issues: true })
  expect(await listed(owner.client, `${lost.path}/times`)).toEqual([])
  expect((await writer.client.get('/user/stopwatches')).body).toMatchObject([{ repo_name: own.name }])
  await watch(writer.client, 'delete', own)
})

test('a stopwatch on what is hidden is not shown', async () => {
  const own = await make()
  await watch(writer.client, 'start', own)
  await owner.client.patch(own.path, { private: true })
  expect((await writer.client.get('/user/stopwatches')).body).toMatchObject([{ repo_name: own.name }])
  await owner.client.delete(`${own.path}/collaborators/${writer.name}`)
  const hidden = await writer.client.get('/user/stopwatches')
  expect([hidden.body, hidden.headers.get('x-total-count')]).toEqual([[], '0'])
  await owner.client.delete(own.path)
})

test('an issue that is deleted while a stopwatch runs on it takes it away', async () => {
  const own = await make()
  await watch(writer.client, 'start', own)
  const [gone, ...started] = await Promise.all([
    owner.client.delete(issueAt(own)),
    ...[1, 2, 3].map(() => watch(writer.client, 'start', own, 2)),
  ])
  expect(gone?.status).toBe(204)
  expect(started.map(({ status }) => status).sort()).toEqual([201, 409, 409])
  expect((await writer.client.get('/user/stopwatches')).body).toMatchObject([{ issue_title: 'second' }])
  expect((await watch(writer.client, 'delete', own, 2)).status).toBe(204)
})

test('time is booked, listed and deleted', async () => {
  const own = await make()
  const made = await add(owner.client, 3600, own)
  expect([made.status, made.body]).toMatchObject([200, { time: 3600, user_name: owner.name, issue: { number: 1 } }])
  pass(10)
  expect((await add(writer.client, 60, own)).status).toBe(200)
  pass(10)
  const early = { time: 7, created: '2024-01-10T10:00:00Z', user_name: writer.name }
  const booked = await owner.client.post(`${issueAt(own, 2)}/times`, early)
  expect(booked.body).toMatchObject({ time: 7, created: early.created, user_name: writer.name })
  const all = [`${writer.name} 7 second`, `${owner.name} 3600 first`, `${writer.name} 60 first`]
  expect(await listed(writer.client, `${own.path}/times`)).toEqual(all)
  expect(await listed(owner.client, `${issueAt(own)}/times`)).toEqual(all.slice(1))
  expect(await listed(owner.client, `${own.path}/times?user=${writer.name}`)).toEqual([all[0] ?? '', all[2] ?? ''])
  expect(await listed(owner.client, `${own.path}/times/${writer.name}`)).toEqual([all[0] ?? '', all[2] ?? ''])
  expect(await listed(owner.client, `${issueAt(own)}/times?user=${owner.name}`)).toEqual([all[1] ?? ''])
  // Both ends are included, to the second.
  const at = made.string('created')
  for (const list of [`${own.path}/times`, '/user/times'])
    for (const query of [`since=${at}&before=${at}`, `user=${owner.name}&since=${at}&before=${at}`])
      expect(await listed(owner.client, `${list}?${query}`)).toEqual(all.slice(1, 2))
  expect(await listed(owner.client, `${own.path}/times?before=${at}`)).toEqual(all.slice(0, 2))
  expect(await listed(owner.client, `${own.path}/times?since=${at}`)).toEqual(all.slice(1))
  expect(await listed(owner.client, `${own.path}/times?since=2024-01-10T10:00:01Z`)).toEqual(all.slice(1))
  const paged = await owner.client.get(`${own.path}/times?limit=2&page=2`)
  expect([paged.headers.get('x-total-count'), paged.number('0.time')]).toEqual(['3', 60])
  const mine = await listed(writer.client, '/user/times')
  expect(mine.filter((one) => all.includes(one))).toEqual([all[0] ?? '', all[2] ?? ''])
  const id = made.number('id')
  expect((await writer.client.delete(`${issueAt(own)}/times/${id}`)).status).toBe(403)
  for (const elsewhere of [issueAt(own, 2), issueAt(repo), `${own.path}/issues/99`])
    expect((await owner.client.delete(`${elsewhere}/times/${id}`)).status).toBe(404)
  expect((await owner.client.delete(`${issueAt(own)}/times/${id}`)).status).toBe(204)
  expect((await owner.client.delete(`${issueAt(own)}/times/${id}`)).status).toBe(404)
  const theirs = (await add(writer.client, 61, own)).number('id')
  expect((await service.admin.client.delete(`${issueAt(own)}/times/${theirs}`)).status).toBe(204)
  await add(writer.client, 40, own)
  expect((await writer.client.delete(`${issueAt(own)}/times`)).status).toBe(204)
  expect((await writer.client.delete(`${issueAt(own)}/times`)).status).toBe(404)
  expect(await listed(owner.client, `${own.path}/times`)).toEqual(all.slice(0, 1))
  expect((await history(own)).at(-1)).toBe('delete_time_manual 100')
})

test('contributors track time, or everybody where the repository says so', async () => {
  const own = await make()
  for (const [client, status] of [
    [author.client, 200],
    [writer.client, 200],
    [reader.client, 403],
    [service.anonymous, 401],
  ] as const) {
    expect((await add(client, 5, own)).status).toBe(status)
  }
  expect((await reader.client.delete(`${issueAt(own)}/times`)).status).toBe(403)
  await owner.client.put(`${own.path}/collaborators/${reader.name}`, { permission: 'write' })
  await owner.client.patch(issueAt(own), { assignees: [reader.name] })
  await owner.client.put(`${own.path}/collaborators/${reader.name}`, { permission: 'read' })
  expect((await add(reader.client, 5, own)).status).toBe(200)
  expect((await reader.client.delete(`${issueAt(own)}/times`)).status).toBe(204)
  await owner.client.patch(issueAt(own), { assignees: [] })
  expect((await add(reader.client, 5, own)).status).toBe(403)
  await setTracker(own, { contributorsOnly: false })
  expect((await add(reader.client, 5, own)).status).toBe(200)
  // Stopwatches are for writers all the same.
  for (const word of ['start', 'stop', 'delete'] as const)
    for (const { client } of [reader, author]) expect((await watch(client, word, own)).status).toBe(403)
  expect((await watch(service.anonymous, 'start', own)).status).toBe(401)
  // They see their own only.
  expect(await listed(reader.client, `${own.path}/times`)).toEqual([`${reader.name} 5 first`])
  expect(await listed(reader.client, `${issueAt(own)}/times?user=${reader.name}`)).toHaveLength(1)
  for (const place of [`${issueAt(own)}/times?user=${writer.name}`, `${own.path}/times/${writer.name}`])
    expect((await reader.client.get(place)).status).toBe(403)
  for (const place of [`${issueAt(own)}/times?user=nobody`, `${own.path}/times/nobody`])
    expect((await owner.client.get(place)).status).toBe(404)
  const forOther = { time: 5, user_name: author.name }
  expect((await writer.client.post(`${issueAt(own)}/times`, forOther)).status).toBe(403)
  expect((await owner.client.post(`${issueAt(own)}/times`, { ...forOther, user_name: 'nobody' })).status).toBe(422)
  // Who could not be asked to work there.
  await service.context.sql`update users set visibility = 'private' where name = ${author.name}`
  expect((await owner.client.post(`${issueAt(own)}/times`, forOther)).status).toBe(422)
})

test('where times are switched off there are none', async () => {
  const own = await make()
  const id = (await add(owner.client, 5, own)).number('id')
  await setTracker(own, { isOn: false })
  expect((await add(owner.client, 5, own)).status).toBe(400)
  expect((await owner.client.delete(`${issueAt(own)}/times`)).status).toBe(400)
  expect((await owner.client.delete(`${issueAt(own)}/times/${id}`)).status).toBe(400)
  expect((await owner.client.get(`${issueAt(own)}/times`)).status).toBe(404)
  expect((await owner.client.get(`${own.path}/times`)).status).toBe(400)
  expect((await owner.client.get(`${own.path}/times/${owner.name}`)).status).toBe(400)
  for (const word of ['start', 'stop', 'delete'] as const)
    expect((await watch(owner.client, word, own)).status).toBe(403)
  await owner.client.patch(own.path, { has_issues: false })
  expect((await add(owner.client, 5, own)).status).toBe(404)
  expect((await owner.client.get(`${own.path}/times`)).status).toBe(404)
})

test('what cannot be read is refused, and nothing is booked', async () => {
  const own = await make()
  for (const time of [0, -5, 1.5, '5', null, 2 ** 31]) expect((await add(owner.client, time, own)).status).toBe(422)
  for (const json of [{}, { time: 5, created: 'x' }, { time: 5, user_name: 7 }])
    expect((await owner.client.post(`${issueAt(own)}/times`, json)).status).toBe(422)
  const broken = await owner.client.request(`${issueAt(own)}/times`, { method: 'POST', body: '{' })
  expect(broken.status).toBe(422)
  for (const list of [`${issueAt(own)}/times`, `${own.path}/times`, '/user/times'])
    for (const name of ['since', 'before']) expect((await owner.client.get(`${list}?${name}=x`)).status).toBe(422)
  expect(await listed(owner.client, `${own.path}/times`)).toEqual([])
  for (const path of [`${own.path}/issues/99`, `${own.path}/issues/x`]) {
    expect((await owner.client.get(`${path}/times`)).status).toBe(404)
    expect((await owner.client.post(`${path}/times`, { time: 5 })).status).toBe(404)
    expect((await owner.client.post(`${path}/stopwatch/start`)).status).toBe(404)
  }
  expect((await owner.client.delete(`${issueAt(own)}/times/x`)).status).toBe(404)
})

test('times of what is hidden are hidden, and an archived repository keeps them', async () => {
  const own = await make()
  await add(writer.client, 77, own)
  await owner.client.patch(own.path, { private: true })
  for (const path of [`${issueAt(own)}/times`, `${own.path}/times`, `${own.path}/times/${writer.name}`]) {
    expect((await reader.client.get(path)).status).toBe(404)
    expect((await service.anonymous.get(path)).status).toBe(401)
  }
  for (const path of ['/user/times', '/user/stopwatches']) expect((await service.anonymous.get(path)).status).toBe(401)
  expect((await add(reader.client, 5, own)).status).toBe(404)
  expect(await listed(writer.client, '/user/times')).toContain(`${writer.name} 77 first`)
  await owner.client.delete(`${own.path}/collaborators/${writer.name}`)
  expect(await listed(writer.client, '/user/times')).not.toContain(`${writer.name} 77 first`)
  await owner.client.patch(own.path, { archived: true })
  expect((await add(owner.client, 5, own)).status).toBe(423)
  expect((await owner.client.delete(`${issueAt(own)}/times`)).status).toBe(423)
  expect((await watch(owner.client, 'start', own)).status).toBe(423)
  expect(await listed(owner.client, `${own.path}/times`)).toEqual([`${writer.name} 77 first`])
})

test('work stays when its person goes, and goes with its issue', async () => {
  const own = await make()
  const leaver = await service.createUser()
  await setTracker(own, { contributorsOnly: false })
  await add(leaver.client, 5, own)
  await watch(leaver.client, 'start', own)
  await service.admin.client.delete(`/admin/users/${leaver.name}`)
  expect((await owner.client.get(`${own.path}/times`)).body).toMatchObject([
    { user_id: -1, user_name: 'Ghost', time: 5 },
  ])
  await owner.client.delete(issueAt(own))
  expect(await listed(owner.client, `${own.path}/times`)).toEqual([])
})

test('the timeline says in words what was booked, and shows it until it is deleted', async () => {
  const own = await make()
  await watch(writer.client, 'start', own)
  pass(7380)
  await watch(writer.client, 'stop', own)
  const booked = await owner.client.post(`${issueAt(own)}/times`, { time: 3600, user_name: writer.name })
  const timeline = async () => {
    const { body } = await service.anonymous.get(`${issueAt(own)}/timeline`)
    const shown = Array.isArray(body) ? body : []
    return shown.map(({ type, body, user, tracked_time: time }) => [type, body, user.login, time?.time ?? null])
  }
  expect(await timeline()).toEqual([
    ['start_tracking', '', writer.name, null],
    ['stop_tracking', '2 hours 3 minutes', writer.name, 7380],
    ['add_time_manual', '1 hour', writer.name, 3600],
  ])
  const shown = (await service.anonymous.get(`${issueAt(own)}/timeline`)).body
  const ofWriter = (await writer.client.get(`${issueAt(own)}/times`)).body
  expect(Array.isArray(shown) && Array.isArray(ofWriter) && shown[2].tracked_time.id).toBe(booked.number('id'))
  expect(Array.isArray(shown) && shown[1].tracked_time).toMatchObject({
    user_name: writer.name,
    issue: { number: 1, title: 'first', repository: { full_name: own.path.slice('/repos/'.length) } },
  })
  await writer.client.delete(`${issueAt(own)}/times/${booked.number('id')}`)
  expect((await timeline()).slice(2)).toEqual([
    ['add_time_manual', '1 hour', writer.name, null],
    ['delete_time_manual', '1 hour', writer.name, null],
  ])
})

test('what is booked changes the issue, and its ETag', async () => {
  const own = await make()
  const id = (await owner.client.get(issueAt(own))).number('id')
  for (const act of [() => add(writer.client, 60, own), () => writer.client.delete(`${issueAt(own)}/times`)]) {
    await service.context.sql`update issues set updated_at = '2020-01-01' where id = ${id}`
    await act()
    expect((await owner.client.get(issueAt(own))).string('updated_at')).not.toStartWith('2020')
  }
})

test('a new repository takes times of contributors, and the site says that it does', async () => {
  const made = await service.createRepository(owner)
  expect((await owner.client.get(made.path)).body).toMatchObject({
    internal_tracker: { enable_time_tracker: true, allow_only_contributors_to_track_time: true },
  })
  expect((await service.anonymous.get('/settings/repository')).body).toMatchObject({ time_tracking_disabled: false })
})

test('as many statements are sent for many times as for one', async () => {
  const own = await make()
  const statements = recordStatements(service.context)
  const count = async (path: string) => {
    statements.clear()
    await owner.client.get(path)
    return statements.texts().length
  }
  const lists = [`${issueAt(own)}/times`, `${own.path}/times`, `${own.path}/times/${owner.name}`, '/user/times']
  await add(owner.client, 1, own)
  const few = [await count(`${issueAt(own)}/timeline`)]
  for (const list of lists) few.push(await count(list))
  for (const index of [1, 2, 1, 2]) await add(owner.client, 1, own, index)
  const many = [await count(`${issueAt(own)}/timeline`)]
  for (const list of lists) many.push(await count(list))
  statements.stop()
  expect(many).toEqual(few)
})
