import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { eq } from 'drizzle-orm'
import { events } from '../../../db/schema/events.ts'
import { pushes } from '../../../db/schema/refs.ts'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../../harness/service.ts'
import { addKey, makeKey, sshPrograms, withKey } from '../../harness/ssh.ts'
import { addPage, base64, folderIdOf, wikiUrlAs, wikiUrlOf, workTree } from './stage.ts'

let service: TestService
let owner: TestUser
let reader: TestUser
beforeAll(async () => {
  const settings = { SSH_ENABLED: 'true', SSH_PORT: '0', MAX_REFS: '5', MAX_PUSH_BYTES: '1000000' }
  service = await startTestService({ settings })
  owner = await service.createUser()
  reader = await service.createUser()
})
afterAll(() => service.stop())

const cloneTo = () => join(service.git.folder, crypto.randomUUID())
const titles = async (repo: TestRepository) => {
  const { body } = await owner.client.get(`${repo.path}/wiki/pages`)
  return Array.isArray(body) ? body.map(({ title }) => String(title)) : body
}
const openPushes = () => service.context.db.$count(pushes)

async function expectSound(repo: TestRepository): Promise<void> {
  const folderId = (await folderIdOf(service, repo.id)) ?? 0
  expect(await service.context.git.fsck(folderId, { isFull: true })).toEqual({ isSound: true, problems: [] })
  expect(await openPushes()).toBe(0)
}

const ways = ['http', ...sshPrograms] as const

describe.each(ways.map((way) => [way.split(' ')[0] ?? '', way] as const))('by %s', (name, way) => {
  const key = () => makeKey(service)
  /** Git with the credentials of the owner, and the address that they are good for. */
  async function access(repo: TestRepository) {
    if (name === 'http') return { url: wikiUrlOf(repo), env: {} }
    const own = key()
    await addKey(owner, own)
    return { url: `${service.context.sshRoot}${repo.owner}/${repo.name}.wiki.git`, env: withKey(own, way) }
  }

  test('a wiki that was begun by the API is cloned, changed and pushed', async () => {
    const repo = await service.createRepository(owner, { private: true })
    await addPage(owner, repo, 'Second page', 'by the API')
    const { url, env } = await access(repo)
    const cwd = cloneTo()
    await service.git(['clone', '-q', url, cwd], { env })
    expect(await Bun.file(join(cwd, 'Second-page.md')).text()).toBe('by the API')
    await Bun.write(join(cwd, 'From git.md'), 'by git')
    await Bun.write(join(cwd, 'C++.md'), 'signs')
    await Bun.write(join(cwd, 'picture.png'), 'no page')
    await Bun.write(join(cwd, 'folder/inner.md'), 'no page')
    await service.git(['add', '-A'], { cwd })
    await service.git(['commit', '-qm', 'By hand'], { cwd })
    await service.git(['push', '-q'], { cwd, env })
    expect(await titles(repo)).toEqual(['C++', 'From git', 'Second page'])
    for (const [address, text] of Object.entries({
      'From-git': 'by git',
      'C%2B%2B': 'signs',
      'From%20git.md': 'by git',
    })) {
      const page = await owner.client.get(`${repo.path}/wiki/page/${address}`)
      expect(page.body).toMatchObject({ content_base64: base64(text), last_commit: { message: 'By hand\n' } })
    }
    // Under the name that it has.
    await owner.client.patch(`${repo.path}/wiki/page/From-git`, { content_base64: base64('again') })
    expect(await titles(repo)).toEqual(['C++', 'From git', 'Second page'])
    expect((await addPage(owner, repo, 'From git')).status).toBe(400)
    await service.git(['pull', '-q'], { cwd, env })
    expect(await Bun.file(join(cwd, 'From git.md')).text()).toBe('again')
    await expectSound(repo)
  })

  test('the first push makes the wiki, and the branch that it brings has the pages', async () => {
    const repo = await service.createRepository(owner)
    const { url, env } = await access(repo)
    expect((await service.git.run(['ls-remote', url], { env })).exitCode).toBe(128)
    expect(await folderIdOf(service, repo.id)).toBeUndefined()
    const cwd = await workTree(service, { 'Home.md': 'hello' }, 'master')
    await service.git(['push', '-q', url, 'master'], { cwd, env })
    expect(await titles(repo)).toEqual(['Home'])
    await addPage(owner, repo, 'More')
    const clone = cloneTo()
    await service.git(['clone', '-q', url, clone], { env })
    expect(existsSync(join(clone, 'More.md'))).toBe(true)
    expect(await service.git(['branch', '--show-current'], { cwd: clone })).toBe('master')
    await expectSound(repo)
  })
})

