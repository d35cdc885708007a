import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../harness/service.ts'

let service: TestService
let owner: TestUser
let stranger: TestUser
let repository: TestRepository
let path: string
/** The commits of main, oldest first. */
let first: string
let second: string
const BIG = 10_485_761

beforeAll(async () => {
  service = await startTestService()
  owner = await service.createUser()
  stranger = await service.createUser()
  repository = await service.createRepository(owner)
  path = repository.path
  const cwd = join(service.git.folder, 'work')
  const git = (...args: string[]) => service.git(args, { cwd })
  await service.git(['clone', '-q', repository.cloneUrl, cwd])
  first = await git('rev-parse', 'HEAD')
  await Bun.write(join(cwd, 'src/ä ü.txt'), 'umlauts\n')
  await Bun.write(join(cwd, 'src/deep/x'), 'x')
  await Bun.write(join(cwd, '-option'), 'o')
  await symlink('../../etc/passwd', join(cwd, 'link'))
  await Bun.write(join(cwd, '.gitmodules'), '[submodule "lib"]\n\tpath = lib\n\turl = https://example.com/lib.git\n')
  await git('add', '-A')
  await git('update-index', '--add', '--cacheinfo', `160000,${first},lib`)
  await git('commit', '-qm', 'second')
  second = await git('rev-parse', 'HEAD')
  await git('tag', '-am', 'annotated', 'v1')
  await git('branch', 'feature/deep')
  await Bun.write(join(cwd, 'big.bin'), new Uint8Array(BIG))
  await git('checkout', '-qb', 'big')
  await git('add', '-A')
  await git('commit', '-qm', 'big')
  await git('push', '-q', 'origin', 'main', 'big', 'feature/deep', 'v1')
})
afterAll(() => service.stop())

describe('a file', () => {
  test('is told with its content, its last commit and its addresses', async () => {
    const answer = await service.anonymous.get(`${path}/contents/README.md`)
    expect(answer.status).toBe(200)
    const api = `${service.url}/api/v1${path}`
    const page = `${service.url}/${owner.name}/${repository.name}`
    const sha = answer.string('sha')
    const url = `${api}/contents/README.md?ref=main`
    expect(answer.body).toMatchObject({
      name: 'README.md',
      path: 'README.md',
      type: 'file',
      encoding: 'base64',
      content: Buffer.from(`# ${repository.name}\n\n`).toString('base64'),
      size: repository.name.length + 4,
      last_commit_sha: first,
      last_commit_when: answer.string('last_committer_date'),
      target: null,
      submodule_git_url: null,
      url,
      html_url: `${page}/src/branch/main/README.md`,
      git_url: `${api}/git/blobs/${sha}`,
      download_url: `${page}/raw/branch/main/README.md`,
      _links: { self: url, git: `${api}/git/blobs/${sha}`, html: `${page}/src/branch/main/README.md` },
    })
  })

  test.each([
    ['encoded', 'src/%C3%A4%20%C3%BC.txt'],
    ['with encoded slashes', 'src%2F%C3%A4%20%C3%BC.txt'],
    ['with slashes around', '/src/%C3%A4%20%C3%BC.txt/'],
  ])('is found by its name %s', async (_, name) => {
    const answer = await service.anonymous.get(`${path}/contents/${name}`)
    expect(answer.body).toMatchObject({ name: 'ä ü.txt', path: 'src/ä ü.txt' })
    expect((await fetch(answer.string('download_url'))).status).toBe(200)
  })

  test('that is large is told without its content', async () => {
    const answer = await service.anonymous.get(`${path}/contents/big.bin`, { ref: 'big' })
    expect(answer.body).toMatchObject({ size: BIG, content: null, encoding: null })
  })

  test('whose name looks like an option is a file', async () => {
    expect((await service.anonymous.get(`${path}/contents/-option`)).body).toMatchObject({
      size: 1,
      last_commit_sha: second,
    })
  })

  test('that is a link is told by its text, not followed', async () => {
    expect((await service.anonymous.get(`${path}/contents/link`)).body).toMatchObject({
      type: 'symlink',
      target: '../../etc/passwd',
      content: null,
      encoding: null,
    })
  })

  test('that is a submodule says where it comes from', async () => {
    expect((await service.anonymous.get(`${path}/contents/lib`)).body).toMatchObject({
      type: 'submodule',
      sha: first,
      submodule_git_url: 'https://example.com/lib.git',
      html_url: null,
      git_url: null,
      download_url: null,
    })
  })
})

