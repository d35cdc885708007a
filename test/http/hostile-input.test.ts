import { afterAll, beforeAll, expect, test } from 'bun:test'
import { cpuMs } from '../harness/cpu.ts'
import { startTestService, type TestRepository, type TestService } from '../harness/service.ts'

let service: TestService
let repository: TestRepository
beforeAll(async () => {
  service = await startTestService()
  repository = await service.createRepository(service.admin)
})
afterAll(() => service.stop())

test.each([
  '/users/%00',
  '/users/%FF',
  '/users/%ZZ',
  '/orgs/a%00b',
  '/repos/%00/x',
  '/repos/root-admin/%C3',
  '/repos/OWN/branches/%00',
  '/repos/OWN/contents/a%00b',
  '/repos/OWN/raw/%FF',
  '/repos/OWN/milestones/%00',
])('%j names nothing', async (path) => {
  expect((await service.admin.client.get(path.replace('/repos/OWN', repository.path))).status).toBe(404)
})

test('NUL in a query is a character like others, which nothing has', async () => {
  const { client } = service.admin
  const found = await client.get('/users/search?q=%00')
  expect(found.body).toEqual({ data: [], ok: true })
  const issues = await client.get(`${repository.path}/issues?labels=x%00,y&state=%00`)
  expect([issues.status, issues.body]).toEqual([200, []])
  expect((await client.get(`${repository.path}/issues?created_by=a%00`)).status).toBe(404)
})

test('a head that is too large is told in the shape of every error', async () => {
  const headers = { 'x-large': 'a'.repeat(16 * 1024) }
  const refused = await fetch(`${service.url}/api/v1/version`, { headers })
  expect([refused.status, refused.headers.get('connection')]).toEqual([431, 'close'])
  expect(await refused.json()).toMatchObject({
    message: 'the head of the request is larger than 16384 bytes',
    code: 'head_too_large',
    request_id: refused.headers.get('x-request-id'),
  })
})

test.each(['a', 'git', 'git:3000', 'localhost', '[::1]'])('at the host %j paths are whole', async (host) => {
  const headers = { host, authorization: `token ${service.admin.token}` }
  const found = await fetch(`${service.url}/api/v1/user`, { headers })
  expect([found.status, Object((await found.json()) ?? {}).login]).toEqual([200, service.admin.name])
  // Nothing of the path may be taken for the host either.
  expect((await fetch(`${service.url}/z/api/v1/user`, { headers })).status).toBe(404)
})

const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`
const many = (count: number, item: (index: number) => string) => Array.from({ length: count }, (_, i) => item(i))

test.each([
  ['JSON nested in a known key', 'application/json', `{"title":${nested(200_000)}}`, 422],
  ['JSON nested in objects', 'application/json', `${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}`, 422],
  ['a million names', 'application/json', `{${many(1_000_000, (i) => `"${i}":1`).join()},"title":"x"}`, 413],
  ['a million items', 'application/json', `{"title":"x","labels":[${'1,'.repeat(1_000_000)}1]}`, 413],
  ['a field repeated without end', 'application/x-www-form-urlencoded', `title=x&${'a=1&'.repeat(200_000)}`, 413],
  ['fields without end', 'application/x-www-form-urlencoded', many(500_000, (i) => `a${i}=1`).join('&'), 413],
])('%s costs next to nothing, signed in or not', async (_, type, body, status) => {
  const post = async (headers: Record<string, string>) => {
    const url = `${service.url}/api/v1${repository.path}/issues`
    const send = () => fetch(url, { method: 'POST', headers: { 'content-type': type, ...headers }, body })
    let status = 0
    const ms = await cpuMs(async () => {
      status = (await send()).status
    })
    return { status, ms }
  }
  // Read once before: what counts is not the first use of a route.
  await post({})
  const [visitor, member] = [await post({}), await post({ authorization: `token ${service.admin.token}` })]
  expect([visitor.status, member.status]).toEqual([401, status])
  expect(Math.max(visitor.ms, member.ms)).toBeLessThan(1500)
})

test('answers of a site with https ask browsers to stay there, and name no other site', async () => {
  const secure = await startTestService({ settings: { PUBLIC_URL: 'https://forge.example' } })
  for (const path of ['/', '/api/v1/version', '/api/v1/user', '/nothing']) {
    const { headers } = await fetch(`${secure.url}${path}`, {
      headers: { host: 'evil.example', 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'http' },
    })
    expect(headers.get('strict-transport-security')).toStartWith('max-age=')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    // Without its referrer a form of ours would name no origin.
    expect(headers.get('referrer-policy')).toBe(path === '/' ? 'same-origin' : 'no-referrer')
  }
  const repository = await secure.createRepository(secure.admin)
  const headers = { host: 'evil.example', 'x-forwarded-host': 'evil.example', forwarded: 'host=evil.example' }
  for (const path of [repository.path, '/repos/search?limit=1', '/user', `${repository.path}/contents`]) {
    const shown = await secure.admin.client.request(path, { headers })
    expect(`${shown.text} ${JSON.stringify([...shown.headers])}`).not.toContain('evil')
  }
  await secure.stop()
})

test('a large text is no large shape', async () => {
  const json = { content: Buffer.from('"\\ [{,:'.repeat(200_000)).toString('base64'), message: '[{,:\\"'.repeat(1000) }
  const made = await service.admin.client.post(`${repository.path}/contents/large.txt`, json)
  expect(made.status).toBe(201)
})
