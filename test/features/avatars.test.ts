import { afterAll, beforeAll, expect, test } from 'bun:test'
import { crc32, deflateSync } from 'node:zlib'
import { avatarTasks } from '../../src/features/avatars/service.ts'
import { startTestService, type TestService, type TestUser } from '../harness/service.ts'

let service: TestService
let alice: TestUser
beforeAll(async () => {
  service = await startTestService()
  alice = await service.createUser('alice')
})
afterAll(() => service.stop())

function chunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type), data])
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  sum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, sum])
}

/** A real picture of one grey. */
function png(width = 2, height = 2, shade = 128): Buffer {
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  head.set([8, 0, 0, 0, 0], 8)
  const rows = Buffer.alloc(Math.min(height, 4) * (Math.min(width, 4) + 1), shade)
  const parts = [chunk('IHDR', head), chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.alloc(0))]
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), ...parts])
}

const gif = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')
const upload = (bytes: Uint8Array) =>
  alice.client.post('/user/avatar', { image: Buffer.from(bytes).toString('base64') })
const shown = async () => {
  const address = (await alice.client.get('/user')).string('avatar_url')
  return fetch(address, { redirect: 'manual' })
}

test('an uploaded picture is served as what it is, and nothing in it may run', async () => {
  const picture = png()
  expect((await upload(picture)).status).toBe(204)
  const answer = await shown()
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toBe('image/png')
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
  expect(answer.headers.get('content-security-policy')).toContain('sandbox')
  expect(Buffer.from(await answer.arrayBuffer()).equals(picture)).toBe(true)
  const again = await fetch(answer.url, { headers: { 'if-none-match': answer.headers.get('etag') ?? '' } })
  expect(again.status).toBe(304)
})

test('the data URL of a GIF is taken too', async () => {
  const image = `data:image/gif;base64,${gif.toString('base64')}`
  expect((await alice.client.post('/user/avatar', { image })).status).toBe(204)
  expect((await shown()).headers.get('content-type')).toBe('image/gif')
})

test('without an upload a picture is drawn, the same each time and another for another user', async () => {
  expect((await alice.client.delete('/user/avatar')).status).toBe(204)
  const first = await shown()
  expect(first.headers.get('content-type')).toBe('image/svg+xml')
  const svg = await first.text()
  expect(svg).toStartWith('<svg')
  expect(await (await shown()).text()).toBe(svg)
  expect(await (await fetch(`${service.url}/avatars/${'f'.repeat(32)}`)).text()).not.toBe(svg)
})

test('the address of every picture of a person or an organization ends in a hash', async () => {
  const organization = await alice.client.post('/orgs', { username: 'painters' })
  const endings = [(await alice.client.get('/user')).string('avatar_url'), organization.string('avatar_url')].map(
    (address) => address.replace(/.*\//, ''),
  )
  for (const ending of endings) expect(ending).toMatch(/^[0-9a-f]{32,}$/)
  expect(new Set(endings).size).toBe(2)
  await upload(png())
  expect((await alice.client.get('/user')).string('avatar_url')).toMatch(/\/[0-9a-f]{64}$/)
})

test.each([
  ['no base64', 'not base64!', 400],
  ['an SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>').toString('base64'), 422],
  [
    'HTML behind the head of a picture',
    Buffer.concat([png().subarray(0, 40), Buffer.from('<script>')]).toString('base64'),
    422,
  ],
  ['bytes after the end', Buffer.concat([png(), Buffer.from('<script>')]).toString('base64'), 422],
  ['a wrong checksum', Buffer.from(png()).fill(1, 20, 22).toString('base64'), 422],
  ['a picture that unpacks to gigabytes', png(100_000, 100_000).toString('base64'), 422],
  ['2 MB', Buffer.alloc(2_000_000).toString('base64'), 413],
  ['nothing', '', 422],
])('an upload of %s is refused', async (_, image, status) => {
  expect((await alice.client.post('/user/avatar', { image })).status).toBe(status)
})

test.each(['0'.repeat(64), '..%2f..%2fsecret.key', 'u1;drop', 'alice', 'a'.repeat(5000)])(
  'there is no picture %s',
  async (name) => {
    const { status } = await fetch(`${service.url}/avatars/${name}`)
    expect(status).toBe(404)
  },
)

test('a picture that nobody shows any more is deleted after a day', async () => {
  const hashes = async () => (await service.context.sql`select hash from avatars`).map((row) => String(row.hash))
  for (const shade of [1, 2]) expect((await upload(png(2, 2, shade))).status).toBe(204)
  const [task] = avatarTasks
  await task?.run(service.context, AbortSignal.timeout(5000))
  expect((await hashes()).length).toBeGreaterThan(1)
  await service.context.sql`update avatars set created_at = now() - interval '2 days'`
  await task?.run(service.context, AbortSignal.timeout(5000))
  expect(await hashes()).toEqual([(await alice.client.get('/user')).string('avatar_url').replace(/.*\//, '')])
})

test('visitors upload nothing', async () => {
  expect((await service.anonymous.post('/user/avatar', { image: 5 })).status).toBe(401)
  expect((await service.anonymous.delete('/user/avatar')).status).toBe(401)
})

test('an administrator of a repository gives it a picture and takes it away, archived or not', async () => {
  const repo = await service.createRepository(alice)
  const [admin, writer] = [await service.createUser(), await service.createUser()]
  await alice.client.put(`${repo.path}/collaborators/${admin.name}`, { permission: 'admin' })
  await alice.client.put(`${repo.path}/collaborators/${writer.name}`, { permission: 'write' })
  const path = `${repo.path}/avatar`
  const body = { image: gif.toString('base64') }
  const shownUrl = async () => (await service.anonymous.get(repo.path)).string('avatar_url')
  expect(await shownUrl()).toBe('')
  expect((await admin.client.post(path, body)).status).toBe(204)
  const picture = await fetch(await shownUrl())
  expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/gif'])
  for (const image of ['%%%', 5, '', btoa('<svg/>')])
    expect((await alice.client.post(path, { image })).status).toBeWithin(400, 423)
  for (const [client, status] of [
    [writer.client, 403],
    [service.anonymous, 401],
  ] as const) {
    expect((await client.post(path, body)).status).toBe(status)
    expect((await client.delete(path)).status).toBe(status)
  }
  expect(await shownUrl()).toEndWith(new URL(picture.url).pathname)
  await alice.client.patch(repo.path, { archived: true })
  expect((await alice.client.delete(path)).status).toBe(204)
  expect(await shownUrl()).toBe('')
})
