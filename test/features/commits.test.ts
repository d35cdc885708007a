import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { eq } from 'drizzle-orm'
import { repositories } from '../../db/schema/repositories.ts'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../harness/service.ts'

let service: TestService
let owner: TestUser
let stranger: TestUser
let repository: TestRepository
let path: string
let work: string
/** Commits of main by subject. */
const shas: Record<string, string> = {}

const git = (...args: string[]) => service.git(args, { cwd: work })

async function commit(subject: string, files: Record<string, string>, env: Record<string, string> = {}): Promise<void> {
  for (const [name, content] of Object.entries(files)) await Bun.write(join(work, name), content)
  await git('add', '-A')
  await service.git(['commit', '-q', '-m', subject], { cwd: work, env })
  shas[subject] = await git('rev-parse', 'HEAD')
}

const shaOf = (subject: string): string => {
  const sha = shas[subject]
  if (sha === undefined) throw new Error(`no commit ${subject}`)
  return sha
}

beforeAll(async () => {
  service = await startTestService()
  owner = await service.createUser()
  stranger = await service.createUser()
  repository = await service.createRepository(owner)
  path = repository.path
  work = join(service.git.folder, 'work')
  await service.git(['clone', '-q', repository.cloneUrl, work])
  shas.initial = await git('rev-parse', 'HEAD')
  await commit(
    'one',
    { 'a.txt': '1\n2\n3\n', 'dir/b.txt': 'b\n' },
    {
      GIT_AUTHOR_NAME: 'Owner',
      GIT_AUTHOR_EMAIL: `${owner.name}@LOCALHOST.localdomain`,
      GIT_AUTHOR_DATE: '2020-01-02T03:04:05+0530',
      GIT_COMMITTER_DATE: '2030-01-01T00:00:00Z',
    },
  )
  await commit('two', { 'a.txt': '1\nzwei\n3\n4\n' }, { GIT_COMMITTER_DATE: '2030-01-02T00:00:00Z' })
  await git('mv', 'dir/b.txt', 'dir/c.txt')
  await commit('three', {}, { GIT_COMMITTER_DATE: '2030-01-03T00:00:00Z' })
  await git('tag', '-am', 'about v1', 'v1', shaOf('one'))
  await git('checkout', '-q', '-b', 'feature/x', shaOf('one'))
  await commit('side', { 'side.txt': 's' }, { GIT_COMMITTER_DATE: '2030-01-04T00:00:00Z' })
  await git('push', '-q', 'origin', 'main', 'feature/x', 'v1')
})
afterAll(() => service.stop())

const subjects = (body: unknown) =>
  Array.isArray(body) ? body.map(({ sha }) => Object.entries(shas).find(([, known]) => known === sha)?.[0]) : body
const list = (query = {}) => service.anonymous.get(`${path}/commits`, query)

