import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { request as open } from 'node:http'
import { attachmentTasks } from '../../src/features/attachments/collect.ts'
import { type S3Server, startS3 } from '../harness/s3.ts'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../harness/service.ts'
import { until } from '../harness/until.ts'
import { openSink } from '../webhooks/sink.ts'
import { findFaults } from './transport/twins.ts'

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
)

let s3: S3Server
beforeAll(() => {
  s3 = startS3()
})
afterAll(() => s3.stop())

interface Place {
  service: TestService
  owner: TestUser
  reader: TestUser
  repo: TestRepository
  /** Of the release v1, below `/api/v1`. */
  release: string
}

const SETTINGS = { MAX_OWNED: '12', RELEASE_FILE_MAX_SIZE: '1MiB', WEBHOOK_ALLOWED_HOSTS: 'loopback' }

async function openPlace(settings: Record<string, string> = {}): Promise<Place> {
  const service = await startTestService({ settings: { ...SETTINGS, ...settings } })
  const owner = await service.createUser()
  const reader = await service.createUser()
  const repo = await service.createRepository(owner)
  return { service, owner, reader, repo, release: await makeRelease(owner, repo, { tag_name: 'v1' }) }
}

async function makeRelease(owner: TestUser, repo: TestRepository, option: Record<string, unknown>): Promise<string> {
  const made = await owner.client.post(`${repo.path}/releases`, option)
  expect(made.status).toBe(201)
  return `${repo.path}/releases/${made.number('id')}`
}

function form(name: string, content: string | Uint8Array<ArrayBuffer>, field = 'attachment'): FormData {
  const data = new FormData()
  data.set(field, new File([content], name))
  return data
}

const upload = (user: TestUser, release: string, body: BodyInit, query: Record<string, string> = {}) =>
  user.client.request(`${release}/assets`, { method: 'POST', body, query })

const load = ({ service }: Place, address: string, init: RequestInit = {}) =>
  fetch(new URL(address, service.url), { redirect: 'manual', ...init })

/** Keys of the store, with those of uploads that go on. */
const stored = ({ service }: Place): Promise<string[]> =>
  Array.fromAsync(service.context.objects.list('attachments')).then((all) => all.map(({ key }) => key))

async function runTask({ service }: Place, name: string): Promise<void> {
  expect((await service.admin.client.post(`/admin/cron/${name}`)).status).toBe(204)
  await service.drain()
  const [row] = await service.context.sql`select last_error from cron_tasks where name = ${name}`
  expect(row?.last_error).toBeNull()
}

