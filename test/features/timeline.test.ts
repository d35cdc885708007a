import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../harness/service.ts'
import { recordStatements } from '../harness/statements.ts'

let service: TestService
let owner: TestUser
let reader: TestUser
let repo: TestRepository
beforeAll(async () => {
  service = await startTestService()
  owner = await service.createUser()
  reader = await service.createUser()
  repo = await service.createRepository(owner)
})
afterAll(() => service.stop())

async function makeIssue(at = repo): Promise<string> {
  const made = await owner.client.post(`${at.path}/issues`, { title: 'x' })
  return `${at.path}/issues/${made.number('number')}`
}

const typesOf = (body: unknown) => (Array.isArray(body) ? body.map(({ type }) => type) : body)

test('the timeline of an issue has what was written and what happened, the oldest first', async () => {
  const issue = await makeIssue()
  expect((await service.anonymous.get(`${issue}/timeline`)).body).toEqual([])
  const comment = await reader.client.post(`${issue}/comments`, { body: 'seen' })
  await owner.client.patch(issue, { state: 'closed' })
  await owner.client.patch(issue, { state: 'open' })
  const label = await owner.client.post(`${repo.path}/labels`, { name: 'bug', color: '#ff0000' })
  await owner.client.post(`${issue}/labels`, { labels: [label.number('id')] })
  await owner.client.delete(`${issue}/labels/${label.number('id')}`)
  const { body, headers } = await service.anonymous.get(`${issue}/timeline`)
  expect(headers.get('x-total-count')).toBe('5')
  const empty = {
    ...{ old_project_id: 0, project_id: 0, old_milestone: null, milestone: null, tracked_time: null },
    ...{ old_title: '', new_title: '', old_ref: '', new_ref: '', ref_issue: null, ref_comment: null },
    ...{ ref_action: 'none', ref_commit_sha: '', review_id: 0, assignee: null, assignee_team: null },
    ...{ removed_assignee: false, resolve_doer: null, dependent_issue: null },
  }
  const [written, closed, opened, came, went] = Array.isArray(body) ? body : []
  expect(written).toEqual({
    ...empty,
    label: null,
    type: 'comment',
    body: 'seen',
    id: comment.number('id'),
    user: expect.objectContaining({ login: reader.name }),
    html_url: comment.string('html_url'),
    issue_url: comment.string('issue_url'),
    pull_request_url: '',
    created_at: comment.string('created_at'),
    updated_at: comment.string('updated_at'),
  })
  for (const [entry, type] of [
    [closed, 'close'],
    [opened, 'reopen'],
  ] as const)
    expect(entry).toMatchObject({ ...empty, label: null, type, body: '', user: { login: owner.name } })
  expect([came, went]).toMatchObject([
    { ...empty, type: 'label', body: '1', label: label.body },
    { ...empty, type: 'label', body: '', label: label.body },
  ])
  // What happened is no comment.
  const place = `${repo.path}/issues/comments/${closed.id}`
  expect((await service.anonymous.get(place)).status).toBe(204)
  expect((await owner.client.patch(place, { body: 'x' })).status).toBe(204)
  expect((await owner.client.delete(place)).status).toBe(400)
  expect((await reader.client.patch(place, { body: 'x' })).status).toBe(403)
  expect((await reader.client.delete(place)).status).toBe(403)
  for (const part of ['assets', 'reactions']) expect((await owner.client.get(`${place}/${part}`)).status).toBe(404)
  expect((await service.anonymous.get(`${issue}/timeline`)).body).toEqual(body)
})

