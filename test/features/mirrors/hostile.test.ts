import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { storagePath } from '../../../src/git/storage.ts'
import { startTestService, type TestService, type TestUser } from '../../harness/service.ts'
import { until } from '../../harness/until.ts'
import { deltaBomb } from '../transport/delta-bomb.ts'
import { processesWith } from '../transport/replica.ts'
import { type OtherServer, startOtherServer } from './other-server.ts'

let service: TestService
let other: OtherServer
/** Where nothing may arrive. */
let trap: OtherServer
let alice: TestUser
beforeAll(async () => {
  const settings = {
    MIGRATIONS_ALLOWED_HOSTS: '127.0.0.1',
    MAX_PUSH_BYTES: '1MiB',
    MAX_REFS: '20',
    GIT_MAX_MEMORY_BYTES: '128MiB',
  }
  service = await startTestService({ settings })
  other = await startOtherServer(service.folder)
  trap = await startOtherServer(service.folder)
  alice = await service.createUser('alice')
  await other.create('plain')
})
afterEach(() => {
  other.answer = undefined
  other.credentials = undefined
})
afterAll(async () => {
  await other.stop()
  await trap.stop()
  await service.stop()
})

/** Asks for a copy, lets it fail, and returns why. Whatever came must have left nothing. */
async function failure(name: string, option: object = {}): Promise<string> {
  const body = { clone_addr: other.url('plain'), repo_name: name, ...option }
  const made = await alice.client.post('/repos/migrate', body)
  expect(made.status).toBe(201)
  await service.drain()
  const state = await alice.client.get(`/repos/alice/${name}/mirror`)
  expect(state.string('status')).toBe('failed')
  expect((await alice.client.get(`/repos/alice/${name}`)).body).toMatchObject({ empty: true, branch_count: 0 })
  const { git, config } = service.context
  const id = made.number('id')
  expect(await git.listRefs(id)).toEqual([])
  expect((await git.fsck(id, { isFull: true })).isSound).toBe(true)
  expect(readdirSync(join(config.repositoriesDir, storagePath(id), 'objects/pack'))).toEqual([])
  return state.string('last_error')
}

const isFetch = async (request: Request) =>
  request.method === 'POST' && (await request.clone().text()).includes('command=fetch')
const isListing = async (request: Request) =>
  request.method === 'POST' && (await request.clone().text()).includes('command=ls-refs')
const line = (content: Uint8Array | string) => {
  const bytes = Buffer.from(content)
  return Buffer.concat([Buffer.from((bytes.length + 4).toString(16).padStart(4, '0')), bytes])
}
const answerOf = (body: BodyInit) =>
  new Response(body, { headers: { 'content-type': 'application/x-git-upload-pack-result' } })

/** Says `first`, and then the same for ever. */
function endless(first: Uint8Array, again: () => Uint8Array): ReadableStream<Uint8Array> {
  let isBegun = false
  return new ReadableStream({
    pull(controller) {
      controller.enqueue(isBegun ? again() : first)
      isBegun = true
    },
  })
}

test('a pack without an end is ended at the limit', async () => {
  // One blob of a terabyte: type and size, then stored blocks of deflate (RFC 1951) for ever.
  const begin = Buffer.from([
    ...Buffer.from('PACK'),
    0,
    0,
    0,
    2,
    0,
    0,
    0,
    1,
    0xb0,
    0x80,
    0x80,
    0x80,
    0x80,
    0x80,
    0x7f,
    0x78,
    1,
  ])
  const block = Buffer.concat([Buffer.from([0, 0xe8, 0xfd, 0x17, 0x02]), Buffer.alloc(65_000)])
  const pack = (bytes: Uint8Array) => line(Buffer.concat([Buffer.from([1]), bytes]))
  other.answer = async (request) =>
    (await isFetch(request))
      ? answerOf(
          endless(Buffer.concat([line('packfile\n'), pack(begin)]), () =>
            Buffer.concat([pack(block.subarray(0, 40_000)), pack(block.subarray(40_000))]),
          ),
        )
      : undefined
  expect(await failure('endless')).toContain('more than is allowed')
})

