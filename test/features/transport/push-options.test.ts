import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../../harness/service.ts'
import { addKey, makeKey, sshPrograms, type TestKey, withKey } from '../../harness/ssh.ts'
import { commit } from './hosted.ts'

let service: TestService
let owner: TestUser
let writer: TestUser
let keys: Map<TestUser, TestKey>
beforeAll(async () => {
  service = await startTestService({ settings: { SSH_ENABLED: 'true', SSH_PORT: '0' } })
  owner = await service.createUser()
  writer = await service.createUser()
  keys = new Map([owner, writer].map((user) => [user, makeKey(service)]))
  for (const [user, key] of keys) await addKey(user, key)
})
afterAll(() => service.stop())

interface Transport {
  name: string
  address(repo: TestRepository, user: TestUser): string
  env(user: TestUser): Record<string, string>
}

const [program] = sshPrograms
const transports: Transport[] = [
  {
    name: 'HTTP',
    address(repo, user) {
      const url = new URL(repo.cloneUrl)
      url.username = user.name
      url.password = user.token
      return url.href
    },
    env: () => ({}),
  },
  ...(program === undefined
    ? []
    : [
        {
          name: 'SSH',
          address: (repo: TestRepository) => `${service.context.sshRoot}${repo.owner}/${repo.name}.git`,
          env: (user: TestUser) => withKey(keys.get(user) ?? makeKey(service), program),
        },
      ]),
]

describe.each(transports)('over $name', ({ address, env }) => {
  async function newRepository(): Promise<TestRepository> {
    const repo = await service.createRepository(owner)
    await owner.client.put(`${repo.path}/collaborators/${writer.name}`, { permission: 'write' })
    return repo
  }

  /** Pushes one commit more. */
  async function push(repo: TestRepository, user: TestUser, args: string[], refspec = 'HEAD:main') {
    const cwd = `${service.git.folder}/${crypto.randomUUID()}`
    await service.git(['clone', '-q', repo.cloneUrl, cwd])
    await commit(service.git, cwd, { 'a.txt': crypto.randomUUID() })
    return service.git.run(['push', ...args, address(repo, user), refspec], { cwd, env: env(user) })
  }

  const flags = async (repo: TestRepository) => {
    const { body } = await owner.client.get(repo.path)
    return body
  }

  test('a repository becomes private, and a template, with the push that asks for it', async () => {
    const repo = await newRepository()
    const pushed = await push(repo, owner, ['-o', 'repo.private=true', '-o', 'repo.template'])
    expect(pushed).toMatchObject({ exitCode: 0 })
    expect(await flags(repo)).toMatchObject({ private: true, template: true })
    expect((await service.anonymous.get(repo.path)).status).toBe(404)
    const audits = await service.context.sql`
      select 1 from audit_entries where action = 'repository.edit' and subject_id = ${repo.id}`
    expect(audits.length).toBe(1)
    expect(await push(repo, owner, ['-o', 'repo.private=0'])).toMatchObject({ exitCode: 0 })
    expect(await flags(repo)).toMatchObject({ private: false, template: true })
  })

  test.each([
    ['an unknown option', ['-o', 'repo.size=1'], 'unknown push option "repo.size"'],
    ['a value that is none', ['-o', 'repo.private=maybe'], 'repo.private is true or false'],
  ])('%s is refused, and nothing moves', async (_, args, reason) => {
    const repo = await newRepository()
    const before = await owner.client.get(`${repo.path}/branches/main`)
    const refused = await push(repo, owner, args)
    expect(refused.exitCode).toBe(1)
    expect(refused.stderr).toContain(reason)
    expect((await owner.client.get(`${repo.path}/branches/main`)).string('commit.id')).toBe(before.string('commit.id'))
  })

  test('a writer sets no options, and a refused push changes no settings', async () => {
    const repo = await newRepository()
    const refused = await push(repo, writer, ['-o', 'repo.private=true'])
    expect(refused.exitCode).toBe(1)
    expect(refused.stderr).toContain('only administrators of the repository')
    expect(await push(repo, writer, [])).toMatchObject({ exitCode: 0 })
    expect(await push(repo, owner, ['-o', 'repo.private=true'], 'HEAD:refs/heads/main/below')).not.toMatchObject({
      exitCode: 0,
    })
    expect(await flags(repo)).toMatchObject({ private: false })
  })

  test.each(['refs/for/main', 'refs/for-review/1', 'refs/draft/main', 'refs/pull/1/head'])(
    '%s is refused with a reason that git prints',
    async (ref) => {
      const repo = await newRepository()
      const refused = await push(repo, owner, [], `HEAD:${ref}`)
      expect(refused.exitCode).toBe(1)
      expect(refused.stderr).toContain('pull requests')
      expect((await service.context.git.listRefs(repo.id)).map(({ name }) => name)).toEqual(['refs/heads/main'])
    },
  )
})
