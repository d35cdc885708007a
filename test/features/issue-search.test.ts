import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { Client } from '../harness/client.ts'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../harness/service.ts'

setDefaultTimeout(30_000)

const SEARCH = '/repos/issues/search'

let service: TestService
let ann: TestUser
let bob: TestUser
let eve: TestUser
/** Public, private, of a private organization, with issues for a team alone, with pull requests alone, and switched off. */
let repos: Record<'open' | 'secret' | 'team' | 'pulls' | 'off', TestRepository>
beforeAll(async () => {
  service = await startTestService()
  ann = await service.createUser('ann')
  bob = await service.createUser('bob')
  eve = await service.createUser('eve')
  await ann.client.post('/orgs', { username: 'club', visibility: 'private' })
  const inClub = async (name: string, option = {}): Promise<TestRepository> => {
    const made = await ann.client.post('/orgs/club/repos', { name, private: true, ...option })
    return { id: made.number('id'), owner: 'club', name, path: `/repos/club/${name}`, cloneUrl: '' }
  }
  repos = {
    open: await service.createRepository(ann, { name: 'open' }),
    secret: await service.createRepository(ann, { name: 'secret', private: true }),
    team: await inClub('team'),
    pulls: await inClub('pulls'),
    off: await service.createRepository(ann, { name: 'off' }),
  }
  for (const [name, unit] of [
    ['team', 'repo.issues'],
    ['pulls', 'repo.pulls'],
  ] as const) {
    const team = await ann.client.post('/orgs/club/teams', { name, permission: 'read', units: [unit] })
    await ann.client.put(`/teams/${team.number('id')}/repos/club/${name}`)
    await ann.client.put(`/teams/${team.number('id')}/members/bob`)
  }
  for (const repo of Object.values(repos)) {
    await ann.client.post(`${repo.path}/issues`, { title: `first of ${repo.name}` })
    await ann.client.post(`${repo.path}/issues`, { title: `change of ${repo.name}` })
  }
  await service.context.sql`update issues set is_pull = true where title like 'change of %'`
  await ann.client.patch(repos.off.path, { has_issues: false })
})
afterAll(() => service.stop())

async function found(client: Client, query: Record<string, string | number | boolean> = {}): Promise<string[]> {
  const answer = await client.get(SEARCH, { state: 'all', limit: 50, ...query })
  expect([query, answer.status]).toEqual([query, 200])
  const rows = Array.isArray(answer.body) ? answer.body : []
  expect(answer.headers.get('x-total-count')).toBe(String(rows.length))
  return rows.map(({ title }) => title)
}

/** What the lists of single repositories say, which ask the other form of the rule. */
async function listed(client: Client): Promise<string[]> {
  const titles: string[] = []
  for (const repo of Object.values(repos))
    for (const type of ['issues', 'pulls']) {
      const { status, body } = await client.get(`${repo.path}/issues`, { type, state: 'all' })
      if (status === 200 && Array.isArray(body)) titles.push(...body.map(({ title }) => title))
    }
  return titles
}

test('a reader finds what the lists of the repositories show, and nothing else', async () => {
  const chosen = async (who: TestUser, body: object) => {
    const basic = service.client({ basic: `${who.name}:${who.password}` })
    const made = await basic.post(`/users/${who.name}/tokens`, body)
    return service.client({ token: made.string('sha1') })
  }
  const readers: [string, Client, number][] = [
    ['owner', ann.client, 9],
    ['member', bob.client, 5],
    ['stranger', eve.client, 3],
    ['administrator', service.admin.client, 9],
    ['visitor', service.anonymous, 3],
    ['public only', await chosen(ann, { name: 'public', scopes: ['public-only', 'read:issue'] }), 3],
  ]
  for (const [name, client, count] of readers) {
    const titles = await found(client)
    expect([name, titles.toSorted()]).toEqual([name, (await listed(client)).toSorted()])
    expect([name, titles.length]).toEqual([name, count])
  }
  expect(await found(bob.client)).toContain('first of team')
  expect(await found(bob.client)).not.toContain('first of pulls')
})

