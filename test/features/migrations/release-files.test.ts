import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { createServer } from 'node:http'
import { listen } from '../../harness/listen.ts'
import { startTestService, type TestService, type TestUser } from '../../harness/service.ts'
import { type OtherServer, startOtherServer } from '../mirrors/other-server.ts'
import { type FakeFamily, pretendFamily } from './fake-family.ts'

const SETTINGS = {
  MIGRATIONS_ALLOWED_HOSTS: '127.0.0.1',
  MIGRATION_MAX_ITEMS: '50',
  MAX_OWNED: '5',
  RELEASE_FILE_MAX_SIZE: '2MiB',
  RELEASE_ALLOWED_TYPES: '.zip,.txt',
}

let service: TestService
let other: OtherServer
let trap: OtherServer
let alice: TestUser
let fake: FakeFamily
/** What the other server gives out below `/files/`. */
let files: Record<string, (request: Request) => Response | Promise<Response>>
beforeAll(async () => {
  service = await startTestService({ settings: SETTINGS })
  other = await startOtherServer(service.folder)
  trap = await startOtherServer(service.folder)
  alice = await service.createUser('alice')
  await other.create('them/plain')
  for (const tag of ['v1', 'v2']) await other.inside('them/plain', 'tag', tag, 'main')
})
beforeEach(() => {
  fake = pretendFamily(other)
  const family = other.answer
  files = {}
  other.answer = (request) =>
    files[new URL(request.url).pathname.replace('/files/', '')]?.(request) ?? family?.(request)
})
afterEach(() => {
  other.answer = undefined
  trap.answer = undefined
  trap.seen.length = 0
})
afterAll(async () => {
  await other.stop()
  await trap.stop()
  await service.stop()
})

const AT = '2020-01-02T03:04:05Z'
const urlOf = (name: string) => `http://127.0.0.1:${other.port}/files/${name}`
const asset = (name: string, more: object = {}) => ({
  ...{ id: 1, name, size: name.length, download_count: 3, created_at: AT, browser_download_url: urlOf(name) },
  ...more,
})
/** A file that is what it says. */
const give = (name: string, more: object = {}) => {
  files[name] = () => new Response(name)
  return asset(name, more)
}
let names = 0
let path = ''
async function migrate(assets: unknown, option: object = {}) {
  fake.content.releases = [{ tag_name: 'v1', name: 'One', created_at: AT, assets }]
  const body = { clone_addr: other.url('them/plain'), service: 'gitea', repo_name: `copy${++names}`, releases: true }
  const made = await alice.client.post('/repos/migrate', { ...body, ...option })
  expect(made.status).toBe(201)
  path = `/repos/alice/copy${names}`
  await service.drain()
  return alice.client.get(`${path}/migration`)
}
const goOn = async () => {
  expect((await alice.client.post(`${path}/migration`, {})).status).toBe(202)
  await service.drain()
  return alice.client.get(`${path}/migration`)
}
const shown = async () => {
  const release = await alice.client.get(`${path}/releases/tags/v1`)
  const id = release.number('id')
  const { body } = await alice.client.get(`${path}/releases/${id}/assets`)
  const assets: { name: string; size: number; browser_download_url: string }[] = Array.isArray(body) ? body : []
  return { id, assets }
}
const namesOf = async () => (await shown()).assets.map(({ name }) => name)
const stored = async () => (await Array.fromAsync(service.context.objects.list('attachments'))).length

test('files come once, with times, counts and the person who asked', async () => {
  const before = await stored()
  const told = await migrate([give('a.txt'), give('b.zip')])
  expect(told.body).toMatchObject({ status: 'done', not_carried: [] })
  expect(told.body).toMatchObject({
    parts: [{ name: 'releases' }, { name: 'release_files', status: 'done', seen: 2, carried: 2, total: 2 }],
  })
  expect((await shown()).assets).toMatchObject([
    { name: 'a.txt', size: 5, download_count: 3, created_at: AT },
    { name: 'b.zip', size: 5 },
  ])
  const rows = await service.context.sql`select u.name, media_type from attachments a join users u on u.id = uploader_id
    where a.name = 'a.txt'`
  expect(rows.map((row) => ({ ...row }))).toEqual([{ name: 'alice', media_type: 'text/plain; charset=utf-8' }])
  expect(await stored()).toBe(before + 2)
  expect([...(await service.context.sql`select 1 from migration_files`)]).toEqual([])
})

test('what cannot be kept is left out, and said with its number', async () => {
  const before = await stored()
  files['gone.txt'] = () => new Response('no', { status: 404 })
  files['short.txt'] = () => new Response('x')
  files['long.txt'] = () => new Response('x'.repeat(100_000))
  const told = await migrate([
    give('good.txt'),
    give('deep.txt', { name: '../../../etc/deep.txt' }),
    asset('gone.txt'),
    asset('short.txt', { name: 'short.txt' }),
    asset('long.txt'),
  ])
  expect(told.body).toMatchObject({
    status: 'done',
    not_carried: [
      'files of releases (1): the other server does not give them out',
      'files of releases (2): they have another size than the other server says',
    ],
    parts: [{}, { seen: 5, carried: 2 }],
  })
  expect(await namesOf()).toEqual(['good.txt', 'deep.txt'])
  expect(await stored()).toBe(before + 2)
})

