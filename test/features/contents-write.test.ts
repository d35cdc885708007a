import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { eq } from 'drizzle-orm'
import { events } from '../../db/schema/events.ts'
import { pushes, refs } from '../../db/schema/refs.ts'
import { repositories } from '../../db/schema/repositories.ts'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../harness/service.ts'

let service: TestService
let owner: TestUser
let stranger: TestUser
beforeAll(async () => {
  service = await startTestService()
  owner = await service.createUser()
  stranger = await service.createUser()
})
afterAll(() => service.stop())

const base64 = (text: string | Uint8Array) => Buffer.from(text).toString('base64')
const newRepository = (option: Record<string, unknown> = {}) => service.createRepository(owner, option)

const create = (repository: TestRepository, path: string, json: Record<string, unknown> = {}) =>
  owner.client.post(`${repository.path}/contents/${path}`, { content: base64('one\n'), ...json })

let clones = 0
async function clone(repository: TestRepository): Promise<string> {
  clones += 1
  const folder = join(service.git.folder, `clone${clones}`)
  await service.git(['clone', '-q', repository.cloneUrl, folder])
  return folder
}

describe('creating a file', () => {
  test('makes one commit, which a clone sees and every list knows', async () => {
    const repository = await newRepository()
    const made = await create(repository, 'docs/a%20b.txt', { message: 'a file' })
    expect(made.status).toBe(201)
    const sha = made.string('commit.sha')
    expect(made.body).toMatchObject({
      content: {
        name: 'a b.txt',
        path: 'docs/a b.txt',
        type: 'file',
        size: 4,
        encoding: 'base64',
        last_commit_sha: sha,
      },
      commit: { message: 'a file\n', author: { name: owner.name }, created: '0001-01-01T00:00:00Z' },
      verification: { verified: false, reason: 'gpg.error.not_signed_commit', signer: null },
    })
    const folder = await clone(repository)
    expect(await readFile(join(folder, 'docs/a b.txt'), 'utf8')).toBe('one\n')
    expect(await service.git(['log', '-1', '--format=%H %P|%an|%cn|%s'], { cwd: folder })).toBe(
      `${sha} ${made.string('commit.parents.0.sha')}|${owner.name}|${owner.name}|a file`,
    )
    expect((await owner.client.get(`${repository.path}/branches/main`)).string('commit.id')).toBe(sha)
    const { db } = service.context
    const pushed = await db.select().from(events).where(eq(events.repositoryId, repository.id))
    expect(pushed.filter(({ kind }) => kind === 'push').at(-1)?.payload).toMatchObject({ newSha: sha, commitsCount: 1 })
    expect(await db.select().from(pushes).where(eq(pushes.repositoryId, repository.id))).toEqual([])
  })

  test('begins the history of an empty repository', async () => {
    const repository = await newRepository({ auto_init: false })
    expect((await create(repository, 'first.txt')).status).toBe(201)
    expect((await owner.client.get(repository.path)).body).toMatchObject({ empty: false, default_branch: 'main' })
    expect(await readFile(join(await clone(repository), 'first.txt'), 'utf8')).toBe('one\n')
  })

  test('without content makes it empty', async () => {
    const made = await create(await newRepository(), 'empty', { content: undefined })
    expect(made.body).toMatchObject({ content: { size: 0, content: '' } })
  })

  test('by a person without a name is by the caller under that address', async () => {
    const made = await create(await newRepository(), 'a', { author: { email: 'solo@example.com' } })
    expect(made.body).toMatchObject({ commit: { author: { name: owner.name, email: 'solo@example.com' } } })
  })

  test('without a message says what it does', async () => {
    expect((await create(await newRepository(), 'x/y.txt')).string('commit.message')).toBe('Add x/y.txt\n')
  })

  test('takes the identities, times, zone and trailer that are given', async () => {
    const made = await create(await newRepository(), 'a', {
      author: { name: 'Ann', email: 'ann@example.com' },
      committer: { name: 'Carl', email: 'carl@example.com' },
      dates: { author: '2020-01-02T03:04:05+02:00', committer: '2021-01-02T03:04:05Z' },
      message: 'text',
      signoff: true,
    })
    expect(made.body).toMatchObject({
      commit: {
        author: { name: 'Ann', email: 'ann@example.com', date: '2020-01-02T01:04:05Z' },
        committer: { name: 'Carl', email: 'carl@example.com', date: '2021-01-02T03:04:05Z' },
        message: 'text\n\nSigned-off-by: Carl <carl@example.com>\n',
      },
    })
    const { pathname } = new URL(made.string('commit.url'))
    const shown = await owner.client.get(pathname)
    expect(shown.string('commit.author.date')).toBe('2020-01-02T03:04:05+02:00')
  })

  test('takes year one for no time', async () => {
    const none = '0001-01-01T00:00:00Z'
    const made = await create(await newRepository(), 'a', { dates: { author: none, committer: none } })
    expect(Date.now() - Date.parse(made.string('commit.author.date'))).toBeLessThan(60_000)
    expect(Date.now() - Date.parse(made.string('commit.committer.date'))).toBeLessThan(60_000)
  })

  test('one identity stands for both', async () => {
    const made = await create(await newRepository(), 'a', { author: { name: 'Ann', email: 'ann@example.com' } })
    expect(made.string('commit.committer.email')).toBe('ann@example.com')
  })

  test('hides the address of those who hide it', async () => {
    const shy = await service.createUser()
    const repository = await service.createRepository(shy)
    await shy.client.patch('/user/settings', { hide_email: true })
    const made = await shy.client.post(`${repository.path}/contents/a`, { content: '' })
    expect(made.string('commit.author.email')).toMatch(/^\d+\+user\d+@noreply\.localhost$/)
    const list = await service.anonymous.get(`${repository.path}/commits`)
    expect(list.string('0.author.login')).toBe(shy.name)
  })

  test('on a new branch leaves the old one where it was', async () => {
    const repository = await newRepository()
    const before = (await owner.client.get(`${repository.path}/branches/main`)).string('commit.id')
    expect((await create(repository, 'a', { new_branch: 'feature/x' })).status).toBe(201)
    expect((await owner.client.get(`${repository.path}/branches/main`)).string('commit.id')).toBe(before)
    expect((await owner.client.get(`${repository.path}/contents/a`, { ref: 'feature/x' })).status).toBe(200)
    const again = await create(repository, 'b', { new_branch: 'feature/x' })
    expect(again.status).toBe(422)
    expect((await create(repository, 'b', { new_branch: 'feature/x', force_push: true })).status).toBe(201)
    expect((await owner.client.get(`${repository.path}/contents/a`, { ref: 'feature/x' })).status).toBe(404)
    expect((await create(repository, 'b', { new_branch: 'feature' })).status).toBe(409)
  })

  test.each([
    ['a name that git keeps for itself', '.git/config', 422],
    ['the same in other letters', 'x/.GIT/config', 422],
    ['its short name on Windows', 'git~1', 422],
    ['a step up', '%2e%2e%2fetc%2fpasswd', 422],
    ['a step up behind a folder', 'a%2f..%2f..%2fb', 422],
    ['an empty part', 'a%2f%2fb', 422],
    ['NUL', 'a%00b', 404],
    ['a broken encoding', 'a%zz', 404],
    ['a file that is there', 'README.md', 422],
    ['a file as a folder', 'README.md/x', 422],
  ])('at %s is refused', async (_, path, status) => {
    expect((await create(await newRepository(), path)).status).toBe(status)
  })

  test.each([
    ['content that is no base64', { content: 'not base64!' }, 422],
    ['an unknown branch', { branch: 'gone' }, 404],
    ['a branch like an option', { branch: '--upload-pack=x' }, 422],
    ['a new branch like an option', { new_branch: '-x' }, 422],
    ['a new branch with a step up', { new_branch: 'a/../b' }, 422],
    ['a time that is none', { dates: { author: 'yesterday' } }, 422],
    ['an address that is none', { author: { email: 'nobody' } }, 422],
  ])('with %s is refused', async (_, json, status) => {
    expect((await create(await newRepository(), 'new.txt', json)).status).toBe(status)
  })
})