test('who asks without the scope, or with a wrong credential, is refused', async () => {
  const basic = service.client({ basic: `${ann.name}:${ann.password}` })
  const made = await basic.post('/users/ann/tokens', { name: 'narrow', scopes: ['read:user'] })
  expect((await service.client({ token: made.string('sha1') }).get(SEARCH)).status).toBe(403)
  expect((await service.client({ token: 'f'.repeat(40) }).get(SEARCH)).status).toBe(401)
})

test('an issue is shown as in its repository', async () => {
  const { body } = await ann.client.get(SEARCH, { q: 'first of team' })
  const own = await ann.client.get(`${repos.team.path}/issues/1`)
  expect(body).toEqual([own.body])
})

test('a search comes in pages, the newest first, and can be walked', async () => {
  const all = await found(ann.client)
  const page = await ann.client.get(SEARCH, { state: 'all', limit: 4, page: 2 })
  expect(page.headers.get('x-total-count')).toBe('9')
  expect(page.headers.get('link')).toContain('page=3&state=all>; rel="next"')
  expect(page.body).toMatchObject(all.slice(4, 8).map((title) => ({ title })))
  const walked: string[] = []
  for (let path: string | undefined = `${SEARCH}?state=all&limit=4&cursor=`; path; ) {
    const { body, headers } = await ann.client.get(path)
    if (Array.isArray(body)) walked.push(...body.map(({ title }) => title))
    path = /<[^>]*\/api\/v1([^>]*)>; rel="next"/.exec(headers.get('link') ?? '')?.[1]
  }
  expect(walked).toEqual(all)
})

test('filters hold together', async () => {
  const repo = await service.createRepository(ann, { name: 'filters' })
  const label = async (name: string) =>
    (await ann.client.post(`${repo.path}/labels`, { name, color: '00aabb' })).number('id')
  const [red, blue] = [await label('red'), await label('blue')]
  const milestone = (await ann.client.post(`${repo.path}/milestones`, { title: 'soon' })).number('id')
  await ann.client.put(`${repo.path}/collaborators/bob`, { permission: 'write' })
  await ann.client.post(`${repo.path}/issues`, { title: 'f1', labels: [red], milestone, assignees: ['bob'] })
  await ann.client.post(`${repo.path}/issues`, { title: 'f2', labels: [blue], body: 'ask @bob.' })
  await bob.client.post(`${repo.path}/issues`, { title: 'f3', body: 'not @bob-by nor a@bob' })
  await ann.client.post(`${repo.path}/issues/3/comments`, { body: 'what says (@BOB)?' })
  await ann.client.patch(`${repo.path}/issues/3`, { state: 'closed' })
  const at = '2030-01-02T03:04:05Z'
  await service.context.sql`update issues set updated_at = ${at} where title = 'f1'`
  const cases: [object, string[]][] = [
    [{ labels: 'red' }, ['f1']],
    [{ labels: 'red,blue,none' }, ['f2', 'f1']],
    [{ labels: 'none', q: 'f1' }, ['f1']],
    [{ milestones: 'soon' }, ['f1']],
    [{ milestones: 'soon,never' }, ['f1']],
    [{ assigned: true }, ['f1']],
    [{ created: true }, ['f3']],
    [{ mentioned: true }, ['f3', 'f2']],
    [{ mentioned: true, created: true }, ['f3']],
    [{ assigned: true, created: true }, []],
    [{ review_requested: true }, []],
    [{ reviewed: true }, []],
    [{ created: 'maybe', labels: 'red' }, ['f1']],
    [{ created_by: 'BOB' }, ['f3']],
    [{ since: at }, ['f1']],
    [{ since: at, before: at }, ['f1']],
    [{ mentioned: true, state: 'closed' }, ['f3']],
    [{ mentioned: true, state: 'open' }, ['f2']],
    [{ mentioned: true, type: 'pulls' }, []],
    [{ mentioned: true, type: 'issues', priority_repo_id: 7 }, ['f3', 'f2']],
  ]
  for (const [query, titles] of cases) expect([query, await found(bob.client, { ...query })]).toEqual([query, titles])
  // Of a visitor nothing is asked.
  expect(await found(service.anonymous, { created: true, assigned: true, labels: 'red' })).toEqual(['f1'])
  expect((await ann.client.get(SEARCH, { since: 'yesterday' })).status).toBe(422)
  expect((await ann.client.get(SEARCH, { created_by: 'nobody' })).status).toBe(404)
  const many = Array.from({ length: 101 }, (_, index) => index).join()
  expect((await ann.client.get(SEARCH, { labels: many })).status).toBe(422)
})

