import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { serveFile } from '../../src/features/raw/serve.ts'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../harness/service.ts'

let service: TestService
let owner: TestUser
let repository: TestRepository
let path: string
let page: string
let head: string
/** Larger than what an idle cat-file process hands out at once. */
const large = new Uint8Array(randomBytes(3_000_000))
const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')

beforeAll(async () => {
  service = await startTestService()
  owner = await service.createUser()
  repository = await service.createRepository(owner)
  path = `/api/v1${repository.path}`
  page = `/${owner.name}/${repository.name}`
  const cwd = join(service.git.folder, 'work')
  const git = (...args: string[]) => service.git(args, { cwd })
  await service.git(['clone', '-q', repository.cloneUrl, cwd])
  const files: Record<string, string | Uint8Array> = {
    'a.txt': '0123456789',
    'page.html': '<script>alert(1)</script>',
    'image.svg': '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
    'fake.png': '<html><script>alert(1)</script></html>',
    'real.png': png,
    'BMx.txt': 'BM is a text',
    'doc.pdf': '%PDF-1.7\n',
    'binary.bin': Uint8Array.of(0, 1, 2, 3),
    'latin.txt': Uint8Array.of(0x66, 0xfc, 0x72),
    empty: '',
    'large.bin': large,
    'dir/"quoted" ü.txt': 'q',
  }
  for (const [name, content] of Object.entries(files)) await Bun.write(join(cwd, name), content)
  await symlink('/etc/passwd', join(cwd, 'link'))
  await git('add', '-A')
  await git('commit', '-qm', 'files')
  head = await git('rev-parse', 'HEAD')
  await git('tag', 'v1.0/x')
  await git('branch', 'a/b/c')
  await git('push', '-q', 'origin', 'main', 'a/b/c', 'v1.0/x')
})
afterAll(() => service.stop())

const load = (name: string, init?: RequestInit) => fetch(`${service.url}${path}/raw/${name}`, init)

describe('a file', () => {
  test('is found with the revision before its path, as older clients ask', async () => {
    for (const revision of ['main', 'a/b/c', 'v1.0/x', head, head.slice(0, 8)])
      for (const kind of ['raw', 'media'])
        expect(await (await fetch(`${service.url}${path}/${kind}/${revision}/a.txt`)).text()).toBe('0123456789')
    for (const none of ['main', 'main/none', 'gone/a.txt', 'branch/main/a.txt', 'HEAD/a.txt', '1234567/a.txt'])
      expect([none, (await load(none)).status]).toEqual([none, 404])
    expect((await load('main/a.txt?ref=main')).status).toBe(404)
  })

  test('comes byte for byte, as media too, and only its head where that is asked for', async () => {
    for (const kind of ['raw', 'media']) {
      const answer = await fetch(`${service.url}${path}/${kind}/large.bin`)
      expect(Buffer.compare(await answer.bytes(), large)).toBe(0)
    }
    const answer = await load('large.bin', { method: 'HEAD' })
    expect([answer.status, answer.headers.get('content-length')]).toEqual([200, String(large.length)])
    expect(await answer.text()).toBe('')
    expect(await (await load('empty')).text()).toBe('')
  })

  test.each([
    ['a.txt', 'text/plain; charset=utf-8', 'inline; filename=a.txt'],
    ['page.html', 'text/plain; charset=utf-8', 'inline; filename=page.html'],
    ['image.svg', 'text/plain; charset=utf-8', 'inline; filename=image.svg'],
    ['fake.png', 'text/plain; charset=utf-8', 'inline; filename=fake.png'],
    ['BMx.txt', 'text/plain; charset=utf-8', 'inline; filename=BMx.txt'],
    ['latin.txt', 'text/plain', 'inline; filename=latin.txt'],
    ['real.png', 'image/png', 'inline; filename=real.png'],
    ['doc.pdf', 'application/pdf', 'attachment; filename=doc.pdf'],
    ['binary.bin', 'application/octet-stream', 'attachment; filename=binary.bin'],
    [
      'dir/%22quoted%22%20%C3%BC.txt',
      'text/plain; charset=utf-8',
      "inline; filename*=UTF-8''%22quoted%22%20%C3%BC.txt",
    ],
  ])('%s can do nothing in a browser', async (name, type, disposition) => {
    const { headers } = await load(name)
    expect(headers.get('content-type')).toBe(type)
    expect(headers.get('content-disposition')).toBe(disposition)
    expect(headers.get('content-security-policy')).toBe("default-src 'none'; style-src 'unsafe-inline'; sandbox")
    expect(headers.get('x-content-type-options')).toBe('nosniff')
  })

  test('that the client has is not sent again, on another branch either', async () => {
    const etag = (await load('a.txt')).headers.get('etag') ?? ''
    for (const name of ['a.txt', 'a.txt?ref=a/b/c']) {
      const again = await load(name, { headers: { 'if-none-match': etag } })
      expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag])
    }
    expect((await load('page.html', { headers: { 'if-none-match': etag } })).status).toBe(200)
  })

  test('that is a link is its text', async () => {
    expect(await (await load('link')).text()).toBe('/etc/passwd')
  })
})

