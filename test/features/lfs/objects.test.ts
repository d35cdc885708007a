import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../../harness/service.ts'
import { basicOf, type Content, content, lfsClient, lfsOf, nameOf, storedKeys, uploaded } from './stage.ts'

let service: TestService
let owner: TestUser
let reader: TestUser
let stranger: TestUser
let repo: TestRepository
let hidden: TestRepository
beforeAll(async () => {
  service = await startTestService({ settings: { LFS_MAX_FILE_BYTES: '1MiB', LFS_MAX_BATCH_SIZE: '20' } })
  owner = await service.createUser('owner')
  reader = await service.createUser('reader')
  stranger = await service.createUser('stranger')
  repo = await service.createRepository(owner, { name: 'open' })
  hidden = await service.createRepository(owner, { name: 'hidden', private: true })
  await owner.client.put('/repos/owner/hidden/collaborators/reader', { permission: 'read' })
})
afterAll(() => service.stop())

const open = (user?: TestUser) => lfsOf(service, 'owner/open', user)
const secret = (user?: TestUser) => lfsOf(service, 'owner/hidden', user)
const withHeader = (path: string, header: Record<string, string> | undefined) =>
  lfsClient(service.url, path, header ?? {})

describe('an object', () => {
  test('is sent, verified, read whole and in parts, by visitors of a public repository too', async () => {
    const sent = await uploaded(open(owner))
    expect(await open(owner).one('upload', nameOf(sent))).toEqual(nameOf(sent))
    const { actions } = await open().one('download', nameOf(sent))
    const href = actions?.download?.href ?? ''
    expect(actions?.download?.header).toEqual({})
    const whole = await fetch(href)
    expect(new Uint8Array(await whole.arrayBuffer())).toEqual(sent.bytes)
    expect(whole.headers.get('content-type')).toBe('application/octet-stream')
    expect(whole.headers.get('x-content-type-options')).toBe('nosniff')
    const part = await fetch(href, { headers: { range: 'bytes=3-7' } })
    expect([part.status, part.headers.get('content-range')]).toEqual([206, `bytes 3-7/${sent.size}`])
    expect(new Uint8Array(await part.arrayBuffer())).toEqual(sent.bytes.slice(3, 8))
    expect((await fetch(href, { headers: { range: `bytes=${sent.size}-` } })).status).toBe(416)
    const head = await fetch(href, { method: 'HEAD' })
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(sent.size)])
    const tag = whole.headers.get('etag') ?? ''
    expect((await fetch(href, { headers: { 'if-none-match': tag } })).status).toBe(304)
  })

  test('of no bytes is one too', async () => {
    const empty = await uploaded(open(owner), content(''))
    expect(await open().get(empty)).toMatchObject({ status: 200, text: '' })
  })

  test('counts in the size of its repository', async () => {
    const roomy = await service.createRepository(owner, { name: 'roomy' })
    const before = (await owner.client.get(roomy.path)).number('size')
    const sent = await uploaded(lfsOf(service, 'owner/roomy', owner), content('x'.repeat(500 * 1024)))
    expect((await owner.client.get(roomy.path)).number('size')).toBe(before + 500)
    for (const sort of ['size', 'lfs_size']) {
      const found = await owner.client.get('/repos/search', { sort, order: 'desc', limit: 1 })
      expect(found.string('data.0.name')).toBe('roomy')
    }
    await owner.client.delete(roomy.path)
    await uploaded(open(owner), sent)
  })

  test('is stored once, however many repositories have it, and is read only where one may be read', async () => {
    const sent = await uploaded(secret(owner))
    const keys = await storedKeys(service)
    const own = await service.createRepository(stranger, { name: 'own' })
    const asked = lfsOf(service, 'stranger/own', stranger)
    // Nobody learns by its name that it is here.
    expect(await asked.one('download', nameOf(sent))).toMatchObject({ error: { code: 404 } })
    expect((await asked.get(sent)).status).toBe(404)
    expect((await secret(stranger).get(sent)).status).toBe(404)
    expect((await secret().get(sent)).status).toBe(401)
    const unknown = content('not sent by anybody')
    const forms = [sent, unknown].map(async (named) => {
      const { actions } = await asked.one('upload', nameOf(named))
      return Object.keys(actions ?? {})
    })
    expect(await Promise.all(forms)).toEqual([
      ['upload', 'verify'],
      ['upload', 'verify'],
    ])
    // Who says its name and sends something else gets nothing.
    const guess = new Uint8Array(sent.size)
    expect((await asked.put(sent, guess)).status).toBe(400)
    expect((await asked.get(sent)).status).toBe(404)
    expect((await asked.post('/verify', nameOf(sent))).status).toBe(404)
    // Who has it sends it, and it lies there once.
    await uploaded(asked, sent)
    expect((await lfsOf(service, 'stranger/own', stranger).get(sent)).status).toBe(200)
    expect((await secret(stranger).get(sent)).status).toBe(404)
    expect(await storedKeys(service)).toEqual(keys)
    await stranger.client.delete(own.path)
    expect((await secret(reader).get(sent)).status).toBe(200)
  })

  test('that the sender may read elsewhere is not sent again, but by a credential for chosen repositories', async () => {
    const sent = await uploaded(secret(owner))
    await service.createRepository(reader, { name: 'copy' })
    const basic = service.client({ basic: `reader:${reader.password}` })
    const repositories = [{ owner: 'reader', name: 'copy' }]
    const chosen = await basic.post('/users/reader/tokens', { name: 'chosen', scopes: ['all'], repositories })
    const limited = withHeader('reader/copy', { authorization: `token ${chosen.string('sha1')}` })
    expect(Object.keys((await limited.one('upload', nameOf(sent))).actions ?? {})).toEqual(['upload', 'verify'])
    expect(await lfsOf(service, 'reader/copy', reader).one('upload', { ...nameOf(sent), size: 1 })).toMatchObject({
      actions: {},
    })
    expect(await lfsOf(service, 'reader/copy', reader).one('upload', nameOf(sent))).toEqual(nameOf(sent))
    expect((await lfsOf(service, 'reader/copy').get(sent)).text).toBe(new TextDecoder().decode(sent.bytes))
  })

  test('that is sent twice at the same time is there once', async () => {
    const before = await storedKeys(service)
    const sent = content('y'.repeat(200_000))
    const places = [open(owner), secret(owner), open(owner), secret(owner), open(owner)]
    const answers = await Promise.all(places.map((place) => place.put(sent)))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    expect((await storedKeys(service)).length).toBe(before.length + 1)
    for (const place of places) expect((await place.get(sent)).text).toBe('y'.repeat(200_000))
  })
})

