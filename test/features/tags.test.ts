import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../harness/service.ts'

let service: TestService
let owner: TestUser
let reader: TestUser
let repo: TestRepository
let path: string
let head: string

beforeAll(async () => {
  service = await startTestService({ settings: { MAX_REFS: '16' } })
  owner = await service.createUser()
  reader = await service.createUser()
  repo = await service.createRepository(owner)
  path = `${repo.path}/tags`
  head = (await owner.client.get(`${repo.path}/branches/main`)).string('commit.id')
})
afterAll(() => service.stop())

const names = (body: unknown) => (Array.isArray(body) ? body.map(({ name }) => name) : body)

test('a light tag shows its commit, also in a clone', async () => {
  const made = await owner.client.post(path, { tag_name: 'v1' })
  expect(made.status).toBe(201)
  expect(made.body).toMatchObject({ name: 'v1', id: head, commit: { sha: head }, message: 'Initial commit' })
  expect(await service.git(['ls-remote', '--tags', repo.cloneUrl])).toBe(`${head}\trefs/tags/v1`)
  expect((await service.anonymous.get(`${path}/v1`)).body).toEqual(made.body)
})

test('a tag with a message is an object of Git, made by the caller', async () => {
  const made = await owner.client.post(path, { tag_name: 'rel/2', message: 'the second\n\nmore', target: 'v1' })
  expect(made.status).toBe(201)
  expect(made.body).toMatchObject({ message: 'the second\n\nmore', commit: { sha: head } })
  const id = made.string('id')
  expect(id).not.toBe(head)
  expect(made.string('commit.url')).toEndWith(`/git/commits/${head}`)
  const object = await service.anonymous.get(`${repo.path}/git/tags/${id}`)
  expect(object.body).toMatchObject({ tag: 'rel/2', object: { sha: head }, tagger: { name: owner.name } })
  expect((await service.anonymous.get(`${path}/rel%2F2`)).string('id')).toBe(id)
  const listed = await service.anonymous.get(path, { limit: 1 })
  expect(names(listed.body)).toEqual(['rel/2'])
  expect(listed.headers.get('x-total-count')).toBe('2')
})

test('a tag of a tag shows the commit behind both', async () => {
  const cwd = `${service.git.folder}/nested`
  await service.git(['clone', '-q', repo.cloneUrl, cwd])
  await service.git(['tag', '-am', 'inner', 'inner'], { cwd })
  await service.git(['tag', '-am', 'outer', 'outer', 'inner'], { cwd })
  await service.git(['push', '-q', 'origin', 'outer'], { cwd })
  expect((await service.anonymous.get(`${path}/outer`)).body).toMatchObject({ message: 'outer', commit: { sha: head } })
  expect((await owner.client.delete(`${path}/outer`)).status).toBe(204)
})

describe('is refused', () => {
  test.each([
    ['a name in use', { tag_name: 'v1' }, 409],
    ['a name above one in use', { tag_name: 'rel' }, 409],
    ['a target that is not there', { tag_name: 'x', target: 'nowhere' }, 404],
    ['a target that is an option', { tag_name: 'x', target: '--all' }, 404],
    ['no name', { message: 'x' }, 422],
    ['a number for a name', { tag_name: 5 }, 422],
    ...['a b', 'a..b', '-a', 'refs/tags/a', 'HEAD', 'a.lock', 'a\u0000b', 'a~1', 'x'.repeat(256)].map(
      (name) => [`the name ${JSON.stringify(name.slice(0, 20))}`, { tag_name: name }, 422] as const,
    ),
  ])('%s', async (_, option, status) => {
    const before = await service.git(['ls-remote', repo.cloneUrl])
    expect((await owner.client.post(path, option)).status).toBe(status)
    expect(await service.git(['ls-remote', repo.cloneUrl])).toBe(before)
  })

  test('who may not write', async () => {
    expect((await reader.client.post(path, { tag_name: 'x' })).status).toBe(403)
    expect((await service.anonymous.post(path, { tag_name: 'x' })).status).toBe(401)
    expect((await reader.client.delete(`${path}/v1`)).status).toBe(403)
    expect((await service.anonymous.delete(`${path}/v1`)).status).toBe(401)
  })

  test('what is not there', async () => {
    expect((await owner.client.get(`${path}/none`)).status).toBe(404)
    expect((await owner.client.get(`${path}/..%2F..%2Fx`)).status).toBe(404)
    expect((await owner.client.delete(`${path}/none`)).status).toBe(404)
    const empty = await service.createRepository(owner, { auto_init: false })
    expect((await owner.client.post(`${empty.path}/tags`, { tag_name: 'v1' })).status).toBe(404)
    expect((await owner.client.get(`${empty.path}/tags`)).body).toEqual([])
  })
})

test('of ten who make one tag at once, one does; of ten who delete it, one does', async () => {
  const ten = Array.from({ length: 10 })
  const made = await Promise.all(ten.map(() => owner.client.post(path, { tag_name: 'race' })))
  expect(made.map(({ status }) => status).sort()).toEqual([201, ...Array.from({ length: 9 }, () => 409)])
  const gone = await Promise.all(ten.map(() => owner.client.delete(`${path}/race`)))
  expect(gone.filter(({ status }) => status === 204)).toHaveLength(1)
  expect(gone.every(({ status }) => [204, 404, 409].includes(status))).toBe(true)
  expect((await owner.client.get(`${path}/race`)).status).toBe(404)
})

test('no more than MAX_REFS', async () => {
  const made = await Promise.all(
    Array.from({ length: 13 }, (_, index) => owner.client.post(path, { tag_name: `many-${index}` })),
  )
  expect(made.map(({ status }) => status)).toEqual(made.map(() => 201))
  expect((await owner.client.post(path, { tag_name: 'one-more' })).status).toBe(422)
})
