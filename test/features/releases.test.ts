import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../harness/service.ts'
import { openSink, type Sink } from '../webhooks/sink.ts'

let service: TestService
let owner: TestUser
let reader: TestUser
let repo: TestRepository
let path: string
let sink: Sink

beforeAll(async () => {
  service = await startTestService({ settings: { WEBHOOK_ALLOWED_HOSTS: 'loopback' } })
  owner = await service.createUser()
  reader = await service.createUser()
  repo = await service.createRepository(owner)
  path = `${repo.path}/releases`
  sink = await openSink()
})
afterAll(async () => {
  await service.stop()
  await sink.close()
})

const counter = async (of = repo) => (await owner.client.get(of.path)).number('release_counter')
const tags = async () => (await service.git(['ls-remote', '--tags', repo.cloneUrl])).replace(/^\S+\s+/gm, '')

test('a draft makes no tag and is seen by writers only, until it is published', async () => {
  const draft = await owner.client.post(path, { tag_name: 'v1', draft: true, tag_message: 'the first', body: 'x' })
  expect(draft.status).toBe(201)
  const at = `${path}/${draft.number('id')}`
  expect(await tags()).toBe('')
  expect(await counter()).toBe(0)
  for (const user of [reader.client, service.anonymous]) {
    expect((await user.get(at)).status).toBe(404)
    expect((await user.get(`${path}/tags/v1`)).status).toBe(404)
    expect((await user.get(path, { draft: true })).body).toEqual([])
    expect((await user.get(path)).headers.get('x-total-count')).toBe('0')
  }
  const published = await owner.client.patch(at, { draft: false, body: '' })
  expect(published.body).toMatchObject({ draft: false, body: 'x', target_commitish: 'main' })
  expect(await tags()).toBe('refs/tags/v1\nrefs/tags/v1^{}')
  expect(await counter()).toBe(1)
  expect((await service.anonymous.get(`${path}/latest`)).number('id')).toBe(draft.number('id'))
  expect((await owner.client.delete(`${repo.path}/tags/v1`)).status).toBe(409)
})

test('a release whose tag was pushed away is a draft again, and publishing it makes the tag anew', async () => {
  const made = await owner.client.post(path, { tag_name: 'gone' })
  const cwd = `${service.git.folder}/gone`
  await service.git(['clone', '-q', repo.cloneUrl, cwd])
  const before = await counter()
  await service.git(['push', '-q', 'origin', ':refs/tags/gone'], { cwd })
  const at = `${path}/${made.number('id')}`
  expect((await owner.client.get(at)).body).toMatchObject({ draft: true })
  expect((await service.anonymous.get(at)).status).toBe(404)
  expect(await counter()).toBe(before - 1)
  expect((await owner.client.patch(at, { draft: false })).status).toBe(200)
  expect(await tags()).toContain('refs/tags/gone')
  expect(await counter()).toBe(before)
})

describe('is refused', () => {
  test.each([
    ['a tag that has a release', { tag_name: 'v1' }, 409],
    ['no tag', { name: 'x' }, 422],
    ['a target that is not there', { tag_name: 'x', target_commitish: 'nowhere' }, 404],
    ['a draft of a target that is not there', { tag_name: 'x', target_commitish: 'nowhere', draft: true }, 404],
    ['a draft that is a text', { tag_name: 'x', draft: 'yes' }, 422],
    ['a long name', { tag_name: 'x', name: 'n'.repeat(256) }, 422],
    ...['a b', 'a..b', '-a', '../x', 'a\u0000'].map(
      (tag_name) => [JSON.stringify(tag_name), { tag_name }, 422] as const,
    ),
  ])('%s', async (_, option, status) => {
    const before = [await tags(), (await owner.client.get(path)).headers.get('x-total-count')]
    expect((await owner.client.post(path, option)).status).toBe(status)
    expect([await tags(), (await owner.client.get(path)).headers.get('x-total-count')]).toEqual(before)
  })

  test('who may not write, and what is not there', async () => {
    const id = (await owner.client.get(`${path}/tags/v1`)).number('id')
    expect((await reader.client.post(path, { tag_name: 'x' })).status).toBe(403)
    expect((await service.anonymous.post(path, { tag_name: 'x' })).status).toBe(401)
    expect((await reader.client.patch(`${path}/${id}`, { name: 'x' })).status).toBe(403)
    expect((await reader.client.delete(`${path}/${id}`)).status).toBe(403)
    expect((await reader.client.delete(`${path}/tags/v1`)).status).toBe(403)
    expect((await owner.client.patch(`${path}/999999`, { name: 'x' })).status).toBe(404)
    expect((await owner.client.get(`${path}/abc`)).status).toBe(404)
    const empty = await service.createRepository(owner, { auto_init: false })
    expect((await owner.client.post(`${empty.path}/releases`, { tag_name: 'v1' })).status).toBe(422)
    await owner.client.patch(repo.path, { has_releases: false })
    expect((await reader.client.get(path)).status).toBe(404)
    await owner.client.patch(repo.path, { has_releases: true })
    await owner.client.patch(repo.path, { archived: true })
    expect((await owner.client.post(path, { tag_name: 'x' })).status).toBe(423)
    await owner.client.patch(repo.path, { archived: false })
  })

  test('a protected tag', async () => {
    await owner.client.put(`${repo.path}/collaborators/${reader.name}`, { permission: 'write' })
    const rule = { name_pattern: 'p*', whitelist_usernames: [owner.name] }
    expect((await owner.client.post(`${repo.path}/tag_protections`, rule)).status).toBe(201)
    expect((await reader.client.post(path, { tag_name: 'p1' })).status).toBe(422)
    const draft = await reader.client.post(path, { tag_name: 'p1', draft: true })
    expect((await reader.client.patch(`${path}/${draft.number('id')}`, { draft: false })).status).toBe(422)
    expect((await owner.client.patch(`${path}/${draft.number('id')}`, { draft: false })).status).toBe(200)
    await owner.client.delete(`${repo.path}/collaborators/${reader.name}`)
  })
})

