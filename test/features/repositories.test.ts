import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { startTestService, type TestService, type TestUser } from '../harness/service.ts'

let service: TestService
let ann: TestUser
let bob: TestUser
beforeAll(async () => {
  service = await startTestService()
  ann = await service.createUser('ann')
  bob = await service.createUser('bob')
})
afterAll(() => service.stop())

/** Repositories in the store, and what is being built or removed. */
function folders(): string[] {
  const { repositoriesDir } = service.context.config
  const all = readdirSync(repositoriesDir, { recursive: true, encoding: 'utf8' })
  return all.filter((path) => /^(@repositories\/[0-9a-f]+\/\d+\.git|@creating\/[^/]+|@trash\/[^/]+)$/.test(path))
}

describe('creation', () => {
  test('a repository of nothing but a name is empty and has the defaults', async () => {
    const made = await ann.client.post('/user/repos', { name: 'plain' })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({
      name: 'plain',
      full_name: 'ann/plain',
      empty: true,
      private: false,
      default_branch: 'main',
      object_format_name: 'sha1',
      watchers_count: 1,
      branch_count: 0,
      permissions: { admin: true, push: true, pull: true },
      owner: { login: 'ann', active: false },
    })
    expect((await ann.client.get('/repos/ann/plain')).body).toEqual(made.body)
    expect((await ann.client.get(`/repositories/${made.number('id')}`)).body).toEqual(made.body)
    expect((await service.context.git.fsck(made.number('id'))).isSound).toBe(true)
  })

  test('auto_init makes one commit of the wanted files on the wanted branch', async () => {
    const body = {
      auto_init: true,
      readme: 'Default',
      license: 'MIT',
      gitignores: 'Go,Python',
      default_branch: 'trunk',
    }
    const made = await ann.client.post('/user/repos', { name: 'full', description: 'about it', ...body })
    expect(made.body).toMatchObject({
      empty: false,
      default_branch: 'trunk',
      branch_count: 1,
      licenses: ['MIT'],
      language: '',
    })
    const id = made.number('id')
    const { git, sql } = service.context
    const commit = await git.readCommit(id, 'HEAD')
    expect(commit).toMatchObject({ parents: [], message: 'Initial commit\n', author: { name: 'ann' } })
    const { entries } = await git.readTree(id, { revision: 'trunk' })
    expect(entries.map(({ path }) => path).sort()).toEqual(['.gitignore', 'LICENSE', 'README.md'])
    const text = async (path: string) => {
      const entry = await git.findEntry(id, 'trunk', path)
      return new TextDecoder().decode((await git.readBlob(id, entry?.sha ?? '')).bytes)
    }
    expect(await text('README.md')).toBe('# full\n\nabout it')
    expect(await text('LICENSE')).toContain(`${new Date().getUTCFullYear()} ann`)
    expect(await text('.gitignore')).toMatch(/^# ---> Go\n(.*\n)*\n# ---> Python\n(.*\n)*[^\n]+\n\n$/)
    const [ref] = await sql`select kind, name, sha, commit->>'message' as message from refs where repository_id = ${id}`
    expect(ref).toEqual({ kind: 'branch', name: 'trunk', sha: commit.sha, message: 'Initial commit\n' })
    expect((await git.fsck(id, { isFull: true })).isSound).toBe(true)
  })

  test('an open repository of a private person is internal', async () => {
    const person = await service.createUser()
    const settings = { login_name: person.name, source_id: 0, visibility: 'private' }
    await service.admin.client.patch(`/admin/users/${person.name}`, settings)
    const made = await person.client.post('/user/repos', { name: 'within' })
    expect(made.body).toMatchObject({ private: false, internal: true })
    const closed = await person.client.post('/user/repos', { name: 'closed', private: true })
    expect(closed.body).toMatchObject({ private: true, internal: false })
  })

  test('label sets, trust model, template, private and sha256 are kept', async () => {
    const body = { issue_labels: 'Default', trust_model: 'committer', template: true, private: true, auto_init: true }
    const made = await ann.client.post('/user/repos', { name: 'options', object_format_name: 'sha256', ...body })
    const kept = { template: true, private: true, object_format_name: 'sha256' }
    expect(made.body).toMatchObject({ ...kept, has_actions: false, has_issues: true })
    const id = made.number('id')
    const [row] = await service.context.sql`
      select trust_model, (select count(*)::int from labels where repository_id = ${id}) as labels from repositories where id = ${id}`
    expect(row).toEqual({ trust_model: 'committer', labels: 7 })
    expect((await service.context.git.readCommit(id, 'HEAD')).sha).toHaveLength(64)
    const event = await service.context.sql`select kind, owner_id from events where repository_id = ${id}`
    expect(event).toHaveLength(1)
  })

  test.each([
    [409, { name: 'plain' }, 'The repository with the same name already exists.'],
    [409, { name: 'PLAIN' }, 'The repository with the same name already exists.'],
    [422, {}, '[Name]: Required'],
    [422, { name: '' }, '[Name]: Required'],
    [422, { name: 'a/b' }, '[Name]: AlphaDashDot'],
    [422, { name: '..' }, 'name is reserved [name: ..]'],
    [422, { name: 'x.git' }, 'name pattern is not allowed [pattern: *.git]'],
    [422, { name: 'n'.repeat(101) }, undefined],
    [422, { name: 'x', description: 'd'.repeat(2049) }, undefined],
    [422, { name: 'x', default_branch: 'a..b' }, '[DefaultBranch]: GitRefName'],
    [422, { name: 'x', default_branch: 'b'.repeat(101) }, undefined],
    [422, { name: 'x', object_format_name: 'md5' }, undefined],
    [422, { name: 'x', trust_model: 'anybody' }, undefined],
    [422, { name: 'x', private: 'yes' }, undefined],
    [
      422,
      { name: 'x', issue_labels: 'NoSuch' },
      'failed to load label template file "NoSuch": label template "NoSuch" not found',
    ],
    [422, { name: 'x', auto_init: true, license: 'NoSuch' }, '[License]: there is no license template "NoSuch"'],
    [
      422,
      { name: 'x', auto_init: true, gitignores: 'Go,../Go' },
      '[Gitignores]: there is no gitignore template "../Go"',
    ],
    [422, { name: 'x', auto_init: true, readme: 'NoSuch' }, '[Readme]: there is no readme template "NoSuch"'],
  ])('%i for %j, and nothing is left', async (status, body, message) => {
    const before = folders()
    const refused = await ann.client.post('/user/repos', body)
    expect(refused.status).toBe(status)
    if (message !== undefined) expect(refused.string('message')).toBe(message)
    expect(folders()).toEqual(before)
    expect(await service.context.sql`select id from repository_reservations`).toHaveLength(0)
  })

  test('of many callers who want one name at once exactly one gets it, and the others leave nothing', async () => {
    const before = folders().length
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => ann.client.post('/user/repos', { name: 'wanted' })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array.from({ length: 7 }, () => 409)])
    expect(folders()).toHaveLength(before + 1)
    expect(await service.context.sql`select id from repository_reservations`).toHaveLength(0)
  })

  test('the quota holds against callers who come at once, and not for administrators', async () => {
    const carl = await service.createUser('carl')
    await service.context.sql`update users set max_repo_creation = 3 where name = 'carl'`
    const names = ['one', 'two', 'three', 'four', 'five']
    const answers = await Promise.all(names.map((name) => carl.client.post('/user/repos', { name })))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 201, 403, 403])
    expect((await carl.client.post('/user/repos', { name: 'six' })).status).toBe(403)
    expect((await service.admin.client.post('/admin/users/carl/repos', { name: 'seven' })).status).toBe(201)
  })

  test('visitors, readers of public things and tokens without the scope make none', async () => {
    expect((await service.anonymous.post('/user/repos', { name: 'x' })).status).toBe(401)
    const basic = service.client({ basic: `ann:${ann.password}` })
    const token = async (...scopes: string[]) => {
      const made = await basic.post('/users/ann/tokens', { name: scopes.join(), scopes })
      return service.client({ token: made.string('sha1') })
    }
    expect((await (await token('write:user')).post('/user/repos', { name: 'x' })).status).toBe(403)
    expect((await (await token('all', 'public-only')).post('/user/repos', { name: 'x' })).status).toBe(403)
  })

  test('an administrator makes one for another, who owns it', async () => {
    const made = await service.admin.client.post('/admin/users/ANN/repos', { name: 'given' })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({ full_name: 'ann/given', permissions: { admin: true } })
    expect((await ann.client.get('/repos/ann/given')).body).toMatchObject({ permissions: { admin: true, push: true } })
    expect((await bob.client.get('/repos/ann/given')).body).toMatchObject({
      permissions: { admin: false, push: false },
    })
    expect((await bob.client.post('/admin/users/ann/repos', { name: 'x' })).status).toBe(403)
    expect((await service.admin.client.post('/admin/users/nobody/repos', { name: 'x' })).status).toBe(404)
  })
})

