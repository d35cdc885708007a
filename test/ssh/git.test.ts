import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { eq } from 'drizzle-orm'
import { events } from '../../db/schema/events.ts'
import { pushes } from '../../db/schema/refs.ts'
import { commit, type Hosted, hostRepository, workTree } from '../features/transport/hosted.ts'
import { startTestService, type TestService, type TestUser } from '../harness/service.ts'
import { addKey, makeKey, sshPrograms, type TestKey, withKey } from '../harness/ssh.ts'

let service: TestService
let owner: TestUser
let key: TestKey
const at = (repo: Hosted) => `${service.context.sshRoot}${owner.name}/${repo.name}.git`

beforeAll(async () => {
  service = await startTestService({ settings: { SSH_ENABLED: 'true', SSH_PORT: '0' } })
  owner = await service.createUser()
  key = makeKey(service)
  await addKey(owner, key)
})
afterAll(() => service.stop())

describe.each(sshPrograms.map((program) => [program.split(' ')[0] ?? '', program] as const))('by %s', (_, program) => {
  const git = (args: string[], cwd?: string) => service.git(args, { cwd, env: withKey(key, program) })

  test('a repository is pushed, cloned, changed and fetched, and its rows say so', async () => {
    const repo = await hostRepository(service, owner, { isPrivate: true })
    const cwd = await workTree(service.git, {
      'a.txt': 'one\n',
      'b.bin': crypto.getRandomValues(new Uint8Array(60_000)),
    })
    await git(['push', at(repo), 'main', 'main:refs/heads/other', 'HEAD:refs/tags/v1'], cwd)
    expect(await repo.rowLines()).toEqual(await repo.diskLines())
    expect(await repo.rowLines()).toHaveLength(3)
    const clone = join(service.git.folder, `clone-${crypto.randomUUID()}`)
    await git(['clone', '-q', at(repo), clone])
    expect(await service.git(['rev-parse', 'HEAD'], { cwd: clone })).toBe(
      await service.git(['rev-parse', 'HEAD'], { cwd }),
    )
    const sha = await commit(service.git, clone, { 'a.txt': 'two\n' })
    await git(['push', '-q', 'origin', 'HEAD', ':other'], clone)
    await git(['pull', '-q', at(repo), 'main'], cwd)
    expect(await service.git(['rev-parse', 'HEAD'], { cwd })).toBe(sha)
    expect(await repo.rowLines()).toEqual([`branch main ${sha}`, expect.stringMatching(/^tag v1 /)])
    const told = await service.context.db.select().from(events).where(eq(events.repositoryId, repo.id))
    expect(told.length).toBeGreaterThan(0)
    expect(await service.context.db.select().from(pushes).where(eq(pushes.repositoryId, repo.id))).toEqual([])
  })

  test('nothing to push, a rehearsal and a refused branch end as they should', async () => {
    const repo = await hostRepository(service, owner)
    const cwd = await workTree(service.git)
    await git(['push', '-q', at(repo), 'main'], cwd)
    const run = (args: string[]) => service.git.run(args, { cwd, env: withKey(key, program) })
    expect(await run(['push', at(repo), 'main'])).toMatchObject({ exitCode: 0, stderr: 'Everything up-to-date\n' })
    await commit(service.git, cwd, { 'big.bin': crypto.getRandomValues(new Uint8Array(65_000)) })
    expect(await run(['push', '--dry-run', at(repo), 'main'])).toMatchObject({ exitCode: 0 })
    const refused = await run(['push', at(repo), 'main:refs/pull/1/head'])
    expect(refused.exitCode).toBe(1)
    expect(refused.stderr).toContain('refs of pull requests are read-only')
    expect(refused.stderr).not.toContain('Hearth:')
    await service.git(['reset', '-q', '--hard', 'HEAD~1'], { cwd })
    await commit(service.git, cwd, { 'c.txt': 'c' })
    await git(['push', '-q', at(repo), 'main'], cwd)
    await service.git(['reset', '-q', '--hard', 'HEAD~1'], { cwd })
    await commit(service.git, cwd, { 'd.txt': 'd' })
    expect((await run(['push', at(repo), 'main'])).stderr).toContain('[rejected]')
    await git(['push', '-q', '--force', at(repo), 'main'], cwd)
    expect(await repo.rowLines()).toEqual(await repo.diskLines())
  })

  test.each(['0', '1', '2'])('protocol version %s', async (version) => {
    const repo = await hostRepository(service, owner)
    const cwd = await workTree(service.git)
    await git(['push', '-q', at(repo), 'main'], cwd)
    const env = { ...withKey(key, program), GIT_TRACE_PACKET: '1' }
    const { exitCode, stderr } = await service.git.run(['-c', `protocol.version=${version}`, 'ls-remote', at(repo)], {
      env,
    })
    expect(exitCode).toBe(0)
    expect(stderr.includes('< version 2')).toBe(version === '2')
    expect(stderr.includes('< version 1')).toBe(version === '1')
    await git(['-c', `protocol.version=${version}`, 'clone', '-q', '--depth=1', at(repo), `v${crypto.randomUUID()}`])
  })
})