describe('what is not what it says', () => {
  const nothingStored = async (work: () => Promise<void>) => {
    const keys = await storedKeys(service)
    await work()
    expect(await storedKeys(service)).toEqual(keys)
    const uploads = join(service.context.config.objectsDir, '.uploads')
    mkdirSync(uploads, { recursive: true })
    expect(readdirSync(uploads)).toEqual([])
  }

  test.each<[string, (named: Content) => [BodyInit, string | number]]>([
    ['other bytes', ({ size }) => [new Uint8Array(size), size]],
    ['fewer bytes', ({ bytes, size }) => [bytes.slice(0, -1), size]],
    ['more bytes', ({ bytes, size }) => [new Blob([bytes, 'more']), size]],
    ['another size, with the right bytes', ({ bytes, size }) => [bytes, size - 1]],
    ['nothing', ({ size }) => [new Uint8Array(0), size]],
  ])('%s: refused, and nothing is left of it', (_, lie) =>
    nothingStored(async () => {
      const named = content()
      const [bytes, size] = lie(named)
      expect((await open(owner).put(named, bytes, size)).status).toBe(400)
      expect((await open(owner).get(named)).status).toBe(404)
      expect((await open(owner).post('/verify', nameOf(named))).status).toBe(404)
    }),
  )

  test('is too large in the batch and where it is sent', () =>
    nothingStored(async () => {
      const large = { ...content(), size: 1024 * 1024 + 1 }
      expect(await open(owner).one('upload', nameOf(large))).toMatchObject({ error: { code: 422 } })
      expect((await open(owner).put(large)).status).toBe(413)
    }))

  test.each(['..', '%2e%2e%2f%2e%2e', '../../etc/passwd', 'A'.repeat(64), 'a'.repeat(63), `${'a'.repeat(64)}%00`, ''])(
    'the name %j names nothing',
    (oid) =>
      nothingStored(async () => {
        const named = { oid, size: 3 }
        const [upload, download] = await Promise.all([open(owner).one('upload', named), open().one('download', named)])
        expect([upload.error?.code, download.error?.code]).toEqual([422, 422])
        expect((await open().send(`/objects/${oid}`)).status).toBe(404)
        const put = await open(owner).send(`/objects/${oid}/3`, { method: 'PUT', body: 'abc' })
        expect(put.status).toBeOneOf([404, 405])
      }),
  )

  test.each([-1, 1.5, 2 ** 63, 1e300])('the size %d is none', async (size) => {
    expect(await open(owner).one('upload', { ...nameOf(content()), size })).toMatchObject({ error: { code: 422 } })
  })

  test.each(['-1', '1e3', '0x10', '9223372036854775808', 'NaN'])('nor %s in an address', async (size) => {
    expect((await open(owner).put(content(), 'abc', size)).status).toBe(404)
  })

  test('verify names another size: 400, since git-lfs passes over 422', async () => {
    const sent = await uploaded(open(owner))
    expect((await open(owner).post('/verify', { ...nameOf(sent), size: 1 })).status).toBe(400)
    expect(await open().one('download', { ...nameOf(sent), size: 1 })).toMatchObject({ error: { code: 422 } })
  })
})