describe('who may', () => {
  const reads = async (repo: TestRepository, user?: TestUser) =>
    (await service.git.run(['ls-remote', wikiUrlAs(service, repo, user)])).exitCode === 0
  const pushes = async (repo: TestRepository, user: TestUser) => {
    const cwd = await workTree(service, { 'Home.md': crypto.randomUUID() })
    return service.git.run(['push', wikiUrlAs(service, repo, user), `HEAD:refs/heads/b${Math.random()}`], { cwd })
  }
  const greet = (repo: TestRepository, what: string, user?: TestUser) =>
    fetch(`${service.url}/${repo.owner}/${repo.name}.wiki.git/info/refs?service=git-${what}`, {
      headers: user ? { authorization: `Basic ${base64(`${user.name}:${user.token}`)}` } : {},
    }).then(({ status }) => status)

  test('read and push follows the repository and its unit', async () => {
    const repo = await service.createRepository(owner)
    await addPage(owner, repo, 'Home')
    expect([await reads(repo), await reads(repo, reader)]).toEqual([true, true])
    expect(await greet(repo, 'receive-pack')).toBe(401)
    expect(await greet(repo, 'receive-pack', reader)).toBe(403)
    expect((await pushes(repo, reader)).stderr).toContain('may not push')
    await owner.client.put(`${repo.path}/collaborators/${reader.name}`, { permission: 'write' })
    expect((await pushes(repo, reader)).exitCode).toBe(0)
    await owner.client.delete(`${repo.path}/collaborators/${reader.name}`)
    await owner.client.patch(repo.path, { private: true })
    expect([await greet(repo, 'upload-pack'), await greet(repo, 'upload-pack', reader)]).toEqual([401, 404])
    expect(await greet(repo, 'receive-pack', reader)).toBe(404)
    await owner.client.patch(repo.path, { has_wiki: false })
    expect([await reads(repo, owner), await greet(repo, 'upload-pack', owner)]).toEqual([false, 404])
    await owner.client.patch(repo.path, { has_wiki: true, archived: true })
    expect(await reads(repo, owner)).toBe(true)
    expect((await pushes(repo, owner)).stderr).toContain('403')
    await owner.client.patch(repo.path, { archived: false })
    await service.context.sql`update repositories set is_mirror = true where id = ${repo.id}`
    expect((await pushes(repo, owner)).stderr).toContain('403')
  })

  test('a wiki without pages reads as none, and nobody makes one by asking', async () => {
    const repo = await service.createRepository(owner)
    expect(await greet(repo, 'upload-pack', owner)).toBe(404)
    expect(await greet(repo, 'receive-pack', reader)).toBe(403)
    expect(await folderIdOf(service, repo.id)).toBeUndefined()
  })

  test('a deploy key reaches the wiki of its repository, as it may', async () => {
    const repo = await service.createRepository(owner, { private: true })
    await addPage(owner, repo, 'Home')
    const url = `${service.context.sshRoot}${repo.owner}/${repo.name}.wiki.git`
    for (const read_only of [true, false]) {
      const key = makeKey(service)
      await owner.client.post(`${repo.path}/keys`, { title: `${read_only}`, key: key.line, read_only })
      const cwd = cloneTo()
      await service.git(['clone', '-q', url, cwd], { env: withKey(key) })
      await service.git(['commit', '-q', '--allow-empty', '-m', 'x'], { cwd })
      const { exitCode } = await service.git.run(['push', 'origin', 'HEAD'], { cwd, env: withKey(key) })
      expect(exitCode === 0).toBe(!read_only)
    }
    await service.createRepository(owner, { name: 'other', private: true })
    await addPage(owner, { ...repo, path: `/repos/${owner.name}/other` }, 'Home')
    const key = makeKey(service)
    await owner.client.post(`${repo.path}/keys`, { title: 'here', key: key.line })
    const other = url.replace(`${repo.name}.wiki`, 'other.wiki')
    expect((await service.git.run(['ls-remote', other], { env: withKey(key) })).stderr).toContain('not found')
  })
})

