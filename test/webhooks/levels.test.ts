import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startTestService, type TestService, type TestUser } from '../harness/service.ts'
import { openSink, type Sink } from './sink.ts'

/** Deliveries are shown and repeated alike on each level that a hook may stand on. */
let service: TestService
let owner: TestUser
let sink: Sink
beforeAll(async () => {
  service = await startTestService({ settings: { WEBHOOK_ALLOWED_HOSTS: 'loopback' } })
  owner = await service.createUser('owner')
  sink = await openSink()
  await service.createRepository(owner, { name: 'own' })
  expect((await owner.client.post('/orgs', { username: 'club' })).status).toBe(201)
  expect((await owner.client.post('/orgs/club/repos', { name: 'shared', auto_init: true })).status).toBe(201)
  await service.drain()
})
afterAll(async () => {
  await service.stop()
  await sink.close()
})

test.each([
  ['/repos/owner/own/hooks', '/repos/owner/own', 'repository'],
  ['/orgs/club/hooks', '/repos/club/shared', 'organization'],
  ['/user/hooks', '/repos/owner/own', 'user'],
  ['/admin/hooks', '/repos/owner/own', 'system'],
])('what a hook below %s was sent is listed, shown, repeated and tested', async (path, about, target) => {
  const { client } = path.startsWith('/admin') ? service.admin : owner
  const config = { url: `${sink.url}/hook`, content_type: 'json', is_system_webhook: 'true' }
  const made = await client.post(path, { type: 'gitea', active: true, events: ['issues_only'], config })
  const hook = `${path}/${made.number('id')}`
  sink.received.length = 0
  expect((await owner.client.post(`${about}/issues`, { title: 'Told' })).status).toBe(201)
  await service.drain()
  const [first] = sink.received
  expect(sink.received.length).toBe(1)
  expect(first?.headers).toMatchObject({
    'x-gitea-event': 'issues',
    'x-gitea-hook-installation-target-type': target,
  })
  const listed = await client.get(`${hook}/deliveries`, { status: 'delivered' })
  const uuid = listed.string('0.uuid')
  expect([listed.headers.get('x-total-count'), uuid]).toEqual(['1', String(first?.headers['x-gitea-delivery'])])
  expect((await client.get(`${hook}/deliveries`, { status: 'failed' })).body).toEqual([])
  expect((await client.get(`${hook}/deliveries/${uuid}`)).body).toMatchObject({
    uuid,
    request: { body: first?.body },
    response: { status: 200, body: 'ok' },
  })
  const again = await client.post(`${hook}/deliveries/${uuid}/redeliver`)
  expect(again.status).toBe(202)
  await service.drain()
  expect(sink.received.length).toBe(2)
  expect(sink.received[1]?.body).toBe(first?.body ?? '')
  expect(sink.received[1]?.headers['x-gitea-delivery']).toBe(again.string('uuid'))
  expect((await client.post(`${hook}/tests`)).status).toBe(204)
  await service.drain()
  expect(sink.received[2]?.headers).toMatchObject({ 'x-gitea-event': 'push' })
  expect((await client.delete(hook)).status).toBe(204)
})
