import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Answer, Client } from '../harness/client.ts'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../harness/service.ts'

let service: TestService
let ann: TestUser
let busy: TestRepository

/** Long enough for cursors unasked, and every sort key is held by several rows. */
const ROWS = 120

beforeAll(async () => {
  service = await startTestService({ settings: { MAX_RESPONSE_ITEMS: '150' } })
  ann = await service.createUser('ann')
  busy = await service.createRepository(ann, { name: 'busy' })
  const { sql } = service.context
  const annId = sql`(select id from users where name = 'ann')`
  await sql.begin(async (tx) => {
    await tx`insert into users (name, email, kind, created_at, updated_at)
      select 'person-' || (n * 37 % 113), 'person-' || n || '@example.com', 'user',
        timestamptz '2026-01-01 00:00:00.000001+00' + n % 5 * interval '1 microsecond', timestamptz '2026-02-01' - n % 3 * interval '1 day'
      from generate_series(1, 112) n`
    await tx`insert into emails (user_id, email, is_primary, is_activated) select id, email, true, true from users where name like 'person-%'`
    await tx`insert into users (name, kind) select 'org-' || (n * 37 % 113), 'organization' from generate_series(1, 112) n`
    await tx`insert into organization_members (organization_id, user_id, is_public)
      select o.id, ${annId}, true from users o where o.name like 'org-%'`
    await tx`insert into organization_members (organization_id, user_id, is_public)
      select o.id, p.id, true from users o, users p where o.name = 'org-1' and p.name like 'person-%'`
    await tx`insert into repositories (owner_id, name, is_private, created_at, updated_at)
      select case when n % 3 = 0 then ${annId} else (select id from users where name = 'person-' || (1 + n % 4)) end,
        'repo-' || (n % 40) || case when n % 3 = 0 then '-' || n else '' end || '-' || n / 40, n % 6 = 0,
        timestamptz '2026-01-01 00:00:00.000001+00' + n % 7 * interval '1 microsecond', timestamptz '2026-02-01' - n % 3 * interval '1 day'
      from generate_series(1, 118) n`
    await tx`update repository_counters set size_bytes = repository_id % 4, stars_count = repository_id % 3, forks_count = repository_id % 2`
    // A list of forks this long would need as many owners, who are in other lists.
    await tx`drop index repositories_fork_key`
    await tx`update repositories set is_fork = true, parent_id = ${busy.id} where name like 'repo-%'`
    await tx`insert into stars (user_id, repository_id, created_at)
      select ${annId}, id, timestamptz '2026-01-01' + id % 3 * interval '1 microsecond' from repositories`
    await tx`insert into watches (user_id, repository_id) select ${annId}, id from repositories on conflict do nothing`
    await tx`insert into stars (user_id, repository_id, created_at)
      select id, ${busy.id}, timestamptz '2026-01-01' + id % 3 * interval '1 microsecond' from users where name like 'person-%'`
    await tx`insert into watches (user_id, repository_id, created_at)
      select id, ${busy.id}, timestamptz '2026-01-01' + id % 3 * interval '1 microsecond' from users where name like 'person-%'`
    await tx`insert into follows (follower_id, followed_id, created_at)
      select id, ${annId}, timestamptz '2026-01-01' + id % 3 * interval '1 microsecond' from users where name like 'person-%'`
    await tx`insert into follows (follower_id, followed_id, created_at)
      select ${annId}, id, timestamptz '2026-01-01' + id % 3 * interval '1 microsecond' from users where name like 'person-%'`
    await tx`insert into issues (repository_id, number, poster_id, title)
      select ${busy.id}, n, ${annId}, 'issue ' || n from generate_series(1, ${ROWS}::int) n`
    await tx`insert into comments (issue_id, poster_id, body, created_at)
      select i.id, ${annId}, 'text', timestamptz '2026-01-01' + i.id % 3 * interval '1 microsecond' from issues i`
    await tx`update repository_counters set last_issue_number = ${ROWS} where repository_id = ${busy.id}`
    await tx`insert into activities (event_id, actor_id, owner_id, repository_id, op_type)
      select 1000000 + n, ${annId}, ${annId}, ${busy.id}, 'star_repo' from generate_series(1, ${ROWS}::int) n`
  })
})
afterAll(() => service.stop())

function items({ status, body, text }: Answer): unknown[] {
  const list: unknown = Array.isArray(body) ? body : Reflect.get(Object(body), 'data')
  if (status !== 200 || !Array.isArray(list)) throw new Error(`${status} ${text}`)
  return list
}

/** What tells an item from all others of its list. */
const idOf = (item: unknown): string =>
  String(Reflect.get(Object(item), 'id') || Reflect.get(Object(item), 'email') || Reflect.get(Object(item), 'number'))