describe('reading', () => {
  test('a private repository is unknown to others, in the words of one that does not exist', async () => {
    const hidden = await bob.client.get('/repos/ann/options')
    const absent = await bob.client.get('/repos/ann/absent')
    expect([hidden.status, absent.status]).toEqual([404, 404])
    const words = ({ body }: { body: unknown }) => ({ ...Object(body), request_id: '' })
    expect(words(hidden)).toEqual(words(absent))
    const id = (await ann.client.get('/repos/ann/options')).number('id')
    expect((await bob.client.get(`/repositories/${id}`)).status).toBe(404)
    expect((await bob.client.get('/repositories/x')).status).toBe(404)
    expect((await service.anonymous.get(`/repositories/${id}`)).status).toBe(401)
  })

  test('what has not changed is not sent again, and what has is', async () => {
    const first = await bob.client.get('/repos/ann/plain')
    const headers = { 'if-none-match': first.headers.get('etag') ?? '' }
    expect((await bob.client.request('/repos/ann/plain', { headers })).status).toBe(304)
    await ann.client.patch('/repos/ann/plain', { description: 'changed' })
    expect((await bob.client.request('/repos/ann/plain', { headers })).status).toBe(200)
  })

  test('languages are bytes by name', async () => {
    const repository = await service.createRepository(ann)
    await service.context
      .sql`insert into repository_languages values (${repository.id}, 'Go', 7), (${repository.id}, 'Zig', 9)`
    expect((await bob.client.get(`${repository.path}/languages`)).text).toBe('{"Zig":9,"Go":7}')
  })
})

