import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { encodePacket, FLUSH } from '../../../src/git/packet.ts'
import { storagePath } from '../../../src/git/storage.ts'
import { cpuMs } from '../../harness/cpu.ts'
import { startTestService, type TestService, type TestUser } from '../../harness/service.ts'
import { deltaBomb } from './delta-bomb.ts'
import { commit, type Hosted, hostRepository, workTree } from './hosted.ts'

let service: TestService
let owner: TestUser
let repo: Hosted
let cwd: string
let head: string

beforeAll(async () => {
  service = await startTestService({
    settings: {
      MAX_PUSH_BYTES: '2000000',
      MAX_BODY_BYTES: '100000',
      REQUEST_TIMEOUT_SECONDS: '2',
      GIT_MAX_MEMORY_BYTES: '128MiB',
    },
  })
  owner = await service.createUser()
  repo = await hostRepository(service, owner)
  cwd = await workTree(service.git)
  head = await service.git(['rev-parse', 'HEAD'], { cwd })
  await service.git(['push', '-q', repo.as(owner), 'main'], { cwd })
})
afterAll(() => service.stop())

interface Sent {
  body: BodyInit
  type?: string
  headers?: Record<string, string>
}

function send(service: 'upload-pack' | 'receive-pack', { body, type, headers }: Sent): Promise<Response> {
  return fetch(`${repo.url}/git-${service}`, {
    method: 'POST',
    headers: {
      authorization: `token ${owner.token}`,
      'content-type': type ?? `application/x-git-${service}-request`,
      ...headers,
    },
    body,
  })
}

const zeros = '0'.repeat(40)
const command = (ref: string, next = head) =>
  Buffer.concat([encodePacket(`${zeros} ${next} ${ref}\0report-status side-band-64k`), FLUSH])

describe('a push that names what it may not', () => {
  test.each([
    ['refs/pull/1/head', 'read-only'],
    ['refs/hidden/x', 'reserved'],
    ['refs/heads/HEAD', 'invalid branch name'],
    ['refs/heads/refs/heads/x', 'invalid branch name'],
    ['refs/heads/-x', 'invalid ref name'],
    ['refs/heads/safe\u202egnp.x', 'invalid branch name'],
    ['refs/tags/v1\u2066', 'invalid tag name'],
  ])('%s is refused with a reason that git prints', async (ref, reason) => {
    const run = await service.git.run(['push', repo.as(owner), `main:${ref}`, 'main:innocent'], { cwd })
    expect(run.exitCode).not.toBe(0)
    expect(run.stderr).toContain(reason)
    expect(run.stderr).toContain('another ref')
    expect(await repo.diskLines()).toEqual([`branch main ${head}`])
  })

  test.each(['HEAD', 'config', '../../x', 'refs/heads/a..b', 'refs/heads/x.lock', 'refs/heads/\u0007', 'refs/x'])(
    'the raw name %p is refused before git is started',
    async (ref) => {
      const answer = await send('receive-pack', { body: command(ref) })
      expect(answer.status).toBe(200)
      expect(await answer.text()).toContain('invalid ref name')
      expect(await repo.diskLines()).toEqual([`branch main ${head}`])
    },
  )

  test('a name that reads as another one, from before it was refused, can be deleted', async () => {
    const ref = 'refs/heads/safe\u202egnp.x'
    await service.context.git.updateRefs(repo.id, [{ ref, new: head }])
    const run = await service.git.run(['push', repo.as(owner), `:${ref}`], { cwd })
    expect([run.exitCode, run.stderr]).toEqual([0, expect.stringContaining('[deleted]')])
    expect(await repo.diskLines()).toEqual([`branch main ${head}`])
  })

  test('the default branch cannot be deleted', async () => {
    const run = await service.git.run(['push', repo.as(owner), ':main'], { cwd })
    expect(run.exitCode).not.toBe(0)
    expect(run.stderr).toContain('refusing to delete the current branch')
    expect(await repo.rowLines()).toEqual([`branch main ${head}`])
  })
})