const ids = (answer: Answer): string[] => items(answer).map(idOf)

function linksOf(answer: Answer): Record<string, URL> {
  const links = answer.headers.get('link')?.matchAll(/<([^>]+)>; rel="(\w+)"/g) ?? []
  return Object.fromEntries([...links].map(([, url = '', relation = '']) => [relation, new URL(url)]))
}

const follow = (client: Client, url: URL): Promise<Answer> => client.get(`${url.pathname}${url.search}`)

/** All items in the order of a walk along the `next` links; `between` runs after each page but the last. */
async function walk(client: Client, path: string, between?: (step: number) => Promise<void>): Promise<string[]> {
  const seen: string[] = []
  let answer = await client.get(path)
  for (let step = 1; step <= 100; step += 1) {
    seen.push(...ids(answer))
    const { next } = linksOf(answer)
    if (next === undefined) return seen
    expect(next.searchParams.get('cursor')).toBeTruthy()
    expect(next.searchParams.get('page')).toBe(String(step + 1))
    await between?.(step)
    answer = await follow(client, next)
  }
  throw new Error(`${path} has no end`)
}

const repositorySorts = ['alpha', 'created', 'updated', 'size', 'id', 'stars', 'forks'].flatMap((sort) =>
  ['asc', 'desc'].map((order) => `/repos/search?sort=${sort}&order=${order}`),
)
const userSorts = ['name', 'created', 'updated', 'id'].flatMap((sort) =>
  ['asc', 'desc'].map((order) => `/admin/users?sort=${sort}&order=${order}`),
)

describe('along the cursors a list has each row once, in its order', () => {
  const byAnn = [
    '/repos/search?q=repo',
    '/user/repos?x=1',
    '/user/starred?x=1',
    '/user/subscriptions?x=1',
    '/user/followers?x=1',
    '/users/ann/following?x=1',
    '/user/orgs?x=1',
    '/users/ann/orgs?x=1',
    '/orgs?x=1',
    '/orgs/org-1/members?x=1',
    '/orgs/org-1/public_members?x=1',
    '/users/search?q=person',
    '/repos/ann/busy/issues?state=all',
    '/repos/ann/busy/issues/comments?x=1',
    '/repos/ann/busy/stargazers?x=1',
    '/repos/ann/busy/subscribers?x=1',
    '/repos/ann/busy/forks?x=1',
    '/repos/ann/busy/activities/feeds?x=1',
    '/users/ann/activities/feeds?x=1',
  ]
  test.each([...byAnn, ...repositorySorts])('%s', async (path) => {
    const whole = await ann.client.get(`${path}&limit=150`)
    const expected = ids(whole)
    expect(expected.length).toBeGreaterThan(39)
    expect(await walk(ann.client, `${path}&limit=7&cursor=`)).toEqual(expected)
    // The last page is full and nothing comes behind it.
    expect(await walk(ann.client, `${path}&limit=${expected.length}&cursor=`)).toEqual(expected)
  })

  test.each(
    ['/admin/users?q=person', '/admin/emails?x=1', '/admin/emails/search?q=person', '/admin/orgs?x=1'].concat(
      userSorts,
    ),
  )('%s', async (path) => {
    const { client } = service.admin
    const expected = ids(await client.get(`${path}&limit=150`))
    expect(expected.length).toBeGreaterThan(100)
    expect(await walk(client, `${path}&limit=7`)).toEqual(expected)
  })

  test('one owner before all others', async () => {
    const id = (await ann.client.get('/users/ann')).number('id')
    for (const sort of ['', '&sort=stars&order=asc', '&sort=updated&order=desc']) {
      const path = `/repos/search?priority_owner_id=${id}${sort}`
      const whole = await ann.client.get(`${path}&limit=150`)
      expect(whole.string('data.0.owner.login')).toBe('ann')
      expect(await walk(ann.client, `${path}&limit=7`)).toEqual(ids(whole))
    }
  })

  test('whoever reads it', async () => {
    const [stranger, { admin, anonymous }] = [await service.createUser(), service]
    for (const client of [stranger.client, admin.client, anonymous]) {
      for (const path of [
        '/repos/search?x=1',
        '/repos/search?sort=updated&order=desc',
        '/repos/search?archived=false&q=1',
        '/repos/search?sort=alpha',
      ]) {
        const expected = ids(await client.get(`${path}&limit=150`))
        expect(await walk(client, `${path}&limit=9&cursor=`)).toEqual(expected)
      }
    }
  })
})

