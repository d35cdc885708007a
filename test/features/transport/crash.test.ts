import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdir, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { and, eq } from 'drizzle-orm'
import { events } from '../../../db/schema/events.ts'
import { pushes } from '../../../db/schema/refs.ts'
import { repairPushes } from '../../../src/features/refs/repair.ts'
import { insertPush } from '../../../src/features/refs/store.ts'
import { storagePath } from '../../../src/git/storage.ts'
import { startTestService, type TestService, type TestUser } from '../../harness/service.ts'
import { until } from '../../harness/until.ts'
import { commit, type Hosted, hostRepository, workTree } from './hosted.ts'
import { processesWith, startReplica } from './replica.ts'

/** More of them by hand: `CRASH_ROUNDS=100 bun test ...`. */
const ROUNDS = Number(process.env.CRASH_ROUNDS ?? 4)

let service: TestService
let owner: TestUser
beforeAll(async () => {
  service = await startTestService()
  owner = await service.createUser()
})
afterAll(() => service.stop())

const never = new AbortController().signal
const folderOf = ({ id }: Hosted) => join(service.context.config.repositoriesDir, storagePath(id))
const openPushes = ({ id }: Hosted) => service.context.db.$count(pushes, eq(pushes.repositoryId, id))
const laterContext = () => ({
  ...service.context,
  clock: { now: () => new Date(Date.now() + (service.context.config.gitTimeoutSeconds + 300) * 1000) },
})

describe('a server killed in the middle of pushes', () => {
  test(
    'loses no push that was answered, and the next start records what git did',
    async () => {
      const repo = await hostRepository(service, owner)
      const names = ['one', 'two']
      const trees = await Promise.all(names.map(() => workTree(service.git)))
      const answered = new Map<string, string>()
      const allAnswered: string[] = []
      for (let round = 0; round < ROUNDS; round++) {
        const replica = await startReplica(service)
        expect(await repo.rowLines()).toEqual(await repo.diskLines())
        const url = repo.as(owner).replace(new URL(service.url).host, new URL(replica.url).host)
        let isOver = false
        const pushers = names.map(async (name, index) => {
          const cwd = trees[index] ?? ''
          while (!isOver) {
            const sha = await commit(service.git, cwd, { [`${name}.txt`]: crypto.randomUUID() })
            const run = await service.git.run(['push', '-q', url, `HEAD:refs/heads/${name}`], { cwd })
            if (run.exitCode !== 0) continue
            answered.set(name, sha)
            allAnswered.push(sha)
          }
        })
        // Some pushes are answered first, however busy the machine is; the kill then comes at any moment of the next.
        const before = allAnswered.length
        await until(() => allAnswered.length > before + 1, 'pushes are answered', 60_000)
        await Bun.sleep(Math.random() * 400)
        await replica.kill()
        isOver = true
        await Promise.all(pushers)
        // What git has begun it may end without its server.
        await until(() => processesWith(folderOf(repo)).length === 0, 'git ends with its server')
      }
      await (await startReplica(service)).stop()
      expect(answered.size).toBe(2)
      expect(await repo.rowLines()).toEqual(await repo.diskLines())
      for (const [name, sha] of answered)
        expect(await service.context.git.isAncestor(repo.id, sha, `refs/heads/${name}`)).toBe(true)
      const told = await service.context.db
        .select({ payload: events.payload })
        .from(events)
        .where(and(eq(events.repositoryId, repo.id), eq(events.kind, 'push')))
      const moved = new Set(told.map(({ payload }) => Object(payload).newSha))
      expect(allAnswered.filter((sha) => !moved.has(sha))).toEqual([])
      expect(await service.context.git.fsck(repo.id)).toEqual({ isSound: true, problems: [] })
      await repairPushes(laterContext(), never)
      expect(await openPushes(repo)).toBe(0)
    },
    60_000 + ROUNDS * 10_000,
  )

  test('leaves an intent, by which a push without its bookkeeping is found', async () => {
    const repo = await hostRepository(service, owner)
    const cwd = await workTree(service.git)
    const head = await service.git(['rev-parse', 'HEAD'], { cwd })
    // What such a server has done: the intent is written, git has moved the ref.
    const { ownerId } = await repo.row()
    await insertPush(service.context.db, { repositoryId: repo.id, pusherId: ownerId, clock: service.context.clock })
    await service.git(['push', '-q', folderOf(repo), 'HEAD:refs/heads/topic'], { cwd })
    await repairPushes(service.context, never)
    expect(await repo.rowLines()).toEqual([`branch topic ${head}`])
    expect(await repo.row()).toMatchObject({ isEmpty: false, defaultBranch: 'topic', branchCount: 1 })
    expect((await repo.refRows())[0]?.pusherId).toBe(ownerId)
    // Its git may still be at work, so the repository is compared again for as long as one can live.
    expect(await openPushes(repo)).toBe(1)
    await repairPushes(laterContext(), never)
    expect(await openPushes(repo)).toBe(0)
  })

  test('is repaired at once also where it died while HEAD or the branch was locked', async () => {
    const repo = await hostRepository(service, owner)
    const cwd = await workTree(service.git)
    const head = await service.git(['rev-parse', 'HEAD'], { cwd })
    const { ownerId } = await repo.row()
    await insertPush(service.context.db, { repositoryId: repo.id, pusherId: ownerId, clock: service.context.clock })
    await service.git(['push', '-q', folderOf(repo), 'HEAD:refs/heads/first'], { cwd })
    for (const name of ['HEAD.lock', 'refs/heads/first.lock']) await Bun.write(join(folderOf(repo), name), '')
    await repairPushes(service.context, never)
    expect(await repo.rowLines()).toEqual([`branch first ${head}`])
    expect(await service.context.git.getHead(repo.id)).toBe('refs/heads/first')
  })
})