describe.each([
  ['on the disk', () => openPlace()],
  ['in a bucket', () => openPlace(s3.settings)],
] as const)('a file of a release, %s,', (_, make) => {
  let place: Place
  beforeAll(async () => {
    place = await make()
  })
  afterAll(() => place.service.stop())

  test('is the same when it comes back: whole, in parts, and by its head', async () => {
    const { owner, repo, release } = place
    const content = Buffer.from(Array.from({ length: 300_000 }, (_, at) => at % 251))
    const made = await upload(owner, release, form('tool.bin', new Uint8Array(content)))
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({ name: 'tool.bin', size: content.length, download_count: 0 })
    const address = made.string('browser_download_url')
    for (const from of [address, `/${repo.owner}/${repo.name}/releases/download/v1/tool.bin`]) {
      const answer = await load(place, from)
      expect(Buffer.compare(await answer.bytes(), content)).toBe(0)
      expect(answer.headers.get('content-length')).toBe(String(content.length))
    }
    const part = await load(place, address, { headers: { range: 'bytes=250000-250009' } })
    expect([part.status, part.headers.get('content-range')]).toEqual([206, 'bytes 250000-250009/300000'])
    expect(Buffer.compare(await part.bytes(), content.subarray(250_000, 250_010))).toBe(0)
    expect((await load(place, address, { headers: { range: 'bytes=300000-' } })).status).toBe(416)
    const head = await load(place, address, { method: 'HEAD' })
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '300000', ''])
    const etag = head.headers.get('etag') ?? ''
    expect(etag).toBe(`"${createHash('sha256').update(content).digest('hex')}"`)
    expect((await load(place, address, { headers: { 'if-none-match': etag } })).status).toBe(304)
    // Two whole ones: neither heads, nor later parts, nor what the client had.
    expect((await owner.client.get(`${release}/assets/${made.number('id')}`)).number('download_count')).toBe(2)
  })

  test('that is deleted, or whose release, repository or owner goes, is gone from the store soon after', async () => {
    const { service, owner, release } = place
    const before = await stored(place)
    const single = (await upload(owner, release, form('single', 'x'))).number('id')
    const going = await makeRelease(owner, place.repo, { tag_name: 'going' })
    const other = await service.createRepository(owner)
    const author = await service.createUser()
    const own = await service.createRepository(author)
    await upload(owner, going, form('of the release', 'x'))
    await upload(owner, await makeRelease(owner, other, { tag_name: 'v1' }), form('of the repository', 'x'))
    await upload(author, await makeRelease(author, own, { tag_name: 'v1' }), form('of the owner', 'x'))
    expect(await stored(place)).toHaveLength(before.length + 4)
    expect((await owner.client.delete(`${release}/assets/${single}`)).status).toBe(204)
    expect((await owner.client.delete(going)).status).toBe(204)
    expect((await owner.client.delete(other.path)).status).toBe(204)
    expect((await service.admin.client.delete(`/admin/users/${author.name}?purge=true`)).status).toBe(204)
    await runTask(place, 'remove_deleted_attachments')
    expect((await stored(place)).sort()).toEqual(before.sort())
    expect(await service.context.sql`select 1 from removed_objects`).toHaveLength(0)
  })

  test('that no row names is removed when it is old enough, and no other is', async () => {
    const { service, owner, release } = place
    const made = await upload(owner, release, form('named', 'x'))
    const { objects } = service.context
    const forgotten = `attachments/ab/${crypto.randomUUID().replace(/^../, 'ab')}`
    await objects.put(forgotten, new Blob(['x']).stream(), { maxBytes: 10 })
    await runTask(place, 'delete_forgotten_attachments')
    expect(await objects.size(forgotten)).toBe(1)
    const later = { ...service.context, clock: { now: () => new Date(Date.now() + 25 * 3_600_000) } }
    for (const task of attachmentTasks) await task.run(later, new AbortController().signal)
    expect(await objects.size(forgotten)).toBeUndefined()
    expect((await load(place, made.string('browser_download_url'))).status).toBe(200)
  })
})

