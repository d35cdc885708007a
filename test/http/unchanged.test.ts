import { afterAll, beforeAll, expect, test } from 'bun:test'
import { objectOf, parseJson } from '../../src/http/openapi/json.ts'
import type { Answer } from '../harness/client.ts'
import { startTestService, type TestService } from '../harness/service.ts'
import { makeReadableWorld, type PathOf } from './readable-world.ts'

/**
 * Every operation that reads JSON, asked again for what the client has. The list comes from the API description: an operation that is
 * new is in it by itself, and has to be given something to find in readable-world.ts.
 */
let service: TestService
let pathOf: PathOf
let templates: string[]
beforeAll(async () => {
  // As in production, where answers take another way than under the check of tests.
  service = await startTestService({ settings: { CHECK_RESPONSES: 'false', ENABLE_GIT_HOOKS: 'true' } })
  pathOf = await makeReadableWorld(service)
  const { paths } = objectOf(parseJson((await service.anonymous.get('/swagger.v1.json')).text))
  templates = Object.entries(objectOf(paths)).flatMap(([path, item]) => {
    const success = objectOf(objectOf(objectOf(objectOf(item).get).responses)['200'])
    return Object.keys(objectOf(success.content)).includes('application/json') ? [path] : []
  })
})
afterAll(() => service.stop())

/** Tokens are listed to a password only. */
const clientOf = (template: string) =>
  template === '/users/{username}/tokens'
    ? service.client({ basic: `${service.admin.name}:${service.admin.password}` })
    : service.admin.client

const ask = (template: string, tag: string, method = 'GET'): Promise<Answer> =>
  clientOf(template).request(`/api/v1${pathOf(template)}`, { method, headers: tag ? { 'if-none-match': tag } : {} })

/** Headers that a 304 has as the 200 had them. */
const lasting = ({ headers }: Answer) =>
  ['etag', 'cache-control', 'vary', 'link', 'x-total-count'].map((name) => headers.get(name))

test('whatever is read as JSON has a tag, and is not sent again to who has it', async () => {
  const wrong: string[] = []
  for (const template of templates) {
    const first = await ask(template, '')
    const tag = first.headers.get('etag') ?? ''
    if (first.status !== 200 || !/^W\/"[\w-]{27}"$/.test(tag)) {
      wrong.push(`${template} (${pathOf(template)}): ${first.status} ${tag} ${first.text.slice(0, 200)}`)
      continue
    }
    const again = await ask(template, `"another", ${tag.slice(2)}`)
    // How many entries a tree has is known only once it was read.
    if (template.includes('/git/trees/')) first.headers.delete('x-total-count')
    const seen = [again.status, again.text, again.headers.get('content-type'), ...lasting(again)]
    if (!Bun.deepEquals(seen, [304, '', null, ...lasting(first)])) wrong.push(`${template}: ${seen}`)
    const other = await ask(template, '"another"')
    if (other.status !== 200 || other.text !== first.text) wrong.push(`${template}: ${other.status} to another tag`)
  }
  expect(wrong).toEqual([])
  expect(templates.length).toBeGreaterThan(115)
})

test.each(['/version', '/user', '/repos/{owner}/{repo}', '/repos/{owner}/{repo}/labels'])(
  '%s by HEAD tells of the same',
  async (template) => {
    const whole = await ask(template, '')
    const head = await ask(template, '', 'HEAD')
    expect([head.status, head.text, ...lasting(head)]).toEqual([200, '', ...lasting(whole)])
    const unchanged = await ask(template, whole.headers.get('etag') ?? '', 'HEAD')
    expect([unchanged.status, ...lasting(unchanged)]).toEqual([304, ...lasting(whole)])
    expect(unchanged.headers.get('content-length')).toBeNull()
  },
)

test.each(['/version', '/users/{username}', '/admin/users'])('%s is there for whoever has any', async (template) => {
  expect((await ask(template, '*')).status).toBe(304)
  expect((await ask(template, ' * ')).status).toBe(304)
  expect((await ask(template, '"*"')).status).toBe(200)
  expect((await ask(template, '')).status).toBe(200)
})

test('no cache that others read from may keep an answer, and each use is asked for again', async () => {
  for (const template of ['/version', '/user', '/repos/{owner}/{repo}']) {
    const { headers } = await ask(template, '')
    expect(headers.get('cache-control')).toMatch(/^max-age=0, private, must-revalidate/)
  }
})

test('a tag is no way past the gate, and nothing but reading knows it', async () => {
  const { name } = await service.createUser()
  const secret = await service.createRepository(service.admin, { name: 'secret', private: true })
  const { headers } = await service.admin.client.get(secret.path)
  for (const tag of ['*', headers.get('etag') ?? '']) {
    const known = { headers: { 'if-none-match': tag } }
    expect((await service.anonymous.request(secret.path, known)).status).toBe(404)
    expect((await service.anonymous.request('/user', known)).status).toBe(401)
    expect((await service.admin.client.request('/repos/a/b', known)).status).toBe(404)
    const made = await service.admin.client.request(`/admin/users/${name}/repos`, {
      ...known,
      method: 'POST',
      json: { name: `from-${tag.length}` },
    })
    expect([made.status, made.headers.get('etag')]).toEqual([201, null])
  }
})