describe('the list', () => {
  test('has the newest first, with the headers of a list and those that older clients read', async () => {
    const answer = await list({ limit: 3 })
    expect(answer.status).toBe(200)
    expect(subjects(answer.body)).toEqual(['three', 'two', 'one'])
    const headers = ['x-total-count', 'x-page', 'x-perpage', 'x-total', 'x-pagecount', 'x-hasmore']
    expect(headers.map((name) => answer.headers.get(name))).toEqual(['4', '1', '3', '4', '2', 'true'])
    expect(answer.headers.get('link')).toContain('page=2>; rel="next"')
    const rest = await list({ limit: 3, page: 2 })
    expect(subjects(rest.body)).toEqual(['initial'])
    expect(rest.headers.get('x-hasmore')).toBe('false')
    expect((await list({ page: 9 })).body).toEqual([])
  })

  test('shows people, times in their zone, lines and files', async () => {
    const answer = await list()
    const api = `${service.url}/api/v1${path}`
    expect(answer.body).toMatchObject([
      {
        author: null,
        files: [
          { filename: 'dir/b.txt', status: 'removed' },
          { filename: 'dir/c.txt', status: 'added' },
        ],
        stats: { total: 0, additions: 0, deletions: 0 },
      },
      { files: [{ filename: 'a.txt', status: 'modified' }], stats: { total: 3, additions: 2, deletions: 1 } },
      {
        sha: shaOf('one'),
        url: `${api}/git/commits/${shaOf('one')}`,
        html_url: `${service.url}/${owner.name}/${repository.name}/commit/${shaOf('one')}`,
        created: '2030-01-01T00:00:00Z',
        author: { login: owner.name },
        committer: null,
        commit: {
          message: 'one\n',
          author: { name: 'Owner', date: '2020-01-02T03:04:05+05:30' },
          verification: { verified: false, reason: 'gpg.error.not_signed_commit', signature: '', payload: '' },
        },
        parents: [{ sha: shaOf('initial'), created: '0001-01-01T00:00:00Z' }],
        files: [
          { filename: 'a.txt', status: 'added' },
          { filename: 'dir/b.txt', status: 'added' },
        ],
        stats: { total: 4, additions: 4, deletions: 0 },
      },
      { author: { login: owner.name }, parents: [] },
    ])
  })

  test('leaves out what is not asked for', async () => {
    const answer = await list({ stat: false, files: false, verification: false, limit: 1 })
    expect(answer.body).toMatchObject([{ files: null, stats: null, commit: { verification: null } }])
  })

  test.each([
    ['a branch', { sha: 'feature/x' }, ['side', 'one', 'initial']],
    ['a tag', { sha: 'v1' }, ['one', 'initial']],
    ['a commit', { sha: 'main~1' }, ['two', 'one', 'initial']],
    ['a file', { path: 'a.txt' }, ['two', 'one']],
    ['a folder', { path: '/dir/' }, ['three', 'one']],
    ['what another has not', { sha: 'feature/x', not: 'main' }, ['side']],
    ['commits since a time', { since: '2030-01-02T00:00:00Z' }, ['three', 'two']],
    ['commits since a day', { since: '2030-01-02' }, ['three', 'two']],
    ['commits until a time', { until: '2030-01-01T12:00:00+01:00' }, ['one', 'initial']],
    ['nothing but what can be read', { limit: 'x', page: '-1' }, ['three', 'two', 'one', 'initial']],
  ])('is of %s', async (_, query, wanted) => {
    const answer = await list(query)
    expect(subjects(answer.body)).toEqual(wanted)
    expect(answer.headers.get('x-total-count')).toBe(String(wanted.length))
  })

  test.each([
    ['an unknown branch', { sha: 'gone' }],
    ['an option', { sha: '--all' }],
    ['a range', { sha: 'main..v1' }],
    ['an option to leave out', { not: '--all' }],
    ['an unknown path', { path: 'gone' }],
    ['a pattern', { path: ':(glob)**' }],
    ['a step up', { path: '../x' }],
    ['an empty part', { path: 'dir//b.txt' }],
    ['NUL', { path: 'a\0b' }],
  ])('of %s is not found', async (_, query) => {
    expect((await list(query)).status).toBe(404)
  })

  test('of an empty repository is a conflict', async () => {
    const empty = await service.createRepository(owner, { auto_init: false })
    const answer = await owner.client.get(`${empty.path}/commits`)
    expect([answer.status, answer.string('message')]).toEqual([409, 'Git Repository is empty.'])
  })

  test('of a hidden repository is not found', async () => {
    const hidden = await service.createRepository(owner, { private: true })
    for (const client of [service.anonymous, stranger.client])
      for (const place of ['commits', 'git/commits/main', 'git/trees/main', 'git/refs', 'compare/main...main'])
        expect((await client.get(`${hidden.path}/${place}`)).status).toBe(404)
  })
})

test('a commit that changes nothing has no lines and no files, alone and in the list', async () => {
  const own = await service.createRepository(owner)
  const made = await owner.client.put(`${own.path}/contents/README.md`, {
    content: Buffer.from(`# ${own.name}\n\n`).toString('base64'),
    sha: (await owner.client.get(`${own.path}/contents/README.md`)).string('sha'),
  })
  const wanted = { sha: made.string('commit.sha'), files: [], stats: { total: 0, additions: 0, deletions: 0 } }
  for (const _ of ['computed', 'known']) {
    expect((await owner.client.get(`${own.path}/commits`)).body).toMatchObject([wanted, { stats: { total: 2 } }])
    expect((await owner.client.get(`${own.path}/git/commits/main`)).body).toMatchObject(wanted)
  }
})

