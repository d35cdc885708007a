import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { utimesSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { storagePath } from '../../../src/git/storage.ts'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../../harness/service.ts'
import { findFaults } from '../transport/twins.ts'
import { type Content, content, lfsOf, nameOf, pointerTo, storedKeys, uploaded } from './stage.ts'

const DAY_MS = 86_400_000
const clock = { time: Date.now(), now: () => new Date(clock.time) }

let service: TestService
let owner: TestUser
let other: TestUser
beforeAll(async () => {
  service = await startTestService({ clock, settings: { LFS_UNUSED_DAYS: '10' } })
  owner = await service.createUser('owner')
  other = await service.createUser('other')
})
afterAll(() => service.stop())

const at = (name: string, user?: TestUser) => lfsOf(service, name, user)

async function write(who: TestUser, path: string, file: string, text: string): Promise<string> {
  const made = await who.client.post(`${path}/contents/${file}`, { content: btoa(text) })
  expect(made.status).toBe(201)
  return made.string('content.sha')
}

/** An object with the file in Git that stands for it. */
async function committed(repo: TestRepository, file = 'large.bin'): Promise<Content> {
  const sent = await uploaded(at(`${repo.owner}/${repo.name}`, owner))
  await write(owner, repo.path, file, pointerTo(sent))
  return sent
}

async function collect(): Promise<void> {
  expect((await service.admin.client.post('/admin/cron/gc_lfs')).status).toBe(204)
  await service.drain()
}

const fileOf = async (named: Content): Promise<string> => {
  const key = (await storedKeys(service)).find((one) => one.includes(named.oid)) ?? ''
  return join(service.context.config.objectsDir, key)
}
const isStored = async (named: Content) => (await storedKeys(service)).some((key) => key.includes(named.oid))

describe('copies of a repository', () => {
  test('a fork has what its parent has, also when the parent is gone, and takes what comes there later', async () => {
    const source = await service.createRepository(owner, { name: 'source' })
    const first = await committed(source)
    expect((await other.client.post(`${source.path}/forks`, {})).status).toBe(202)
    expect((await at('other/source').get(first)).status).toBe(200)
    const later = await committed(source, 'later.bin')
    expect((await at('other/source').get(later)).status).toBe(404)
    expect((await other.client.post('/repos/other/source/merge-upstream', { branch: 'main' })).status).toBe(200)
    expect((await at('other/source').get(later)).status).toBe(200)
    expect((await owner.client.delete(source.path)).status).toBe(204)
    await collect()
    for (const sent of [first, later]) expect((await at('other/source').get(sent)).status).toBe(200)
    expect((await other.client.delete('/repos/other/source')).status).toBe(204)
    await collect()
    for (const sent of [first, later]) expect(await isStored(sent)).toBe(false)
  })

  test('what is made from a template has its objects with its files, and none without', async () => {
    const template = await service.createRepository(owner, { name: 'template', template: true })
    const sent = await committed(template)
    await owner.client.patch(template.path, { template: true, topics: [] })
    for (const [name, option, status] of [
      ['whole', { git_content: true }, 200],
      ['bare', { topics: true }, 404],
    ] as const) {
      const made = await other.client.post(`${template.path}/generate`, { owner: 'other', name, ...option })
      expect(made.status).toBe(201)
      expect((await at(`other/${name}`).get(sent)).status).toBe(status)
    }
  })

  test('a transfer and a rename take them along', async () => {
    const moved = await service.createRepository(owner, { name: 'moved' })
    const sent = await committed(moved)
    await owner.client.post('/orgs', { username: 'club' })
    expect((await owner.client.post(`${moved.path}/transfer`, { new_owner: 'club' })).status).toBe(202)
    expect((await at('club/moved').get(sent)).status).toBe(200)
  })
})

describe('an unused object', () => {
  const folderOf = ({ id }: TestRepository) => join(service.context.config.repositoriesDir, storagePath(id))

  test('goes after its days; one that a file stands for stays, and so does one that is in use again', async () => {
    const repo = await service.createRepository(owner, { name: 'busy' })
    const used = await committed(repo)
    const client = at('owner/busy', owner)
    const [unused, again] = [await uploaded(client), await uploaded(client)]
    clock.time += 9 * DAY_MS
    await collect()
    expect((await client.get(unused)).status).toBe(200)
    // A push that is about to come: git-lfs asks, and hears that it need not send it.
    expect(await client.one('upload', nameOf(again))).toEqual(nameOf(again))
    clock.time += 2 * DAY_MS
    const size = (await owner.client.get(repo.path)).number('size')
    await collect()
    expect([await isStored(used), await isStored(unused), await isStored(again)]).toEqual([true, false, true])
    expect((await client.get(unused)).status).toBe(404)
    expect(await client.one('upload', nameOf(unused))).toMatchObject({ actions: {} })
    expect((await owner.client.get(repo.path)).number('size')).toBeLessThanOrEqual(size)
    expect([...(await service.context.sql`select * from jobs where last_error <> ''`)]).toEqual([])
  })

  test('is one whose file Git has dropped, not before', async () => {
    const repo = await service.createRepository(owner, { name: 'branches' })
    await owner.client.post(`${repo.path}/branches`, { new_branch_name: 'side' })
    const sent = await uploaded(at('owner/branches', owner))
    const file = { content: btoa(pointerTo(sent)), branch: 'side' }
    await owner.client.post(`${repo.path}/contents/side.bin`, file)
    expect((await owner.client.delete(`${repo.path}/branches/side`)).status).toBe(204)
    clock.time += 11 * DAY_MS
    await collect()
    expect(await isStored(sent)).toBe(true)
    await service.git(['--git-dir', folderOf(repo), 'gc', '-q', '--prune=now'])
    clock.time += 11 * DAY_MS
    await collect()
    expect(await isStored(sent)).toBe(false)
  })

  test('is not known in a repository that is damaged: all stay', async () => {
    const repo = await service.createRepository(owner, { name: 'damaged' })
    const sent = await uploaded(at('owner/damaged', owner))
    await write(owner, repo.path, 'large.bin', pointerTo(sent))
    await service.git(['--git-dir', folderOf(repo), 'repack', '-qadk'])
    const packs = join(folderOf(repo), 'objects', 'pack')
    for await (const name of new Bun.Glob('*.{pack,idx}').scan(packs)) await rm(join(packs, name))
    clock.time += 11 * DAY_MS
    await collect()
    expect(await isStored(sent)).toBe(true)
    await owner.client.delete(repo.path)
  })
})

test('what an upload has left that did not end is removed, and never where most have no row', async () => {
  await uploaded(at('owner/busy', owner))
  const stray = content()
  const key = `lfs/${stray.oid.slice(0, 2)}/${stray.oid}-stray`
  await service.context.objects.put(key, new Blob([stray.bytes]).stream(), { maxBytes: 1000 })
  const file = join(service.context.config.objectsDir, key)
  utimesSync(file, clock.now(), clock.now())
  await collect()
  expect(await isStored(stray)).toBe(true)
  const old = new Date(clock.time - 2 * DAY_MS)
  utimesSync(file, old, old)
  await collect()
  expect(await isStored(stray)).toBe(false)
  const many = Array.from({ length: 30 }, (_, index) => `lfs/aa/${'a'.repeat(62)}${10 + index}-stray`)
  for (const one of many) {
    await service.context.objects.put(one, new Blob(['x']).stream(), { maxBytes: 1000 })
    utimesSync(join(service.context.config.objectsDir, one), old, old)
  }
  await collect()
  expect((await storedKeys(service)).filter((one) => one.endsWith('-stray'))).toHaveLength(30)
  for (const one of many) await service.context.objects.remove(one)
})

test('doctor finds a lost content; repaired, it can be sent anew', async () => {
  const repo = await service.createRepository(owner, { name: 'lossy' })
  const client = at('owner/lossy', owner)
  const [sent, kept] = [await committed(repo), await uploaded(client)]
  expect((await findFaults(service)).filter(({ subject }) => subject.startsWith('Git LFS'))).toEqual([])
  await rm(await fileOf(sent))
  expect((await client.get(sent)).status).toBe(410)
  expect((await owner.client.get(`${repo.path}/media/large.bin`)).status).toBe(410)
  const faults = async (isRepairing = false) =>
    (await findFaults(service, isRepairing)).filter(({ subject }) => subject.startsWith('Git LFS'))
  expect(await faults()).toMatchObject([{ subject: `Git LFS ${sent.oid.slice(0, 12)}`, isRepaired: false }])
  expect(await faults(true)).toMatchObject([{ isRepaired: true }])
  expect(await faults()).toEqual([])
  await uploaded(client, sent)
  expect((await client.get(sent)).status).toBe(200)
  expect((await client.get(kept)).status).toBe(200)
})

describe('files in Git', () => {
  test('media follows a pointer, raw does not, and what the repository does not have stays a pointer', async () => {
    const repo = await service.createRepository(owner, { name: 'files' })
    const sent = await uploaded(at('owner/files', owner), content('a text that is sent, not shown as a pointer'))
    const elsewhere = await uploaded(at('owner/busy', owner))
    await write(owner, repo.path, 'large.txt', pointerTo(sent))
    await write(owner, repo.path, 'elsewhere.txt', pointerTo(elsewhere))
    await write(owner, repo.path, 'lies.txt', pointerTo({ ...sent, size: 1 }))
    const read = (path: string, headers: Record<string, string> = {}) =>
      service.anonymous.request(`${repo.path}/${path}`, { headers })
    const text = new TextDecoder().decode(sent.bytes)
    const media = await read('media/large.txt')
    expect([media.status, media.text, media.headers.get('content-type')]).toEqual([
      200,
      text,
      'text/plain; charset=utf-8',
    ])
    expect(media.headers.get('content-disposition')).toBe('inline; filename=large.txt')
    expect((await read('media/large.txt', { range: 'bytes=2-5' })).text).toBe(text.slice(2, 6))
    expect((await read('media/large.txt', { 'if-none-match': `"${sent.oid}"` })).status).toBe(304)
    expect((await read('raw/large.txt')).text).toBe(pointerTo(sent))
    expect((await read('media/elsewhere.txt')).text).toBe(pointerTo(elsewhere))
    expect((await read('media/lies.txt')).text).toBe(pointerTo({ ...sent, size: 1 }))
    expect((await read('media/README.md')).text).toStartWith('# files')
    // A file that Git itself holds, and larger than is read at once.
    await write(owner, repo.path, 'plain.txt', 'z'.repeat(9 * 1024 * 1024))
    expect((await read('media/plain.txt', { range: 'bytes=0-3' })).text).toBe('zzzz')
    const page = await fetch(`${service.url}/owner/files/media/branch/main/large.txt`)
    expect(await page.text()).toBe(text)
    // Wire: an archive holds what Git holds.
    const archive = await fetch(`${service.url}/owner/files/archive/main.tar.gz`)
    const tar = Buffer.from(Bun.gunzipSync(new Uint8Array(await archive.arrayBuffer()))).toString()
    expect(tar).toContain(pointerTo(sent))
    expect(tar).not.toContain(text)
  })

  test('a push of a pointer whose object is not here is taken', async () => {
    const repo = await service.createRepository(owner, { name: 'early' })
    await write(owner, repo.path, 'early.bin', pointerTo(content()))
  })
})

test('an owner has so many bytes at most, counted once for each repository, also of two at the same time', async () => {
  const small = await startTestService({ settings: { LFS_MAX_OWNER_BYTES: '1000' } })
  try {
    const ann = await small.createUser('ann')
    for (const name of ['a', 'b']) await small.createRepository(ann, { name })
    const [a, b] = ['a', 'b'].map((name) => lfsOf(small, `ann/${name}`, ann))
    if (!a || !b) throw new Error('two repositories')
    const first = await uploaded(a, content('x'.repeat(400)))
    expect((await a.batch('upload', [{ ...nameOf(content()), size: 601 }])).status).toBe(507)
    const two = [content('y'.repeat(400)), content('z'.repeat(400))]
    const answers = await Promise.all(two.map((named, index) => [a, b][index]?.put(named)))
    expect(answers.map((answer) => answer?.status).sort()).toEqual([200, 507])
    expect(await storedKeys(small)).toHaveLength(2)
    // What is read elsewhere counts too.
    expect((await b.batch('upload', [nameOf(first)])).status).toBe(507)
    expect((await b.get(first)).status).toBe(404)
  } finally {
    await small.stop()
  }
})

test('with LFS_ENABLED=false nothing of it is there', async () => {
  const without = await startTestService({ settings: { LFS_ENABLED: 'false' } })
  try {
    const ann = await without.createUser('ann')
    await without.createRepository(ann, { name: 'a' })
    const client = lfsOf(without, 'ann/a', ann)
    expect((await client.batch('download', [])).status).toBe(404)
    expect((await client.send('/locks')).status).toBe(404)
    expect((await without.anonymous.get('/settings/repository')).body).toMatchObject({ lfs_disabled: true })
  } finally {
    await without.stop()
  }
})