describe('files of releases', () => {
  let place: Place
  beforeAll(async () => {
    place = await openPlace()
  })
  afterAll(() => place.service.stop())

  /** A release of its own, so that no test fills another's. */
  let releases = 0
  const newRelease = (option: Record<string, unknown> = {}) => {
    releases += 1
    return makeRelease(place.owner, place.repo, { tag_name: `own${releases}`, ...option })
  }

  test('are shown with their release, wherever it is shown, and change its tag', async () => {
    const { service, owner } = place
    const release = await newRelease({ tag_name: 'shown/with' })
    const empty = await owner.client.get(release)
    const made = await upload(owner, release, form('a.txt', 'x'))
    const shown = await owner.client.get(release)
    expect(shown.body).toMatchObject({ assets: [made.body] })
    expect(shown.headers.get('etag')).not.toBe(empty.headers.get('etag'))
    expect((await owner.client.get(`${place.repo.path}/releases/tags/shown/with`)).body).toEqual(shown.body)
    expect((await owner.client.get(`${place.repo.path}/releases/latest`)).body).toEqual(shown.body)
    const list = (await service.anonymous.get(`${place.repo.path}/releases`)).body
    expect(Array.isArray(list) && list.find(({ tag_name }) => tag_name === 'shown/with')).toMatchObject({
      assets: [made.body],
    })
    expect((await owner.client.patch(release, { name: 'x' })).body).toMatchObject({ assets: [made.body] })
    await (await load(place, made.string('browser_download_url'))).bytes()
    const counted = await owner.client.get(release)
    expect(counted.number('assets.0.download_count')).toBe(1)
    expect(counted.headers.get('etag')).not.toBe(shown.headers.get('etag'))
    const path = `/${place.repo.owner}/${place.repo.name}/releases/download/shown/with/a.txt`
    expect(await (await load(place, path)).text()).toBe('x')
  })

  test('are told to hooks, also when the release is gone', async () => {
    const { service, owner } = place
    const sink = await openSink()
    // What happened before is nobody's news.
    await service.drain()
    const config = { url: `${sink.url}/hook`, content_type: 'json' }
    const hook = { type: 'gitea', active: true, events: ['release'], config }
    await owner.client.post(`${place.repo.path}/hooks`, hook)
    const release = await newRelease({ draft: true })
    const made = await upload(owner, release, form('a.txt', 'x'))
    await owner.client.patch(release, { draft: false })
    await owner.client.delete(release)
    await service.drain()
    expect(sink.received.map(({ json }) => json)).toMatchObject([
      { action: 'published', release: { assets: [made.body] } },
      { action: 'deleted', release: { assets: [made.body] } },
    ])
    await sink.close()
  })

  test('are taken as a form, as the body itself, and with the name in the query', async () => {
    const { owner } = place
    const release = await newRelease()
    const raw = (query: Record<string, string>, type: string) =>
      owner.client.request(`${release}/assets`, {
        method: 'POST',
        body: 'raw bytes',
        query,
        headers: { 'content-type': type },
      })
    expect((await raw({ name: 'raw.txt' }, 'application/octet-stream')).body).toMatchObject({
      name: 'raw.txt',
      size: 9,
    })
    expect((await raw({ name: 'other' }, 'application/json')).body).toMatchObject({ name: 'other', size: 9 })
    expect((await raw({}, 'application/octet-stream')).status).toBe(400)
    const several = form('first', 'not this', 'other')
    several.append('note', 'a field')
    several.append('attachment', new File(['this'], 'second'))
    several.append('attachment', new File(['nor this'], 'third'))
    expect((await upload(owner, release, several)).body).toMatchObject({ name: 'second', size: 4 })
    expect((await upload(owner, release, form('x', 'this'), { name: 'told' })).body).toMatchObject({ name: 'told' })
    expect((await upload(owner, release, form('x', 'this', 'other'))).status).toBe(400)
    expect((await upload(owner, release, form('empty', ''))).body).toMatchObject({ name: 'empty', size: 0 })
    // The rest stays as it is.
    expect((await owner.client.get(`${release}/assets`)).body).toHaveLength(5)
  })

  test.each([
    ['../../etc/passwd', 201, 'passwd'],
    ['C:\\windows\\evil.exe', 201, 'evil.exe'],
    ['"quoted" \u00fc\ud83d\ude00.txt', 201, '"quoted" \u00fc\ud83d\ude00.txt'],
    ["'; drop table attachments; --", 201, "'; drop table attachments; --"],
    ['<script>alert(1)<', 201, '<script>alert(1)<'],
    ['a'.repeat(255), 201, 'a'.repeat(255)],
    ['a'.repeat(1000), 422, undefined],
    ['a\u202egnp.exe', 422, undefined],
    ['a\r\nset-cookie: x=1', 422, undefined],
    ['a\u0000b', 422, undefined],
    ['..', 422, undefined],
    ['folder/', 400, undefined],
    [' ', 400, undefined],
  ])('may be called %j: %d', async (name, status, kept) => {
    const release = await newRelease()
    const before = await stored(place)
    const made = await upload(place.owner, release, form('x', 'x'), { name })
    expect(made.status).toBe(status)
    if (kept === undefined) {
      expect((await place.owner.client.get(`${release}/assets`)).body).toEqual([])
      expect(await stored(place)).toEqual(before)
      return
    }
    expect(made.string('name')).toBe(kept)
    const answer = await load(place, made.string('browser_download_url'))
    expect([answer.status, await answer.text()]).toEqual([200, 'x'])
    expect(answer.headers.get('content-disposition')).toStartWith('attachment; filename')
    const tag = (await place.owner.client.get(release)).string('tag_name')
    const byName = `/${place.repo.owner}/${place.repo.name}/releases/download/${tag}/${encodeURIComponent(kept)}`
    expect((await load(place, byName)).status).toBe(200)
  })

  test.each([
    ['page.html', '<script>alert(1)</script>', 'text/plain; charset=utf-8', 'attachment; filename=page.html'],
    ['image.svg', '<svg onload="alert(1)"/>', 'text/plain; charset=utf-8', 'attachment; filename=image.svg'],
    ['text.png', 'no picture', 'text/plain; charset=utf-8', 'attachment; filename=text.png'],
    ['picture.exe', new Uint8Array(PNG), 'image/png', 'inline; filename=picture.exe'],
    ['doc', '%PDF-1.7', 'application/pdf', 'attachment; filename=doc'],
    ['empty', '', 'text/plain; charset=utf-8', 'attachment; filename=empty'],
  ])('%s can do nothing in a browser', async (name, content, type, disposition) => {
    const made = await upload(place.owner, await newRelease(), form(name, content))
    const { headers } = await load(place, made.string('browser_download_url'))
    expect(headers.get('content-type')).toBe(type)
    expect(headers.get('content-disposition')).toBe(disposition)
    expect(headers.get('content-security-policy')).toBe("default-src 'none'; style-src 'unsafe-inline'; sandbox")
    expect(headers.get('x-content-type-options')).toBe('nosniff')
  })

  test('of one name are several, and the address by name leads to the newest', async () => {
    const release = await newRelease({ tag_name: 'twice' })
    for (const content of ['old', 'new']) await upload(place.owner, release, form('same', content))
    const path = `/${place.repo.owner}/${place.repo.name}/releases/download/twice/same`
    expect(await (await load(place, path)).text()).toBe('new')
  })

  test('are renamed, but not to what cannot be', async () => {
    const release = await newRelease()
    const made = await upload(place.owner, release, form('a', 'x'))
    const at = `${release}/assets/${made.number('id')}`
    expect((await place.owner.client.patch(at, { name: '../b' })).body).toMatchObject({ name: 'b' })
    for (const name of ['a\u202eb', 'a'.repeat(256), '..', 'a\nb'])
      expect((await place.owner.client.patch(at, { name })).status).toBe(422)
    expect((await place.owner.client.patch(at, { name: 7 })).status).toBe(422)
    expect((await place.owner.client.patch(at, {})).body).toMatchObject({ name: 'b' })
  })

  test('that are too large or broken are refused, and leave nothing', async () => {
    const { owner } = place
    const release = await newRelease()
    const before = await stored(place)
    const large = new Uint8Array(1024 * 1024 + 1)
    expect((await upload(owner, release, form('large', large))).status).toBe(413)
    expect((await upload(owner, release, large, { name: 'large' })).status).toBe(413)
    const send = (type: string, body: string) =>
      owner.client.request(`${release}/assets`, { method: 'POST', body, headers: { 'content-type': type } })
    const part = '--b\r\nContent-Disposition: form-data; name="attachment"; filename="cut"\r\n\r\nhalf'
    expect((await send('multipart/form-data; boundary=b', part)).status).toBe(400)
    expect((await send('multipart/form-data; boundary=b', `${part}\r\n--b`)).status).toBe(400)
    expect((await send('multipart/form-data; boundary=b', 'nothing of a form')).status).toBe(400)
    expect((await send('multipart/form-data', part)).status).toBe(400)
    expect((await owner.client.get(`${release}/assets`)).body).toEqual([])
    expect(await stored(place)).toEqual(before)
    expect((await upload(owner, release, form('fits', large.slice(1)))).status).toBe(201)
  })

  test('whose sender leaves half-way leave nothing', async () => {
    const release = await newRelease()
    const before = await stored(place)
    const { objects } = place.service.context
    const target = new URL(`/api/v1${release}/assets?name=half`, place.service.url)
    const headers = { authorization: `token ${place.owner.token}`, 'content-length': '1000000' }
    const sending = open(target, { method: 'POST', headers })
    sending.on('error', () => undefined)
    sending.write(Buffer.alloc(500_000))
    await until(async () => (await unfinished(place)) > 0, 'the upload has begun')
    sending.destroy()
    await until(async () => (await unfinished(place)) === 0, 'what came is removed')
    expect(await stored(place)).toEqual(before)
    expect((await place.owner.client.get(`${release}/assets`)).body).toEqual([])
    expect(await objects.removeUnfinished(new Date())).toBe(0)
  })

  test('are as many as MAX_OWNED says, also of requests at one instant', async () => {
    const release = await newRelease()
    const before = await stored(place)
    const made = await Promise.all(Array.from({ length: 15 }, () => upload(place.owner, release, form('x', 'x'))))
    expect(made.filter(({ status }) => status === 201)).toHaveLength(12)
    const refused = made.find(({ status }) => status === 422)
    expect(refused?.string('message')).toBe('at most 12 files of a release (MAX_OWNED)')
    expect((await place.owner.client.get(`${release}/assets`)).body).toHaveLength(12)
    expect(await stored(place)).toHaveLength(before.length + 12)
  })

  test('are for those who may see the release, by every address', async () => {
    const { service, owner, reader, repo } = place
    const draft = await newRelease({ tag_name: 'hidden', draft: true })
    const made = await upload(owner, draft, form('secret', 'x'))
    const uuid = made.string('uuid')
    const addresses = [
      `/attachments/${uuid}`,
      `/${repo.owner}/${repo.name}/attachments/${uuid}`,
      `/${repo.owner}/${repo.name}/releases/download/hidden/secret`,
    ]
    const statuses = async (user: TestUser | undefined) => {
      const headers: Record<string, string> = user ? { authorization: `token ${user.token}` } : {}
      const pages = addresses.map(async (address) => (await load(place, address, { headers })).status)
      const api = user ? user.client : service.anonymous
      const answers = [`${draft}/assets`, `${draft}/assets/${made.number('id')}`].map((path) => api.get(path))
      return [...(await Promise.all(pages)), ...(await Promise.all(answers)).map(({ status }) => status)]
    }
    expect(await statuses(owner)).toEqual([200, 200, 200, 200, 200])
    for (const user of [reader, undefined]) expect(await statuses(user)).toEqual([404, 404, 404, 404, 404])
    await owner.client.patch(draft, { draft: false })
    for (const user of [owner, reader, undefined]) expect(await statuses(user)).toEqual([200, 200, 200, 200, 200])
    await owner.client.patch(repo.path, { private: true })
    expect(await statuses(owner)).toEqual([200, 200, 200, 200, 200])
    for (const user of [reader, undefined]) expect(await statuses(user)).toEqual([404, 404, 404, 404, 404])
    // What is hidden reads as what is not there.
    const [hidden, absent] = [addresses[0] ?? '', `/attachments/${crypto.randomUUID()}`]
    const texts = await Promise.all([hidden, absent, '/attachments/x'].map((one) => load(place, one)))
    for (const answer of texts) expect([answer.status, await answer.text()]).toEqual([404, 'Not Found\n'])
    await owner.client.patch(repo.path, { private: false, has_releases: false })
    expect(await statuses(reader)).toEqual([404, 404, 404, 404, 404])
    await owner.client.patch(repo.path, { has_releases: true })
  })

  test('are not found by the address of another repository or release', async () => {
    const { owner, service } = place
    const release = await newRelease()
    const made = await upload(owner, release, form('x', 'x'))
    const other = await service.createRepository(owner)
    const elsewhere = await makeRelease(owner, other, { tag_name: 'v1' })
    const id = made.number('id')
    expect((await load(place, `/${other.owner}/${other.name}/attachments/${made.string('uuid')}`)).status).toBe(404)
    for (const at of [
      `${elsewhere}/assets/${id}`,
      `${other.path}/releases/${release.split('/').at(-1)}/assets/${id}`,
    ]) {
      expect((await owner.client.get(at)).status).toBe(404)
      expect((await owner.client.patch(at, { name: 'taken' })).status).toBe(404)
      expect((await owner.client.delete(at)).status).toBe(404)
    }
    expect((await owner.client.get(`${release}/assets/${id}`)).body).toMatchObject({ name: 'x' })
  })

  test('are changed by writers only, and not while the repository is archived', async () => {
    const { service, owner, reader, repo } = place
    const release = await newRelease()
    const at = `${release}/assets/${(await upload(owner, release, form('x', 'x'))).number('id')}`
    const before = await stored(place)
    const tries = async (user: TestUser['client']) => {
      const body = form('y', 'y')
      const posted = await user.request(`${release}/assets`, { method: 'POST', body })
      return [posted, await user.patch(at, { name: 'y' }), await user.delete(at)].map(({ status }) => status)
    }
    expect(await tries(service.anonymous)).toEqual([401, 401, 401])
    expect(await tries(reader.client)).toEqual([403, 403, 403])
    const basic = service.client({ basic: `${owner.name}:${owner.password}` })
    const token = await basic.post(`/users/${owner.name}/tokens`, { name: 'reads', scopes: ['read:repository'] })
    expect(await tries(service.client({ token: token.string('sha1') }))).toEqual([403, 403, 403])
    await owner.client.patch(repo.path, { archived: true })
    expect(await tries(owner.client)).toEqual([423, 423, 423])
    await owner.client.patch(repo.path, { archived: false })
    expect((await owner.client.get(`${release}/assets`)).body).toHaveLength(1)
    expect(await stored(place)).toEqual(before)
    expect((await upload(owner, `${repo.path}/releases/999999`, form('x', 'x'))).status).toBe(404)
    expect((await upload(owner, `${repo.path}/releases/abc`, form('x', 'x'))).status).toBe(404)
  })

  test('stay when their sender is deleted', async () => {
    const { service, owner, repo } = place
    const author = await service.createUser()
    await owner.client.put(`${repo.path}/collaborators/${author.name}`, { permission: 'write' })
    const release = await newRelease()
    const made = await upload(author, release, form('stays', 'x'))
    expect((await service.admin.client.delete(`/admin/users/${author.name}`)).status).toBe(204)
    expect(await (await load(place, made.string('browser_download_url'))).text()).toBe('x')
  })

  test('whose bytes are lost are not there, nobody is told that they are empty, and the doctor finds them', async () => {
    const made = await upload(place.owner, await newRelease(), form('lost', 'xyz'))
    const uuid = made.string('uuid')
    const key = `attachments/${uuid.slice(0, 2)}/${uuid}`
    const { objects } = place.service.context
    const faults = async () =>
      (await findFaults(place.service, true))
        .filter(({ subject }) => subject.startsWith('File '))
        .map(({ subject, detail }) => `${subject}: ${detail}`)
    expect(await faults()).toEqual([])
    await objects.remove(key)
    expect((await load(place, `/attachments/${uuid}`)).status).toBe(404)
    const name = `File "lost" (${made.number('id')})`
    expect(await faults()).toEqual([`${name}: its bytes are missing`])
    await objects.put(key, new Blob(['x']).stream(), { maxBytes: 1 })
    expect((await load(place, `/attachments/${uuid}`)).status).toBe(404)
    expect(await faults()).toEqual([`${name}: it has 1 bytes, not 3`])
    await objects.put(key, new Blob(['xyz']).stream(), { maxBytes: 3 })
    expect(await faults()).toEqual([])
  })
})

