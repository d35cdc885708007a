import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../../harness/service.ts'
import { makeKey, type TestKey } from '../../harness/ssh.ts'
import { makeSshKey, SignedObjects } from '../../signatures/stage.ts'
import { commit } from './hosted.ts'

let service: TestService
let owner: TestUser
let writer: TestUser
let other: TestUser
let counter = 0

beforeAll(async () => {
  service = await startTestService()
  owner = await service.createUser('owner')
  writer = await service.createUser('writer')
  other = await service.createUser('other')
})
afterAll(() => service.stop())

interface Stage {
  repo: TestRepository
  cwd: string
  /** Git's whole output, and whether the push succeeded. */
  push(user: TestUser, ...refs: string[]): Promise<{ isTaken: boolean; said: string }>
  heads(): Promise<string>
}

/** A repository with one commit on main, cloned, with two people who may write. */
async function stage(rule?: Record<string, unknown>): Promise<Stage> {
  const repo = await service.createRepository(owner)
  for (const { name } of [writer, other])
    await owner.client.put(`${repo.path}/collaborators/${name}`, { permission: 'write' })
  counter += 1
  const cwd = `${service.git.folder}/protected${counter}`
  await service.git(['clone', '-q', repo.cloneUrl, cwd])
  await protect(repo, rule)
  return {
    repo,
    cwd,
    async push(user, ...refs) {
      const url = new URL(repo.cloneUrl)
      url.username = user.name
      url.password = user.token
      try {
        await service.git(['push', url.href, ...refs], { cwd })
        return { isTaken: true, said: '' }
      } catch (error) {
        return { isTaken: false, said: String(error) }
      }
    },
    heads: () => service.git(['ls-remote', repo.cloneUrl]),
  }
}

async function protect(repo: TestRepository, rule?: Record<string, unknown>): Promise<void> {
  if (!rule) return
  const made = await owner.client.post(`${repo.path}/branch_protections`, { rule_name: 'main', ...rule })
  expect(made.status).toBe(201)
}

/** Refused with these words in one line, and nothing has moved. */
async function expectRefused({ push, heads }: Stage, words: string, user: TestUser, ...refs: string[]): Promise<void> {
  const before = await heads()
  const { isTaken, said } = await push(user, ...refs)
  expect(isTaken).toBe(false)
  expect(said.split('\n').filter((line) => line.includes(words)).length).toBeGreaterThan(0)
  expect(await heads()).toBe(before)
}

test('a branch that takes no pushes takes none, not even of its owner, and other branches are free', async () => {
  const stand = await stage({})
  await commit(service.git, stand.cwd, { 'a.txt': 'a' })
  for (const user of [owner, writer, service.admin])
    await expectRefused(stand, 'not allowed to push to protected branch main', user, 'main')
  await expectRefused(stand, 'not pushed, because another ref', writer, 'main:free', 'main')
  expect((await stand.push(writer, 'main:free')).isTaken).toBe(true)
})

test('who is on the list pushes, others do not', async () => {
  const stand = await stage({ enable_push: true, enable_push_whitelist: true, push_whitelist_usernames: ['writer'] })
  await commit(service.git, stand.cwd, { 'a.txt': 'a' })
  await expectRefused(stand, 'not allowed to push', other, 'main')
  await expectRefused(stand, 'not allowed to push', owner, 'main')
  expect((await stand.push(writer, 'main')).isTaken).toBe(true)
})

test('a member of a team on the list pushes', async () => {
  await owner.client.post('/orgs', { username: 'house' })
  await owner.client.post('/orgs/house/repos', { name: 'room', auto_init: true })
  const team = await owner.client.post('/orgs/house/teams', {
    name: 'crew',
    permission: 'write',
    units: ['repo.code'],
    includes_all_repositories: true,
  })
  await owner.client.put(`/teams/${team.number('id')}/members/writer`)
  await owner.client.put('/repos/house/room/collaborators/other', { permission: 'write' })
  const rule = { rule_name: 'main', enable_push: true, enable_push_whitelist: true, push_whitelist_teams: ['crew'] }
  expect((await owner.client.post('/repos/house/room/branch_protections', rule)).status).toBe(201)
  const cwd = `${service.git.folder}/room`
  const url = (user: TestUser) => `${service.url.replace('://', `://${user.name}:${user.token}@`)}/house/room.git`
  await service.git(['clone', '-q', url(owner), cwd])
  await commit(service.git, cwd, { 'a.txt': 'a' })
  await expect(service.git(['push', '-q', url(other), 'main'], { cwd })).rejects.toThrow('not allowed to push')
  await service.git(['push', '-q', url(writer), 'main'], { cwd })
})