describe('editing', () => {
  test('every field is kept as given, and what is not given stays', async () => {
    const { path } = await service.createRepository(ann, { description: 'old' })
    const change = {
      website: 'https://example.com',
      private: true,
      template: true,
      has_code: true,
      has_pull_requests: true,
      has_projects: true,
      projects_mode: 'owner',
      has_releases: false,
      has_packages: false,
      has_actions: false,
      ignore_whitespace_conflicts: true,
      allow_merge_commits: false,
      allow_rebase: false,
      allow_rebase_explicit: false,
      allow_squash_merge: false,
      allow_fast_forward_only_merge: false,
      allow_merge_update: false,
      allow_rebase_update: false,
      allow_manual_merge: true,
      autodetect_manual_merge: true,
      default_delete_branch_after_merge: true,
      default_merge_style: 'squash',
      default_update_style: 'rebase',
      default_allow_maintainer_edit: false,
    }
    const edited = await ann.client.patch(path, change)
    expect(edited.status).toBe(200)
    expect(edited.body).toMatchObject({ ...change, description: 'old' })
    expect((await ann.client.patch(path, { description: null, website: '' })).body).toMatchObject({
      description: 'old',
      website: '',
    })
    expect((await ann.client.patch(path, {})).status).toBe(200)
  })

  test('issues and wiki are built in, elsewhere or off', async () => {
    const { path } = await service.createRepository(ann)
    const external_tracker = {
      external_tracker_url: 'https://tracker.example.com',
      external_tracker_format: 'https://tracker.example.com/{user}/{repo}/{index}',
      external_tracker_style: 'alphanumeric',
      external_tracker_regexp_pattern: '',
    }
    const external_wiki = { external_wiki_url: 'http://wiki.example.com' }
    const elsewhere = await ann.client.patch(path, {
      has_issues: true,
      external_tracker,
      has_wiki: true,
      external_wiki,
    })
    expect(elsewhere.body).toMatchObject({ has_issues: true, external_tracker, has_wiki: true, external_wiki })
    expect(elsewhere.body).not.toHaveProperty('internal_tracker')
    const internal_tracker = {
      enable_time_tracker: false,
      allow_only_contributors_to_track_time: false,
      enable_issue_dependencies: false,
    }
    const built = await ann.client.patch(path, { has_issues: true, internal_tracker, has_wiki: true })
    expect(built.body).toMatchObject({ internal_tracker })
    expect(built.body).not.toHaveProperty('external_tracker')
    expect(built.body).not.toHaveProperty('external_wiki')
    const off = await ann.client.patch(path, { has_issues: false, has_wiki: false })
    expect(off.body).toMatchObject({ has_issues: false, has_wiki: false })
    expect(off.body).not.toHaveProperty('internal_tracker')
  })

  test('settings of issues and of the wiki count beside their switches only, and are forgotten when those are off', async () => {
    const { path } = await service.createRepository(ann)
    const before = (await ann.client.get(path)).body
    const alone = await ann.client.patch(path, {
      internal_tracker: { enable_time_tracker: false },
      external_tracker: tracker({}),
      external_wiki: { external_wiki_url: 'https://e.com' },
    })
    expect(alone.body).toEqual(before)
    await ann.client.patch(path, { has_issues: true, internal_tracker: { enable_time_tracker: false } })
    await ann.client.patch(path, { has_issues: false })
    const again = await ann.client.patch(path, { has_issues: true })
    expect(again.body).toMatchObject({ internal_tracker: { enable_time_tracker: true } })
  })

  test('nothing may be merged where pull requests are switched off, and no code is read where there is none', async () => {
    const { path } = await service.createRepository(ann)
    const off = await ann.client.patch(path, { has_pull_requests: false, has_code: false })
    expect(off.body).toMatchObject({
      allow_merge_commits: false,
      allow_squash_merge: false,
      allow_merge_update: false,
      allow_manual_merge: true,
      default_update_style: 'merge',
    })
    expect((await bob.client.get(path)).body).toMatchObject({ permissions: { admin: false, push: false, pull: false } })
  })

  test.each([
    { has_issues: true, external_tracker: { external_tracker_url: 'javascript:alert(1)' } },
    { has_issues: true, external_tracker: { external_tracker_url: 'https://user:secret@example.com' } },
    { has_issues: true, external_tracker: tracker({ external_tracker_format: 'https://e.com/{nothing}' }) },
    { has_issues: true, external_tracker: tracker({ external_tracker_format: 'ftp://e.com/{index}' }) },
    { has_issues: true, external_tracker: tracker({ external_tracker_style: 'roman' }) },
    { has_wiki: true, external_wiki: { external_wiki_url: 'data:text/html,x' } },
    { default_branch: 'a..b' },
    { default_merge_style: 'octopus' },
    { default_update_style: 'squash' },
    { default_target_branch: 'absent' },
    { default_target_branch: 'a..b' },
    { projects_mode: 'none' },
    { name: 'plain' },
    { name: '' },
    { name: 'a b' },
    { name: '-' },
    { name: 'n'.repeat(101) },
    { website: 'w'.repeat(1025) },
    { website: 'javascript:alert(1)' },
    { website: ' javascript:x' },
    { website: 'data:text/html,x' },
    { website: 'java\tscript:alert(1)' },
    { website: 'java.script:alert(1)' },
    { website: 'example.com:x' },
  ])('%j is refused and changes nothing', async (change) => {
    const before = await ann.client.get('/repos/ann/full')
    const refused = await ann.client.patch('/repos/ann/full', { description: 'must not stay', ...change })
    expect(refused.status).toBe(422)
    expect((await ann.client.get('/repos/ann/full')).body).toEqual(before.body)
  })

  test('an empty word leaves a choice as it is, and a website needs no scheme', async () => {
    const { path } = await service.createRepository(ann)
    await ann.client.patch(path, {
      default_merge_style: 'squash',
      default_update_style: 'rebase',
      projects_mode: 'owner',
    })
    const edited = await ann.client.patch(path, {
      default_merge_style: '',
      default_update_style: '',
      projects_mode: '',
      default_branch: '',
      mirror_interval: '',
      website: 'www.example.com:8080/docs?a=b',
    })
    expect(edited.body).toMatchObject({
      default_merge_style: 'squash',
      default_update_style: 'rebase',
      projects_mode: 'owner',
      website: 'www.example.com:8080/docs?a=b',
    })
    for (const website of ['example', 'no address', 'https://example.com/a b'])
      expect((await ann.client.patch(path, { website })).body).toMatchObject({ website })
  })

  test('the default branch is one that exists; in an empty repository any', async () => {
    const { id, path, cloneUrl } = await service.createRepository(ann)
    await service.git(['clone', cloneUrl, 'branches'])
    await service.git(['push', 'origin', 'main:other'], { cwd: join(service.git.folder, 'branches') })
    expect((await ann.client.patch(path, { default_branch: 'other' })).body).toMatchObject({ default_branch: 'other' })
    expect(await service.context.git.getHead(id)).toBe('refs/heads/other')
    const unknown = await ann.client.patch(path, { default_branch: 'absent', description: 'changed' })
    expect([unknown.status, unknown.body]).toMatchObject([200, { default_branch: 'other', description: 'changed' }])
    const empty = await ann.client.post('/user/repos', { name: 'headless' })
    await ann.client.patch('/repos/ann/headless', { default_branch: 'later' })
    expect(await service.context.git.getHead(empty.number('id'))).toBe('refs/heads/later')
  })

  test('pull requests have a branch of their own as long as it is there, under whatever name', async () => {
    const { path, cloneUrl } = await service.createRepository(ann)
    const shown = async () => (await bob.client.get(path)).body
    const setTarget = (name: string) => ann.client.patch(path, { default_target_branch: name })
    await service.git(['clone', cloneUrl, 'targets'])
    const cwd = join(service.git.folder, 'targets')
    await service.git(['push', 'origin', 'main:next', 'main:last'], { cwd })
    expect(await shown()).not.toHaveProperty('default_target_branch')
    expect((await setTarget('next')).body).toMatchObject({ default_target_branch: 'next', default_branch: 'main' })
    await ann.client.patch(path, { has_pull_requests: false })
    expect(await shown()).not.toHaveProperty('default_target_branch')
    await ann.client.patch(path, { has_pull_requests: true })
    expect((await ann.client.patch(`${path}/branches/next`, { name: 'soon' })).status).toBe(204)
    expect(await shown()).toMatchObject({ default_target_branch: 'soon' })
    await service.git(['push', 'origin', ':soon'], { cwd })
    expect(await shown()).not.toHaveProperty('default_target_branch')
    await setTarget('last')
    expect((await setTarget('')).body).not.toHaveProperty('default_target_branch')
  })

  test('an old name leads to the new one until somebody takes it', async () => {
    await ann.client.post('/user/repos', { name: 'before' })
    expect((await ann.client.patch('/repos/ann/before', { name: 'After' })).body).toMatchObject({
      full_name: 'ann/After',
    })
    const moved = await bob.client.get('/repos/ann/before')
    expect([moved.status, moved.headers.get('location')]).toEqual([301, '/api/v1/repos/ann/After'])
    expect((await ann.client.patch('/repos/ann/After', { name: 'after' })).body).toMatchObject({ name: 'after' })
    expect(await service.context.sql`select * from repository_redirects where lower_name = 'after'`).toHaveLength(0)
    await ann.client.post('/user/repos', { name: 'Before' })
    expect((await bob.client.get('/repos/ann/before')).string('name')).toBe('Before')
    expect(await service.context.sql`select * from repository_redirects where lower_name = 'before'`).toHaveLength(0)
  })

  test('an archived repository can be edited and brought back', async () => {
    const { path } = await service.createRepository(ann)
    const archived = await ann.client.patch(path, { archived: true })
    expect(archived.body).toMatchObject({ archived: true })
    expect(archived.string('archived_at')).not.toBe('1970-01-01T00:00:00Z')
    const back = await ann.client.patch(path, { archived: false })
    expect(back.body).toMatchObject({ archived: false, archived_at: '1970-01-01T00:00:00Z' })
  })

  test('only administrators of the repository change it', async () => {
    const { id, path } = await service.createRepository(ann)
    expect((await service.anonymous.patch(path, {})).status).toBe(401)
    expect((await bob.client.patch(path, { private: true })).status).toBe(403)
    const grant = (permission: string) => service.context.sql`
      insert into collaborations (repository_id, user_id, permission) select ${id}, id, ${permission} from users where name = 'bob'
      on conflict (repository_id, user_id) do update set permission = excluded.permission`
    await grant('write')
    expect((await bob.client.patch(path, { private: true })).status).toBe(403)
    await grant('admin')
    expect((await bob.client.patch(path, { private: true })).status).toBe(200)
    expect((await bob.client.delete(path)).status).toBe(403)
  })
})

