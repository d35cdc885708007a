import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { eq } from 'drizzle-orm'
import { pushes } from '../../db/schema/refs.ts'
import { storagePath } from '../../src/git/storage.ts'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../harness/service.ts'
import { commit } from './transport/hosted.ts'

let service: TestService
let owner: TestUser
let trusted: TestUser
let repo: TestRepository
let clone: string

beforeAll(async () => {
  service = await startTestService({ settings: { ENABLE_GIT_HOOKS: 'true', GIT_HOOK_TIMEOUT_SECONDS: '3' } })
  owner = await service.createUser()
  trusted = await service.createUser()
  await allow(trusted)
  repo = await service.createRepository(owner)
  await owner.client.put(`${repo.path}/collaborators/${trusted.name}`, { permission: 'admin' })
  clone = join(service.git.folder, 'clone')
  await service.git(['clone', '-q', repo.cloneUrl, clone])
})
afterAll(() => service.stop())

const allow = async ({ name }: TestUser) =>
  expect(
    (await service.admin.client.patch(`/admin/users/${name}`, { login_name: name, allow_git_hook: true })).status,
  ).toBe(200)
const hooks = () => `${repo.path}/hooks/git`
const set = async (name: string, content: string) => {
  const answer = await trusted.client.patch(`${hooks()}/${name}`, { content })
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)])
  return answer
}
const clear = async () => {
  for (const name of ['pre-receive', 'update', 'post-receive']) await trusted.client.delete(`${hooks()}/${name}`)
}
const push = async (...refs: string[]) => {
  await commit(service.git, clone, { 'file.txt': crypto.randomUUID() })
  return service.git.run(['push', 'origin', ...(refs.length > 0 ? refs : ['main'])], { cwd: clone })
}
const shaOf = async (branch = 'main') => (await owner.client.get(`${repo.path}/branches/${branch}`)).string('commit.id')
const head = () => service.git(['rev-parse', 'HEAD'], { cwd: clone })
/** Of the process whose number a hook has noted. A zombie, until the first process of the machine reads it, is an end too. */
const stateOf = async (mark: string) => {
  const pid = (await Bun.file(mark).text()).trim()
  return Bun.file(`/proc/${pid}/stat`)
    .text()
    .catch(() => 'gone')
}
const actions = async () => {
  const answer = await service.admin.client.get('/admin/audit', { action: 'repository.edit_git_hook' })
  return Array.isArray(answer.body) ? answer.body : []
}

describe('who may', () => {
  test('an administrator and an account with allow_git_hook who administers the repository', async () => {
    const inactive = ['pre-receive', 'update', 'post-receive'].map((name) => ({ name, is_active: false }))
    for (const who of [trusted, service.admin]) {
      const listed = await who.client.get(hooks())
      expect([listed.status, listed.body]).toEqual([200, inactive])
    }
  })

  test('nobody else, each told as much as is his to know', async () => {
    const stranger = await service.createUser()
    await allow(stranger)
    const hidden = await service.createRepository(owner, { private: true })
    for (const path of [hooks(), `${hooks()}/update`]) {
      expect((await service.anonymous.get(path)).status).toBe(401)
      expect((await owner.client.get(path)).status).toBe(403)
      expect((await stranger.client.get(path)).status).toBe(403)
    }
    const content = '#!/bin/sh\n'
    expect((await owner.client.patch(`${hooks()}/update`, { content })).status).toBe(403)
    expect((await owner.client.delete(`${hooks()}/update`)).status).toBe(403)
    expect((await stranger.client.get(`${hidden.path}/hooks/git`)).status).toBe(404)
  })

  test('nobody while the setting is off, and what is set then does not run', async () => {
    const off = await startTestService()
    const user = await off.createUser()
    const made = await off.createRepository(user)
    for (const path of ['', '/pre-receive'])
      expect((await off.admin.client.get(`${made.path}/hooks/git${path}`)).status).toBe(403)
    await off.context.git.setHook(made.id, { name: 'pre-receive', content: '#!/bin/sh\nexit 1\n' })
    const cwd = join(off.git.folder, 'clone')
    await off.git(['clone', '-q', made.cloneUrl, cwd])
    await commit(off.git, cwd, { a: 'b' })
    expect(await off.git.run(['push', 'origin', 'main'], { cwd })).toMatchObject({ exitCode: 0 })
    await off.stop()
  })
})