describe('history', () => {
  test('is not rewritten, unless the rule lets', async () => {
    const stand = await stage({ enable_push: true })
    await service.git(['commit', '-q', '--amend', '-m', 'other'], { cwd: stand.cwd })
    await expectRefused(stand, 'protected from force push', writer, '+main')
    await expectRefused(stand, 'protected from deletion', owner, ':main')
    await owner.client.patch(`${stand.repo.path}/branch_protections/main`, {
      enable_force_push: true,
      enable_force_push_allowlist: true,
      force_push_allowlist_usernames: ['writer'],
    })
    await expectRefused(stand, 'protected from force push', other, '+main')
    expect((await stand.push(writer, '+main')).isTaken).toBe(true)
  })

  test('goes forward in a shallow clone too', async () => {
    const stand = await stage({ enable_push: true })
    const cwd = `${stand.cwd}-shallow`
    await commit(service.git, stand.cwd, { 'a.txt': 'a' })
    expect((await stand.push(writer, 'main')).isTaken).toBe(true)
    await service.git(['clone', '-q', '--depth=1', `${service.url}/owner/${stand.repo.name}.git`, cwd])
    await commit(service.git, cwd, { 'b.txt': 'b' })
    await service.git(['push', '-q', stand.repo.cloneUrl, 'main'], { cwd })
  })
})

describe('files', () => {
  test('that are protected are changed by nobody, whatever the case of their letters', async () => {
    const stand = await stage({ enable_push: true, protected_file_patterns: 'locked.txt; secret/**' })
    for (const path of ['locked.txt', 'secret/deep/a.txt', 'LOCKED.TXT']) {
      await commit(service.git, stand.cwd, { [path]: 'x' })
      await expectRefused(stand, `protected from changing file ${path}`, owner, 'main')
      await service.git(['reset', '-q', '--hard', 'HEAD~'], { cwd: stand.cwd })
    }
    await commit(service.git, stand.cwd, { 'free.txt': 'x' })
    expect((await stand.push(writer, 'main')).isTaken).toBe(true)
  })

  test('that are free are changed by every writer, alone', async () => {
    const stand = await stage({ unprotected_file_patterns: 'notes/*' })
    await commit(service.git, stand.cwd, { 'notes/a.txt': 'x' })
    expect((await stand.push(writer, 'main')).isTaken).toBe(true)
    await commit(service.git, stand.cwd, { 'notes/b.txt': 'x', 'c.txt': 'x' })
    await expectRefused(stand, 'not allowed to push', writer, 'main')
    await service.git(['reset', '-q', '--hard', 'HEAD~'], { cwd: stand.cwd })
    await commit(service.git, stand.cwd, { 'notes/deep/b.txt': 'x' })
    await expectRefused(stand, 'not allowed to push', writer, 'main')
    await service.git(['reset', '-q', '--hard', 'HEAD~'], { cwd: stand.cwd })
    await service.git(['mv', 'README.md', 'notes/README.md'], { cwd: stand.cwd })
    await service.git(['commit', '-qm', 'moved'], { cwd: stand.cwd })
    await expectRefused(stand, 'not allowed to push', writer, 'main')
  })
})

test('commits without a verified signature are refused', async () => {
  const stand = await stage({ enable_push: true, require_signed_commits: true })
  const sha = await commit(service.git, stand.cwd, { 'a.txt': 'a' })
  await expectRefused(stand, `protected from unverified commit ${sha}`, writer, 'main')
  await expectRefused(stand, 'protected from unverified commit', writer, `${sha}:refs/heads/free`, 'main')
})

/** Commits as the writer; git signs with the key, if there is one. Returns the id. */
async function commitAsWriter({ cwd }: Stage, message: string, key?: TestKey): Promise<string> {
  const signing = key === undefined ? [] : ['-c', 'gpg.format=ssh', '-c', `user.signingkey=${key.file}`]
  const env = { GIT_COMMITTER_EMAIL: `${writer.name}@localhost.localdomain` }
  const words = ['commit', '-q', '--allow-empty', '-m', message, ...(key === undefined ? [] : ['-S'])]
  await service.git([...signing, ...words], { cwd, env })
  return service.git(['rev-parse', 'HEAD'], { cwd })
}

