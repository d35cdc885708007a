import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startTestService, type TestService } from '../harness/service.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.stop())

test('the heatmap of a user who did nothing is empty, and nobody else has one', async () => {
  const ann = await service.createUser()
  for (const client of [ann.client, service.anonymous]) {
    const { status, body } = await client.get(`/users/${ann.name}/heatmap`)
    expect([status, body]).toEqual([200, []])
  }
  expect((await ann.client.get('/users/nobody/heatmap')).status).toBe(404)
})

test('it counts what the reader may see, down to the unit', async () => {
  const ann = await service.createUser()
  const reader = await service.createUser()
  await ann.client.post('/orgs', { username: 'warm' })
  await ann.client.post('/orgs/warm/repos', { name: 'r', private: true, auto_init: true })
  await ann.client.post('/repos/warm/r/issues', { title: 'hush' })
  const team = await ann.client.post('/orgs/warm/teams', { name: 'coders', units_map: { 'repo.code': 'read' } })
  await ann.client.put(`/teams/${team.number('id')}/members/${reader.name}`)
  await ann.client.put(`/teams/${team.number('id')}/repos/warm/r`)
  await service.drain()
  const sum = async ({ client }: { client: typeof service.anonymous }) => {
    const { body } = await client.get(`/users/${ann.name}/heatmap`)
    return Array.isArray(body) ? body.reduce((all, { contributions }) => all + contributions, 0) : body
  }
  expect([await sum(ann), await sum(reader), await sum({ client: service.anonymous })]).toEqual([2, 1, 0])
})
