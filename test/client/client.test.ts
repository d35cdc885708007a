import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createClient } from '../../src/client.ts'
import { startTestService, type TestService } from '../harness/service.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.stop())

test('a client with a token is its user, one without is a visitor', async () => {
  const { data } = await createClient(service.url, { token: service.admin.token }).api.v1.user.get()
  expect(data?.login).toBe(service.admin.name)
  const { status, error } = await createClient(`${service.url}/`).api.v1.user.get()
  expect(status).toBe(401)
  expect(error?.value).toMatchObject({ message: 'token is required' })
})

test('a body is sent as JSON, and times stay texts', async () => {
  const { api } = createClient(service.url, { token: service.admin.token })
  const made = await api.v1.admin.users.post({
    ...{ username: 'ann', email: 'ann@localhost.localdomain' },
    ...{ password: 'correct horse battery', must_change_password: false },
  })
  expect(made.status).toBe(201)
  expect(made.data?.created).toMatch(/^\d{4}-\d\d-\d\dT[\d:]{8}Z$/)
  const found = await api.v1.users({ username: 'ann' }).get()
  expect(found.data?.login).toBe('ann')
})

test('a service below a path is reached there', async () => {
  const asked: string[] = []
  const fetcher = Object.assign(
    async (input: RequestInfo | URL, init?: RequestInit) => {
      asked.push(String(input))
      return fetch(String(input).replace('/forge', ''), init)
    },
    { preconnect: fetch.preconnect },
  )
  const { data } = await createClient(`${service.url}/forge/`, { fetcher }).api.v1.version.get()
  expect(asked).toEqual([`${service.url}/forge/api/v1/version`])
  expect(data?.version).toContain('hearth')
})
