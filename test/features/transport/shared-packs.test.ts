import { afterAll, expect, test } from 'bun:test'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestUser } from '../../harness/service.ts'
import { until } from '../../harness/until.ts'
import { commit } from './hosted.ts'
import { cloneRequest, openPrivateStage } from './private-stage.ts'

const data = { 'data.bin': crypto.getRandomValues(new Uint8Array(100_000)) }
const { service, owner, stranger, repo, cwd, ...stage } = await openPrivateStage(data)
let { head } = stage
afterAll(() => service.stop())

const folder = () => join(service.context.config.dataDir, 'cache/git', String(repo.id))
const cached = () => readdir(folder()).catch(() => [])

const cloneOf = (commit: string, user?: TestUser): Promise<Response> =>
  fetch(`${repo.url}/git-upload-pack`, { method: 'POST', ...cloneRequest(commit, ['no-progress'], user) })

const untilCached = () =>
  until(async () => (await cached()).some((name) => /^[0-9a-f]{64}$/.test(name)), 'a pack is cached')

test('a cached pack is answered as any other, to those who may read only', async () => {
  const made = await cloneOf(head, owner)
  await made.bytes()
  await untilCached()
  const sent = await cloneOf(head, owner)
  const bytes = await sent.bytes()
  expect(bytes.length).toBeGreaterThan(100_000)
  for (const name of ['content-type', 'cache-control', 'etag', 'x-content-type-options'])
    expect([name, sent.headers.get(name)]).toEqual([name, made.headers.get(name)])
  expect([(await cloneOf(head)).status, (await cloneOf(head, stranger)).status]).toEqual([401, 404])
})

test('whoever may read no more is not sent it any more', async () => {
  const path = `/repos/${owner.name}/${repo.name}/collaborators/${stranger.name}`
  expect((await owner.client.put(path, { permission: 'read' })).status).toBe(204)
  expect((await cloneOf(head, stranger)).status).toBe(200)
  expect((await owner.client.delete(path)).status).toBe(204)
  expect((await cloneOf(head, stranger)).status).toBe(404)
})

test('after a push, and after one by force, clones have what is there now', async () => {
  const clones = async () => {
    for (const name of ['one', 'two', 'three']) {
      await service.git(['clone', '-q', repo.as(owner), name])
      const cloned = join(service.git.folder, name)
      expect(await service.git(['rev-parse', 'HEAD'], { cwd: cloned })).toBe(head)
      await service.git(['fsck', '--full'], { cwd: cloned })
      await rm(cloned, { recursive: true })
    }
  }
  await clones()
  head = await commit(service.git, cwd, { 'new.txt': 'new' })
  await service.git(['push', '-q', repo.as(owner), 'main'], { cwd })
  await clones()
  await service.git(['reset', '-q', '--hard', 'HEAD~1'], { cwd })
  head = await commit(service.git, cwd, { 'other.txt': 'other' })
  await service.git(['push', '-q', '--force', repo.as(owner), 'main'], { cwd })
  await clones()
})

test('the periodic task cleans up, and nothing of a deleted repository stays', async () => {
  expect((await cached()).length).toBeGreaterThan(0)
  expect((await service.admin.client.post('/admin/cron/git_cache_cleanup')).status).toBe(204)
  await service.drain()
  expect((await cached()).length).toBeGreaterThan(0)
  expect((await owner.client.delete(`/repos/${owner.name}/${repo.name}`)).status).toBe(204)
  await service.drain()
  expect(await cached()).toEqual([])
  expect((await cloneOf(head, owner)).status).toBe(404)
})
