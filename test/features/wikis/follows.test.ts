import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { cp, mkdir, readdir, rm, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { pushes } from '../../../db/schema/refs.ts'
import { repairPushes } from '../../../src/features/refs/repair.ts'
import { insertPush } from '../../../src/features/refs/store.ts'
import { repositoryTasks } from '../../../src/features/repository-maintenance/tasks.ts'
import { storagePath } from '../../../src/git/storage.ts'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../../harness/service.ts'
import { findFaults } from '../transport/twins.ts'
import { addPage, folderIdOf, wikiUrlOf, workTree } from './stage.ts'

/** A wiki goes where its repository goes, and is kept in order as that is. */
let service: TestService
let owner: TestUser
beforeAll(async () => {
  service = await startTestService()
  owner = await service.createUser()
})
afterAll(() => service.stop())

const never = new AbortController().signal
const root = () => service.context.config.repositoriesDir
const home = (path: string) => owner.client.get(`${path}/wiki/page/Home`)

async function withWiki(option = {}): Promise<TestRepository & { folderId: number; folder: string }> {
  const repo = await service.createRepository(owner, option)
  expect((await addPage(owner, repo, 'Home')).status).toBe(201)
  await service.drain()
  const folderId = (await folderIdOf(service, repo.id)) ?? 0
  return { ...repo, folderId, folder: join(root(), storagePath(folderId)) }
}

test('it is renamed and transferred with its repository, and old addresses lead on', async () => {
  const { path, name, cloneUrl } = await withWiki()
  await owner.client.patch(path, { name: `${name}-new` })
  expect((await home(`${path}-new`)).string('html_url')).toContain(`${name}-new/wiki/Home`)
  const old = cloneUrl.replace(/\.git$/, '.wiki.git')
  expect(await service.git(['ls-remote', old])).toContain('refs/heads/main')
  await owner.client.post('/orgs', { username: 'heirs' })
  expect((await owner.client.post(`${path}-new/transfer`, { new_owner: 'heirs' })).status).toBe(202)
  expect((await home(`/repos/heirs/${name}-new`)).string('html_url')).toContain(`/heirs/${name}-new/wiki/Home`)
  expect(await service.git(['ls-remote', old])).toContain('refs/heads/main')
})

test('forks and generated repositories begin without one', async () => {
  const { path, name } = await withWiki({ template: true })
  await owner.client.post('/orgs', { username: 'forkers' })
  expect((await owner.client.post(`${path}/forks`, { organization: 'forkers' })).status).toBe(202)
  await owner.client.patch(`/repos/forkers/${name}`, { has_wiki: true })
  expect((await home(`/repos/forkers/${name}`)).status).toBe(404)
  const option = { owner: owner.name, name: `${name}-made`, git_content: true }
  expect((await owner.client.post(`${path}/generate`, option)).status).toBe(201)
  expect((await home(`${path}-made`)).status).toBe(404)
})

test('it is deleted with its repository, folder and all', async () => {
  const { path, folder } = await withWiki()
  expect(existsSync(folder)).toBe(true)
  expect((await owner.client.delete(path)).status).toBe(204)
  await service.drain()
  expect(existsSync(folder)).toBe(false)
  expect(await findFaults(service)).toEqual([])
})

test('it counts into the size of the repository', async () => {
  const repo = await withWiki()
  const size = async () => (await owner.client.get(repo.path)).number('size')
  const before = await size()
  const cwd = await workTree(service, { 'Large.md': crypto.getRandomValues(new Uint8Array(300_000)).toString() })
  await service.git(['push', '-q', '--force', wikiUrlOf(repo), 'main'], { cwd })
  await service.drain()
  expect(await size()).toBeGreaterThan(before + 100)
  expect(await findFaults(service)).toEqual([])
})

test('what a killed push has left is cleaned, and the wiki takes changes again', async () => {
  const repo = await withWiki()
  const { clock, db } = service.context
  await insertPush(db, { repositoryId: repo.id, pusherId: null, isWiki: true, clock })
  const lock = join(repo.folder, 'refs/heads/main.lock')
  await Bun.write(lock, '')
  const past = new Date(clock.now().getTime() - 86_400_000)
  await utimes(lock, past, past)
  await repairPushes(service.context, never)
  expect(existsSync(lock)).toBe(false)
  expect(await db.$count(pushes)).toBe(1)
  expect((await addPage(owner, repo, 'Again')).status).toBe(201)
  const later = { now: () => new Date(clock.now().getTime() + 86_400_000) }
  await repairPushes({ ...service.context, clock: later }, never)
  expect(await db.$count(pushes)).toBe(0)
})

test('upkeep packs it, and the check of health and doctor see damage in it', async () => {
  const repo = await withWiki()
  for (let number = 0; number < 5; number += 1) await addPage(owner, repo, `Page ${number}`)
  const packs = async () =>
    (await readdir(join(repo.folder, 'objects/pack'))).filter((name) => name.endsWith('.pack')).length
  expect(await packs()).toBeGreaterThan(4)
  const task = (name: string) => repositoryTasks.find((one) => one.name === name)
  const weeks = { now: () => new Date(service.context.clock.now().getTime() + 30 * 86_400_000) }
  await task('git_gc_repos')?.run({ ...service.context, clock: weeks }, never)
  expect(await packs()).toBe(1)
  for (const name of await readdir(join(repo.folder, 'objects/pack')))
    await rm(join(repo.folder, 'objects/pack', name), { force: true })
  await task('repo_health_check')?.run({ ...service.context, clock: weeks }, never)
  const [checked] = await service.context.sql`select problems from repository_checks where repository_id = ${repo.id}`
  expect(String(checked?.problems)).toContain('wiki: ')
  const faults = await findFaults(service)
  expect(faults.map(({ detail }) => detail)).toEqual([expect.stringContaining('its wiki: ')])
  await owner.client.delete(repo.path)
  await service.drain()
})

test('doctor knows its folder, and makes an empty one where it is missing', async () => {
  const repo = await withWiki()
  expect(await findFaults(service)).toEqual([])
  await rm(repo.folder, { recursive: true })
  const faults = await findFaults(service, true)
  expect(faults.map(({ detail, isRepaired }) => [detail, isRepaired])).toContainEqual([
    `its wiki: ${storagePath(repo.folderId)} is missing`,
    true,
  ])
  expect((await home(repo.path)).status).toBe(404)
  expect((await addPage(owner, repo, 'Home')).status).toBe(201)
  await service.drain()
  expect(await findFaults(service)).toEqual([])
})

test('a folder NAME.wiki is adopted with NAME, or as the wiki of NAME', async () => {
  const { folder } = await withWiki()
  const place = async (name: string) => {
    const to = join(root(), owner.name, `${name}.git`)
    await mkdir(join(to, '..'), { recursive: true })
    await cp(folder, to, { recursive: true })
    return to
  }
  const adopt = async (name: string) =>
    (await service.admin.client.post(`/admin/unadopted/${owner.name}/${name}`)).status
  const [code, wiki] = [await place('old'), await place('old.wiki')]
  expect(await adopt('old')).toBe(204)
  expect([existsSync(code), existsSync(wiki)]).toEqual([false, false])
  expect((await home(`/repos/${owner.name}/old`)).status).toBe(200)
  await place('old.wiki')
  expect(await adopt('old.wiki')).toBe(409)
  expect(await adopt('nothing.wiki')).toBe(404)
  await service.createRepository(owner, { name: 'young' })
  await place('young.wiki')
  expect(await adopt('young.wiki')).toBe(204)
  expect((await home(`/repos/${owner.name}/young`)).status).toBe(200)
  await place('none.wiki')
  expect(await adopt('none.wiki')).toBe(422)
  // One that is damaged stays where it is.
  await place('torn')
  await rm(join(await place('torn.wiki'), 'objects'), { recursive: true })
  expect(await adopt('torn')).toBe(204)
  expect((await home(`/repos/${owner.name}/torn`)).status).toBe(404)
  expect(await adopt('torn.wiki')).toBe(422)
  await rm(join(root(), owner.name), { recursive: true })
  await service.drain()
  expect(await findFaults(service)).toEqual([])
})