describe('a push is judged', () => {
  test('by its names, its size and the number of its refs; the refusal says why in one line', async () => {
    const repo = await service.createRepository(owner)
    await addPage(owner, repo, 'Home')
    const cwd = cloneTo()
    await service.git(['clone', '-q', wikiUrlOf(repo), cwd])
    const push = async (...args: string[]) => (await service.git.run(['push', ...args], { cwd })).stderr
    expect(await push('origin', 'HEAD:refs/pull/1/head')).toContain('read-only')
    expect(await push('-o', 'repo.private=true', 'origin', 'HEAD:refs/heads/o')).toContain('takes no push options')
    expect((await owner.client.get(repo.path)).body).toMatchObject({ private: false })
    const many = Array.from({ length: 5 }, (_, index) => `HEAD:refs/heads/b${index}`)
    expect(await push('origin', ...many)).toContain('MAX_REFS')
    expect((await service.git.run(['push', 'origin', ...many.slice(1)], { cwd })).exitCode).toBe(0)
    await Bun.write(join(cwd, 'big.bin'), crypto.getRandomValues(new Uint8Array(60_000)))
    for (let number = 0; number < 20; number += 1)
      await Bun.write(join(cwd, `big${number}.bin`), crypto.getRandomValues(new Uint8Array(60_000)))
    await service.git(['add', '-A'], { cwd })
    await service.git(['commit', '-qm', 'big'], { cwd })
    expect((await service.git.run(['push', 'origin', 'HEAD'], { cwd })).exitCode).not.toBe(0)
    expect(await titles(repo)).toEqual(['Home'])
    await expectSound(repo)
  })

  test('not by the rules for branches of the code, and hooks are told nothing', async () => {
    const repo = await service.createRepository(owner)
    await owner.client.post(`${repo.path}/branch_protections`, { rule_name: 'main', enable_push: false })
    const cwd = await workTree(service, { 'Home.md': 'one' })
    await service.git(['push', '-q', wikiUrlOf(repo), 'main'], { cwd })
    await service.git(['commit', '-q', '--amend', '-m', 'other'], { cwd })
    await service.git(['push', '-q', '--force', wikiUrlOf(repo), 'main'], { cwd })
    const told = await service.context.db.select().from(events).where(eq(events.repositoryId, repo.id))
    expect(told.map(({ kind }) => kind)).toEqual(['repository.created'])
    expect((await addPage(owner, repo, 'By the API')).status).toBe(201)
    expect((await owner.client.get(repo.path)).body).toMatchObject({ branch_count: 1, default_branch: 'main' })
  })

  test('links and folders are no pages and do no harm', async () => {
    const repo = await service.createRepository(owner)
    const cwd = await workTree(service, { 'Real.md': 'real' })
    await service.git(['update-index', '--add', '--cacheinfo', `120000,${await blob(cwd, '/etc/passwd')},Home.md`], {
      cwd,
    })
    await service.git(['update-index', '--add', '--cacheinfo', `100644,${await blob(cwd, 'x')},_Sidebar.md/x`], { cwd })
    await service.git(['commit', '-qm', 'tricks'], { cwd })
    await service.git(['push', '-q', wikiUrlOf(repo), 'main'], { cwd })
    expect(await titles(repo)).toEqual(['Real'])
    expect((await owner.client.get(`${repo.path}/wiki/page/Home`)).status).toBe(404)
    expect((await owner.client.get(`${repo.path}/wiki/page/Real`)).body).toMatchObject({ sidebar: '' })
    expect((await addPage(owner, repo, 'Home')).status).toBe(400)
    expect((await addPage(owner, repo, '_Sidebar')).status).toBe(400)
    await expectSound(repo)
  })

  const blob = (cwd: string, text: string) => service.git(['hash-object', '-w', '--stdin'], { cwd, input: text })
})
