import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import { eq } from 'drizzle-orm'
import { repositories } from '../../db/schema/repositories.ts'
import { storagePath } from '../../src/git/storage.ts'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../harness/service.ts'

let service: TestService
let owner: TestUser
beforeAll(async () => {
  service = await startTestService({ settings: { GIT_MAX_MEMORY_TOTAL: '1GiB' } })
  owner = await service.createUser()
})
afterAll(() => service.stop())

const newRepository = (option: Record<string, unknown> = {}) => service.createRepository(owner, option)
const apply = (repository: TestRepository, content: string, option: object = {}, user = owner) =>
  user.client.post(`${repository.path}/diffpatch`, { content, ...option })

/** A patch that makes one file. */
const making = (path: string, line = 'one', mode = '100644') =>
  `diff --git a/${path} b/${path}\nnew file mode ${mode}\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+${line}\n`

const folderOf = ({ id }: TestRepository) => join(service.context.config.repositoriesDir, storagePath(id))
const git = (repository: TestRepository, ...args: string[]) => service.git(['--git-dir', folderOf(repository), ...args])

let clones = 0
async function clone(repository: TestRepository) {
  clones += 1
  const cwd = join(service.git.folder, `clone${clones}`)
  await service.git(['clone', '-q', repository.cloneUrl, cwd])
  return { cwd, run: (...args: string[]) => service.git(args, { cwd }) }
}