describe('while rows come and go', () => {
  const issues = '/repos/ann/busy/issues?state=all&limit=10'

  test('each that stays is seen once', async () => {
    const { sql } = service.context
    const before = await walk(ann.client, issues)
    const gone: string[] = []
    const seen = await walk(ann.client, issues, async (step) => {
      // The newest come first: numbered pages would repeat ten rows after each of these, and skip as many when they go.
      await sql`insert into issues (repository_id, number, title)
        select ${busy.id}, ${1000 + step * 10}::int + n, 'new' from generate_series(1, 9) n`
      const removed = await sql<{ id: number }[]>`delete from issues where id in (
        select id from issues where repository_id = ${busy.id} and number <= ${ROWS}::int order by number desc limit 3) returning id`
      gone.push(...removed.map(({ id }) => String(id)))
    })
    expect(seen).toEqual(before)
    expect(gone.length).toBeGreaterThan(30)
    await sql`delete from issues where repository_id = ${busy.id} and title = 'new'`
    expect(await walk(ann.client, `${issues}&cursor=`)).toEqual(before.filter((id) => !gone.includes(id)))
  })

  test('the row that a cursor stands on may go', async () => {
    const path = '/admin/users?q=person&limit=20&sort=created'
    const people = await walk(service.admin.client, path)
    const first = await service.admin.client.get(path)
    const { next } = linksOf(first)
    if (next === undefined) throw new Error('no next page')
    await service.context.sql`delete from users where id = ${Number(ids(first).at(-1))}`
    expect(ids(await follow(service.admin.client, next))).toEqual(people.slice(20, 40))
  })

  test('the walk does not end before the rows do, though the list has become shorter than the number of its pages', async () => {
    const path = '/admin/orgs?limit=10'
    const everything = await walk(service.admin.client, path)
    const seen = await walk(service.admin.client, path, async (step) => {
      if (step === 6)
        await service.context
          .sql`delete from users where id in ${service.context.sql(everything.slice(0, 55).map(Number))}`
    })
    expect(seen).toEqual(everything)
    const half = await service.admin.client.get('/admin/orgs?limit=10')
    expect(linksOf(half).next?.searchParams.get('cursor')).toBeNull()
  })
})