test.each(['ecdsa', 'rsa'] as const)('a key of the kind %s opens', async (kind) => {
  const other = makeKey(service, kind)
  await addKey(owner, other)
  const repo = await hostRepository(service, owner, { isPrivate: true })
  for (const program of sshPrograms) await service.git(['ls-remote', at(repo)], { env: withKey(other, program) })
})

test('a read-only key fetches and does not push', async () => {
  const reader = makeKey(service)
  const added = await owner.client.post('/user/keys', { title: 'reader', key: reader.line, read_only: true })
  expect([added.status, added.body]).toMatchObject([201, { read_only: true }])
  expect((await owner.client.get(`/user/keys/${added.number('id')}`)).body).toMatchObject({ read_only: true })
  const repo = await hostRepository(service, owner, { isPrivate: true })
  const cwd = await workTree(service.git)
  await service.git(['push', '-q', at(repo), 'main'], { cwd, env: withKey(key) })
  const before = await repo.diskLines()
  for (const program of sshPrograms) {
    const env = withKey(reader, program)
    await service.git(['clone', '-q', at(repo), `read-only-${crypto.randomUUID()}`], { env })
    for (const args of [
      ['push', at(repo), 'main:new'],
      ['push', at(repo), ':main'],
      ['push', at(repo), 'main'],
    ]) {
      const refused = await service.git.run(args, { cwd, env })
      expect(refused.exitCode).not.toBe(0)
      expect(refused.stderr).toContain('this key is read-only')
    }
  }
  expect(await repo.diskLines()).toEqual(before)
})

test('a push of some megabytes and a clone keep every byte, also where keys are changed on the way', async () => {
  const repo = await hostRepository(service, owner)
  const cwd = await workTree(service.git)
  for (const name of ['x', 'y', 'z']) await Bun.write(join(cwd, name), crypto.getRandomValues(new Uint32Array(16_384)))
  await Bun.write(
    join(cwd, 'large'),
    Buffer.concat(Array.from({ length: 200 }, () => crypto.getRandomValues(new Uint8Array(65_536)))),
  )
  await commit(service.git, cwd, {})
  for (const program of sshPrograms) {
    const rekeyed = program.startsWith('ssh ') ? `${program} -o RekeyLimit=1M` : program
    const env = withKey(key, rekeyed)
    await service.git(['push', '-q', '-f', at(repo), `main:refs/heads/b${crypto.randomUUID()}`], { cwd, env })
    const clone = join(service.git.folder, `big-${crypto.randomUUID()}`)
    await service.git(['clone', '-q', at(repo), clone, '-b', (await repo.rowLines()).at(-1)?.split(' ')[1] ?? ''], {
      env,
    })
    expect(await service.git(['rev-parse', 'HEAD^{tree}'], { cwd: clone })).toBe(
      await service.git(['rev-parse', 'HEAD^{tree}'], { cwd }),
    )
  }
})