describe('a batch', () => {
  test('says what is wrong with each object, and goes on', async () => {
    const sent = await uploaded(open(owner))
    const named = [nameOf(sent), nameOf(content()), { oid: 'x', size: 1 }]
    const answers = await open().ask('download', named)
    expect(answers.map(({ error }) => error?.code)).toEqual([undefined, 404, 422])
    expect(answers.map(({ oid }) => oid)).toEqual(named.map(({ oid }) => oid))
    const { body, headers } = await open().batch('download', named)
    expect(headers.get('content-type')).toBe('application/vnd.git-lfs+json')
    expect(body).toMatchObject({ transfer: 'basic', hash_algo: 'sha256' })
  })

  test.each<[string, () => Promise<{ status: number }>, number]>([
    ['another kind of name', () => open().batch('download', [], { hash_algo: 'sha512' }), 409],
    [
      'too many objects',
      () =>
        open().batch(
          'download',
          Array.from({ length: 21 }, () => nameOf(content())),
        ),
      413,
    ],
    ['another operation', () => open().post('/objects/batch', { operation: 'erase', objects: [] }), 422],
    ['no objects', () => open().post('/objects/batch', { operation: 'download' }), 422],
    ['objects that are none', () => open().post('/objects/batch', { operation: 'download', objects: [1] }), 422],
    ['a list', () => open().post('/objects/batch', []), 422],
    [
      'malformed JSON',
      () =>
        open().send('/objects/batch', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{' }),
      422,
    ],
    [
      'another type',
      () => open().send('/objects/batch', { method: 'POST', headers: { 'content-type': 'text/plain' }, body: '{}' }),
      415,
    ],
    [
      'a body without an end',
      () =>
        open().send('/objects/batch', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: `"${'x'.repeat(3_000_000)}"`,
        }),
      413,
    ],
  ])('with %s is refused', async (_, send, status) => {
    expect((await send()).status).toBe(status)
  })

  test('of nothing is answered with nothing', async () => {
    expect(await open().ask('download', [])).toEqual([])
    expect(await open(owner).ask('upload', [])).toEqual([])
  })
})

describe('who may not', () => {
  test('visitors are asked for credentials, as git-lfs and others look for it', async () => {
    for (const answer of [
      await secret().batch('download', []),
      await open().batch('upload', []),
      await open().put(content()),
      await lfsOf(service, 'owner/none').batch('download', []),
    ]) {
      expect(answer.status).toBe(401)
      expect(answer.headers.get('lfs-authenticate')).toStartWith('Basic realm=')
      expect(answer.headers.get('www-authenticate')).toStartWith('Basic realm=')
      expect(answer.headers.get('content-type')).toBe('application/vnd.git-lfs+json')
    }
  })

  test('readers send nothing, strangers know of nothing', async () => {
    expect((await secret(reader).batch('download', [])).status).toBe(200)
    for (const send of [
      () => secret(reader).batch('upload', [nameOf(content())]),
      () => secret(reader).put(content()),
      () => secret(reader).post('/verify', nameOf(content())),
      () => open(stranger).batch('upload', []),
    ])
      expect((await send()).status).toBe(403)
    const [hiddenOne, none] = [secret(stranger), lfsOf(service, 'owner/none', stranger)]
    for (const operation of ['download', 'upload'] as const) {
      const answers = [await hiddenOne.batch(operation, []), await none.batch(operation, [])]
      expect(answers.map(({ status }) => status)).toEqual([404, 404])
      expect(new Set(answers.map(({ body }) => body.message)).size).toBe(1)
    }
  })

  test('a wrong password, and a token whose scope does not reach', async () => {
    const wrong = withHeader('owner/open', { authorization: `Basic ${btoa('owner:wrong')}` })
    expect((await wrong.batch('download', [])).status).toBe(401)
    const basic = service.client({ basic: `owner:${owner.password}` })
    const tokenOf = async (name: string, scopes: string[]) =>
      basicOf({ name, token: (await basic.post('/users/owner/tokens', { name, scopes })).string('sha1') })
    const reading = withHeader('owner/hidden', await tokenOf('reading', ['read:repository']))
    expect((await reading.batch('download', [])).status).toBe(200)
    expect((await reading.batch('upload', [])).status).toBe(403)
    const other = withHeader('owner/hidden', await tokenOf('other', ['read:issue']))
    expect((await other.batch('download', [])).status).toBe(403)
    const publicOnly = withHeader('owner/hidden', await tokenOf('public', ['public-only', 'all']))
    expect((await publicOnly.batch('download', [])).status).toBe(404)
  })

  test('what takes no pushes takes no objects: an archived repository, a mirror, one without code', async () => {
    const old = await service.createRepository(owner, { name: 'old' })
    const sent = await uploaded(lfsOf(service, 'owner/old', owner))
    await owner.client.patch(old.path, { archived: true })
    expect((await lfsOf(service, 'owner/old', owner).batch('upload', [])).status).toBe(403)
    expect((await lfsOf(service, 'owner/old', owner).put(content())).status).toBe(403)
    expect((await lfsOf(service, 'owner/old').get(sent)).status).toBe(200)
    const mirror = await service.createRepository(owner, { name: 'mirror' })
    await service.context.sql`update repositories set is_mirror = true where id = ${mirror.id}`
    expect((await lfsOf(service, 'owner/mirror', owner).batch('upload', [])).status).toBe(403)
    const bare = await service.createRepository(owner, { name: 'bare' })
    await service.context.sql`update repositories set has_code = false where id = ${bare.id}`
    expect((await lfsOf(service, 'owner/bare', owner).batch('download', [])).status).toBe(404)
    // A wiki has none.
    expect((await lfsOf(service, 'owner/open.wiki', owner).batch('upload', [])).status).toBe(404)
  })

  test('an account that may not sign in', async () => {
    const gone = await service.createUser('gone')
    await service.createRepository(gone, { name: 'own' })
    const { actions } = await lfsOf(service, 'gone/own', gone).one('upload', nameOf(content()))
    await service.admin.client.patch('/admin/users/gone', { login_name: 'gone', source_id: 0, prohibit_login: true })
    expect((await lfsOf(service, 'gone/own', gone).batch('download', [])).status).toBe(403)
    expect((await withHeader('gone/own', actions?.upload?.header).put(content())).status).toBe(403)
  })
})

test('a repository whose owner was given another name is served under the old one', async () => {
  const sent = await uploaded(open(owner))
  await owner.client.patch(repo.path, { name: 'renamed' })
  expect((await open().get(sent)).status).toBe(200)
  const { actions } = await open().one('download', nameOf(sent))
  expect(actions?.download?.href).toStartWith(`${service.url}/owner/renamed.git/`)
  await owner.client.patch('/repos/owner/renamed', { name: 'open' })
  expect((await owner.client.get(hidden.path)).status).toBe(200)
})