describe('who may not', () => {
  test.each(['post', 'put', 'delete'] as const)('%s a file', async (method) => {
    const repository = await newRepository({ private: true })
    const open = await newRepository()
    const json = { content: base64('x'), sha: '0'.repeat(40) }
    const send = (client: TestUser['client'], { path }: TestRepository) =>
      client[method](`${path}/contents/a.txt`, json)
    expect((await send(service.anonymous, open)).status).toBe(401)
    expect((await send(stranger.client, open)).status).toBe(403)
    expect((await send(stranger.client, repository)).status).toBe(404)
    await owner.client.patch(open.path, { archived: true })
    expect((await send(owner.client, open)).status).toBe(423)
  })

  test('a token that only reads', async () => {
    const repository = await newRepository()
    const basic = service.client({ basic: `${owner.name}:${owner.password}` })
    const made = await basic.post(`/users/${owner.name}/tokens`, { name: 'reads', scopes: ['read:repository'] })
    const reader = service.client({ token: made.string('sha1') })
    expect((await reader.post(`${repository.path}/contents/a`, { content: '' })).status).toBe(403)
    expect((await reader.get(`${repository.path}/contents`)).status).toBe(200)
  })

  test('a mirror', async () => {
    const repository = await newRepository()
    await service.context.db.update(repositories).set({ isMirror: true }).where(eq(repositories.id, repository.id))
    expect((await create(repository, 'a')).status).toBe(423)
  })
})