test('owners and teams are named, and who may not know them is told as of none', async () => {
  expect((await found(ann.client, { owner: 'CLUB' })).length).toBe(4)
  expect((await found(ann.client, { owner: 'club', team: 'Team' })).length).toBe(2)
  expect(await found(bob.client, { owner: 'club', team: 'team' })).toEqual(['first of team'])
  const refused = async (client: Client, query: Record<string, string>) => {
    const { status, body } = await client.get(SEARCH, query)
    return [status, JSON.stringify(body)]
  }
  expect(await refused(eve.client, { owner: 'club' })).toEqual([400, expect.stringContaining('user does not exist')])
  const none = await refused(eve.client, { owner: 'clubs' })
  expect(none).toEqual([400, expect.stringContaining('user does not exist')])
  expect((await refused(ann.client, { team: 'team' }))[0]).toBe(400)
  expect((await refused(ann.client, { owner: 'club', team: 'none' }))[0]).toBe(400)
  expect((await refused(ann.client, { owner: 'ann', team: 'team' }))[0]).toBe(400)
})

test('a label or a milestone that is hidden is ignored as one that does not exist', async () => {
  await ann.client.post(`${repos.secret.path}/labels`, { name: 'hush', color: '00aabb' })
  await ann.client.post(`${repos.secret.path}/milestones`, { title: 'hush' })
  await ann.client.post('/orgs/club/labels', { name: 'club-hush', color: '00aabb' })
  const hidden: Record<string, string>[] = [{ labels: 'hush' }, { milestones: 'hush' }, { labels: 'club-hush' }]
  for (const query of hidden) {
    expect([query, await found(ann.client, query)]).toEqual([query, []])
    expect([query, await found(eve.client, query)]).toEqual([query, await found(eve.client, { labels: 'none' })])
  }
})

test('words are found in titles, bodies and comments, and what fits best comes first', async () => {
  const repo = await service.createRepository(ann, { name: 'words' })
  const write = async (title: string, body = '') =>
    (await ann.client.post(`${repo.path}/issues`, { title, body })).number('number')
  await write('Quokka')
  await write('Other', 'a quokka, sleeping')
  await write('Zoo', 'has quokkas')
  await write('Third')
  await write('Antiquokkan')
  await ann.client.post(`${repo.path}/issues/4/comments`, { body: 'the QUOKKA was #7 and ÄRGER, 日本語テキスト' })
  await write('Ärgerlich über c++', '日本語 テキスト, 1.5-fold')
  await write('Seven')
  const inRepo = async (q: string) => {
    const { body, headers } = await ann.client.get(`${repo.path}/issues`, { q })
    const numbers = Array.isArray(body) ? body.map(({ number }) => number) : []
    expect(headers.get('x-total-count')).toBe(String(numbers.length))
    return numbers
  }
  const everywhere = async (q: string) => {
    const { body } = await ann.client.get(SEARCH, { q, owner: 'ann' })
    const rows = Array.isArray(body) ? body.filter(({ repository }) => repository.name === 'words') : []
    return rows.map(({ number }) => number)
  }
  const cases: [string, number[]][] = [
    // In the title, in the body, and then the newest of those that have it elsewhere.
    ['quokka', [1, 3, 2, 5, 4]],
    ['QUOKKA sleeping', [2]],
    ['sleeping Third', []],
    // Inside of a word in titles, at its beginning elsewhere.
    ['uokk', [5, 1]],
    ['slee', [2]],
    ['leep', []],
    ['was quokka', [4]],
    ['7', [7, 4]],
    ['#7', [7, 4]],
    ['ärger', [6, 4]],
    ['ÜBER', [6]],
    ['c++', [6]],
    ['1.5', [6]],
    ['5-fold', [6]],
    ['日本語', [6, 4]],
  ]
  for (const [q, expected] of cases) {
    expect([q, await everywhere(q)]).toEqual([q, expected])
    expect([q, await inRepo(q)]).toEqual([q, expected])
  }
  for (const q of ['%', '_', '\\', "'", '&|!:*()<->', 'x'.repeat(3000), '\0'])
    expect([q, (await ann.client.get(SEARCH, { q })).status, await everywhere(q)]).toEqual([q, 200, []])
})

