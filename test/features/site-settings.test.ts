import { afterAll, beforeAll, expect, test } from 'bun:test'
import { objectOf, parseJson } from '../../src/http/openapi/json.ts'
import { startTestService, type TestRepository, type TestService } from '../harness/service.ts'

let service: TestService
let repo: TestRepository
let paths: string[]

beforeAll(async () => {
  service = await startTestService({ settings: { MAX_RESPONSE_ITEMS: '7', DEFAULT_PAGING_NUM: '5' } })
  repo = await service.createRepository(await service.createUser())
  paths = Object.keys(objectOf(objectOf(parseJson((await service.anonymous.get('/swagger.v1.json')).text)).paths))
})
afterAll(() => service.stop())

const settings = async (name: string) => objectOf(parseJson((await service.anonymous.get(`/settings/${name}`)).text))
const isServed = (pattern: RegExp) => paths.some((path) => pattern.test(path))
const statusOf = async (path: string, method = 'GET') =>
  (await fetch(`${service.url}/${repo.owner}/${repo.name}.git/${path}`, { method })).status

test('what is said to be off is what the service does not do', async () => {
  expect(await settings('repository')).toEqual({
    mirrors_disabled: !isServed(/\/mirror-sync$|\/push_mirrors/),
    migrations_disabled: !isServed(/^\/repos\/migrate$/),
    stars_disabled: !isServed(/^\/user\/starred\//),
    time_tracking_disabled: !isServed(/\/times$/),
    http_git_disabled: (await statusOf('info/refs?service=git-upload-pack')) !== 200,
    lfs_disabled: (await statusOf('info/lfs/objects/batch', 'POST')) === 404,
  })
  expect((await settings('attachment')).enabled).toBe(isServed(/\/issues\/\{index\}\/assets$/))
})

test('what may be attached and the theme carry the names and sizes that clients know', async () => {
  const attachment = await settings('attachment')
  expect(attachment).toMatchObject({
    max_size: 100,
    max_files: 5,
    allowed_types: expect.stringMatching(/^\.avif,.*,\.zip$/),
  })
  expect(await settings('ui')).toMatchObject({ default_theme: 'gitea-auto' })
})

test('what may be attached is told as it is set', async () => {
  const other = await startTestService({
    settings: {
      ATTACHMENT_ENABLED: 'false',
      ATTACHMENT_MAX_SIZE: '1536KiB',
      ATTACHMENT_ALLOWED_TYPES: '.txt, .log',
      ATTACHMENT_MAX_FILES: '2',
    },
  })
  const told = await other.anonymous.get('/settings/attachment')
  expect(told.body).toEqual({ enabled: false, max_size: 1, allowed_types: '.txt,.log', max_files: 2 })
  await other.stop()
})

test('sizes of pages are those of the settings, and hold', async () => {
  expect(await settings('api')).toMatchObject({ max_response_items: 7, default_paging_num: 5 })
  for (let count = 0; count < 9; count += 1) await service.createUser()
  const users = async (limit?: number) => (await service.admin.client.get('/admin/users', limit ? { limit } : {})).body
  expect([await users(), await users(50)].map((list) => Array.isArray(list) && list.length)).toEqual([5, 7])
})