test('names, sizes, types and addresses that cannot be are never asked for', async () => {
  const evil = [
    give('run.exe'),
    give('nul.txt', { name: 'a\u0000.txt' }),
    give('dots.txt', { name: '..' }),
    give('large.txt', { size: 2 * 1024 * 1024 + 1 }),
  ]
  const told = await migrate(evil)
  expect(told.body).toMatchObject({ status: 'done', parts: [{}, { seen: 4, carried: 0 }] })
  expect(told.text).toContain('files of releases (1): they are larger than 2097152 bytes')
  expect(told.text).toContain('files of releases (3): their names or types')
  const odd = [
    give('minus.txt', { size: -1 }),
    give('many.txt', { size: '5' }),
    give('file.txt', { browser_download_url: 'file:///etc/passwd' }),
    give('user.txt', { browser_download_url: urlOf('user.txt').replace('//', '//a:b@') }),
    null,
  ]
  const again = await migrate(odd)
  expect(again.text).toContain('files of releases (2): they have another size')
  expect(again.text).toContain('files of releases (2): their addresses')
  expect(again.text).toContain('files of releases (1): their names')
  expect(other.seen.filter(({ path: asked }) => asked.startsWith('/files/') && asked.includes('large'))).toEqual([])
  expect(await namesOf()).toEqual([])
})

test('inner addresses are not reached, and credentials go nowhere else', async () => {
  trap.answer = () => new Response('caught')
  const to = (location: string) => () => new Response(null, { status: 302, headers: { location } })
  files['hop.txt'] = to(`http://127.0.0.1:${trap.port}/hop`)
  files['in.txt'] = to(`http://[::1]:${trap.port}/in`)
  files['own.txt'] = (request) => new Response(String(request.headers.has('authorization')))
  const told = await migrate(
    [
      asset('own.txt', { size: 4 }),
      asset('hop.txt', { size: 6 }),
      asset('in.txt'),
      asset('else.txt', { size: 6, browser_download_url: `http://127.0.0.1:${trap.port}/else` }),
      asset('cloud.txt', { browser_download_url: 'http://169.254.169.254/latest' }),
    ],
    { auth_token: 'secret' },
  )
  expect(told.body).toMatchObject({ status: 'done', parts: [{}, { seen: 5, carried: 3 }] })
  expect(told.text).toContain('files of releases (2): their addresses may not be reached from here')
  expect(await namesOf()).toEqual(['own.txt', 'hop.txt', 'else.txt'])
  expect(trap.seen.map(({ path: asked, authorization }) => [asked, authorization])).toEqual([
    ['/hop', undefined],
    ['/else', undefined],
  ])
  const [own] = (await shown()).assets
  expect(await (await fetch(own?.browser_download_url ?? '')).text()).toBe('true')
})

test('a file without an end is left after the size that was said', async () => {
  let sent = 0
  const chunk = new Uint8Array(64 * 1024)
  files['endless.txt'] = () =>
    new Response(
      new ReadableStream({
        pull(controller) {
          sent += chunk.length
          controller.enqueue(chunk)
          if (sent > 2 ** 30) controller.close()
        },
      }),
    )
  const told = await migrate([asset('endless.txt', { size: 1024 * 1024 }), give('after.txt')])
  expect(told.body).toMatchObject({ status: 'done', parts: [{}, { seen: 2, carried: 1 }] })
  expect(sent).toBeLessThan(100 * 1024 * 1024)
  expect(await namesOf()).toEqual(['after.txt'])
})

test('of a release with too many files MAX_OWNED come, and a list without an end is given up', async () => {
  const told = await migrate(Array.from({ length: 8 }, (_, index) => give(`${index}.txt`)))
  expect(told.body).toMatchObject({
    status: 'done',
    not_carried: ['files of releases (3): their releases have more than 5 (MAX_OWNED)'],
    parts: [{}, { seen: 8, carried: 5 }],
  })
  const before = await stored()
  const over = await migrate(Array.from({ length: 10_000 }, (_, index) => asset(`${index}.txt`)))
  expect(over.body).toMatchObject({ status: 'failed', next_attempt: null })
  expect(over.string('last_error')).toContain('more than 50 files of releases (MIGRATION_MAX_ITEMS)')
  expect(await stored()).toBe(before)
})