describe('changing a file', () => {
  const blobOf = async ({ path }: TestRepository, file: string) =>
    (await owner.client.get(`${path}/contents/${file}`)).string('sha')

  test('needs the blob that it changes', async () => {
    const repository = await newRepository()
    const sha = await blobOf(repository, 'README.md')
    const put = (json: Record<string, unknown>) =>
      owner.client.put(`${repository.path}/contents/README.md`, { content: base64('new'), ...json })
    expect((await put({})).status).toBe(422)
    expect((await put({ sha: '0'.repeat(40) })).status).toBe(422)
    const changed = await put({ sha })
    expect(changed.status).toBe(200)
    expect(changed.body).toMatchObject({
      content: { content: base64('new') },
      commit: { message: 'Update README.md\n' },
    })
    expect((await put({ sha })).status).toBe(422)
  })

  test('that is not there makes it when no blob is named, and is refused when one is', async () => {
    const repository = await newRepository()
    const put = (json: Record<string, unknown>) =>
      owner.client.put(`${repository.path}/contents/new.txt`, { content: base64('new'), ...json })
    expect((await put({ sha: '0'.repeat(40) })).status).toBe(404)
    expect((await put({})).status).toBe(201)
  })

  test('can move it', async () => {
    const repository = await newRepository()
    const moved = await owner.client.put(`${repository.path}/contents/docs/README.md`, {
      content: base64('moved'),
      from_path: 'README.md',
      sha: await blobOf(repository, 'README.md'),
    })
    expect(moved.status).toBe(200)
    expect((await owner.client.get(`${repository.path}/contents/README.md`)).status).toBe(404)
    expect((await owner.client.get(`${repository.path}/raw/docs/README.md`)).text).toBe('moved')
  })

  test('keeps the mode of a program', async () => {
    const repository = await newRepository()
    const folder = await clone(repository)
    await Bun.write(join(folder, 'run.sh'), 'x')
    await service.git(['add', 'run.sh'], { cwd: folder })
    await service.git(['update-index', '--chmod=+x', 'run.sh'], { cwd: folder })
    await service.git(['commit', '-qm', 'program'], { cwd: folder })
    await service.git(['push', '-q'], { cwd: folder })
    const sha = await blobOf(repository, 'run.sh')
    await owner.client.put(`${repository.path}/contents/run.sh`, { content: base64('y'), sha })
    expect(await service.git(['ls-tree', 'HEAD', 'run.sh'], { cwd: await clone(repository) })).toStartWith('100755')
  })

  test('never goes through a link', async () => {
    const repository = await newRepository()
    const folder = await clone(repository)
    await service.git(['config', 'core.symlinks', 'true'], { cwd: folder })
    await symlink('/etc', join(folder, 'link'))
    await service.git(['add', 'link'], { cwd: folder })
    await service.git(['commit', '-qm', 'link'], { cwd: folder })
    await service.git(['push', '-q'], { cwd: folder })
    expect((await create(repository, 'link/passwd')).status).toBe(422)
    const sha = await blobOf(repository, 'link')
    const put = await owner.client.put(`${repository.path}/contents/link`, { content: base64('x'), sha })
    expect(put.status).toBe(422)
    expect((await owner.client.get(`${repository.path}/raw/link/passwd`)).status).toBe(404)
  })

  test('deleting takes what is asked for from the query as well', async () => {
    const repository = await newRepository()
    await create(repository, 'a.txt')
    const sha = await blobOf(repository, 'a.txt')
    const remove = (query: Record<string, string>) =>
      owner.client.request(`${repository.path}/contents/a.txt`, { method: 'DELETE', query })
    expect((await remove({ message: 'gone' })).status).toBe(422)
    expect((await remove({ sha: '1'.repeat(40) })).status).toBe(422)
    const gone = await remove({ sha, message: 'gone', new_branch: 'side' })
    expect(gone.body).toMatchObject({ content: null, commit: { message: 'gone\n' } })
    expect((await owner.client.get(`${repository.path}/contents/a.txt`)).status).toBe(200)
    expect((await remove({ sha, branch: 'side' })).status).toBe(404)
  })

  test('deleting answers without content and takes the empty folder along', async () => {
    const repository = await newRepository()
    await create(repository, 'only/one.txt')
    const file = `${repository.path}/contents/only/one.txt`
    expect((await owner.client.delete(file, {})).status).toBe(422)
    expect((await owner.client.delete(file, { sha: '1'.repeat(40) })).status).toBe(422)
    const gone = await owner.client.delete(file, { sha: await blobOf(repository, 'only/one.txt') })
    expect(gone.status).toBe(200)
    expect(gone.body).toMatchObject({ content: null, commit: { message: 'Delete only/one.txt\n' } })
    expect((await owner.client.get(`${repository.path}/contents/only`)).status).toBe(404)
    expect((await owner.client.delete(file, { sha: '1'.repeat(40) })).status).toBe(404)
  })
})