test('the timeline comes in pages, and between two times of change', async () => {
  const issue = await makeIssue()
  for (const body of ['a', 'b', 'c', 'd']) await owner.client.post(`${issue}/comments`, { body })
  await owner.client.patch(issue, { state: 'closed' })
  const { id } = (await service.context.sql`select max(issue_id) as id from comments`)[0] ?? {}
  await service.context
    .sql`update comments set updated_at = updated_at - interval '1 day' where issue_id = ${id} and body in ('a', 'b')`
  const list = async (query: Record<string, string | number>) => {
    const { status, body, headers } = await reader.client.get(`${issue}/timeline`, query)
    const shown = Array.isArray(body) ? body.map((entry) => entry.body || entry.type) : body
    return [status, headers.get('x-total-count'), shown]
  }
  expect(await list({})).toEqual([200, '5', ['a', 'b', 'c', 'd', 'close']])
  expect(await list({ limit: 2, page: 2 })).toEqual([200, '5', ['c', 'd']])
  expect(await list({ limit: 2, page: 4 })).toEqual([200, '5', []])
  const noon = new Date(Date.now() - 12 * 3_600_000).toISOString()
  expect(await list({ since: noon })).toEqual([200, '3', ['c', 'd', 'close']])
  expect(await list({ before: noon })).toEqual([200, '2', ['a', 'b']])
  for (const name of ['since', 'before']) expect((await list({ [name]: 'soon' }))[0]).toBe(422)
})

test('the timeline is read by those who may read the issue, and has a tag that changes with it', async () => {
  const at = await service.createRepository(owner)
  const path = `${await makeIssue(at)}/timeline`
  const statuses = () =>
    Promise.all([owner.client, reader.client, service.anonymous].map(async (one) => (await one.get(path)).status))
  expect(await statuses()).toEqual([200, 200, 200])
  expect((await owner.client.get(path.replace(/\d+\/timeline/, '99/timeline'))).status).toBe(404)
  expect((await owner.client.get(path.replace(/\d+\/timeline/, 'x/timeline'))).status).toBe(404)
  const tag = (await owner.client.get(path)).headers.get('etag') ?? ''
  const known = () => owner.client.request(path, { headers: { 'if-none-match': tag } })
  expect((await known()).status).toBe(304)
  await owner.client.patch(path.replace('/timeline', ''), { state: 'closed' })
  expect(typesOf((await known()).body)).toEqual(['close'])
  await owner.client.patch(at.path, { private: true })
  expect(await statuses()).toEqual([200, 404, 404])
  await owner.client.patch(at.path, { private: false, has_issues: false })
  expect(await statuses()).toEqual([404, 404, 404])
  await service.context.sql`update issues set is_pull = true where repository_id = ${at.id}`
  expect(await statuses()).toEqual([200, 200, 200])
})

test('a long timeline costs as many statements as a short one, and its author may be gone', async () => {
  const issue = await makeIssue()
  const leaving = await service.createUser()
  await leaving.client.post(`${issue}/comments`, { body: 'farewell' })
  const statements = recordStatements(service.context)
  const count = async () => {
    statements.clear()
    await service.anonymous.get(`${issue}/timeline`)
    return statements.texts().length
  }
  const few = await count()
  for (const user of [owner, reader, owner, reader]) await user.client.post(`${issue}/comments`, { body: 'x' })
  expect(await count()).toBe(few)
  statements.stop()
  await service.admin.client.delete(`/admin/users/${leaving.name}`)
  expect((await service.anonymous.get(`${issue}/timeline`)).body).toMatchObject([
    { user: { id: -1, login: 'Ghost' } },
    {},
    {},
    {},
    {},
  ])
})

test('a list between two times has what changed within the last second, as clients know it', async () => {
  const at = await service.createRepository(owner)
  const issue = await makeIssue(at)
  const comment = await reader.client.post(`${issue}/comments`, { body: 'x' })
  await service.context.sql`update comments set updated_at = date_trunc('second', updated_at) + interval '0.9 s'
    where id = ${comment.number('id')}`
  await service.context.sql`update issues set updated_at = date_trunc('second', updated_at) + interval '0.9 s'
    where repository_id = ${at.id}`
  const touched = (await owner.client.get(issue)).string('updated_at')
  for (const [list, time] of [
    [`${issue}/timeline`, comment.string('updated_at')],
    [`${issue}/comments`, comment.string('updated_at')],
    [`${at.path}/issues/comments`, comment.string('updated_at')],
    [`${at.path}/issues`, touched],
  ] as const) {
    const count = async (query: Record<string, string>) => {
      const { body } = await owner.client.get(list, query)
      return Array.isArray(body) ? body.length : -1
    }
    const beside = (seconds: number) => new Date(Date.parse(time) + seconds * 1000).toISOString()
    expect([list, await count({ since: time, before: time })]).toEqual([list, 1])
    expect([list, await count({ before: beside(-1) }), await count({ since: beside(1) })]).toEqual([list, 0, 0])
  }
})