test('a search finds what a text is, and not what it was', async () => {
  const repo = await service.createRepository(ann, { name: 'changing' })
  await ann.client.post(`${repo.path}/issues`, { title: 'wallaby', body: 'in a pouch' })
  const comment = await ann.client.post(`${repo.path}/issues/1/comments`, { body: 'a bandicoot' })
  expect(await found(ann.client, { q: 'wallaby' })).toEqual(['wallaby'])
  await ann.client.patch(`${repo.path}/issues/1`, { title: 'numbat', body: 'in a hole' })
  await ann.client.patch(`${repo.path}/issues/comments/${comment.number('id')}`, { body: 'a potoroo' })
  for (const q of ['wallaby', 'pouch', 'bandicoot']) expect([q, await found(ann.client, { q })]).toEqual([q, []])
  for (const q of ['numbat', 'hole', 'potoroo']) expect([q, await found(ann.client, { q })]).toEqual([q, ['numbat']])
  await ann.client.delete(`${repo.path}/issues/1`)
  expect(await found(ann.client, { q: 'numbat' })).toEqual([])
  expect(await service.context.sql`select from issue_texts where title = 'numbat'`).toHaveLength(0)
})

test('a search by words can be walked without a gap or a double', async () => {
  const repo = await service.createRepository(ann, { name: 'walked' })
  for (let n = 1; n <= 7; n += 1)
    await ann.client.post(`${repo.path}/issues`, { title: n % 3 ? 'x' : 'echidna', body: 'echidna '.repeat(n % 2) })
  for (const start of [`${SEARCH}?q=echidna&limit=2&cursor=`, `${repo.path}/issues?q=echidna&limit=2&cursor=`]) {
    const walked: number[] = []
    for (let path: string | undefined = start; path; ) {
      const { body, headers } = await ann.client.get(path)
      if (Array.isArray(body)) walked.push(...body.map(({ number }) => number))
      path = /<[^>]*\/api\/v1([^>]*)>; rel="next"/.exec(headers.get('link') ?? '')?.[1]
    }
    expect(walked).toEqual([3, 6, 7, 5, 1])
  }
})

test.each([
  ['one megabyte of letters', 'x'.repeat(1024 * 1024)],
  ['one megabyte of different words', Array.from({ length: 140_000 }, (_, index) => index.toString(36)).join(' ')],
  ['addresses', 'https://example.com/a/b?c=d&e-f '.repeat(32_000)],
  ['many bytes to a letter', '𠜎 𠜱𠝹'.repeat(60_000)],
  ['words with many parts', 'a-b-c-d-e-f-g_h@i.jk/l '.repeat(40_000)],
])('an issue with %s is stored, and found by its title', async (name, body) => {
  const repo = await service.createRepository(ann)
  const title = `heavy ${name.replaceAll(' ', '')}`
  expect((await ann.client.post(`${repo.path}/issues`, { title, body: body.slice(0, 1024 * 1024) })).status).toBe(201)
  expect((await ann.client.post(`${repo.path}/issues/1/comments`, { body: body.slice(0, 1024 * 1024) })).status).toBe(
    201,
  )
  expect(await found(ann.client, { q: title })).toEqual([title])
})