describe('several files', () => {
  test('change in one commit, deleted ones answered with null', async () => {
    const repository = await newRepository()
    const sha = (await owner.client.get(`${repository.path}/contents/README.md`)).string('sha')
    const made = await owner.client.post(`${repository.path}/contents`, {
      files: [
        { operation: 'create', path: 'a.txt', content: base64('a') },
        { operation: 'upload', path: 'b.txt', content: base64('b') },
        { operation: 'delete', path: 'README.md', sha },
      ],
    })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({ files: [{ path: 'a.txt' }, { path: 'b.txt' }, null] })
    expect(made.string('commit.message')).toBe('Add a.txt\nUpdate b.txt\nDelete README.md\n')
    const folder = await clone(repository)
    expect(await service.git(['ls-files'], { cwd: folder })).toBe('a.txt\nb.txt')
    expect(await service.git(['rev-list', '--count', 'HEAD'], { cwd: folder })).toBe('2')
  })

  test('are changed whatever they hold where no blob is named', async () => {
    const repository = await newRepository()
    await create(repository, 'a.txt')
    await create(repository, 'b.txt')
    const change = (file: object) => owner.client.post(`${repository.path}/contents`, { files: [file] })
    expect((await change({ operation: 'update', path: 'a.txt', content: base64('new') })).status).toBe(201)
    expect((await change({ operation: 'rename', path: 'c.txt', from_path: 'a.txt' })).status).toBe(201)
    expect((await change({ operation: 'delete', path: 'b.txt' })).body).toMatchObject({ files: [null] })
    expect((await change({ operation: 'delete', path: 'b.txt' })).status).toBe(404)
    expect((await owner.client.get(`${repository.path}/raw/c.txt`)).text).toBe('new')
  })

  test('change all together or not at all', async () => {
    const repository = await newRepository()
    const before = await owner.client.get(`${repository.path}/branches/main`)
    const refused = await owner.client.post(`${repository.path}/contents`, {
      files: [
        { operation: 'create', path: 'a.txt', content: base64('a') },
        { operation: 'create', path: 'README.md', content: base64('a') },
      ],
    })
    expect(refused.status).toBe(422)
    expect((await owner.client.get(`${repository.path}/branches/main`)).body).toEqual(before.body)
  })

  test.each([
    ['no operation', { path: 'a', content: '' }],
    ['an unknown operation', { operation: 'explode', path: 'a' }],
    ['no path', { operation: 'create', content: '' }],
    ['a rename from nowhere', { operation: 'rename', path: 'a', sha: '1'.repeat(40) }],
  ])('with %s are refused', async (_, file) => {
    const repository = await newRepository()
    expect((await owner.client.post(`${repository.path}/contents`, { files: [file] })).status).toBe(422)
  })

  test('none is no change', async () => {
    const repository = await newRepository()
    expect((await owner.client.post(`${repository.path}/contents`, { files: [] })).status).toBe(422)
  })
})