describe('a cursor', () => {
  const path = '/repos/ann/busy/forks?limit=10&x=a b'

  test('goes with the next link only; the others have numbers', async () => {
    const first = linksOf(await ann.client.get(path))
    if (first.next === undefined) throw new Error('no next page')
    const second = await follow(ann.client, first.next)
    const links = linksOf(second)
    expect(Object.keys(links)).toEqual(['next', 'last', 'first', 'prev'])
    const parameters = Object.entries(links).map(([relation, { searchParams }]) => [relation, ...searchParams.keys()])
    expect(parameters).toEqual([
      ['next', 'limit', 'page', 'x', 'cursor'],
      ['last', 'limit', 'page', 'x'],
      ['first', 'limit', 'page', 'x'],
      ['prev', 'limit', 'page', 'x'],
    ])
    const pages = Object.values(links).map(({ searchParams }) => searchParams.get('page'))
    expect(pages).toEqual(['3', '12', '1', '1'])
    expect(second.headers.get('x-total-count')).toBe('118')
    const numbered = await ann.client.get('/repos/ann/busy/forks?limit=10&page=2')
    expect(ids(second)).toEqual(ids(numbered))
  })

  test('is unasked in long lists only, and on request in all', async () => {
    const short = await ann.client.get('/repos/search?uid=0&q=repo-1&limit=2')
    expect(Number(short.headers.get('x-total-count'))).toBeLessThan(100)
    expect(linksOf(short).next?.searchParams.has('cursor')).toBe(false)
    const asked = await ann.client.get('/repos/search?uid=0&q=repo-1&limit=2&cursor=')
    expect(linksOf(asked).next?.searchParams.get('cursor')).toBeTruthy()
    expect(linksOf(asked).last?.searchParams.has('cursor')).toBe(false)
    // Wire: this list has no links.
    const stars = await ann.client.get('/user/starred?limit=100')
    expect(linksOf(stars).next?.searchParams.get('cursor')).toBeTruthy()
    const follower = await service.createUser()
    await follower.client.put('/user/following/ann')
    expect((await follower.client.get('/user/following?limit=1')).headers.get('link')).toBeNull()
  })

  test('may be carried to a page of another size, and by another reader', async () => {
    const { next } = linksOf(await ann.client.get(path))
    next?.searchParams.set('limit', '3')
    if (next === undefined) throw new Error('no next page')
    const smaller = ids(await follow(service.admin.client, next))
    expect(smaller).toEqual(ids(await service.admin.client.get('/repos/ann/busy/forks?limit=150')).slice(10, 13))
    next.searchParams.delete('page')
    expect(ids(await follow(ann.client, next))).toEqual(smaller)
  })

  const made = (text: string) => Buffer.from(text).toString('base64url')
  test.each([
    ['no base64', '%%%'],
    ['a quote', "' or 1=1 --"],
    ['too short', 'AAAA'],
    ['NUL', 'a\0b'],
    ['keys without a signature', made('["1"]')],
    ['keys with a signature of zeros', made(`${'\0'.repeat(16)}["1"]`)],
    ['no JSON behind zeros', made(`${'\0'.repeat(16)}{{`)],
    ['very long', 'A'.repeat(6000)],
  ])('made up (%s) is refused', async (_, cursor) => {
    for (const list of ['/repos/ann/busy/forks', '/repos/search', '/users/search', '/repos/ann/busy/stargazers']) {
      const answer = await ann.client.get(list, { cursor, limit: 10 })
      expect([answer.status, answer.string('message')]).toEqual([422, expect.stringContaining('[Cursor]: ')])
    }
  })

  test('that was changed in any place is refused', async () => {
    const bytes = Buffer.from(await cursorOf(path), 'base64url')
    for (let place = 0; place < bytes.length; place += 1) {
      const changed = Buffer.from(bytes)
      changed[place] = (changed[place] ?? 0) ^ 1
      const answer = await ann.client.get(`${path}&cursor=${changed.toString('base64url')}`)
      expect([place, answer.status]).toEqual([place, 422])
    }
    expect((await ann.client.get(`${path}&cursor=${bytes.toString('base64url')}`)).status).toBe(200)
  })

  test.each([
    ['another list', '/repos/ann/busy/stargazers?limit=10&x=a b'],
    ['another filter', '/repos/ann/busy/forks?limit=10&x=c'],
    ['the same list with one filter more', '/repos/ann/busy/forks?limit=10&x=a b&y=1'],
  ])('is no good for %s', async (_, other) => {
    const answer = await ann.client.get(`${other}&cursor=${await cursorOf(path)}`)
    expect(answer.status).toBe(422)
  })

  test('is no good for another order', async () => {
    const cursor = await cursorOf('/repos/search?sort=stars&order=asc&limit=5')
    expect((await ann.client.get('/repos/search', { sort: 'stars', order: 'asc', cursor })).status).toBe(200)
    expect((await ann.client.get('/repos/search', { sort: 'stars', order: 'desc', cursor })).status).toBe(422)
    expect((await ann.client.get('/repos/search', { sort: 'size', order: 'asc', cursor })).status).toBe(422)
    expect((await ann.client.get('/repos/search', { cursor })).status).toBe(422)
  })

  test('does not keep a token of the query', async () => {
    const answer = await service.anonymous.get(`/user/starred?limit=10&token=${ann.token}`)
    expect(answer.headers.get('link')).not.toContain(ann.token)
    const { next } = linksOf(answer)
    if (next === undefined) throw new Error('no next page')
    expect((await follow(ann.client, next)).status).toBe(200)
    expect((await follow(service.anonymous, next)).status).toBe(401)
  })

  test('means nothing to a list that is never long', async () => {
    const answer = await ann.client.get('/repos/ann/busy/labels?cursor=x')
    expect([answer.status, answer.headers.get('link')]).toEqual([200, null])
  })

  test('is declared alike by every list that reads one, with its refusal and the links', async () => {
    const document: unknown = (await service.anonymous.get('/swagger.v1.json')).body
    const at = (value: unknown, ...keys: string[]): unknown =>
      keys.reduce((found, key) => Reflect.get(Object(found), key), value)
    const operations = Object.values(Object(at(document, 'paths'))).map((path) => at(path, 'get'))
    const cursors = operations.flatMap((operation) => {
      const parameters = at(operation, 'parameters')
      const cursor = Array.isArray(parameters) ? parameters.find(({ name }) => name === 'cursor') : undefined
      return cursor === undefined ? [] : [{ operation, cursor }]
    })
    expect(cursors.length).toBeGreaterThan(30)
    for (const { operation, cursor } of cursors) {
      expect(cursor).toEqual(cursors[0]?.cursor)
      const answers = ['200', '422'].map((status) => at(operation, 'responses', status))
      expect(answers).toEqual([
        expect.objectContaining({ headers: expect.objectContaining({ Link: expect.anything() }) }),
        expect.anything(),
      ])
    }
  })

  async function cursorOf(list: string): Promise<string> {
    const cursor = linksOf(await ann.client.get(list)).next?.searchParams.get('cursor')
    if (!cursor) throw new Error(`${list} has no cursor`)
    return cursor
  }
})