describe('a range', () => {
  test.each([
    ['bytes=2-4', 206, '234', 'bytes 2-4/10'],
    ['bytes=7-', 206, '789', 'bytes 7-9/10'],
    ['bytes=-3', 206, '789', 'bytes 7-9/10'],
    ['bytes=0-99', 206, '0123456789', 'bytes 0-9/10'],
    ['bytes=-99', 206, '0123456789', 'bytes 0-9/10'],
    ['bytes=0-0', 206, '0', 'bytes 0-0/10'],
    ['bytes=10-', 416, undefined, 'bytes */10'],
    ['bytes=-0', 416, undefined, 'bytes */10'],
    ['bytes=4-2', 200, '0123456789', null],
    ['bytes=1-2,4-5', 200, '0123456789', null],
    ['lines=1-2', 200, '0123456789', null],
    ['bytes=-', 200, '0123456789', null],
  ])('%s', async (range, status, text, contentRange) => {
    const answer = await load('a.txt', { headers: { range } })
    expect([answer.status, answer.headers.get('content-range')]).toEqual([status, contentRange])
    if (text !== undefined) expect(await answer.text()).toBe(text)
  })

  test('of a large file is cut out of the stream', async () => {
    const answer = await load('large.bin', { headers: { range: 'bytes=1234567-2345678' } })
    expect(answer.status).toBe(206)
    expect(Buffer.compare(await answer.bytes(), large.subarray(1_234_567, 2_345_679))).toBe(0)
  })

  test('of another state of the file is the whole file', async () => {
    const headers = { range: 'bytes=2-4', 'if-range': '"0000"' }
    expect((await load('a.txt', { headers })).status).toBe(200)
  })
})

describe('the address of a page', () => {
  test.each([
    ['branch/main/a.txt'],
    ['branch/a/b/c/a.txt'],
    ['branch/a%2Fb%2Fc/a.txt'],
    ['tag/v1.0/x/a.txt'],
    ['main/a.txt'],
    ['a/b/c/a.txt'],
    ['v1.0/x/a.txt'],
  ])('%s', async (address) => {
    for (const kind of ['raw', 'media'])
      expect(await (await fetch(`${service.url}${page}/${kind}/${address}`)).text()).toBe('0123456789')
  })

  test('names a commit by its id', async () => {
    expect(await (await fetch(`${service.url}${page}/raw/commit/${head}/a.txt`)).text()).toBe('0123456789')
    expect(await (await fetch(`${service.url}${page}/raw/${head}/a.txt`)).text()).toBe('0123456789')
  })

  test.each(['branch/gone/a.txt', 'branch/main', 'tag/main/a.txt', 'commit/', 'main', 'branch/main/..%2fa.txt'])(
    'that names nothing is not found: %s',
    async (address) => {
      expect((await fetch(`${service.url}${page}/raw/${address}`)).status).toBe(404)
    },
  )
})

describe('refused', () => {
  test.each(['gone', 'dir', '', '%2e%2e%2fconfig', '%2fetc%2fpasswd', 'a%00', 'link/x', '.git/HEAD'])(
    'what is no file: %s',
    async (name) => {
      expect((await load(name)).status).toBe(404)
    },
  )

  test('a hidden repository, in the words of a missing one', async () => {
    const hidden = await service.createRepository(owner, { private: true })
    const get = (url: string, headers = {}) => fetch(`${service.url}${url}`, { headers })
    for (const url of [
      `/api/v1${hidden.path}/raw/README.md`,
      `/${owner.name}/${hidden.name}/raw/branch/main/README.md`,
    ]) {
      expect((await get(url)).status).toBe(404)
      expect((await get(url, { authorization: `token ${owner.token}` })).status).toBe(200)
    }
  })
})

test('a client that goes away ends the child of Git', async () => {
  const leaving = new AbortController()
  const answer = await load('large.bin', { signal: leaving.signal })
  await answer.body?.getReader().read()
  leaving.abort()
  // The engine gives the place back only when its child is gone: all of them can be used again.
  const all = await Promise.all(Array.from({ length: 20 }, () => load('large.bin').then((one) => one.bytes())))
  expect(all.every((bytes) => bytes.length === large.length)).toBe(true)
})

test('one that goes away before the first bytes broke off, and nothing is wrong', async () => {
  const { git } = service.context
  const entry = await git.findEntry(repository.id, 'main', 'large.bin')
  if (entry === undefined) throw new Error('there is no such file')
  const leaving = new AbortController()
  const client = { key: 'address 192.0.2.1', isSignedIn: false }
  await rm(join(service.folder, 'data/cache/git', String(repository.id)), { recursive: true, force: true })
  const openBlob: typeof git.openBlob = async (...asked) => {
    const opened = await git.openBlob(...asked)
    leaving.abort()
    return opened
  }
  const request = new Request(`${service.url}${path}/raw/large.bin`, { signal: leaving.signal })
  const context = { ...service.context, git: { ...git, openBlob } }
  const answer = serveFile(context, request, { repositoryId: repository.id, entry, client })
  await expect(answer).rejects.toMatchObject({ kind: 'aborted' })
})