describe('a folder', () => {
  test('is the list of its entries, without content', async () => {
    const answer = await service.anonymous.get(`${path}/contents`)
    expect(answer.body).toMatchObject([
      { name: '-option', type: 'file', content: null, last_commit_sha: second },
      { name: '.gitmodules', type: 'file' },
      { name: 'README.md', type: 'file', encoding: null, last_commit_sha: first },
      { name: 'lib', type: 'submodule', submodule_git_url: 'https://example.com/lib.git' },
      { name: 'link', type: 'symlink', target: '../../etc/passwd' },
      { name: 'src', type: 'dir', size: 0, download_url: null },
    ])
    const inner = await service.anonymous.get(`${path}/contents/src`)
    expect(inner.body).toMatchObject([
      { path: 'src/deep', type: 'dir' },
      { path: 'src/ä ü.txt', size: 8 },
    ])
    expect((await service.anonymous.get(`${path}/contents/`)).body).toEqual(answer.body)
  })

  test('of two thousand files is told whole', async () => {
    const many = await service.createRepository(owner)
    const files = Array.from({ length: 1000 }, (_, index) => ({ operation: 'create', path: `d/${index}`, content: '' }))
    await owner.client.post(`${many.path}/contents`, { files })
    const more = files.map((file) => ({ ...file, path: `${file.path}b` }))
    const made = await owner.client.post(`${many.path}/contents`, { files: more })
    const { body } = await owner.client.get(`${many.path}/contents/d`)
    expect(Array.isArray(body) && body.length).toBe(2000)
    expect(body).toContainEqual(expect.objectContaining({ name: '7b', last_commit_sha: made.string('commit.sha') }))
  })
})

describe('a revision', () => {
  test.each([
    ['a branch with a slash', 'feature/deep', 'branch/feature/deep'],
    ['a tag', 'v1', 'tag/v1'],
    ['the full name of a tag', 'refs/tags/v1', 'tag/v1'],
  ])('is %s', async (_, ref, web) => {
    const answer = await service.anonymous.get(`${path}/contents/README.md`, { ref })
    expect(answer.string('html_url')).toEndWith(`/src/${web}/README.md`)
    expect((await fetch(answer.string('download_url'))).status).toBe(200)
  })

  test('is a commit by its id or the beginning of it', async () => {
    for (const ref of [first, first.slice(0, 10)]) {
      const answer = await service.anonymous.get(`${path}/contents`, { ref })
      expect(answer.body).toMatchObject([{ name: 'README.md', html_url: expect.stringContaining(`/commit/${first}/`) }])
    }
  })

  test.each([
    'gone',
    '--help',
    '-x',
    'a..b',
    '../HEAD',
    'main:README.md',
    '@{u}',
    ':/text',
    'refs/heads/',
    'refs/tags/main',
    'refs/heads/v1',
    'main^{/x}',
    'x y',
  ])('that names nothing is not found: %s', async (ref) => {
    for (const place of ['contents', 'contents/README.md', 'raw/README.md'])
      expect((await service.anonymous.get(`${path}/${place}`, { ref })).status).toBe(404)
  })
})

describe('not found', () => {
  test.each([
    'gone',
    'README.md/x',
    '%2e%2e%2fREADME.md',
    'src/..%2fREADME.md',
    '.git/config',
    'a%00',
    'a%zz',
    'src%0a',
  ])('%s', async (name) => {
    expect((await service.anonymous.get(`${path}/contents/${name}`)).status).toBe(404)
  })

  test('a hidden repository, and anything in an empty one', async () => {
    const hidden = await service.createRepository(owner, { private: true })
    for (const client of [service.anonymous, stranger.client])
      expect((await client.get(`${hidden.path}/contents`)).status).toBe(404)
    const empty = await service.createRepository(owner, { auto_init: false })
    expect((await owner.client.get(`${empty.path}/contents`)).status).toBe(404)
  })
})