test('a release moves to another tag, but not to one that has a release', async () => {
  const made = await owner.client.post(path, { tag_name: 'old-name', target_commitish: 'main' })
  const at = `${path}/${made.number('id')}`
  expect((await owner.client.patch(at, { tag_name: 'v1' })).status).toBe(409)
  expect((await owner.client.patch(at, { tag_name: 'a..b' })).status).toBe(422)
  expect((await owner.client.patch(at, { tag_name: 'new-name' })).body).toMatchObject({ tag_name: 'new-name' })
  expect(await tags()).toContain('refs/tags/new-name')
})

test('of five who make a release of one tag at once, one does', async () => {
  const before = await counter()
  const made = await Promise.all(Array.from({ length: 5 }, () => owner.client.post(path, { tag_name: 'race' })))
  expect(made.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409])
  const gone = await Promise.all(
    Array.from({ length: 5 }, () =>
      owner.client.delete(`${path}/${made.find(({ status }) => status === 201)?.number('id')}`),
    ),
  )
  expect(gone.map(({ status }) => status).sort()).toEqual([204, 404, 404, 404, 404])
  expect(await counter()).toBe(before)
  expect((await owner.client.get(`${repo.path}/tags/race`)).status).toBe(200)
})

test('hooks hear of releases and not of drafts, and feeds of what is published', async () => {
  const place = await service.createRepository(owner, { name: 'told' })
  const hook = {
    type: 'gitea',
    active: true,
    events: ['release'],
    config: { url: `${sink.url}/hook`, content_type: 'json' },
  }
  expect((await owner.client.post(`${place.path}/hooks`, hook)).status).toBe(201)
  const draft = await owner.client.post(`${place.path}/releases`, { tag_name: 'v1', name: 'One', draft: true })
  const at = `${place.path}/releases/${draft.number('id')}`
  await owner.client.patch(at, { draft: false })
  await owner.client.patch(at, { name: 'One again' })
  await owner.client.patch(at, { draft: true })
  await owner.client.patch(at, { draft: false })
  await owner.client.delete(at)
  await service.drain()
  const heard = sink.received.map(({ json }) => JSON.parse(JSON.stringify(json)))
  expect(heard.map(({ action, release }) => [action, release.name])).toEqual([
    ['published', 'One'],
    ['updated', 'One again'],
    ['updated', 'One again'],
    ['deleted', 'One again'],
  ])
  expect(heard[0]).toMatchObject({
    release: { tag_name: 'v1', draft: false, assets: [], author: { login: owner.name } },
    repository: { full_name: `${owner.name}/told` },
    sender: { login: owner.name },
  })
  const feed = (await owner.client.get(`${place.path}/activities/feeds`)).body
  expect(Array.isArray(feed) && feed.filter(({ op_type }) => op_type === 'publish_release')).toMatchObject([
    { ref_name: 'v1', content: 'One' },
  ])
})

test('a release stays when its author goes, and goes with its repository', async () => {
  const author = await service.createUser()
  const place = await service.createRepository(owner)
  await owner.client.put(`${place.path}/collaborators/${author.name}`, { permission: 'write' })
  const made = await author.client.post(`${place.path}/releases`, { tag_name: 'v1' })
  expect((await service.admin.client.delete(`/admin/users/${author.name}`)).status).toBe(204)
  const at = `${place.path}/releases/${made.number('id')}`
  expect((await owner.client.get(at)).body).toMatchObject({ author: { login: 'Ghost' } })
  expect((await owner.client.delete(place.path)).status).toBe(204)
  expect(await service.context.sql`select 1 from releases where repository_id = ${place.id}`).toHaveLength(0)
})