test('the timeline tells of titles, milestones and assignees, also of a new issue', async () => {
  const at = await service.createRepository(owner)
  await owner.client.put(`${at.path}/collaborators/${reader.name}`, { permission: 'write' })
  const milestone = await owner.client.post(`${at.path}/milestones`, { title: 'v1' })
  const second = await owner.client.post(`${at.path}/milestones`, { title: 'v2' })
  const [one, two] = [milestone.number('id'), second.number('id')]
  await owner.client.post(`${at.path}/issues`, { title: 'x', milestone: one, assignees: [reader.name] })
  const issue = `${at.path}/issues/1`
  await owner.client.patch(issue, { title: 'y', milestone: two, assignees: [owner.name], state: 'closed' })
  // What stays as it is does not count.
  await owner.client.patch(issue, { title: 'y', milestone: two, assignees: [owner.name] })
  await owner.client.patch(issue, { milestone: 0 })
  const timeline = async () => {
    const { body } = await service.anonymous.get(`${issue}/timeline`)
    const shown = Array.isArray(body) ? body : []
    return shown.map((entry) => [
      ...[entry.type, entry.old_title, entry.new_title, entry.old_milestone?.title, entry.milestone?.title],
      ...[entry.assignee?.login, entry.removed_assignee],
    ])
  }
  const none = undefined
  const told = (v1: string | undefined, leaver: string | undefined) => [
    ['milestone', '', '', none, v1, none, false],
    ['assignees', '', '', none, none, leaver, false],
    ['change_title', 'x', 'y', none, none, none, false],
    ['milestone', '', '', v1, 'v2', none, false],
    ['assignees', '', '', none, none, leaver, true],
    ['assignees', '', '', none, none, owner.name, false],
    ['close', '', '', none, none, none, false],
    ['milestone', '', '', 'v2', none, none, false],
  ]
  expect(await timeline()).toEqual(told('v1', reader.name))
  await owner.client.delete(`${at.path}/milestones/${one}`)
  expect(await timeline()).toEqual(told(none, reader.name))
})

test('dependencies are told with the issue, as far as the reader may see it', async () => {
  const [at, secret] = [await service.createRepository(owner), await service.createRepository(owner, { private: true })]
  const [issue, open, hidden] = [await makeIssue(at), await makeIssue(at), await makeIssue(secret)]
  await owner.client.patch(hidden, { title: 'hidden word' })
  for (const [repository, index] of [
    [at, 2],
    [secret, 1],
  ] as const)
    await owner.client.post(`${issue}/dependencies`, { owner: owner.name, repo: repository.name, index })
  const timeline = async (client = owner.client) => {
    const { body, text, headers } = await client.get(`${issue}/timeline`)
    const shown = Array.isArray(body)
      ? body.map(({ type, dependent_issue: other }) => [type, other?.repository?.name])
      : []
    return { shown, text, total: headers.get('x-total-count'), etag: headers.get('etag') }
  }
  const all = [at, secret].map(({ name }) => ['add_dependency', name])
  expect(await timeline()).toMatchObject({ shown: all, total: '2' })
  const seen = await timeline(reader.client)
  expect(seen).toMatchObject({ shown: all.slice(0, 1), total: '1' })
  expect(seen.text).not.toContain('hidden word')
  expect(await timeline(service.anonymous)).toMatchObject({ shown: all.slice(0, 1), total: '1' })
  await owner.client.patch(open, { title: 'renamed' })
  expect((await timeline(reader.client)).etag).not.toBe(seen.etag)
  await owner.client.delete(open)
  expect(await timeline(reader.client)).toMatchObject({ shown: [['add_dependency', undefined]], total: '1' })
})