test('what Git says of a change of every kind makes the same tree', async () => {
  const repository = await newRepository()
  const { cwd, run } = await clone(repository)
  for (const name of ['keep', 'move', 'gone', 'folder', 'turn/file', 'program'])
    await Bun.write(join(cwd, name), `${name}\n`.repeat(20))
  await Bun.write(join(cwd, 'bytes'), new Uint8Array([0, 1, 2, 255]))
  await run('add', '-A')
  await run('commit', '-qm', 'before')
  await run('push', '-q')
  await Bun.write(join(cwd, 'keep'), `${'keep\n'.repeat(10)}märz\r\n${'keep \n'.repeat(10)}`)
  await run('mv', 'move', 'moved')
  await run('rm', '-q', 'gone', 'folder', 'turn/file')
  await Bun.write(join(cwd, 'folder/file'), 'in it')
  await Bun.write(join(cwd, 'turn'), 'a file now\n')
  await Bun.write(join(cwd, 'bytes'), new Uint8Array([0, 9, 255, 254]))
  await run('add', '-A')
  await run('update-index', '--chmod=+x', 'program')
  await run('update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},module`)
  const link = await service.git(['hash-object', '-w', '--stdin'], { cwd, input: '/etc/passwd' })
  await run('update-index', '--add', '--cacheinfo', `120000,${link},link`)
  await run('commit', '-qm', 'after')
  const made = await apply(repository, `${await run('format-patch', '--binary', '--stdout', '-1')}\n`, {
    message: 'all',
  })
  expect(made.status).toBe(201)
  expect(made.body).toMatchObject({ content: null, commit: { message: 'all\n', author: { name: owner.name } } })
  expect(made.string('commit.tree.sha')).toBe(await run('rev-parse', 'HEAD^{tree}'))
  expect(await git(repository, 'fsck', '--strict', '--full')).toBe('')
  expect((await owner.client.get(`${repository.path}/branches/main`)).string('commit.id')).toBe(
    made.string('commit.sha'),
  )
})

test('names who made it, and a branch of its own', async () => {
  const repository = await newRepository()
  const person = { name: 'Ann', email: 'ann@example.com' }
  const made = await apply(repository, making('a'), { author: person, new_branch: 'side', signoff: true })
  expect(made.body).toMatchObject({
    commit: { author: person, message: 'apply-patch\n\nSigned-off-by: Ann <ann@example.com>\n' },
  })
  expect((await owner.client.get(`${repository.path}/raw/a`)).status).toBe(404)
  expect((await owner.client.get(`${repository.path}/raw/a`, { ref: 'side' })).text).toBe('one\n')
  expect((await apply(repository, making('b'), { new_branch: 'side' })).status).toBe(422)
  expect((await apply(repository, making('b'), { branch: 'gone' })).status).toBe(404)
})

test('begins the history of an empty repository', async () => {
  const repository = await newRepository({ auto_init: false })
  expect((await apply(repository, making('a'))).status).toBe(201)
  expect((await owner.client.get(`${repository.path}/raw/a`)).text).toBe('one\n')
})

test('two at once on different files are both there', async () => {
  const repository = await newRepository()
  const made = await Promise.all(['a', 'b', 'c'].map((name) => apply(repository, making(name))))
  expect(made.map(({ status }) => status)).toEqual([201, 201, 201])
  expect(await git(repository, 'ls-tree', '--name-only', 'main')).toBe('README.md\na\nb\nc')
})

describe('refused, without a trace, is', () => {
  /** One repository, with a link to a folder of the machine. */
  let repository: TestRepository
  beforeAll(async () => {
    repository = await newRepository()
    expect((await apply(repository, making('link', '/etc', '120000'))).status).toBe(201)
  })

  /** `git diff --binary` of a new file of zeros: a megabyte of patch stands for a gigabyte. */
  function bomb(bytes: number): string {
    const deflated = deflateSync(new Uint8Array(bytes), { level: 9 })
    const lines = Array.from({ length: Math.ceil(deflated.length / 52) }, (_, index) => {
      const part = deflated.subarray(index * 52, (index + 1) * 52)
      const length = part.length <= 26 ? 64 + part.length : 70 + part.length
      return String.fromCharCode(length) + base85(part)
    })
    return `diff --git a/z b/z\nnew file mode 100644\nindex 0000000..1111111\nGIT binary patch\nliteral ${bytes}\n${lines.join('\n')}\n\n`
  }

  const readme = () => `diff --git a/README.md b/README.md\n--- a/README.md\n+++ b/README.md\n`
  test.each<[string, () => string]>([
    ['no patch', () => 'hello'],
    ['nothing', () => ''],
    ['one for another content', () => `${readme()}@@ -1 +1 @@\n-something else\n+new\n`],
    ['one that is cut', () => `${readme()}@@ -1,9 +1,9 @@\n one\n`],
    ['a file that is there', () => making('README.md')],
    ['a file below a file', () => making('README.md/x')],
    ['a path that leaves the tree', () => making('../x')],
    ['a step up within', () => making('a/../../x')],
    ['the folder of Git', () => making('.git/hooks/post-receive')],
    ['the same in other letters', () => making('.GiT/config')],
    ['its short name on Windows', () => making('GIT~1/config')],
    [
      'the same behind a backslash',
      () => making('"a/x\\\\.git\\\\config"').replaceAll('a/"a', '"a').replaceAll('b/"a', '"b'),
    ],
    ['NUL in a path', () => making('a\0b')],
    ['a path that is no text', () => making('X').replaceAll('a/X', '"a/\\377"').replaceAll('b/X', '"b/\\377"')],
    ['a file behind a link', () => making('link/x')],
    ['a file behind a link of its own', () => `${making('mine', '/etc', '120000')}${making('mine/passwd')}`],
    [
      'a submodule that runs a program',
      () => making('.gitmodules', '[submodule "x"]\n+\tpath = x\n+\turl = -u./x').replace('+1 @@', '+1,3 @@'),
    ],
    ['submodules by a link', () => making('.gitmodules', 'x', '120000')],
    ['a gigabyte of nothing', () => bomb(1024 ** 3)],
  ])('%s', async (_, patch) => {
    const before = await git(repository, 'for-each-ref')
    const refused = await apply(repository, patch())
    expect([413, 422]).toContain(refused.status)
    expect(await git(repository, 'for-each-ref')).toBe(before)
    expect(await git(repository, 'fsck', '--strict', '--full')).toBe('')
    expect(readdirSync(join(folderOf(repository), 'objects')).filter((name) => name.startsWith('tmp'))).toEqual([])
  })
})

test('who may not', async () => {
  const repository = await newRepository()
  const stranger = await service.createUser()
  expect((await service.anonymous.post(`${repository.path}/diffpatch`, { content: making('a') })).status).toBe(401)
  expect((await apply(repository, making('a'), {}, stranger)).status).toBe(403)
  expect((await apply(repository, 'no patch', {}, stranger)).status).toBe(403)
  const hidden = await newRepository({ private: true })
  expect((await apply(hidden, making('a'), {}, stranger)).status).toBe(404)
  expect((await owner.client.post(`${repository.path}/diffpatch`, { content: 5 })).status).toBe(422)
  expect((await owner.client.post(`${repository.path}/diffpatch`, {})).status).toBe(422)
  expect((await apply(repository, making('a'), { new_branch: '-x' })).status).toBe(422)
  const { db } = service.context
  await db.update(repositories).set({ isMirror: true }).where(eq(repositories.id, repository.id))
  expect((await apply(repository, making('a'))).status).toBe(423)
  await db.update(repositories).set({ isMirror: false, isArchived: true }).where(eq(repositories.id, repository.id))
  expect((await apply(repository, making('a'))).status).toBe(423)
})

test('a rule of the branch holds for patches too', async () => {
  const repository = await newRepository()
  const rule = { rule_name: 'main', enable_push: true, protected_file_patterns: 'secret/*' }
  expect((await owner.client.post(`${repository.path}/branch_protections`, rule)).status).toBe(201)
  expect((await apply(repository, making('secret/a'))).status).toBe(403)
  expect((await apply(repository, making('open/a'))).status).toBe(201)
})

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~'

/** Git's base85: four bytes are five digits. */
function base85(bytes: Uint8Array): string {
  const padded = Buffer.concat([bytes, new Uint8Array((4 - (bytes.length % 4)) % 4)])
  let text = ''
  for (let at = 0; at < padded.length; at += 4) {
    let value = padded.readUInt32BE(at)
    let group = ''
    for (let digit = 0; digit < 5; digit += 1) {
      group = (DIGITS[value % 85] ?? '') + group
      value = Math.floor(value / 85)
    }
    text += group
  }
  return text
}
