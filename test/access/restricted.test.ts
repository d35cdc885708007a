import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startTestService, type TestService, type TestUser } from '../harness/service.ts'

let service: TestService
let guest: TestUser
let colleague: TestUser

beforeAll(async () => {
  service = await startTestService()
  const edit = (name: string, change: object) =>
    service.admin.client.patch(`/admin/users/${name}`, { source_id: 0, login_name: name, ...change })
  guest = await service.createUser('guest')
  colleague = await service.createUser('colleague')
  const open = await service.createUser('open')
  const limited = await service.createUser('limited')
  await service.createUser('secret')
  for (const owner of [open, limited]) await service.createRepository(owner, { name: 'public' })
  await service.createRepository(open, { name: 'private', private: true })
  await open.client.post('/orgs', { username: 'firm', visibility: 'limited' })
  await open.client.post('/orgs/firm/repos', { name: 'within', auto_init: true })
  const units = { name: 'crew', units: ['repo.issues'] }
  const team = (await open.client.post('/orgs/firm/teams', units)).number('id')
  for (const { name } of [guest, colleague]) await open.client.put(`/teams/${team}/members/${name}`)
  await edit('guest', { restricted: true })
  await edit('limited', { visibility: 'limited' })
  for (const name of ['secret', 'colleague']) await edit(name, { visibility: 'private' })
})
afterAll(() => service.stop())

test('a restricted account reads public repositories of public owners, and what it was given', async () => {
  const status = async (path: string) => (await guest.client.get(`/repos/${path}`)).status
  expect(await status('open/public')).toBe(200)
  expect(await status('open/public/contents/README.md')).toBe(200)
  expect(await status('limited/public')).toBe(404)
  expect(await status('open/private')).toBe(404)
  // Whoever belongs to an organization reads what is not private there.
  expect(await status('firm/within')).toBe(200)
  const found = await guest.client.get('/repos/search', { sort: 'id' })
  expect(found.body).toMatchObject({ data: [{ full_name: 'open/public' }, { full_name: 'firm/within' }] })
  expect(found.headers.get('x-total-count')).toBe('2')
})

test('it finds only itself and whom it shares a team with', async () => {
  const found = await guest.client.get('/users/search')
  expect(found.body).toMatchObject({ data: [{ login: 'colleague' }, { login: 'guest' }] })
  expect(found.headers.get('x-total-count')).toBe('2')
  expect((await guest.client.get('/users/search', { q: 'open' })).body).toMatchObject({ data: [] })
  // A name in a path is no search.
  const status = async (name: string) => (await guest.client.get(`/users/${name}`)).status
  expect([await status('open'), await status('limited'), await status('secret')]).toEqual([200, 404, 404])
})

test('who shares a team with a person who hides knows of them', async () => {
  expect((await guest.client.get('/users/colleague')).status).toBe(200)
  const outsider = await service.createUser()
  expect((await outsider.client.get('/users/colleague')).status).toBe(404)
  expect((await service.anonymous.get('/users/colleague')).status).toBe(404)
})