const unfinished = async ({ service }: Place): Promise<number> => {
  return (await readdir(`${service.context.config.objectsDir}/.uploads`)).length
}

test('endings that are not allowed are refused, when a file comes and when it is renamed', async () => {
  const place = await openPlace({ RELEASE_ALLOWED_TYPES: '.zip, .tar.gz' })
  const { owner, release } = place
  expect((await upload(owner, release, form('a.exe', 'x'))).status).toBe(422)
  expect((await upload(owner, release, form('a.exe', 'x'), { name: 'b.ZIP' })).status).toBe(201)
  const made = await upload(owner, release, form('a.tar.gz', 'x'))
  expect(made.status).toBe(201)
  expect((await owner.client.patch(`${release}/assets/${made.number('id')}`, { name: 'a.gz' })).status).toBe(422)
  await place.service.stop()
})

test('where files are switched off, none is taken, and those there are stay', async () => {
  const place = await openPlace({ ATTACHMENT_ENABLED: 'false' })
  expect((await upload(place.owner, place.release, form('a', 'x'))).status).toBe(404)
  expect((await place.owner.client.get(`${place.release}/assets`)).body).toEqual([])
  await place.service.stop()
})

test('while the bucket is away files are 503, and everything else is well', async () => {
  const place = await openPlace(s3.settings)
  const { owner, release } = place
  const made = await upload(owner, release, form('a', 'x'))
  s3.failWith = new Response('<Error><Code>SlowDown</Code><Message>later</Message></Error>', { status: 503 })
  const refused = await upload(owner, release, form('b', 'x'))
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5'])
  expect((await load(place, made.string('browser_download_url'))).status).toBe(503)
  expect((await owner.client.get(release)).body).toMatchObject({ assets: [{ name: 'a' }] })
  expect((await owner.client.delete(`${release}/assets/${made.number('id')}`)).status).toBe(204)
  s3.failWith = undefined
  expect((await owner.client.get(`${release}/assets`)).body).toEqual([])
  await place.service.stop()
})
