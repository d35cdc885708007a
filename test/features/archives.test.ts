import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { readdir, rm, symlink, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { eq } from 'drizzle-orm'
import { repositories } from '../../db/schema/repositories.ts'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../harness/service.ts'
import { until } from '../harness/until.ts'

let service: TestService
let owner: TestUser
let repository: TestRepository
let work: string
let head: string

beforeAll(async () => {
  service = await startTestService({ settings: { GIT_CACHE_BYTES: '4MiB' } })
  owner = await service.createUser()
  repository = await service.createRepository(owner, { name: 'Mixed-Case' })
  work = join(service.git.folder, 'work')
  await service.git(['clone', '-q', repository.cloneUrl, work])
  await Bun.write(join(work, 'src/a.txt'), 'a')
  await Bun.write(join(work, 'docs/b.txt'), 'b')
  await Bun.write(join(work, 'noise.bin'), new Uint8Array(randomBytes(1_000_000)))
  await symlink('/etc/passwd', join(work, 'link'))
  head = await commitAll('files')
  await service.git(['push', '-q', 'origin', 'main', 'main:feature/x', 'main:refs/tags/v1'], { cwd: work })
})
afterAll(() => service.stop())

async function commitAll(message: string): Promise<string> {
  await service.git(['add', '-A'], { cwd: work })
  await service.git(['commit', '-qm', message], { cwd: work })
  return service.git(['rev-parse', 'HEAD'], { cwd: work })
}

const load = (name: string, init?: RequestInit) =>
  fetch(`${service.url}/api/v1${repository.path}/archive/${name}`, init)
const folder = () => join(service.folder, 'data/cache/git', String(repository.id))
const cached = async () => (await readdir(folder()).catch(() => [])).sort()
/** Nothing is cached before, and nothing is being written. */
const clear = () => rm(folder(), { recursive: true, force: true })

/** Names in an archive, in order, as tar tells them. */
async function list(bytes: Uint8Array, form: 'zip' | 'tar.gz'): Promise<string[]> {
  const file = join(service.folder, `list-${crypto.randomUUID()}.${form}`)
  await Bun.write(file, bytes)
  const command = form === 'zip' ? ['python3', '-m', 'zipfile', '-l', file] : ['tar', 'tzf', file]
  const text = await new Response(Bun.spawn(command).stdout).text()
  const lines =
    form === 'zip'
      ? text
          .split('\n')
          .slice(1)
          .map((line) => line.split(/\s{2,}|\s\d{4}-/)[0] ?? '')
      : text.split('\n')
  return lines.filter((line) => line !== '' && !line.endsWith('/')).sort()
}

const inside = ['README.md', 'docs/b.txt', 'link', 'noise.bin', 'src/a.txt'].map((name) => `mixed-case/${name}`)

describe('an archive', () => {
  test.each(['zip', 'tar.gz'] as const)('%s has what a clone has, in one folder', async (form) => {
    const first = await load(`main.${form}`)
    expect(first.status).toBe(200)
    expect(first.headers.get('content-type')).toBe(form === 'zip' ? 'application/zip' : 'application/gzip')
    expect(first.headers.get('content-disposition')).toBe(`attachment; filename=Mixed-Case-main.${form}`)
    const pinned = `${service.url}/api/v1${repository.path}/archive/${head}.${form}?rev=${head}`
    expect(first.headers.get('link')).toBe(`<${pinned}>; rel="immutable"`)
    const bytes = await first.bytes()
    expect(await list(bytes, form)).toEqual(inside)
    expect(Buffer.compare(await (await fetch(pinned)).bytes(), bytes)).toBe(0)
    const again = await load(`main.${form}`)
    expect(again.headers.get('content-length')).toBe(String(bytes.length))
    expect(Buffer.compare(await again.bytes(), bytes)).toBe(0)
  })

  test('is the one of the commit, whatever it is called', async () => {
    const tag = (await load('main.zip')).headers.get('etag')
    for (const name of ['feature/x.zip', 'feature%2Fx.zip', 'v1.zip', `${head}.zip`, `${head.slice(0, 10)}.zip`])
      expect((await load(name)).headers.get('etag')).toBe(tag)
    await clear()
    for (const name of ['feature/x.zip', 'v1.zip', `${head}.zip`]) await (await load(name)).bytes()
    await until(async () => (await cached()).every((name) => !name.startsWith('.')), 'nothing is being written')
    expect(await cached()).toHaveLength(1)
    expect((await load('feature/x.zip')).headers.get('content-disposition')).toBe(
      'attachment; filename=Mixed-Case-feature-x.zip',
    )
  })

  test('of some paths has only these', async () => {
    const answer = await load('main.tar.gz?path=src&path=docs/b.txt')
    expect(await list(await answer.bytes(), 'tar.gz')).toEqual(['mixed-case/docs/b.txt', 'mixed-case/src/a.txt'])
    expect((await load('main.tar.gz?path=gone')).status).toBe(404)
  })

  test('that the client has is not sent again, and parts of a cached one are', async () => {
    const whole = await load('main.zip')
    const etag = whole.headers.get('etag') ?? ''
    const bytes = await whole.bytes()
    expect((await load('main.zip', { headers: { 'if-none-match': etag } })).status).toBe(304)
    const part = await load('main.zip', { headers: { range: 'bytes=10-19', 'if-range': etag } })
    expect(part.status).toBe(206)
    expect(Buffer.compare(await part.bytes(), bytes.subarray(10, 20))).toBe(0)
    expect((await load('main.zip', { headers: { range: `bytes=${bytes.length}-` } })).status).toBe(416)
  })

  test('has its head told without being made', async () => {
    await Bun.write(join(work, 'src/a.txt'), 'other')
    await commitAll('head')
    await service.git(['push', '-q', 'origin', 'main'], { cwd: work })
    await clear()
    const answer = await load('main.zip', { method: 'HEAD' })
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/zip'])
    expect(answer.headers.get('content-length')).toBeNull()
    expect(await cached()).toEqual([])
  })

  test('is made once for many who ask at the same time', async () => {
    await Bun.write(join(work, 'more.bin'), new Uint8Array(randomBytes(1_000_000)))
    await commitAll('more')
    await service.git(['push', '-q', 'origin', 'main'], { cwd: work })
    await clear()
    const answers = await Promise.all(Array.from({ length: 12 }, () => load('main.zip').then((one) => one.bytes())))
    const [first] = answers
    expect(first?.length).toBeGreaterThan(2_000_000)
    expect(answers.every((bytes) => first !== undefined && Buffer.compare(bytes, first) === 0)).toBe(true)
    expect(await cached()).toHaveLength(1)
  })

  test('larger than all archives may be is not made', async () => {
    await Bun.write(join(work, 'huge.bin'), new Uint8Array(randomBytes(6_000_000)))
    await commitAll('huge')
    await service.git(['push', '-q', 'origin', 'main:huge'], { cwd: work })
    await clear()
    const cut = await load('huge.zip')
      .then((answer) => (answer.ok ? answer.bytes() : undefined))
      .catch(() => undefined)
    expect(cut).toBeUndefined()
    await until(async () => (await cached()).length === 0, 'nothing is left')
  })

  test('stands at the address of the page too', async () => {
    const answer = await fetch(`${service.url}/${owner.name}/Mixed-Case/archive/v1.tar.gz`)
    expect(await list(await answer.bytes(), 'tar.gz')).toEqual(inside)
  })
})

describe('refused', () => {
  test.each([
    ['main.rar', 400],
    ['main', 400],
    ['main.tar', 400],
    ['main.bundle', 400],
    ['gone.zip', 404],
    ['.zip', 404],
    ['--output=x.zip', 404],
    ['-x.tar.gz', 404],
    ['..%2f..%2fetc.zip', 404],
    ['main%00.zip', 404],
    ['main:src.zip', 404],
  ])('%s', async (name, status) => {
    expect((await load(name)).status).toBe(status)
  })

  test('a hidden repository and an empty one', async () => {
    const hidden = await service.createRepository(owner, { private: true })
    expect((await service.anonymous.get(`${hidden.path}/archive/main.zip`)).status).toBe(404)
    expect((await owner.client.request(`${hidden.path}/archive/main.zip`, { method: 'HEAD' })).status).toBe(200)
    const empty = await service.createRepository(owner, { auto_init: false })
    expect((await owner.client.get(`${empty.path}/archive/main.zip`)).status).toBe(404)
  })

  test('one that has become hidden, though it is cached', async () => {
    const { db } = service.context
    const mine = eq(repositories.id, repository.id)
    await (await load('v1.zip')).bytes()
    await db.update(repositories).set({ isPrivate: true }).where(mine)
    expect((await load('v1.zip')).status).toBe(404)
    await db.update(repositories).set({ isPrivate: false }).where(mine)
  })
})

describe('the cleaning', () => {
  const clean = () => service.context.git.cleanStreams()

  test('takes what nobody has asked for in a day, and what was left half made', async () => {
    await clear()
    await (await load('v1.zip')).bytes()
    await (await load('v1.tar.gz')).bytes()
    await until(async () => (await cached()).filter((name) => !name.startsWith('.')).length === 2, 'both are cached')
    const [first = '', second = ''] = await cached()
    await Bun.write(join(folder(), '.part-left'), 'x')
    const yesterday = new Date(Date.now() - 25 * 3600 * 1000)
    for (const name of [first, '.part-left']) await utimes(join(folder(), name), yesterday, yesterday)
    await clean()
    expect(await cached()).toEqual([second])
  })

  test('keeps the newest that fit', async () => {
    await clear()
    for (const [index, name] of ['old', 'middle', 'new'].entries()) {
      await Bun.write(join(folder(), name), new Uint8Array(1_900_000))
      const used = new Date(Date.now() + (index + 1) * 1000)
      await utimes(join(folder(), name), used, used)
    }
    await clean()
    expect(await cached()).toEqual(['middle', 'new'])
  })
})
