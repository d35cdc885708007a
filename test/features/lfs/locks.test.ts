import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startTestService, type TestService, type TestUser } from '../../harness/service.ts'
import { lfsOf } from './stage.ts'

let service: TestService
let owner: TestUser
let writer: TestUser
let reader: TestUser
beforeAll(async () => {
  service = await startTestService({ settings: { MAX_OWNED: '5' } })
  owner = await service.createUser('owner')
  writer = await service.createUser('writer')
  reader = await service.createUser('reader')
})
afterAll(() => service.stop())

let counter = 0
/** A private repository of its own for each test. */
async function place() {
  const name = `place${++counter}`
  const { path } = await service.createRepository(owner, { name, private: true })
  await owner.client.put(`${path}/collaborators/writer`, { permission: 'write' })
  await owner.client.put(`${path}/collaborators/reader`, { permission: 'read' })
  const as = (user?: TestUser) => lfsOf(service, `owner/${name}`, user)
  return { path, as, owner: as(owner), writer: as(writer), reader: as(reader), visitor: as() }
}

const idIn = (answer: { text: string }): string => /"id":"(\d+)"/.exec(answer.text)?.[1] ?? ''

test('a lock is made once, told of, and given back', async () => {
  const at = await place()
  const made = await at.writer.post('/locks', { path: 'art/a b.psd', ref: { name: 'refs/heads/main' } })
  expect(made.status).toBe(201)
  const lock = { id: idIn(made), path: 'art/a b.psd', owner: { name: 'writer' } }
  expect(made.body).toMatchObject({ lock: { ...lock, locked_at: expect.stringMatching(/^\d{4}-.*Z$/) } })
  for (const other of [at.owner, at.writer]) {
    const refused = await other.post('/locks', { path: 'art/a b.psd' })
    expect(refused).toMatchObject({ status: 409, body: { lock } })
  }
  expect((await at.reader.send('/locks')).body).toMatchObject({ locks: [lock] })
  expect((await at.writer.post('/locks/verify', {})).body).toMatchObject({ ours: [lock], theirs: [] })
  expect((await at.owner.post('/locks/verify', {})).body).toMatchObject({ ours: [], theirs: [lock] })
  expect((await at.owner.post(`/locks/${lock.id}/unlock`, {})).status).toBe(403)
  expect(await at.writer.post(`/locks/${lock.id}/unlock`, { force: false })).toMatchObject({
    status: 200,
    body: { lock },
  })
  expect((await at.writer.post(`/locks/${lock.id}/unlock`, {})).status).toBe(404)
  expect((await at.reader.send('/locks')).body).toEqual({ locks: [] })
})

test('a writer takes the lock of somebody else away by force, a reader does not', async () => {
  const at = await place()
  const id = idIn(await at.owner.post('/locks', { path: 'a' }))
  expect((await at.reader.post(`/locks/${id}/unlock`, { force: true })).status).toBe(403)
  expect((await at.writer.post(`/locks/${id}/unlock`, { force: true })).status).toBe(200)
})

test('of two who lock a file at the same time one has it', async () => {
  const at = await place()
  const answers = await Promise.all(
    [at.owner, at.writer, at.owner, at.writer].map((who) => who.post('/locks', { path: 'x' })),
  )
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409])
})