describe('at the same time', () => {
  test('commits to different files all succeed, one upon the other', async () => {
    const repository = await newRepository()
    const made = await Promise.all(Array.from({ length: 8 }, (_, index) => create(repository, `file${index}`)))
    expect(made.map(({ status }) => status)).toEqual(Array(8).fill(201))
    const folder = await clone(repository)
    expect((await service.git(['ls-files'], { cwd: folder })).split('\n')).toHaveLength(9)
    expect(await service.git(['rev-list', '--count', '--first-parent', 'HEAD'], { cwd: folder })).toBe('9')
    const [row] = await service.context.db.select().from(refs).where(eq(refs.repositoryId, repository.id))
    expect(row?.sha).toBe(await service.git(['rev-parse', 'HEAD'], { cwd: folder }))
  })

  test('of two edits of one file one is refused', async () => {
    const repository = await newRepository()
    const sha = (await owner.client.get(`${repository.path}/contents/README.md`)).string('sha')
    const edit = (text: string) =>
      owner.client.put(`${repository.path}/contents/README.md`, { content: base64(text), sha })
    const made = await Promise.all([edit('one'), edit('two')])
    expect(made.map(({ status }) => status).sort()).toEqual([200, 422])
    const won = made[0].status === 200 ? 'one' : 'two'
    expect((await owner.client.get(`${repository.path}/raw/README.md`)).text).toBe(won)
  })

  test('of two makings of one file one is refused', async () => {
    const repository = await newRepository()
    const made = await Promise.all([create(repository, 'same'), create(repository, 'same')])
    expect(made.map(({ status }) => status).sort()).toEqual([201, 422])
  })

  test('a push and commits over the API lose nothing', async () => {
    const repository = await newRepository()
    const folder = await clone(repository)
    await service.git(['commit', '-q', '--allow-empty', '-m', 'pushed'], { cwd: folder })
    const [pushed, ...made] = await Promise.all([
      service.git.run(['push', '-q'], { cwd: folder }),
      ...Array.from({ length: 4 }, (_, index) => create(repository, `f${index}`)),
    ])
    expect(made.map(({ status }) => status)).toEqual([201, 201, 201, 201])
    const log = await service.git(['log', '--format=%s'], { cwd: await clone(repository) })
    expect(log.split('\n')).toHaveLength(pushed.exitCode === 0 ? 6 : 5)
    expect(log.includes('pushed')).toBe(pushed.exitCode === 0)
  })
})

test.each(['sha1', 'sha256'])('files are written and read in %s', async (format) => {
  const repository = await newRepository({ object_format_name: format })
  const bytes = Uint8Array.from({ length: 70_000 }, (_, index) => index % 251)
  const made = await owner.client.post(`${repository.path}/contents/b.bin`, { content: base64(bytes) })
  expect(made.status).toBe(201)
  expect(made.string('commit.sha')).toHaveLength(format === 'sha1' ? 40 : 64)
  expect(new Uint8Array(await readFile(join(await clone(repository), 'b.bin')))).toEqual(bytes)
})