describe('deletion', () => {
  test('a deleted repository is gone at once, its folder with the next job, and its name is free', async () => {
    const { id, name, path } = await service.createRepository(ann)
    expect((await bob.client.delete(path)).status).toBe(403)
    expect((await service.anonymous.delete(path)).status).toBe(401)
    expect((await ann.client.delete(path)).status).toBe(204)
    expect((await ann.client.get(path)).status).toBe(404)
    expect((await ann.client.delete(path)).status).toBe(404)
    await service.drain()
    expect(await service.context.git.exists(id)).toBe(false)
    expect((await ann.client.post('/user/repos', { name })).status).toBe(201)
  })

  test('forks stand for themselves afterwards', async () => {
    const parent = await service.createRepository(ann)
    const fork = await service.createRepository(bob)
    await service.context.sql`update repositories set parent_id = ${parent.id}, is_fork = true where id = ${fork.id}`
    expect((await bob.client.get(fork.path)).string('parent.full_name')).toBe(`ann/${parent.name}`)
    expect((await ann.client.get(parent.path)).number('forks_count')).toBe(1)
    await ann.client.patch(parent.path, { private: true })
    expect((await bob.client.get(fork.path)).body).not.toHaveProperty('parent')
    await ann.client.delete(parent.path)
    expect((await bob.client.get(fork.path)).body).toMatchObject({ fork: false })
  })
})

test('the number of repositories of each owner is the number of rows', async () => {
  const wrong = await service.context.sql`
    select name from users where repositories_count <> (select count(*) from repositories where owner_id = users.id)`
  expect([...wrong]).toEqual([])
})

const tracker = (change: object) => ({ external_tracker_url: 'https://e.com', ...change })