test('a delta that stands for more than the memory is not unpacked', async () => {
  const sent = [line('packfile\n'), line(Buffer.concat([Buffer.from([1]), deltaBomb(64)])), Buffer.from('0000')]
  other.answer = async (request) => ((await isFetch(request)) ? answerOf(Buffer.concat(sent)) : undefined)
  expect(await failure('bomb')).toContain('what the other server sends would need too much memory')
})

test('a list of refs without an end is ended at the limit', async () => {
  let count = 0
  const many = () =>
    Buffer.concat(
      Array.from({ length: 100 }, () => line(`${'1'.repeat(40)} refs/heads/${++count}${'x'.repeat(4000)}\n`)),
    )
  other.answer = async (request) => ((await isListing(request)) ? answerOf(endless(many(), many)) : undefined)
  expect(await failure('refs')).toContain('too much memory')
})

test('more refs than a repository may have are refused before anything is fetched', async () => {
  await other.create('many')
  for (let number = 0; number < 25; number++) await other.inside('many', 'branch', `b${number}`, 'main')
  other.seen.length = 0
  expect(await failure('many', { clone_addr: other.url('many') })).toContain('MAX_REFS')
  // The request asks for the object format, the job for the refs.
  expect(other.seen.filter(({ method }) => method === 'POST')).toHaveLength(2)
})

test('a redirect is not followed, and no credentials with it', async () => {
  other.credentials = 'me:secret'
  for (const target of [trap.url('plain'), 'http://169.254.169.254/latest.git']) {
    other.answer = () =>
      new Response(null, { status: 302, headers: { location: `${target}/info/refs?service=git-upload-pack` } })
    const why = await failure(`redirect-${target.length}`, { auth_username: 'me', auth_password: 'secret' })
    expect(why).toContain('redirects')
  }
  other.answer = async (request) =>
    request.method === 'POST'
      ? new Response(null, { status: 307, headers: { location: `${trap.url('plain')}/git-upload-pack` } })
      : undefined
  await failure('redirect-later', { auth_username: 'me', auth_password: 'secret' })
  expect(trap.seen).toEqual([])
})

test('alternates of a server without Git lead nowhere', async () => {
  const sha = '1'.repeat(40)
  other.answer = (request) => {
    const { pathname } = new URL(request.url)
    if (pathname.endsWith('/info/refs')) return new Response(`${sha}\trefs/heads/main\n`)
    if (pathname.endsWith('/HEAD')) return new Response('ref: refs/heads/main\n')
    if (pathname.endsWith('http-alternates')) return new Response(`http://127.0.0.1:${trap.port}/x.git/objects\n`)
    return new Response('none', { status: 404 })
  }
  await failure('alternates')
  expect(trap.seen).toEqual([])
})

test('a name that leads inside is refused, also when it leads there later', async () => {
  const strict = await startTestService()
  try {
    const user = await strict.createUser()
    const inside = other.url('plain', 'localhost')
    const refused = await user.client.post('/repos/migrate', { clone_addr: inside, repo_name: 'inside' })
    expect([refused.status, refused.string('message')]).toEqual([422, 'You can not import from disallowed hosts.'])
    // As if the name had led elsewhere when it was asked for.
    const { id, path } = await strict.createRepository(user)
    await strict.context.sql`insert into pull_mirrors (repository_id, url) values (${id}, ${inside})`
    other.seen.length = 0
    expect((await user.client.post(`${path}/mirror-sync`)).status).toBe(200)
    await strict.drain()
    expect((await user.client.get(`${path}/mirror`)).string('last_error')).toContain('may not reach')
    expect(other.seen).toEqual([])
  } finally {
    await strict.stop()
  }
})