/** Begins a push that never ends: the commands and the head of a pack, then silence. */
function stalledPush(repo: Hosted, signal?: AbortSignal): Promise<Response> {
  const line = `${'0'.repeat(40)} ${'1'.repeat(40)} refs/heads/stalled\0report-status side-band-64k`
  const head = `${(line.length + 4).toString(16).padStart(4, '0')}${line}0000`
  const pack = Buffer.concat([Buffer.from('PACK'), Buffer.from([0, 0, 0, 2, 0, 0, 0, 9])])
  const body = new ReadableStream<Uint8Array>({ start: (out) => out.enqueue(Buffer.concat([Buffer.from(head), pack])) })
  return fetch(`${repo.url}/git-receive-pack`, {
    method: 'POST',
    headers: { authorization: `token ${owner.token}`, 'content-type': 'application/x-git-receive-pack-request' },
    body,
    ...(signal && { signal }),
  })
}

const isReceiving = (repo: Hosted) => () => processesWith(`receive-pack --stateless-rpc ${folderOf(repo)}`).length > 0
/** Readers stay for the next question; they hold nothing. */
const isIdle = (repo: Hosted) => () => processesWith(`-pack --stateless-rpc ${folderOf(repo)}`).length === 0
const leftovers = async (repo: Hosted) =>
  (await readdir(folderOf(repo), { recursive: true })).filter((path) =>
    /^objects\/[^/]*incoming[^/]*$|\.lock$/.test(path),
  )

/** As if hours had passed for the files. */
async function age(repo: Hosted): Promise<void> {
  const past = new Date(Date.now() - 10 * 3600_000)
  for (const path of await leftovers(repo)) {
    const whole = join(folderOf(repo), path)
    const inside = path.endsWith('.lock') ? [] : await readdir(whole, { recursive: true })
    for (const name of ['', ...inside]) await utimes(join(whole, name), past, past)
  }
}

describe('an interrupted transfer', () => {
  test('a client that vanishes in a push takes git with it, and the intent goes', async () => {
    const repo = await hostRepository(service, owner)
    const client = new AbortController()
    const answer = stalledPush(repo, client.signal).then(
      (response) => response.text().catch(() => 'broken'),
      () => 'broken',
    )
    await until(isReceiving(repo), 'git takes the push')
    expect(await openPushes(repo)).toBe(1)
    client.abort()
    expect(await answer).toBe('broken')
    await until(isIdle(repo), 'git ends with its client')
    await age(repo)
    await repairPushes(laterContext(), never)
    expect(await openPushes(repo)).toBe(0)
    expect(await leftovers(repo)).toEqual([])
    await service.git(['push', '-q', repo.as(owner), 'HEAD:main'], { cwd: await workTree(service.git) })
  })

  test('a client that vanishes in a clone takes git with it', async () => {
    const repo = await hostRepository(service, owner)
    const files = Array.from({ length: 60 }, (_, index): [string, Uint8Array] => [
      `${index}.bin`,
      crypto.getRandomValues(new Uint8Array(65_000)),
    ])
    const cwd = await workTree(service.git, Object.fromEntries(files))
    const head = await service.git(['rev-parse', 'HEAD'], { cwd })
    await service.git(['push', '-q', repo.as(owner), 'main'], { cwd })
    const client = new AbortController()
    const response = await fetch(`${repo.url}/git-upload-pack`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-git-upload-pack-request' },
      body: `0032want ${head}\n00000009done\n`,
      signal: client.signal,
    })
    const reader = response.body?.getReader()
    await reader?.read()
    client.abort()
    await until(isIdle(repo), 'git ends with its client')
  })

  test('a killed git is told to the client, and the server goes on', async () => {
    const repo = await hostRepository(service, owner)
    const answer = stalledPush(repo).then((response) => response.text())
    await until(isReceiving(repo), 'git takes the push')
    for (const pid of processesWith(folderOf(repo))) process.kill(pid, 'SIGKILL')
    expect(await answer.catch(() => '')).not.toContain('unpack ok')
    await service.git(['push', '-q', repo.as(owner), 'HEAD:main'], { cwd: await workTree(service.git) })
    // A lock that such a git had taken: nobody else could move that branch.
    await Bun.write(join(folderOf(repo), 'refs/heads/main.lock'), '')
    const cwd = await workTree(service.git, { 'other.txt': 'x' })
    expect((await service.git.run(['push', '-q', '--force', repo.as(owner), 'HEAD:main'], { cwd })).exitCode).not.toBe(
      0,
    )
    await age(repo)
    await repairPushes(service.context, never)
    await service.git(['push', '-q', '--force', repo.as(owner), 'HEAD:main'], { cwd })
    expect(await repo.rowLines()).toEqual(await repo.diskLines())
  })
})
