import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { storagePath } from '../../src/git/storage.ts'
import { type Hosted, hostRepository, workTree } from '../features/transport/hosted.ts'
import { startTestService, type TestService, type TestUser } from '../harness/service.ts'
import { addKey, makeKey, sshProgram, type TestKey, withKey } from '../harness/ssh.ts'

let service: TestService
let owner: TestUser
let key: TestKey
let strangersKey: TestKey
let repo: Hosted
const at = () => `${service.context.sshRoot}${owner.name}/${repo.name}.git`

beforeAll(async () => {
  service = await startTestService({ settings: { SSH_ENABLED: 'true', SSH_PORT: '0' } })
  owner = await service.createUser()
  key = makeKey(service)
  strangersKey = makeKey(service)
  await addKey(owner, key)
  await addKey(await service.createUser(), strangersKey)
  repo = await hostRepository(service, owner, { isPrivate: true })
  const cwd = await workTree(service.git, { 'a.txt': 'one\n', 'docs/b.txt': 'two\n' })
  await service.git(['push', '-q', at(), 'main', 'main:refs/tags/v1'], { cwd, env: withKey(key, sshProgram) })
})
afterAll(() => service.stop())

const archive = (args: readonly string[], by = key) =>
  service.git.run(['archive', `--remote=${at()}`, ...args], { env: withKey(by, sshProgram) })

test.each(['tar', 'tar.gz', 'tgz', 'zip'])('a branch as %s', async (form) => {
  const file = join(service.git.folder, `archive.${form}`)
  expect(await archive([`--format=${form}`, '--prefix=it/', '-o', file, 'main'])).toMatchObject({ exitCode: 0 })
  const command = form === 'zip' ? ['python3', '-m', 'zipfile', '-l', file] : ['tar', 'tf', file]
  const names = await new Response(Bun.spawn(command).stdout).text()
  for (const name of ['it/a.txt', 'it/docs/b.txt']) expect(names).toContain(name)
})

test('a folder of a tag, and some paths', async () => {
  for (const args of [['v1:docs'], ['v1', 'docs']]) {
    const file = join(service.git.folder, 'part.tar')
    expect(await archive(['-o', file, ...args])).toMatchObject({ exitCode: 0 })
    const names = await new Response(Bun.spawn(['tar', 'tf', file]).stdout).text()
    expect([names.includes('b.txt'), names.includes('a.txt')]).toEqual([true, false])
  }
})

test('a stranger is told that there is nothing', async () => {
  const refused = await archive(['main'], strangersKey)
  expect(refused.exitCode).not.toBe(0)
  expect(refused.stderr).toContain('repository not found')
})

test.each([
  ['an unknown branch', ['gone'], 'no such ref'],
  ['a commit that is named by its id', ['HEAD~0'], 'no such ref'],
  ['a ref that is hidden', ['refs/hidden/x'], 'no such ref'],
  ['the same by its short name', ['hidden/x'], 'no such ref'],
  ['an unknown form', ['--format=rar', 'main'], 'Unknown archive format'],
  ['an unknown path', ['main', 'gone'], 'did not match any files'],
])('refused: %s', async (_, args, words) => {
  const folder = join(service.context.config.repositoriesDir, storagePath(repo.id))
  await service.git(['update-ref', 'refs/hidden/x', 'main'], { cwd: folder })
  const refused = await archive(args)
  expect(refused.exitCode).not.toBe(0)
  expect(refused.stderr).toContain(words)
})

test('what would have no end is refused before Git begins', async () => {
  const cwd = join(service.context.config.repositoriesDir, storagePath(repo.id))
  let item = `100644 blob ${await service.git(['hash-object', '-w', '--stdin'], { cwd, input: 'x\n' })}`
  for (let level = 0; level < 10; level++) {
    const names = Array.from({ length: 10 }, (_, index) => `${item}\tname${index}`)
    item = `040000 tree ${await service.git(['mktree'], { cwd, input: `${names.join('\n')}\n` })}`
  }
  const commit = await service.git(['commit-tree', item.split(' ')[2] ?? '', '-m', 'bomb'], { cwd })
  await service.git(['update-ref', 'refs/heads/bomb', commit], { cwd })
  for (const args of [['bomb'], ['bomb:name0'], ['bomb', 'name0']]) {
    const refused = await archive(args)
    expect(refused.exitCode).not.toBe(0)
    expect(refused.stderr).toContain('too many files')
  }
})