describe('a hook', () => {
  test('is set, read, replaced and removed, each told in the audit trail without its text', async () => {
    const content = '#!/bin/sh\r\nexit 0 # s3cret\r\n'
    const stored = { name: 'update', is_active: true, content: '#!/bin/sh\nexit 0 # s3cret\n' }
    expect((await set('update', content)).body).toEqual(stored)
    expect((await trusted.client.get(`${hooks()}/update`)).body).toEqual(stored)
    const place = join(service.context.config.repositoriesDir, storagePath(repo.id), 'server-hooks')
    expect((await stat(join(place, 'update'))).mode & 0o777).toBe(0o700)
    expect(await readdir(place)).toEqual(['update'])
    expect((await trusted.client.delete(`${hooks()}/update`)).status).toBe(204)
    expect((await trusted.client.delete(`${hooks()}/update`)).status).toBe(204)
    expect((await trusted.client.get(`${hooks()}/update`)).body).toEqual({ name: 'update', is_active: false })
    const told = await actions()
    expect(told).toHaveLength(2)
    expect(told[0]).toMatchObject({ actor: { name: trusted.name } })
    expect(JSON.stringify(told)).not.toContain('s3cret')
  })

  test('of another name, of too much text or of none is refused or removed', async () => {
    for (const name of ['reference-transaction', '..%2f..%2fconfig', 'post-update', 'PRE-RECEIVE'])
      expect((await trusted.client.patch(`${hooks()}/${name}`, { content: 'x' })).status).toBe(404)
    expect((await trusted.client.patch(`${hooks()}/update`, { content: 'x'.repeat(65_537) })).status).toBe(422)
    expect((await trusted.client.patch(`${hooks()}/update`, { content: ['x'] })).status).toBe(422)
    await set('update', 'true')
    expect((await set('update', ' \n\t')).body).toEqual({ name: 'update', is_active: false })
  })
})