describe('a request that is no honest one', () => {
  test.each(['git-upload-archive', 'git-x', '', 'git-upload-pack%00', 'git-upload-pack;id', '--help'])(
    'service=%s is not offered',
    async (name) => {
      const answer = await fetch(`${repo.url}/info/refs?service=${name}`)
      expect(answer.status).toBe(403)
    },
  )

  test('two services at once are none', async () => {
    const answer = await fetch(`${repo.url}/info/refs?service=git-upload-pack&service=git-receive-pack`)
    expect(answer.status).toBe(403)
    const list = await fetch(`${repo.url}/info/refs?service[]=git-upload-pack`)
    expect(list.status).toBe(403)
  })

  test.each(['zzzz', '0003', '0001', 'fff1aaaa', '0004', '00', ''])('the packet %p is 400', async (text) => {
    const answer = await send('receive-pack', { body: text })
    expect(answer.status).toBe(400)
  })

  test('packets that make no sense do not reach git as a fetch either', async () => {
    const answer = await send('upload-pack', { body: 'zzzz' })
    expect([200, 400]).toContain(answer.status)
    expect(await answer.text()).not.toContain('PACK')
  })

  test('a lone flush is the question whether a push may come', async () => {
    const answer = await send('receive-pack', { body: '0000' })
    expect(answer.status).toBe(200)
    expect(await answer.text()).toBe('')
  })

  test.each(['application/x-www-form-urlencoded', 'text/plain', 'application/json'])(
    'a body of type %s is 415',
    async (type) => {
      expect((await send('receive-pack', { body: command('refs/heads/x'), type })).status).toBe(415)
      expect((await send('upload-pack', { body: '0000', type })).status).toBe(415)
    },
  )

  test('an unknown encoding is 415, a broken zip 400', async () => {
    const body = command('refs/heads/x')
    expect((await send('receive-pack', { body, headers: { 'content-encoding': 'br' } })).status).toBe(415)
    expect((await send('receive-pack', { body, headers: { 'content-encoding': 'gzip' } })).status).toBe(400)
  })

  test('a delta that stands for more than the memory of a command is refused, and nothing of it stays', async () => {
    const objects = join(service.context.config.repositoriesDir, storagePath(repo.id), 'objects')
    const before = readdirSync(objects, { recursive: true })
    const answer = await send('receive-pack', { body: Buffer.concat([command('refs/heads/bomb'), deltaBomb(128)]) })
    expect(answer.status).toBe(200)
    const text = await answer.text()
    expect(text).toContain('Out of memory')
    expect(text).toContain('ng refs/heads/bomb unpacker error')
    expect(readdirSync(objects, { recursive: true })).toEqual(before)
    expect(await repo.diskLines()).toEqual([`branch main ${head}`])
  })

  test('a zip bomb ends at the limit', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000))
    expect(bomb.length).toBeLessThan(100_000)
    const headers = { 'content-encoding': 'gzip' }
    const ms = await cpuMs(async () => {
      const pushed = await send('receive-pack', { body: bomb, headers })
      expect(pushed.status).toBeGreaterThanOrEqual(400)
      const fetched = await send('upload-pack', { body: bomb, headers })
      await fetched.text().catch(() => undefined)
    })
    expect(ms).toBeLessThan(5000)
  })

  test('a push above the limit is refused, announced or not', async () => {
    const folder = await workTree(service.git, { 'big.bin': crypto.getRandomValues(new Uint8Array(65_000)) })
    for (let index = 0; index < 50; index++)
      await Bun.write(`${folder}/${index}.bin`, crypto.getRandomValues(new Uint8Array(65_000)))
    await commit(service.git, folder, {})
    for (const buffer of ['100m', '1']) {
      const args = ['-c', `http.postBuffer=${buffer}`, 'push', repo.as(owner), `main:big${buffer}`]
      const run = await service.git.run(args, { cwd: folder })
      expect(run.exitCode).not.toBe(0)
    }
    expect(await repo.diskLines()).toEqual([`branch main ${head}`])
  })

  test('a hostile Git-Protocol header is ignored', async () => {
    for (const protocol of ['version=2 --upload-pack=x', 'x'.repeat(8000), '$(id)']) {
      const answer = await fetch(`${repo.url}/info/refs?service=git-upload-pack`, {
        headers: { 'git-protocol': protocol },
      })
      expect(answer.status).toBe(200)
      expect(await answer.text()).toStartWith('001e# service=git-upload-pack')
    }
  })

  test('a push whose commands do not come is ended', async () => {
    const started = performance.now()
    const body = new ReadableStream<Uint8Array>({ start: (out) => out.enqueue(Buffer.from('00')) })
    const answer = await send('receive-pack', { body })
    expect(answer.status).toBe(408)
    expect(performance.now() - started).toBeLessThan(10_000)
  })

  /** The body of a push of a folder's branch. */
  async function bodyOf(folder: string, ref: string): Promise<Buffer> {
    const sha = await service.git(['rev-parse', 'HEAD'], { cwd: folder })
    const packed = Bun.spawn(['git', 'pack-objects', '--revs', '--stdout', '-q'], {
      cwd: folder,
      stdin: Buffer.from(`${sha}\n`),
    })
    return Buffer.concat([command(ref, sha), Buffer.from(await new Response(packed.stdout).arrayBuffer())])
  }

  test('a push that keeps the pace may take longer than the time for one part', async () => {
    const folder = await workTree(service.git, { 'slow.bin': crypto.getRandomValues(new Uint8Array(60_000)) })
    for (let index = 0; index < 20; index++)
      await Bun.write(`${folder}/${index}.bin`, crypto.getRandomValues(new Uint8Array(60_000)))
    await commit(service.git, folder, {})
    const whole = await bodyOf(folder, 'refs/heads/slow')
    const pieces = Array.from({ length: 8 }, (_, index) => {
      const size = Math.ceil(whole.length / 8)
      return whole.subarray(index * size, (index + 1) * size)
    })
    // Slow is what is tested: eight parts of more than 128 KiB, each within the time for one, take longer than that all together.
    const body = new ReadableStream<Uint8Array>({
      async pull(out) {
        await Bun.sleep(400)
        const piece = pieces.shift()
        if (piece) out.enqueue(piece)
        else out.close()
      },
    })
    expect(await (await send('receive-pack', { body })).text()).toContain('ok refs/heads/slow')
    await service.git(['push', '-q', repo.as(owner), ':slow'], { cwd: folder })
  })

  test('a zipped push arrives', async () => {
    const folder = await workTree(service.git, { 'zipped.txt': 'zipped' })
    const zipped = gzipSync(await bodyOf(folder, 'refs/heads/zipped'))
    const answer = await send('receive-pack', { body: zipped, headers: { 'content-encoding': 'gzip' } })
    expect(await answer.text()).toContain('ok refs/heads/zipped')
    await service.git(['push', '-q', repo.as(owner), ':zipped'], { cwd: folder })
  })

  test('another method is 405', async () => {
    expect((await fetch(`${repo.url}/git-receive-pack`)).status).toBe(405)
    expect((await fetch(`${repo.url}/info/refs`, { method: 'POST' })).status).toBe(405)
  })
})