test('a file that breaks off is tried again, and left after the third time', async () => {
  const cutting = createServer((_, response) => {
    response.writeHead(200, { 'content-length': '100' })
    response.write('x'.repeat(10), () => response.destroy())
  })
  const bad = `http://127.0.0.1:${await listen(cutting)}/`
  files['flaky.txt'] = () => new Response('secret words', { status: 500 })
  const assets = [asset('flaky.txt'), asset('bad.txt', { size: 100, browser_download_url: bad }), give('good.txt')]
  const told = await migrate(assets)
  expect(told.body).toMatchObject({ status: 'failed', failures: 1, next_attempt: expect.any(String) })
  expect(told.text).not.toContain('secret')
  files['flaky.txt'] = () => new Response('flaky.txt')
  expect((await goOn()).body).toMatchObject({ status: 'failed', parts: [{}, { carried: 1 }] })
  expect((await goOn()).body).toMatchObject({ status: 'failed', parts: [{}, { carried: 1 }] })
  expect((await goOn()).body).toMatchObject({
    status: 'done',
    not_carried: ['files of releases (1): they did not come whole in three tries'],
    parts: [{}, { seen: 3, carried: 2 }],
  })
  expect(await namesOf()).toEqual(['flaky.txt', 'good.txt'])
  cutting.close()
})

test('a release that is deleted while its file comes takes it along, and the rest comes', async () => {
  const before = await stored()
  files['first.txt'] = async () => {
    const { id } = await shown()
    expect((await alice.client.delete(`${path}/releases/${id}`)).status).toBe(204)
    return new Response('first.txt')
  }
  path = `/repos/alice/copy${names + 1}`
  const told = await migrate([asset('first.txt'), give('second.txt')])
  expect(told.body).toMatchObject({ status: 'done', not_carried: [], parts: [{}, { seen: 2, carried: 0 }] })
  expect(await stored()).toBe(before)
})

test('files that somebody adds meanwhile count too', async () => {
  files['slow.txt'] = async () => {
    const { id } = await shown()
    for (const name of ['1.txt', '2.txt', '3.txt', '4.txt', '5.txt']) {
      const body = new FormData()
      body.set('attachment', new File(['x'], name))
      const headers = { authorization: `token ${alice.token}` }
      const url = `${service.url}/api/v1${path}/releases/${id}/assets`
      expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(201)
    }
    return new Response('slow.txt')
  }
  path = `/repos/alice/copy${names + 1}`
  const before = await stored()
  const told = await migrate([asset('slow.txt')])
  expect(told.string('status')).toBe('done')
  expect(told.text).toContain('files of releases (1): their releases have more than 5')
  expect(await stored()).toBe(before + 5)
})

test('where files are switched off, none is asked for', async () => {
  const without = await startTestService({ settings: { ...SETTINGS, ATTACHMENT_ENABLED: 'false' } })
  try {
    const user = await without.createUser('bob')
    fake.content.releases = [{ tag_name: 'v1', assets: [give('a.txt')] }]
    const option = { clone_addr: other.url('them/plain'), service: 'gitea', repo_name: 'copy', releases: true }
    await user.client.post('/repos/migrate', option)
    other.seen.length = 0
    await without.drain()
    expect((await user.client.get('/repos/bob/copy/migration')).body).toMatchObject({
      status: 'done',
      not_carried: ['files of releases (1): files are switched off here (ATTACHMENT_ENABLED)'],
    })
    expect(other.seen.filter(({ path: asked }) => asked.startsWith('/files/'))).toEqual([])
  } finally {
    await without.stop()
  }
})

test('what the owner has no room for is left: without asking for it, or when it has come', async () => {
  const small = await startTestService({ settings: { ...SETTINGS, ATTACHMENT_MAX_OWNER_BYTES: '100' } })
  try {
    const user = await small.createUser('bob')
    const own = await small.createRepository(user, { name: 'own' })
    const { path: ownPath } = own
    files['late.txt'] = async () => {
      // While it comes somebody takes the room.
      const issue = (await user.client.post(`${ownPath}/issues`, { title: 'x' })).number('number')
      const body = new FormData()
      body.set('attachment', new File(['x'.repeat(60)], 'other.txt'))
      expect((await user.client.request(`${ownPath}/issues/${issue}/assets`, { method: 'POST', body })).status).toBe(
        201,
      )
      return new Response('l'.repeat(50))
    }
    files['small.txt'] = () => new Response('s'.repeat(40))
    const assets = [
      asset('large.txt', { size: 101 }),
      asset('late.txt', { size: 50 }),
      asset('small.txt', { size: 40 }),
    ]
    fake.content.releases = [{ tag_name: 'v1', created_at: AT, assets }]
    const option = { clone_addr: other.url('them/plain'), service: 'gitea', repo_name: 'copy', releases: true }
    await user.client.post('/repos/migrate', option)
    other.seen.length = 0
    await small.drain()
    expect((await user.client.get('/repos/bob/copy/migration')).body).toMatchObject({
      status: 'done',
      not_carried: [
        "files of releases (2): the owner's repositories may hold 100 bytes of attached files (ATTACHMENT_MAX_OWNER_BYTES)",
      ],
      parts: [{}, { seen: 3, carried: 1 }],
    })
    expect(other.seen.map(({ path: asked }) => asked)).not.toContain('/files/large.txt')
    expect(await Array.fromAsync(small.context.objects.list('attachments'))).toHaveLength(2)
  } finally {
    await small.stop()
  }
})