test('a server that says nothing is left at the deadline, and no process stays', async () => {
  const hasty = await startTestService({ settings: { MIGRATIONS_ALLOWED_HOSTS: 'loopback', GIT_TIMEOUT_SECONDS: '1' } })
  const silence = Promise.withResolvers<Response>()
  try {
    const user = await hasty.createUser()
    other.answer = () => silence.promise
    const body = { clone_addr: other.url('plain'), repo_name: 'silent' }
    expect((await user.client.post('/repos/migrate', body)).status).toBe(201)
    await hasty.drain()
    const state = await user.client.get(`/repos/${user.name}/silent/mirror`)
    expect(state.body).toMatchObject({ status: 'failed', last_error: 'the transfer took too long' })
    await until(() => processesWith(other.url('plain')).length === 0, 'git and its children are gone')
  } finally {
    silence.resolve(new Response('late'))
    await hasty.stop()
  }
})

test('git connects to the judged address, whatever the name resolves to', async () => {
  const url = other.url('plain', 'no-such-name.invalid')
  other.seen.length = 0
  const listed = await service.context.git.listRemote({ url, addresses: ['127.0.0.1'] })
  expect(listed).toMatchObject({ head: 'main', refs: [{ name: 'refs/heads/main' }] })
  expect(other.seen[0]?.host).toBe(`no-such-name.invalid:${other.port}`)
})

test('addresses of IPv6 are reached, as they stand and behind a name', async () => {
  const six = Bun.serve({ port: 0, hostname: '::1', fetch: () => new Response('none', { status: 404 }) })
  try {
    for (const host of ['[::1]', 'no-such-name.invalid']) {
      const remote = { url: `http://${host}:${six.port}/x.git`, addresses: ['::1'] }
      expect(await service.context.git.listRemote(remote).catch(String)).toContain('knows no such repository')
    }
  } finally {
    await six.stop(true)
  }
})

test('objects that are damaged do not get in', async () => {
  await other.create('damaged')
  const tree = await other.inside('damaged', 'rev-parse', 'main^{tree}')
  const commit = `tree ${tree}\nauthor nobody\ncommitter nobody\n\nbad\n`
  await Bun.write(join(other.git.folder, 'bad'), commit)
  const sha = await other.inside(
    'damaged',
    'hash-object',
    '-t',
    'commit',
    '--literally',
    '-w',
    join(other.git.folder, 'bad'),
  )
  await other.inside('damaged', 'update-ref', 'refs/heads/main', sha)
  expect(await failure('damaged', { clone_addr: other.url('damaged') })).toContain('damaged')
})

test('what a server says is shown without the secrets, and without what a terminal obeys', async () => {
  other.answer = () =>
    new Response('your password s3cret is \u001b[31mwrong\u202e', {
      status: 403,
      headers: { 'content-type': 'text/plain; charset=utf-8' },
    })
  const why = await failure('told', { auth_username: 'me', auth_password: 's3cret' })
  expect(why).toBe('the other server forbids it (403): your password *** is [31mwrong')
})

test('a server that does not speak Git, and one that breaks off, are told of', async () => {
  other.answer = () => new Response('<html>\nhello\n</html>\n', { headers: { 'content-type': 'text/html' } })
  expect(await failure('page')).toContain('does not speak Git')
  other.answer = async (request) => ((await isFetch(request)) ? answerOf(line('packfile\n')) : undefined)
  expect(await failure('short')).not.toBe('')
})

test('names that could deceive are left out, and the rest is copied', async () => {
  await other.create('names')
  await other.inside('names', 'update-ref', 'refs/heads/ev\u202eil', 'main')
  const made = await alice.client.post('/repos/migrate', { clone_addr: other.url('names'), repo_name: 'names' })
  await service.drain()
  const refs = await service.context.git.listRefs(made.number('id'))
  expect(refs.map(({ name }) => name)).toEqual(['refs/heads/main'])
})
