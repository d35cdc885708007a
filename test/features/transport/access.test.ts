import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { collaborations, repositories, repositoryRedirects } from '../../../db/schema/repositories.ts'
import { users } from '../../../db/schema/users.ts'
import { startTestService, type TestService, type TestUser } from '../../harness/service.ts'
import { commit, type Hosted, hostRepository, workTree } from './hosted.ts'

let service: TestService
let owner: TestUser
let stranger: TestUser
let open: Hosted
let hidden: Hosted
let cwd: string

beforeAll(async () => {
  service = await startTestService()
  owner = await service.createUser()
  stranger = await service.createUser()
  open = await hostRepository(service, owner)
  hidden = await hostRepository(service, owner, { isPrivate: true })
  cwd = await workTree(service.git)
  for (const repo of [open, hidden]) await service.git(['push', '-q', repo.as(owner), 'main'], { cwd })
})
afterAll(() => service.stop())

const info = (repo: Hosted, service = 'git-upload-pack', headers: Record<string, string> = {}) =>
  fetch(`${repo.url}/info/refs?service=${service}`, { headers })
const basic = (name: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`,
})
/** A token of the person with these scopes only. */
async function tokenOf(user: TestUser, scopes: string[]): Promise<string> {
  const client = service.client({ basic: `${user.name}:${user.password}` })
  const answer = await client.post(`/users/${user.name}/tokens`, { name: `t${scopes.join()}`, scopes })
  return answer.string('sha1')
}
const push = (url: string) => service.git.run(['push', url, 'main'], { cwd })
const signed = (repo: Hosted, name: string, password: string) => {
  const url = new URL(repo.url)
  url.username = name
  url.password = password
  return url.href
}

describe('who is asked to sign in', () => {
  test('a visitor, for a hidden and for an unknown repository alike', async () => {
    const answers = await Promise.all([
      info(hidden),
      fetch(`${service.url}/${owner.name}/unknown.git/info/refs?service=git-upload-pack`),
      fetch(`${service.url}/nobody/unknown/info/refs?service=git-upload-pack`),
      info(open, 'git-receive-pack'),
    ])
    for (const answer of answers) {
      expect(answer.status).toBe(401)
      expect(answer.headers.get('www-authenticate')).toStartWith('Basic realm="Gitea"')
    }
    expect(await answers[0]?.text()).toBe((await answers[1]?.text()) ?? 'none')
  })

  test('whoever gives a wrong password, also where none is needed', async () => {
    const answer = await info(open, 'git-upload-pack', basic(owner.name, 'wrong'))
    expect(answer.status).toBe(401)
    const run = await push(signed(open, owner.name, 'wrong'))
    expect(run.exitCode).not.toBe(0)
    expect(run.stderr).toContain('Authentication failed')
  })

  test('git itself, which takes the credentials from its helper', async () => {
    const helper = `!f() { echo username=${owner.name}; echo "password=${owner.password}"; }; f`
    const run = await service.git.run(['-c', `credential.helper=${helper}`, 'clone', hidden.url, 'by-helper'])
    expect(run).toMatchObject({ exitCode: 0 })
  })
})

describe('who may read and write', () => {
  test('a stranger is told that a hidden repository is not there', async () => {
    const answer = await info(hidden, 'git-upload-pack', basic(stranger.name, stranger.password))
    expect(answer.status).toBe(404)
    expect((await info(hidden, 'git-receive-pack', basic(stranger.name, stranger.password))).status).toBe(404)
  })

  test('a reader may not push, and a writer may', async () => {
    const url = signed(open, stranger.name, stranger.token)
    const refused = await push(url)
    expect(refused.exitCode).not.toBe(0)
    expect(refused.stderr).toContain('403')
    expect(refused.stderr).toContain('you may not push')
    const { db } = service.context
    const [account] = await db.select().from(users).where(eq(users.lowerName, stranger.name))
    await db.insert(collaborations).values({ repositoryId: open.id, userId: account?.id ?? 0, permission: 'write' })
    await commit(service.git, cwd, { 'by-stranger.txt': 'x' })
    expect(await push(url)).toMatchObject({ exitCode: 0 })
  })

  test('a token stands in for the password, or for the name', async () => {
    for (const [name, password] of [
      [owner.name, owner.token],
      ['anything', owner.token],
      [owner.token, ''],
      [owner.token, 'x-oauth-basic'],
    ] as const) {
      expect((await info(hidden, 'git-upload-pack', basic(name, password))).status).toBe(200)
    }
    expect((await info(hidden, 'git-upload-pack', { authorization: `token ${owner.token}` })).status).toBe(200)
  })

  test('a token needs the scope: read for a clone, write for a push', async () => {
    const readOnly = await tokenOf(owner, ['read:repository'])
    expect((await info(hidden, 'git-upload-pack', basic(owner.name, readOnly))).status).toBe(200)
    await service.git(['clone', '-q', signed(hidden, owner.name, readOnly), 'read-only'])
    const refused = await push(signed(hidden, owner.name, readOnly))
    expect(refused.exitCode).not.toBe(0)
    expect(refused.stderr).toContain('403')
    const other = await tokenOf(owner, ['write:issue'])
    expect((await info(hidden, 'git-upload-pack', basic(owner.name, other))).status).toBe(403)
    const publicOnly = await tokenOf(owner, ['public-only', 'read:repository'])
    expect((await info(hidden, 'git-upload-pack', basic(owner.name, publicOnly))).status).toBe(404)
  })

  test('an archived repository and a mirror take no push', async () => {
    const kept = await hostRepository(service, owner)
    await push(kept.as(owner))
    for (const change of [{ isArchived: true }, { isArchived: false, isMirror: true }]) {
      await service.context.db.update(repositories).set(change).where(eq(repositories.id, kept.id))
      await commit(service.git, cwd, { 'late.txt': crypto.randomUUID() })
      const refused = await push(kept.as(owner))
      expect(refused.exitCode).not.toBe(0)
      expect(refused.stderr).toContain('takes no pushes')
      expect(await service.git(['ls-remote', kept.as(owner)])).toContain('refs/heads/main')
    }
  })

  test('a repository without code is not there', async () => {
    const bare = await hostRepository(service, owner, { hasCode: false })
    expect((await info(bare, 'git-upload-pack', basic(owner.name, owner.password))).status).toBe(404)
  })

  test('an old name serves the repository, to those who may see it', async () => {
    const { db } = service.context
    const { ownerId } = await hidden.row()
    await db.insert(repositoryRedirects).values({ ownerId, lowerName: 'former', repositoryId: hidden.id })
    const old = { ...hidden, url: `${service.url}/${owner.name}/former.git` }
    expect((await info(old)).status).toBe(401)
    expect((await info(old, 'git-upload-pack', basic(stranger.name, stranger.password))).status).toBe(404)
    await service.git(['clone', '-q', signed(old, owner.name, owner.token), 'renamed'])
  })
})