test.skipIf(Bun.which('ssh-keygen') === null)(
  'what git signs with a key of the account passes; with another key, or upon a commit without a signature, it does not',
  async () => {
    const stand = await stage({ enable_push: true, require_signed_commits: true })
    const [own, foreign] = [makeKey(service), makeKey(service)]
    expect((await writer.client.post('/user/keys', { title: 'signing', key: own.line })).status).toBe(201)
    const signed = await commitAsWriter(stand, 'signed', own)
    expect(await stand.push(writer, 'main')).toEqual({ isTaken: true, said: '' })
    expect((await writer.client.get(`${stand.repo.path}/branches/main`)).body).toMatchObject({
      commit: { id: signed, verification: { verified: true } },
    })
    const byOther = await commitAsWriter(stand, 'signed by another', foreign)
    await expectRefused(stand, `protected from unverified commit ${byOther}`, writer, 'main')
    await service.git(['reset', '-q', '--hard', signed], { cwd: stand.cwd })
    const unsigned = await commitAsWriter(stand, 'not signed')
    await commitAsWriter(stand, 'signed again', own)
    await expectRefused(stand, `protected from unverified commit ${unsigned}`, writer, 'main')
  },
)

test('a commit with a verified signature passes in the name of somebody else, and one that was changed does not', async () => {
  const stand = await stage({ enable_push: true, require_signed_commits: true })
  const key = makeSshKey()
  expect((await writer.client.post('/user/keys', { title: 'by hand', key: key.line })).status).toBe(201)
  const objects = new SignedObjects(service, stand.repo)
  await objects.git('init', '-q', '--bare')
  await objects.git('fetch', '-q', stand.repo.cloneUrl, 'main')
  const email = `${writer.name}@localhost.localdomain`
  const parents = [await objects.git('rev-parse', 'FETCH_HEAD')]
  const change = (content: string) => content.replace('By hand', 'By someone')
  const changed = await objects.commit(key.sign, { email, parents, change })
  await expect(objects.push(changed, 'refs/heads/main')).rejects.toThrow(`protected from unverified commit ${changed}`)
  const sound = await objects.commit(key.sign, { email, parents })
  await objects.push(sound, 'refs/heads/main')
  expect(await stand.heads()).toContain(`${sound}\trefs/heads/main`)
})

test('a new branch that a rule fits is made by those who may push to it', async () => {
  const stand = await stage({
    rule_name: 'release/*',
    enable_push: true,
    enable_push_whitelist: true,
    push_whitelist_usernames: ['writer'],
  })
  await expectRefused(stand, 'not allowed to push to protected branch release/1', other, 'main:refs/heads/release/1')
  expect((await stand.push(other, 'main:refs/heads/release/1/x')).isTaken).toBe(true)
  await service.git(['push', '-q', stand.repo.cloneUrl, ':refs/heads/release/1/x'], { cwd: stand.cwd })
  expect((await stand.push(writer, 'main:refs/heads/release/1')).isTaken).toBe(true)
  expect((await other.client.post(`${stand.repo.path}/branches`, { new_branch_name: 'release/2' })).status).toBe(403)
  expect((await writer.client.post(`${stand.repo.path}/branches`, { new_branch_name: 'release/2' })).status).toBe(201)
})

test('a protected tag is pushed, moved and deleted by those on its list', async () => {
  const stand = await stage()
  const rule = { name_pattern: 'v*', whitelist_usernames: ['writer'] }
  expect((await owner.client.post(`${stand.repo.path}/tag_protections`, rule)).status).toBe(201)
  await expectRefused(stand, 'tag v1 is protected', owner, 'main:refs/tags/v1')
  expect((await stand.push(writer, 'main:refs/tags/v1')).isTaken).toBe(true)
  await commit(service.git, stand.cwd, { 'a.txt': 'a' })
  await expectRefused(stand, 'tag v1 is protected', other, '+main:refs/tags/v1')
  await expectRefused(stand, 'tag v1 is protected', other, ':refs/tags/v1')
  expect((await stand.push(other, 'main:refs/tags/w1')).isTaken).toBe(true)
  expect((await stand.push(writer, ':refs/tags/v1')).isTaken).toBe(true)
})

test('what a refused push has brought is not kept, and the repository is sound', async () => {
  const stand = await stage({ enable_push: true, protected_file_patterns: 'locked.txt' })
  const sha = await commit(service.git, stand.cwd, { 'locked.txt': 'x' })
  await expectRefused(stand, 'protected from changing file', writer, 'main')
  const { git } = service.context
  expect(await git.find(stand.repo.id, sha)).toBeUndefined()
  expect((await git.fsck(stand.repo.id, { isFull: true })).isSound).toBe(true)
})