test('locks are listed by path and id, a page at a time', async () => {
  const at = await place()
  for (const path of ['a', 'b', 'c']) await at.writer.post('/locks', { path })
  const paths = ({ text }: { text: string }) => [...text.matchAll(/"path":"(\w)"/g)].map(([, path]) => path)
  const first = await at.reader.send('/locks?limit=2')
  expect(paths(first)).toEqual(['a', 'b'])
  const second = await at.reader.send(`/locks?limit=2&cursor=${first.body.next_cursor}`)
  expect([paths(second), second.body.next_cursor]).toEqual([['c'], undefined])
  const page = await at.owner.post('/locks/verify', { limit: 1, cursor: first.body.next_cursor })
  expect(paths(page)).toEqual(['c'])
  expect(paths(await at.reader.send('/locks?path=b'))).toEqual(['b'])
  expect(paths(await at.reader.send(`/locks?id=${idIn(second)}`))).toEqual(['c'])
  for (const query of ['path=none', 'id=0', 'id=x', 'path=%00', 'id=99999999999999999999'])
    expect((await at.reader.send(`/locks?${query}`)).body).toEqual({ locks: [] })
  for (const query of ['cursor=x', 'limit=-1', 'limit=x', 'cursor=-1'])
    expect((await at.reader.send(`/locks?${query}`)).status).toBe(400)
})

test('who may not: visitors, readers, strangers, and whoever asks by the number of a lock elsewhere', async () => {
  const [at, other] = [await place(), await place()]
  const id = idIn(await at.owner.post('/locks', { path: 'a' }))
  const stranger = await service.createUser()
  for (const send of [
    () => at.visitor.post('/locks', { path: 'b' }),
    () => at.visitor.send('/locks'),
    () => at.visitor.post(`/locks/${id}/unlock`, {}),
  ])
    expect((await send()).status).toBe(401)
  expect((await at.reader.post('/locks', { path: 'b' })).status).toBe(403)
  expect((await at.reader.post('/locks/verify', {})).status).toBe(403)
  expect((await at.as(stranger).send('/locks')).status).toBe(404)
  expect((await at.as(stranger).post('/locks', { path: 'b' })).status).toBe(404)
  // CVE-2026-20897.
  expect((await other.owner.post(`/locks/${id}/unlock`, { force: true })).status).toBe(404)
  expect((await other.owner.send(`/locks?id=${id}`)).body).toEqual({ locks: [] })
  const open = await service.createRepository(owner, { name: 'public-place' })
  expect((await lfsOf(service, 'owner/public-place').send('/locks')).status).toBe(401)
  await owner.client.delete(open.path)
  await owner.client.patch(at.path, { archived: true })
  expect((await at.owner.post(`/locks/${id}/unlock`, {})).status).toBe(403)
})

test.each([
  '',
  '/a',
  'a//b',
  '../a',
  'a/../b',
  '.git/config',
  'a\0b',
  '\ud800',
  'x'.repeat(300),
  `${'x/'.repeat(600)}x`,
])('the path %j is none', async (path) => {
  const at = await place()
  expect((await at.owner.post('/locks', { path })).status).toBe(422)
  expect((await at.owner.send('/locks')).body).toEqual({ locks: [] })
})

test.each<[string, unknown]>([
  ['nothing', {}],
  ['a number', { path: 1 }],
  ['a list', []],
])('a body with %s is refused', async (_, body) => {
  const at = await place()
  expect((await at.owner.post('/locks', body)).status).toBe(422)
})

test.each(['x', '0', '-1', '1%2f..', '99999999999999999999'])('there is no lock %j', async (id) => {
  const at = await place()
  expect((await at.owner.post(`/locks/${id}/unlock`, { force: true })).status).toBe(404)
})

test('a repository has so many locks at most, also where they are made at the same time', async () => {
  const at = await place()
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, index) => at.owner.post('/locks', { path: `file${index}` })),
  )
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(5)
  expect(answers.filter(({ status }) => status === 422)).toHaveLength(3)
})

test('locks go with their owner and with the repository', async () => {
  const at = await place()
  const gone = await service.createUser('gone')
  await owner.client.put(`${at.path}/collaborators/gone`, { permission: 'write' })
  await at.as(gone).post('/locks', { path: 'a' })
  expect((await service.admin.client.delete('/admin/users/gone?purge=true')).status).toBe(204)
  expect((await at.reader.send('/locks')).body).toEqual({ locks: [] })
  await at.owner.post('/locks', { path: 'a' })
  expect((await owner.client.delete(at.path)).status).toBe(204)
})