describe('a push', () => {
  test('that pre-receive refuses moves and records nothing, and tells why', async () => {
    await set('pre-receive', '#!/bin/sh\nread old new ref\necho "not $ref, $GITEA_PUSHER_NAME" >&2\nexit 1\n')
    const before = await shaOf()
    const refused = await push('main', 'main:other')
    expect(refused.exitCode).not.toBe(0)
    expect(refused.stderr).toContain(`remote: not refs/heads/main, ${owner.name}`)
    expect(refused.stderr).toContain('pre-receive hook declined')
    expect(await shaOf()).toBe(before)
    expect((await owner.client.get(`${repo.path}/branches/other`)).status).toBe(404)
    const { db, git } = service.context
    expect(await db.$count(pushes, eq(pushes.repositoryId, repo.id))).toBe(0)
    // Nor does an object of it stay: git kept them apart until the hook had judged.
    expect(await git.find(repo.id, await head())).toBeUndefined()
    await clear()
  })

  test('that update refuses for one ref moves the other', async () => {
    await set('update', '#!/bin/sh\n[ "$1" != refs/heads/kept ]\n')
    const run = await push('main', 'main:kept')
    expect(run.stderr).toContain('kept (hook declined)')
    expect(await shaOf()).toBe(await head())
    expect((await owner.client.get(`${repo.path}/branches/kept`)).status).toBe(404)
    await clear()
  })

  test('runs post-receive after it, which sees none of our secrets', async () => {
    const mark = join(service.folder, 'mark')
    await set(
      'post-receive',
      `#!/bin/sh\n{ cat; env; pwd; git rev-parse HEAD; echo "memory $(ulimit -S -d) of $(ulimit -H -d)"; } >${mark}\necho done >&2\n`,
    )
    const run = await push()
    expect(run).toMatchObject({ exitCode: 0 })
    expect(run.stderr).toContain('remote: done')
    const text = await Bun.file(mark).text()
    expect(text).toContain(` ${await head()} refs/heads/main\n`)
    expect(text).toContain(`GITEA_REPO_ID=${repo.id}\n`)
    expect(text).toContain(`GITEA_PUSHER_NAME=${owner.name}\n`)
    expect(text).toContain(`GITEA_REPO_NAME=${repo.name}`)
    expect(text).toContain(`${storagePath(repo.id)}\n${await head()}\n`)
    // The limit on what is pushed is none on the hook.
    expect(text).toMatch(/^memory (\S+) of \1$/m)
    expect(text).not.toMatch(/DATABASE|SECRET|PASSWORD|postgres|DATA_DIR|ADMIN_/)
    await clear()
  })

  test('whose hook does not end is declined, and all that the hook began is ended', async () => {
    const mark = join(service.folder, 'pid')
    await set('pre-receive', `#!/bin/sh\nsleep 77 &\necho $! >${mark}\nwait\n`)
    const run = await push()
    expect(run.stderr).toContain('the pre-receive hook took longer than 3 s')
    expect(run.stderr).toContain('pre-receive hook declined')
    expect(await stateOf(mark)).toMatch(/^gone$|\) Z /)
    await clear()
  })

  test('does not wait for what a hook leaves behind, which ends with it', async () => {
    const mark = join(service.folder, 'left')
    // Longer than a test may take: a push that waited for it would fail.
    await set('post-receive', `#!/bin/sh\nsleep 600 &\necho $! >${mark}\n`)
    expect(await push()).toMatchObject({ exitCode: 0 })
    expect(await stateOf(mark)).toMatch(/^gone$|\) Z /)
    await clear()
  })

  test('to a fork runs none: hooks are of the repository they were set for', async () => {
    await set('pre-receive', '#!/bin/sh\nexit 1\n')
    const forked = await service.admin.client.post(`${repo.path}/forks`, { name: 'forked' })
    const hooksOfFork = await service.admin.client.get(`/repos/${forked.string('full_name')}/hooks/git/pre-receive`)
    expect(hooksOfFork.body).toEqual({ name: 'pre-receive', is_active: false })
    await clear()
  })

  test('of many refs does not wait for a hook that reads none of them', async () => {
    await set('pre-receive', '#!/bin/sh\nexit 0\n')
    const names = Array.from({ length: 600 }, (_, index) => `main:refs/heads/many/${'x'.repeat(40)}${index}`)
    const run = await push(...names)
    expect(run).toMatchObject({ exitCode: 0 })
    await service.git(['push', '-q', 'origin', ...names.map((name) => name.slice(4))], { cwd: clone })
    await clear()
  })

  test('finds no hooks in a folder of that name, which may have come from anywhere', async () => {
    const place = join(service.context.config.repositoriesDir, storagePath(repo.id), 'hooks')
    await Bun.write(join(place, 'pre-receive'), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
    await set('post-receive', '#!/bin/sh\nexit 0\n')
    expect(await push()).toMatchObject({ exitCode: 0 })
    await clear()
  })
})

describe('the API', () => {
  const file = (name: string) => `${repo.path}/contents/${name}`
  const content = Buffer.from('x').toString('base64')

  test('is no way around a hook: commits and branches are judged as pushes are', async () => {
    await set('pre-receive', '#!/bin/sh\nread old new ref\necho "closed to $GITEA_PUSHER_NAME: $ref"\nexit 1\n')
    const before = await shaOf()
    const refused = await owner.client.post(file('a.txt'), { content, message: 'a' })
    expect([refused.status, refused.string('message')]).toEqual([
      422,
      `the pre-receive hook declined: closed to ${owner.name}: refs/heads/main`,
    ])
    const branch = await owner.client.post(`${repo.path}/branches`, { new_branch_name: 'by-api' })
    expect(branch.status).toBe(422)
    expect(await shaOf()).toBe(before)
    expect(await service.context.db.$count(pushes, eq(pushes.repositoryId, repo.id))).toBe(0)
    await clear()
  })

  test('runs post-receive after it, with the old and the new commit', async () => {
    const mark = join(service.folder, 'by-api')
    await set('post-receive', `#!/bin/sh\ncat >${mark}\nexit 1\n`)
    const before = await shaOf()
    expect((await owner.client.post(file('b.txt'), { content, message: 'b' })).status).toBe(201)
    expect(await Bun.file(mark).text()).toBe(`${before} ${await shaOf()} refs/heads/main\n`)
    await clear()
  })
})
