import { afterAll, beforeAll, expect, test } from 'bun:test'
import { encodePacket, FLUSH } from '../../../src/git/packet.ts'
import { sendAfterContinue } from '../../harness/expect-continue.ts'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../../harness/service.ts'
import { type Hosted, hostRepository, workTree } from './hosted.ts'

let service: TestService
let owner: TestUser
let repo: Hosted
let filled: TestRepository

beforeAll(async () => {
  service = await startTestService({ settings: { MAX_PUSH_BYTES: '2000000', MAX_BODY_BYTES: '100000' } })
  owner = await service.createUser()
  repo = await hostRepository(service, owner)
  filled = await service.createRepository(owner, { auto_init: true })
})
afterAll(() => service.stop())

interface Waiting {
  method?: string
  token?: string
  type?: string
  length?: number
}

/** A request whose client waits for 100 before it sends the body. */
function wait(path: string, body: string | Buffer, { method = 'POST', token, type, length }: Waiting = {}) {
  const { host, port } = new URL(service.url)
  const head = [
    `${method} ${path} HTTP/1.1`,
    `Host: ${host}`,
    `Content-Type: ${type ?? 'application/json'}`,
    `Content-Length: ${length ?? Buffer.byteLength(body)}`,
    ...(token ? [`Authorization: token ${token}`] : []),
    'Expect: 100-continue',
    'Connection: close',
  ]
  return sendAfterContinue(Number(port), { head, body })
}

const receivePath = () => `${new URL(repo.url).pathname}/git-receive-pack`
const PUSH = 'application/x-git-receive-pack-request'

test('a push is asked for its pack', async () => {
  const cwd = await workTree(service.git, { 'asked.txt': 'asked' })
  const sha = await service.git(['rev-parse', 'HEAD'], { cwd })
  const packed = Bun.spawn(['git', 'pack-objects', '--revs', '--stdout', '-q'], { cwd, stdin: Buffer.from(`${sha}\n`) })
  const command = encodePacket(`${'0'.repeat(40)} ${sha} refs/heads/asked\0report-status side-band-64k`)
  const body = Buffer.concat([command, FLUSH, Buffer.from(await new Response(packed.stdout).arrayBuffer())])
  const { asked, answer } = await wait(receivePath(), body, { token: owner.token, type: PUSH })
  expect(asked).toBe(true)
  expect(answer).toStartWith('HTTP/1.1 200 ')
  expect(answer).toContain('ok refs/heads/asked')
  expect(await repo.diskLines()).toEqual([`branch asked ${sha}`])
})

test('so is a fetch', async () => {
  const type = 'application/x-git-upload-pack-request'
  const path = `${new URL(repo.url).pathname}/git-upload-pack`
  const { asked, answer } = await wait(path, FLUSH, { type })
  expect(asked).toBe(true)
  expect(answer).toStartWith('HTTP/1.1 200 ')
})

test('so is a file for the contents', async () => {
  const path = `/api/v1${filled.path}/contents/asked.txt`
  const made = await wait(path, JSON.stringify({ content: btoa('one') }), { token: owner.token })
  expect(made.asked).toBe(true)
  expect(made.answer).toStartWith('HTTP/1.1 201 ')
  const file = await owner.client.get(`${filled.path}/contents/asked.txt`)
  const change = JSON.stringify({ content: btoa('two'), sha: file.string('sha') })
  const changed = await wait(path, change, { method: 'PUT', token: owner.token })
  expect(changed.asked).toBe(true)
  expect(changed.answer).toStartWith('HTTP/1.1 200 ')
})

test.each<[string, number, () => Promise<{ asked: boolean; answer: string }>]>([
  ['a push by nobody', 401, () => wait(receivePath(), '', { type: PUSH, length: 500 })],
  ['a push with a wrong token', 401, () => wait(receivePath(), '', { type: PUSH, length: 500, token: 'f'.repeat(40) })],
  [
    'a push to nothing',
    404,
    () => wait(`/${owner.name}/none.git/git-receive-pack`, '', { type: PUSH, length: 500, token: owner.token }),
  ],
  ['a push of another type', 415, () => wait(receivePath(), '', { length: 500, token: owner.token })],
  [
    'a push that is too large',
    413,
    () => wait(receivePath(), '', { type: PUSH, length: 2_000_001, token: owner.token }),
  ],
  [
    'a body that is too large for any route',
    413,
    () => wait('/api/v1/user/repos', '', { length: 3_000_000, token: owner.token }),
  ],
  [
    'a body that is too large for the API',
    413,
    () => wait('/api/v1/user/repos', '', { length: 100_001, token: owner.token }),
  ],
  ['a body for no route', 404, () => wait('/api/v1/none', '', { length: 500, token: owner.token })],
])('%s is %i, and its body is not asked for', async (_, status, request) => {
  const { asked, answer } = await request()
  expect(answer).toStartWith(`HTTP/1.1 ${status} `)
  expect(asked).toBe(false)
})
