import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { asc, eq } from 'drizzle-orm'
import { events } from '../../../db/schema/events.ts'
import { pushes } from '../../../db/schema/refs.ts'
import { licenseTexts } from '../../../src/templates/license-texts.ts'
import { startTestService, type TestService, type TestUser } from '../../harness/service.ts'
import { commit, type Hosted, hostRepository, workTree } from './hosted.ts'

let service: TestService
let owner: TestUser
beforeAll(async () => {
  service = await startTestService()
  owner = await service.createUser()
})
afterAll(() => service.stop())

const eventsOf = async ({ id }: Hosted) => {
  const { db } = service.context
  return db.select().from(events).where(eq(events.repositoryId, id)).orderBy(asc(events.id))
}
const openPushes = () => service.context.db.select().from(pushes)

describe('a push', () => {
  test('fills an empty repository: rows, counters, events and no open intent', async () => {
    const { git } = service
    const repo = await hostRepository(service, owner)
    const cwd = await workTree(git)
    const head = await git(['rev-parse', 'HEAD'], { cwd })
    await git(['push', repo.as(owner), 'main'], { cwd })
    const row = await repo.row()
    expect(row).toMatchObject({ isEmpty: false, branchCount: 1, defaultBranch: 'main' })
    const [main] = await repo.refRows()
    expect(main).toMatchObject({ kind: 'branch', name: 'main', sha: head })
    expect(main?.commit).toMatchObject({ message: 'change README.md\n', authorName: 'Test' })
    expect(main?.pusherId).toBe(row.ownerId)
    const told = await eventsOf(repo)
    expect(told.map(({ kind }) => kind)).toEqual(['ref.created', 'push'])
    expect(told[1]?.payload).toMatchObject({
      ref: 'refs/heads/main',
      oldSha: '0'.repeat(40),
      newSha: head,
      commitsCount: 1,
      isForced: false,
      commits: [{ sha: head, authorEmail: 'test@localhost.localdomain' }],
    })
    expect(told[1]?.actorId).toBe(row.ownerId)
    expect(await openPushes()).toEqual([])
    await service.drain()
    expect((await repo.row()).sizeBytes).toBeGreaterThan(1000)
  })

  test('makes the first branch the default one where the wanted default is not pushed', async () => {
    const repo = await hostRepository(service, owner)
    const cwd = await workTree(service.git)
    await service.git(['push', repo.as(owner), 'main:refs/heads/z/first', 'main:refs/heads/a'], { cwd })
    const { defaultBranch } = await repo.row()
    expect(['a', 'z/first']).toContain(defaultBranch)
    expect(await service.context.git.getHead(repo.id)).toBe(`refs/heads/${defaultBranch}`)
    await service.git(['push', repo.as(owner), 'main'], { cwd })
    expect((await repo.row()).defaultBranch).toBe(defaultBranch)
  })

  test('moves, forces, tags and deletes, and each is told as what it is', async () => {
    const { git } = service
    const repo = await hostRepository(service, owner)
    const cwd = await workTree(git)
    const first = await git(['rev-parse', 'HEAD'], { cwd })
    const url = repo.as(owner)
    await git(['push', url, 'main', 'main:side'], { cwd })
    const second = await commit(git, cwd, { 'a.txt': 'a' })
    await git(['tag', '-a', 'v1', '-m', 'one'], { cwd })
    await git(['push', url, 'main', 'v1'], { cwd })
    await git(['commit', '-q', '--amend', '-m', 'other'], { cwd })
    const refused = await git.run(['push', url, 'main'], { cwd })
    expect(refused.exitCode).not.toBe(0)
    await git(['push', '--force', url, 'main'], { cwd })
    await git(['push', url, ':side'], { cwd })
    const amended = await git(['rev-parse', 'HEAD'], { cwd })
    const tag = await git(['rev-parse', 'v1'], { cwd })
    expect(await repo.rowLines()).toEqual([`branch main ${amended}`, `tag v1 ${tag}`])
    expect(await repo.diskLines()).toEqual(await repo.rowLines())
    const [, tagRow] = await repo.refRows()
    expect(tagRow?.commit?.message).toBe('change a.txt\n')
    expect((await repo.row()).branchCount).toBe(1)
    const told = (await eventsOf(repo)).map(({ kind, payload }) => ({ kind, ...Object(payload) }))
    expect(told.map(({ kind, ref }) => `${kind} ${ref}`)).toEqual([
      'ref.created refs/heads/main',
      'push refs/heads/main',
      'ref.created refs/heads/side',
      'push refs/heads/side',
      'push refs/heads/main',
      'push refs/tags/v1',
      'ref.created refs/tags/v1',
      'push refs/heads/main',
      'ref.deleted refs/heads/side',
      'push refs/heads/side',
    ])
    expect(told[4]).toMatchObject({ oldSha: first, newSha: second, commitsCount: 1, isForced: false })
    expect(told[7]).toMatchObject({ oldSha: second, newSha: amended, commitsCount: 1, isForced: true })
    expect(told[8]).toMatchObject({ sha: first })
    expect(told[9]).toMatchObject({ newSha: '0'.repeat(40), commitsCount: 0 })
  })

  test('is followed by what its files say: size, languages, licenses', async () => {
    const { git } = service
    const repo = await hostRepository(service, owner)
    const mit = (await licenseTexts()).get('MIT')
    const files = { 'main.py': 'print(1)\n', tool: '#!/usr/bin/env ruby\nputs 1\nputs 2\n', LICENSE: mit ?? '' }
    const cwd = await workTree(git, files)
    await git(['push', '-q', repo.as(owner), 'main'], { cwd })
    await service.drain()
    expect(await repo.row()).toMatchObject({ language: 'Ruby', licenses: ['MIT'] })
    const answer = await service.anonymous.get(`/repos/${owner.name}/${repo.name}/languages`)
    expect(answer.body).toEqual({ Ruby: 34, Python: 9 })
    await git(['rm', '-q', 'tool', 'LICENSE'], { cwd })
    await git(['commit', '-q', '-m', 'less'], { cwd })
    await git(['push', '-q', repo.as(owner), 'main'], { cwd })
    await service.drain()
    expect(await repo.row()).toMatchObject({ language: 'Python', licenses: [] })
  })

  test('of 1,000 refs is recorded whole', async () => {
    const { git } = service
    const repo = await hostRepository(service, owner)
    const cwd = await workTree(git)
    const head = await git(['rev-parse', 'HEAD'], { cwd })
    // Written as git packs them: a thousand files of one line would take longer than the push.
    const lines = Array.from({ length: 1000 }, (_, index) => `${head} refs/heads/many/${index}`).sort()
    await Bun.write(
      join(cwd, '.git/packed-refs'),
      `# pack-refs with: peeled fully-peeled sorted \n${lines.join('\n')}\n`,
    )
    await git(['push', '-q', repo.as(owner), 'refs/heads/*:refs/heads/*'], { cwd })
    expect((await repo.row()).branchCount).toBe(1001)
    expect(await repo.rowLines()).toEqual(await repo.diskLines())
    expect(await eventsOf(repo)).toHaveLength(2002)
    await git(['push', '-q', repo.as(owner), ...Array.from({ length: 200 }, (_, index) => `:many/${index}`)], { cwd })
    expect((await repo.row()).branchCount).toBe(801)
  }, 120_000)

  test('with an unpacked, a zipped and a chunked body arrives', async () => {
    const { git } = service
    const repo = await hostRepository(service, owner)
    const cwd = await workTree(git, { 'big.bin': crypto.getRandomValues(new Uint8Array(60_000)) })
    // One byte of buffer: git asks first with a lone flush, then sends in chunks.
    await git(['-c', 'http.postBuffer=1', 'push', '-q', repo.as(owner), 'main'], { cwd })
    expect(await repo.rowLines()).toHaveLength(1)
    expect(await git(['ls-remote', repo.as(owner), 'main'], { cwd })).toContain('refs/heads/main')
  })

  test('in SHA-256 works where git knows it', async () => {
    const { git } = service
    const repo = await hostRepository(service, owner, { objectFormat: 'sha256' })
    const cwd = join(git.folder, 'sha256')
    await git(['init', '-q', '--object-format=sha256', cwd])
    const head = await commit(git, cwd, { 'a.txt': 'a' })
    await git(['push', '-q', repo.as(owner), 'main'], { cwd })
    expect(await repo.rowLines()).toEqual([`branch main ${head}`])
    await git(['clone', '-q', repo.as(owner), 'cloned256'])
  })

  test('of two pushers to one branch, one wins and the rows follow', async () => {
    const { git } = service
    const repo = await hostRepository(service, owner)
    const base = await workTree(git)
    await git(['push', '-q', repo.as(owner), 'main'], { cwd: base })
    for (let round = 0; round < 5; round++) {
      const both = await Promise.all(
        ['one', 'two'].map(async (name) => {
          const cwd = join(git.folder, `race-${name}-${round}`)
          await git(['clone', '-q', repo.as(owner), cwd])
          await commit(git, cwd, { [`${name}-${round}`]: name })
          return cwd
        }),
      )
      const runs = await Promise.all(both.map((cwd) => git.run(['push', '-q', repo.as(owner), 'main'], { cwd })))
      expect(runs.filter(({ exitCode }) => exitCode === 0)).toHaveLength(1)
      expect(await repo.rowLines()).toEqual(await repo.diskLines())
    }
    expect(await openPushes()).toEqual([])
    const told = (await eventsOf(repo)).filter(({ kind }) => kind === 'push')
    expect(told).toHaveLength(6)
  })
})