describe('people', () => {
  test('who hide are not found by their address', async () => {
    const shy = await service.createUser()
    await shy.client.patch('/user/settings', { hide_email: true })
    await service.admin.client.patch(`/admin/users/${shy.name}`, {
      login_name: shy.name,
      source_id: 0,
      visibility: 'private',
    })
    const own = await service.createRepository(owner)
    await owner.client.post(`${own.path}/contents/x`, {
      content: '',
      author: { name: 'x', email: `${shy.name}@localhost.localdomain` },
    })
    expect((await service.anonymous.get(`${own.path}/commits`, { limit: 1 })).body).toMatchObject([{ author: null }])
    expect((await shy.client.get(`${own.path}/commits`, { limit: 1 })).body).toMatchObject([
      { author: { login: shy.name } },
    ])
  })
})

describe('one commit', () => {
  test('is found by its id, its beginning, a branch and a tag', async () => {
    const names = [shaOf('one'), shaOf('one').slice(0, 8), 'v1', 'feature%2Fx~1']
    for (const name of names)
      expect((await service.anonymous.get(`${path}/git/commits/${name}`)).body).toMatchObject({
        sha: shaOf('one'),
        stats: { additions: 4 },
      })
  })

  test.each([
    ['gone', 404],
    ['f'.repeat(40), 404],
    ['--help', 422],
    ['a..b', 422],
    ['main:a.txt', 422],
    ['main%5E%7B%2Fx%7D', 422],
  ])('that is none: %s', async (name, status) => {
    expect((await service.anonymous.get(`${path}/git/commits/${name}`)).status).toBe(status)
  })

  test('is told as a difference and as a mail', async () => {
    const diff = await service.anonymous.get(`${path}/git/commits/${shaOf('two')}.diff`)
    expect(diff.headers.get('content-type')).toStartWith('text/plain')
    expect(diff.text).toContain('-2\n+zwei\n')
    expect(diff.text).toMatch(/^index [0-9a-f]{7,12}\.\.[0-9a-f]{7,12} 100644$/m)
    const patch = await service.anonymous.get(`${path}/git/commits/${shaOf('two')}.patch`)
    const fresh = join(service.git.folder, 'fresh')
    await service.git(['clone', '-q', repository.cloneUrl, fresh])
    await service.git(['checkout', '-q', shaOf('one')], { cwd: fresh })
    await service.git(['am', '-q', '--committer-date-is-author-date'], { cwd: fresh, input: patch.text })
    expect(await service.git(['rev-parse', 'HEAD^{tree}'], { cwd: fresh })).toBe(
      await git('rev-parse', `${shaOf('two')}^{tree}`),
    )
    expect((await service.anonymous.get(`${path}/git/commits/gone.diff`)).status).toBe(404)
  })
})

