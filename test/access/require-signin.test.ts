import { afterAll, beforeAll, expect, test } from 'bun:test'
import { objectOf, parseJson } from '../../src/http/openapi/json.ts'
import { startTestService, type TestService } from '../harness/service.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService({ settings: { REQUIRE_SIGNIN_VIEW: 'true' } })
})
afterAll(() => service.stop())

/** What a client asks before it can sign in. */
const OPEN = ['/version']

test('where all must sign in, a visitor reads nothing by any operation', async () => {
  const user = await service.createUser('someone')
  await service.createRepository(user, { name: 'open' })
  const document = objectOf(parseJson((await service.anonymous.get('/swagger.v1.json')).text))
  const paths = Object.entries(objectOf(document.paths))
    .filter(([, item]) => objectOf(item).get !== undefined)
    .map(([path]) =>
      path
        .replace(/\{(owner|username)\}/, 'someone')
        .replace('{repo}', 'open')
        .replace(/\{\w+\}/g, '1'),
    )
  const statuses: Record<string, number> = {}
  for (const path of paths) statuses[path] = (await fetch(`${service.url}/api/v1${path}`)).status
  expect(Object.keys(statuses).length).toBeGreaterThan(100)
  const read = Object.entries(statuses).filter(([, status]) => status !== 401)
  expect(Object.fromEntries(read)).toEqual(Object.fromEntries(OPEN.map((path) => [path, 200])))
})

test('neither by git, nor by the addresses of pages', async () => {
  const paths = [
    'open.git/info/refs?service=git-upload-pack',
    'open/raw/branch/main/README.md',
    'open/archive/main.zip',
    'open/actions/workflows/ci.yml/badge.svg',
  ]
  for (const path of paths) {
    const { status } = await fetch(`${service.url}/someone/${path}`, { redirect: 'manual' })
    expect([path, [401, 404].includes(status)]).toEqual([path, true])
  }
})
