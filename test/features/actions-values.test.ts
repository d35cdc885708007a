import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { actionsValues } from '../../db/schema/actions-values.ts'
import { auditEntries } from '../../db/schema/audit.ts'
import { startTestService, type TestService, type TestUser } from '../harness/service.ts'

let service: TestService
let owner: TestUser
let stranger: TestUser
let writer: TestUser
beforeAll(async () => {
  service = await startTestService({ settings: { MAX_OWNED: '8' } })
  owner = await service.createUser('holder')
  stranger = await service.createUser()
  writer = await service.createUser()
  await service.createRepository(owner, { name: 'work', private: true })
  await owner.client.put(`/repos/holder/work/collaborators/${writer.name}`, { permission: 'admin' })
  await owner.client.post('/orgs', { username: 'firm' })
})
afterAll(() => service.stop())

const holders = ['/repos/holder/work/actions', '/orgs/firm/actions', '/user/actions']
const rowsOf = () => service.context.db.select().from(actionsValues)

describe.each(holders)('%s', (at) => {
  test('a secret is made, changed and deleted, and never shown', async () => {
    const value = `hidden ${crypto.randomUUID()}`
    expect((await owner.client.put(`${at}/secrets/Api_Key`, { data: value, description: 'of a shop' })).status).toBe(
      201,
    )
    expect((await owner.client.put(`${at}/secrets/API_KEY`, { data: `${value}!` })).status).toBe(204)
    if (!at.startsWith('/user')) {
      const listed = await owner.client.get(`${at}/secrets`)
      expect(listed.headers.get('x-total-count')).toBe('1')
      expect(listed.body).toEqual([
        { name: 'API_KEY', description: 'of a shop', created_at: expect.stringMatching(/^20/) },
      ])
    }
    const rows = await rowsOf()
    const sealed = rows.find(({ name }) => name === 'API_KEY')?.sealedValue ?? new Uint8Array()
    expect(service.context.secrets.open('actions secret', sealed)).toBe(`${value}!`)
    const kept = await service.context.db.select({ changes: sql<string>`changes::text` }).from(auditEntries)
    expect(JSON.stringify([rows, kept])).not.toContain(value)
    expect((await owner.client.delete(`${at}/secrets/api_key`)).status).toBe(204)
    expect((await owner.client.delete(`${at}/secrets/api_key`)).status).toBe(404)
  })

  test('a variable is made, read, listed, changed, renamed and deleted', async () => {
    const variable = `${at}/variables`
    expect((await owner.client.post(`${variable}/place`, { value: 'here', description: 'where' })).status).toBe(201)
    const made = await owner.client.get(`${variable}/Place`)
    expect(made.body).toMatchObject({ name: 'PLACE', data: 'here', description: 'where' })
    expect([made.number('owner_id') > 0, made.number('repo_id') > 0]).toEqual([
      !at.startsWith('/repos'),
      at.startsWith('/repos'),
    ])
    await owner.client.post(`${variable}/another`, { value: 'x' })
    const listed = await owner.client.get(variable, { limit: 1 })
    expect([listed.headers.get('x-total-count'), listed.string('0.name')]).toEqual(['2', 'ANOTHER'])
    expect((await owner.client.put(`${variable}/place`, { value: 'there' })).status).toBe(204)
    expect((await owner.client.put(`${variable}/place`, { name: 'spot', value: 'there' })).status).toBe(204)
    expect((await owner.client.get(`${variable}/spot`)).body).toMatchObject({ data: 'there', description: 'where' })
    expect((await owner.client.get(`${variable}/place`)).status).toBe(404)
    expect((await owner.client.put(`${variable}/spot`, { name: 'another', value: 'x' })).status).toBe(409)
    expect((await owner.client.post(`${variable}/SPOT`, { value: 'x' })).status).toBe(409)
    expect((await owner.client.put(`${variable}/none`, { value: 'x' })).status).toBe(404)
    for (const name of ['spot', 'another']) expect((await owner.client.delete(`${variable}/${name}`)).status).toBe(204)
    expect((await owner.client.delete(`${variable}/spot`)).status).toBe(404)
  })

  test('names that are none are refused with 400, bodies with 422, and nothing is written', async () => {
    const before = await rowsOf()
    const names = ['1ST', 'with-dash', 'GITHUB_TOKEN', 'gitea_x', 'ci', 'Ümlaut', 'A'.repeat(256), 'a%20b', 'a%2Fb']
    for (const name of names) {
      expect([name, (await owner.client.put(`${at}/secrets/${name}`, { data: 'x' })).status]).toEqual([name, 400])
      expect([name, (await owner.client.post(`${at}/variables/${name}`, { value: 'x' })).status]).toEqual([name, 400])
      expect([name, (await owner.client.get(`${at}/variables/${name}`)).status]).toEqual([name, 404])
    }
    for (const body of [
      {},
      { data: '' },
      { data: 1, value: 1 },
      { data: 'x'.repeat(65_537), value: 'x'.repeat(65_537) },
    ]) {
      expect((await owner.client.put(`${at}/secrets/GOOD`, body)).status).toBe(422)
      expect((await owner.client.post(`${at}/variables/GOOD`, body)).status).toBe(422)
    }
    expect(await rowsOf()).toEqual(before)
  })

  test('of many at one instant with one name one makes it', async () => {
    const twelve = Array.from({ length: 12 })
    const secrets = await Promise.all(twelve.map(() => owner.client.put(`${at}/secrets/RACE`, { data: 'x' })))
    expect(secrets.map(({ status }) => status).sort()).toEqual([201, ...twelve.slice(1).map(() => 204)])
    const variables = await Promise.all(twelve.map(() => owner.client.post(`${at}/variables/RACE`, { value: 'x' })))
    expect(variables.map(({ status }) => status).sort()).toEqual([201, ...twelve.slice(1).map(() => 409)])
    await owner.client.delete(`${at}/secrets/RACE`)
    await owner.client.delete(`${at}/variables/RACE`)
  })

  test('of many at one instant no more than MAX_OWNED are made', async () => {
    const names = Array.from({ length: 12 }, (_, number) => `MANY_${number}`)
    const made = await Promise.all(names.map((name) => owner.client.post(`${at}/variables/${name}`, { value: 'x' })))
    expect(made.filter(({ status }) => status === 201)).toHaveLength(8)
    expect(made.filter(({ status }) => status === 422)).toHaveLength(4)
    for (const name of names) await owner.client.delete(`${at}/variables/${name}`)
  })

  test('nobody else reads or writes them', async () => {
    await owner.client.post(`${at}/variables/OURS`, { value: 'x' })
    expect((await service.anonymous.get(`${at}/variables`)).status).toBe(401)
    if (at.startsWith('/user')) expect((await stranger.client.get(`${at}/variables/OURS`)).status).toBe(404)
    else {
      const hidden = at.startsWith('/repos') ? 404 : 403
      expect((await stranger.client.get(`${at}/variables`)).status).toBe(hidden)
      expect((await stranger.client.put(`${at}/secrets/OURS`, { data: 'x' })).status).toBe(hidden)
      // Who administers a repository for its owner does not read what its jobs are given.
      expect((await writer.client.get(`${at}/variables/OURS`)).status).toBe(403)
      expect((await writer.client.delete(`${at}/variables/OURS`)).status).toBe(403)
    }
    expect((await owner.client.delete(`${at}/variables/OURS`)).status).toBe(204)
  })
})

test('one holder does not find the value of another under its name', async () => {
  for (const at of holders) await owner.client.post(`${at}/variables/SAME`, { value: at })
  for (const at of holders) expect((await owner.client.get(`${at}/variables/SAME`)).string('data')).toBe(at)
  await owner.client.delete('/user/actions/variables/SAME')
  expect((await owner.client.get('/orgs/firm/actions/variables/SAME')).status).toBe(200)
})

test('an archived repository still lets its owner take its secrets away', async () => {
  await service.createRepository(owner, { name: 'old' })
  await owner.client.put('/repos/holder/old/actions/secrets/KEY', { data: 'x' })
  await owner.client.patch('/repos/holder/old', { archived: true })
  expect((await owner.client.delete('/repos/holder/old/actions/secrets/KEY')).status).toBe(204)
})

test('the values go with their repository', async () => {
  const repository = await service.createRepository(owner, { name: 'gone' })
  await owner.client.put('/repos/holder/gone/actions/secrets/KEY', { data: 'x' })
  await owner.client.delete('/repos/holder/gone')
  const rows = await rowsOf()
  expect(rows.some(({ repositoryId }) => repositoryId === repository.id)).toBe(false)
})