describe('trees', () => {
  const tree = (name: string, query = {}) => service.anonymous.get(`${path}/git/trees/${name}`, query)

  test('are told level by level or whole, in pages', async () => {
    const flat = await tree('main')
    expect(flat.body).toMatchObject({ sha: shaOf('three'), truncated: false, page: 1, total_count: 3 })
    expect(flat.body).toMatchObject({
      tree: [{ path: 'README.md' }, { path: 'a.txt', size: 11 }, { path: 'dir', type: 'tree' }],
    })
    const deep = await tree('main', { recursive: true, per_page: 2, page: 2 })
    expect(deep.body).toMatchObject({
      tree: [{ path: 'dir' }, { path: 'dir/c.txt', size: 2 }],
      page: 2,
      total_count: 4,
    })
    expect(deep.headers.get('x-total-count')).toBe('4')
    expect((await tree('main', { per_page: 1 })).body).toMatchObject({ truncated: true })
    expect((await tree('main', { page: 9 })).body).toMatchObject({ tree: [], truncated: false })
    const id = await git('rev-parse', `${shaOf('three')}:dir`)
    expect((await tree(id)).body).toMatchObject({ sha: id, tree: [{ path: 'c.txt' }] })
  })

  test('are found by revision and path, as editors of websites ask', async () => {
    const id = await git('rev-parse', `${shaOf('three')}:dir`)
    for (const name of ['main:dir', 'main:%2Fdir%2F', `${shaOf('three')}:dir`, 'HEAD:dir'])
      expect((await tree(name)).body).toMatchObject({ sha: id, tree: [{ path: 'c.txt' }], total_count: 1 })
    expect((await tree('v1:dir')).body).toMatchObject({ tree: [{ path: 'b.txt' }] })
    expect((await tree('feature%2Fx:', { recursive: 1 })).body).toMatchObject({ total_count: 5 })
    for (const name of ['main:gone', 'main:a.txt', 'main:dir:c.txt', 'main:..', 'gone:dir', ':dir'])
      expect([name, (await tree(name)).status]).toEqual([name, 400])
  })

  test.each(['gone', '--help', 'f'.repeat(40)])('that are none: %s', async (name) => {
    expect((await tree(name)).status).toBe(400)
    expect((await service.anonymous.get(`${path}/git/blobs/${name}`)).status).toBe(400)
    expect((await service.anonymous.get(`${path}/git/tags/${name}`)).status).toBe(400)
  })

  test('a blob is none, and a tree is no blob', async () => {
    const blob = await git('rev-parse', 'main:a.txt')
    expect((await tree(blob)).status).toBe(400)
    expect((await service.anonymous.get(`${path}/git/blobs/${shaOf('one')}`)).status).toBe(400)
    expect((await service.anonymous.get(`${path}/git/blobs/${blob}`)).body).toMatchObject({
      sha: blob,
      size: 11,
      encoding: 'base64',
      content: Buffer.from('1\nzwei\n3\n4\n').toString('base64'),
    })
  })
})

describe('refs', () => {
  const refs = (name = '') => service.anonymous.get(`${path}/git/refs${name}`)
  const names = (body: unknown) => (Array.isArray(body) ? body.map(({ ref }) => ref) : body)

  test('are listed by the beginning of their names', async () => {
    const all = ['refs/heads/feature/x', 'refs/heads/main', 'refs/tags/v1']
    expect(names((await refs()).body)).toEqual(all)
    expect(names((await refs('/heads')).body)).toEqual(all.slice(0, 2))
    expect(names((await refs('/heads/ma')).body)).toEqual(['refs/heads/main'])
    expect(names((await refs('/heads/feature/')).body)).toEqual(['refs/heads/feature/x'])
    expect((await refs('/tags/v1')).body).toMatchObject([
      { object: { type: 'tag', sha: await git('rev-parse', 'v1') } },
    ])
  })

  test.each(['/gone', '/heads/gone', '/..%2fheads', '/-x', '/heads/*'])('that are none: %s', async (name) => {
    expect((await refs(name)).status).toBe(404)
  })

  test('an annotated tag is told with what it names', async () => {
    const answer = await service.anonymous.get(`${path}/git/tags/${await git('rev-parse', 'v1')}`)
    expect(answer.body).toMatchObject({
      tag: 'v1',
      message: 'about v1\n',
      tagger: { name: 'Test' },
      object: { type: 'commit', sha: shaOf('one') },
    })
  })
})

describe('comparing', () => {
  test.each([
    ['main...feature/x', ['side']],
    ['main..feature%2Fx', ['side']],
    ['feature/x...main', ['three', 'two']],
    ['v1...main', ['three', 'two']],
    ['feature/x', ['side']],
    ['main...main', []],
  ])('%s', async (pair, wanted) => {
    const answer = await service.anonymous.get(`${path}/compare/${pair}`)
    expect(answer.number('total_commits')).toBe(wanted.length)
    expect(answer.body).toMatchObject({ commits: wanted.map((subject) => ({ sha: shaOf(subject) })) })
  })

  test.each(['main...gone', 'gone...main', '--x...main', '...%00'])('unknown sides: %s', async (pair) => {
    expect((await service.anonymous.get(`${path}/compare/${pair}`)).status).toBe(404)
  })
})