test('what has not changed is not sent again', async () => {
  for (const place of ['contents', 'contents/README.md', 'contents-ext/README.md?includes=file_content']) {
    const answer = await service.anonymous.get(`${path}/${place}`)
    const headers = { 'if-none-match': answer.headers.get('etag') ?? '' }
    const again = await service.anonymous.request(`${path}/${place}`, { headers })
    expect([again.status, again.text]).toEqual([304, ''])
    const other = await service.anonymous.request(`${path}/${place}`, { headers, query: { ref: 'v1' } })
    expect(other.status).toBe(200)
  }
})

describe('the extended form', () => {
  const ext = (name: string, includes?: string) =>
    service.anonymous.get(`${path}/contents-ext${name}`, includes === undefined ? {} : { includes })

  test('tells what is asked for', async () => {
    const plain = await ext('/README.md')
    expect(plain.body).toMatchObject({ file_contents: { name: 'README.md', content: null } })
    expect(plain.text).not.toContain('last_commit')
    const full = await ext('/README.md', 'file_content,commit_metadata,commit_message')
    expect(full.body).toMatchObject({
      file_contents: { encoding: 'base64', last_commit_sha: first, last_commit_message: 'Initial commit\n' },
    })
    expect((await ext('/README.md', 'file_content,everything')).status).toBe(400)
    expect((await ext('')).body).toMatchObject({ dir_contents: [{ name: '-option' }, {}, {}, {}, {}, {}] })
  })
})

describe('a pointer of large file storage', () => {
  const oid = '4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393'
  const pointer = `version https://git-lfs.github.com/spec/v1\next-0-x sha256:${oid}\noid sha256:${oid}\nsize 12345\n`
  const store = (name: string, text: string) =>
    owner.client.post(`${path}/contents/${name}`, {
      content: Buffer.from(text).toString('base64'),
      branch: 'feature/deep',
    })
  const read = (name: string, includes = 'lfs_metadata') =>
    service.anonymous.get(`${path}/contents-ext/${name}`, { ref: 'feature/deep', includes })

  test('says what it stands for', async () => {
    expect((await store('large.bin', pointer)).body).toMatchObject({ content: { lfs_oid: oid, lfs_size: 12345 } })
    const asked = { ref: 'feature/deep' }
    const whole = await service.anonymous.get(`${path}/contents/large.bin`, asked)
    expect(whole.body).toMatchObject({ lfs_oid: oid, lfs_size: 12345, encoding: 'base64' })
    expect((await read('large.bin')).body).toMatchObject({ file_contents: { lfs_oid: oid, content: null } })
    expect((await read('large.bin', 'file_content')).text).not.toContain('lfs_oid')
  })

  test.each([
    ['cut', pointer.slice(0, -20)],
    ['too long', `${pointer}${'x'.repeat(1024)}`],
    ['other', pointer.replace('git-lfs.github.com', 'example.com')],
  ])('is nothing that is %s', async (name, text) => {
    expect((await store(`${name.replaceAll(' ', '-')}.bin`, text)).status).toBe(201)
    expect((await read(`${name.replaceAll(' ', '-')}.bin`)).text).not.toContain('lfs_oid')
  })
})

describe('several files', () => {
  const files = ['README.md', 'gone', 'src', 'src/deep/x', '../x']
  const told = [
    { name: 'README.md', encoding: 'base64' },
    null,
    { type: 'dir', content: null },
    { name: 'x', content: 'eA==' },
    null,
  ]

  test('are told in the order in which they were asked for, null where there is none', async () => {
    expect((await service.anonymous.post(`${path}/file-contents`, { files })).body).toMatchObject(told)
    const body = JSON.stringify({ files })
    expect((await service.anonymous.get(`${path}/file-contents`, { body })).body).toMatchObject(told)
  })

  test('need names', async () => {
    expect((await service.anonymous.get(`${path}/file-contents`)).status).toBe(400)
    expect((await service.anonymous.get(`${path}/file-contents`, { body: 'x' })).status).toBe(400)
    expect((await service.anonymous.get(`${path}/file-contents`, { body: '{"files":[1]}' })).status).toBe(400)
    expect((await service.anonymous.post(`${path}/file-contents`, {})).status).toBe(422)
    expect((await service.anonymous.post(`${path}/file-contents?ref=gone`, { files })).status).toBe(404)
  })
})