describe('comparing with a fork', () => {
  let stranger: TestUser
  let fork: TestRepository
  let sha: string
  beforeAll(async () => {
    stranger = await service.createUser()
    const made = await stranger.client.post(`${path}/forks`, { name: 'my-fork' })
    expect(made.status).toBe(202)
    const content = btoa('forked\n')
    const added = await stranger.client.post(`/repos/${stranger.name}/my-fork/contents/forked.txt`, {
      content,
      message: 'forked',
    })
    sha = String(Object(Object(added.body).commit).sha)
    fork = { ...repository, path: `/repos/${stranger.name}/my-fork` }
  })

  const compared = (pair: string, client = service.anonymous) => client.get(`${path}/compare/${pair}`)

  test.each(['OWNER:main', 'OWNER/my-fork:main'])('main...%s', async (head) => {
    const answer = await compared(`main...${head.replace('OWNER', stranger.name)}`)
    expect(answer.body).toMatchObject({ total_commits: 1, commits: [{ sha, files: [{ filename: 'forked.txt' }] }] })
  })

  test('the parent from the side of the fork', async () => {
    const [, , owner = '', name = ''] = path.split('/')
    for (const head of [`${owner}:feature/x`, `${owner}/${name}:feature/x`]) {
      const answer = await service.anonymous.get(`${fork.path}/compare/main...${head}`)
      expect(answer.body).toMatchObject({ total_commits: 1, commits: [{ sha: shaOf('side') }] })
    }
  })

  test('unknown, unrelated and hidden heads are not found', async () => {
    const unrelated = await service.createRepository(stranger)
    const [, , , name = ''] = unrelated.path.split('/')
    for (const head of [
      'nobody:main',
      `${stranger.name}:gone`,
      `${stranger.name}/gone:main`,
      `${stranger.name}/${name}:main`,
    ])
      expect([head, (await compared(`main...${head}`)).status]).toEqual([head, 404])
    await service.context.db.update(repositories).set({ isPrivate: true }).where(eq(repositories.lowerName, 'my-fork'))
    for (const head of [`${stranger.name}:main`, `${stranger.name}/my-fork:main`]) {
      expect((await compared(`main...${head}`)).status).toBe(404)
      expect((await compared(`main...${head}`, stranger.client)).status).toBe(200)
    }
  })
})

test.each(['since', 'until'])('a list is not asked for with a time that is none: %s', async (name) => {
  expect((await list({ [name]: 'yesterday' })).status).toBe(422)
})

test('a note is told with the commit that put it there', async () => {
  await git('notes', 'add', '-m', 'remember', shaOf('one'))
  await git('push', '-q', 'origin', 'refs/notes/commits')
  const answer = await service.anonymous.get(`${path}/git/notes/${shaOf('one')}`)
  expect(answer.body).toMatchObject({
    message: 'remember\n',
    commit: { sha: await git('rev-parse', 'refs/notes/commits') },
  })
  expect((await service.anonymous.get(`${path}/git/notes/${shaOf('two')}`)).status).toBe(404)
})

test('what has not changed is not sent again; a renamed author has changed', async () => {
  const own = await service.createUser()
  const other = await service.createRepository(own)
  for (const place of ['commits', 'git/commits/main', 'git/trees/main', 'git/refs', 'compare/main...main']) {
    const get = (etag = '') =>
      service.anonymous.request(`${other.path}/${place}`, { headers: { 'if-none-match': etag } })
    const etag = (await get()).headers.get('etag') ?? ''
    expect((await get(etag)).status).toBe(304)
  }
  const get = (etag: string) => service.anonymous.request(`${path}/commits`, { headers: { 'if-none-match': etag } })
  const etag = (await get('')).headers.get('etag') ?? ''
  await owner.client.patch('/user/settings', { full_name: 'New Name' })
  const again = await get(etag)
  expect([again.status, subjects(again.body)]).toEqual([200, ['three', 'two', 'one', 'initial']])
  expect(again.body).toMatchObject([{}, { stats: { total: 3 } }, { author: { full_name: 'New Name' } }, {}])
})
