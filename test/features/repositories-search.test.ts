import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { decideRights } from '../../src/access/decide.ts'
import { findRepositoryById } from '../../src/access/load.ts'
import { findAccount } from '../../src/access/load-account.ts'
import { Level } from '../../src/access/units.ts'
import type { Actor } from '../../src/auth/actor.ts'
import { rollTotals } from '../../src/features/repository-maintenance/totals.ts'
import { countRepositories } from '../../src/features/repository-search/count.ts'
import { listRepositories } from '../../src/features/repository-search/list.ts'
import type { Answer, Client } from '../harness/client.ts'
import { startTestService, type TestService, type TestUser } from '../harness/service.ts'

let service: TestService
let ann: TestUser
let bob: TestUser
beforeAll(async () => {
  service = await startTestService({ settings: { MAX_RESPONSE_ITEMS: '20' } })
  ann = await service.createUser('ann')
  bob = await service.createUser('bob')
  for (const body of [
    { name: 'alpha' },
    { name: 'beta', private: true },
    { name: 'gamma', template: true, description: 'a needle in 100% hay' },
    { name: 'delta', auto_init: true },
    { name: 'under_score' },
  ])
    await ann.client.post('/user/repos', body)
  await bob.client.post('/user/repos', { name: 'fork' })
  await ann.client.patch('/repos/ann/delta', { archived: true })
  await bob.client.put('/user/starred/ann/alpha')
  await ann.client.put('/repos/ann/alpha/topics/tree')
  const { sql } = service.context
  await sql`update repositories set is_fork = true, parent_id = (select id from repositories where name = 'delta') where name = 'fork'`
  await sql`insert into collaborations (repository_id, user_id) select r.id, u.id from repositories r, users u
    where r.name = 'under_score' and u.name = 'bob'`
})
afterAll(() => service.stop())

function names({ status, body, text }: Answer): string[] {
  const data: unknown = Array.isArray(body) ? body : Reflect.get(Object(body), 'data')
  if (status !== 200 || !Array.isArray(data)) throw new Error(`${status} ${text}`)
  return data.map((item) => String(Reflect.get(Object(item), 'name')))
}

/** The names on the page, and the total that came with it. */
async function search(
  client: Client,
  query: Record<string, string | number | boolean> = {},
): Promise<[string[], number]> {
  const answer = await client.get('/repos/search', query)
  return [names(answer), Number(answer.headers.get('x-total-count'))]
}

describe('what each caller finds', () => {
  const open = ['alpha', 'delta', 'fork', 'gamma', 'under_score']
  test('by name, with private ones for those who may read them', async () => {
    expect(await search(service.anonymous)).toEqual([open, 5])
    expect(await search(bob.client)).toEqual([open, 5])
    expect(await search(ann.client)).toEqual([['alpha', 'beta', 'delta', 'fork', 'gamma', 'under_score'], 6])
    expect((await search(service.admin.client))[1]).toBe(6)
  })

  test('a token that sees public things only finds those', async () => {
    const basic = service.client({ basic: `ann:${ann.password}` })
    const made = await basic.post('/users/ann/tokens', {
      name: 'open',
      scopes: ['read:repository', 'read:user', 'public-only'],
    })
    const client = service.client({ token: made.string('sha1') })
    expect(await search(client)).toEqual([open, 5])
    expect(names(await client.get('/user/repos'))).toEqual(['alpha', 'delta', 'gamma', 'under_score'])
  })

  test('a token without the scope finds nothing', async () => {
    const basic = service.client({ basic: `ann:${ann.password}` })
    const made = await basic.post('/users/ann/tokens', { name: 'user', scopes: ['read:user'] })
    expect((await service.client({ token: made.string('sha1') }).get('/repos/search')).status).toBe(403)
  })
})

describe('filters', () => {
  test.each([
    [{ q: 'ALPH' }, ['alpha']],
    [{ q: 'alpha,gam' }, ['alpha', 'gamma']],
    [{ q: 'ann/a' }, ['alpha', 'beta', 'delta', 'gamma']],
    [{ q: 'bob/a' }, []],
    [{ q: '_' }, ['under_score']],
    [{ q: '%' }, []],
    [{ q: 'needle' }, []],
    [{ q: 'needle', includeDesc: true }, ['gamma']],
    [{ q: '100%', includeDesc: true }, ['gamma']],
    [{ q: 'tree', topic: true }, ['alpha']],
    [{ q: 'tre', topic: true }, []],
    [{ q: 'TRE' }, ['alpha']],
    [{ q: 'tree', includeDesc: true }, ['alpha']],
    [{ q: 'gam,tree' }, ['alpha', 'gamma']],
    [{ is_private: true }, ['beta']],
    [{ is_private: false }, ['alpha', 'delta', 'fork', 'gamma', 'under_score']],
    [{ private: false }, ['alpha', 'delta', 'fork', 'gamma', 'under_score']],
    [{ template: true }, ['gamma']],
    [{ template: false }, ['alpha', 'beta', 'delta', 'fork', 'under_score']],
    [{ archived: true }, ['delta']],
    [{ archived: false }, ['alpha', 'beta', 'fork', 'gamma', 'under_score']],
    [{ mode: 'source' }, ['alpha', 'beta', 'delta', 'gamma', 'under_score']],
    [{ mode: 'fork' }, ['fork']],
    [{ mode: 'mirror' }, []],
    [{ mode: 'collaborative' }, ['alpha', 'beta', 'delta', 'fork', 'gamma', 'under_score']],
    [{ archived: false, mode: 'source', is_private: false }, ['alpha', 'gamma', 'under_score']],
    [{ uid: 0 }, ['alpha', 'beta', 'delta', 'fork', 'gamma', 'under_score']],
    [{ uid: 99_999_999 }, []],
    [{ uid: 'bob' }, ['fork', 'under_score']],
    [{ uid: 'bob', exclusive: true }, ['fork']],
    [{ uid: 'bob', mode: 'collaborative' }, ['under_score']],
    [{ uid: 'ann', q: 'a' }, ['alpha', 'beta', 'delta', 'gamma']],
    [{ starredBy: 'bob' }, ['alpha']],
    [{ starredBy: 'ann' }, []],
    [{ team_id: 99_999_999 }, []],
    [{ q: 'nothing has this name' }, []],
    [{ uid: 'junk', private: 'junk' }, ['alpha', 'delta', 'fork', 'gamma', 'under_score']],
  ] satisfies [Record<string, string | number | boolean>, string[]][])('%j gives %j', async (query, wanted) => {
    expect(await search(ann.client, await withIds(query))).toEqual([wanted, wanted.length])
  })

  test.each([
    [{ sort: 'nosuch' }, 'Invalid sort mode: "nosuch"'],
    [{ sort: 'name' }, 'Invalid sort mode: "name"'],
    [{ sort: 'alpha', order: 'up' }, 'Invalid sort order: "up"'],
    [{ mode: 'nosuch' }, 'Invalid search mode: "nosuch"'],
  ])('%j is refused', async (query, message) => {
    const refused = await service.anonymous.get('/repos/search', query)
    expect([refused.status, refused.string('message')]).toEqual([422, message])
  })

  async function withIds(query: Record<string, string | number | boolean>) {
    const [row] = await service.context.sql<{ ann: number; bob: number }[]>`
      select (select id from users where name = 'ann') as ann, (select id from users where name = 'bob') as bob`
    const ids = new Map<unknown, number | undefined>([
      ['ann', row?.ann],
      ['bob', row?.bob],
    ])
    return Object.fromEntries(Object.entries(query).map(([key, value]) => [key, ids.get(value) ?? value]))
  }
})

describe('order', () => {
  test.each([
    [{ sort: 'alpha' }, ['alpha', 'beta', 'delta', 'gamma', 'under_score', 'fork']],
    [{ sort: 'alpha', order: 'desc' }, ['fork', 'under_score', 'gamma', 'delta', 'beta', 'alpha']],
    [{ sort: 'id' }, ['alpha', 'beta', 'gamma', 'delta', 'under_score', 'fork']],
    [{ sort: 'created', order: 'desc' }, ['fork', 'under_score', 'delta', 'gamma', 'beta', 'alpha']],
    [{ order: 'desc' }, ['alpha', 'beta', 'delta', 'fork', 'gamma', 'under_score']],
  ])('%j', async (query, wanted) => {
    expect((await search(ann.client, query))[0]).toEqual(wanted)
  })

  test('most stars and most forks first', async () => {
    expect((await search(ann.client, { sort: 'stars', order: 'desc' }))[0][0]).toBe('alpha')
    expect((await search(ann.client, { sort: 'forks', order: 'desc' }))[0][0]).toBe('delta')
    expect((await search(ann.client, { sort: 'size', order: 'desc' }))[0]).toHaveLength(6)
    expect((await search(ann.client, { sort: 'updated' }))[0]).toHaveLength(6)
    for (const order of ['asc', 'desc']) {
      expect(await search(ann.client, { sort: 'git_size', order })).toEqual(
        await search(ann.client, { sort: 'size', order }),
      )
      expect(await search(ann.client, { sort: 'lfs_size', order })).toEqual(
        await search(ann.client, { sort: 'id', order }),
      )
    }
  })

  test('one owner before all others', async () => {
    const id = (await bob.client.get('/user')).number('id')
    expect((await search(ann.client, { priority_owner_id: id }))[0][0]).toBe('fork')
  })
})

describe('pages', () => {
  test('each page once, with the addresses of its neighbours', async () => {
    const second = await ann.client.get('/repos/search', { limit: 2, page: 2 })
    expect(names(second)).toEqual(['delta', 'fork'])
    expect(second.headers.get('link')?.match(/rel="\w+"/g)).toEqual([
      'rel="next"',
      'rel="last"',
      'rel="first"',
      'rel="prev"',
    ])
    const beyond = await ann.client.get('/repos/search', { limit: 2, page: 9 })
    expect([names(beyond), beyond.headers.get('x-total-count')]).toEqual([[], '6'])
  })

  test('a page that has not changed is not sent again', async () => {
    const first = await bob.client.get('/repos/search', { q: 'alpha' })
    const headers = { 'if-none-match': first.headers.get('etag') ?? '' }
    expect((await bob.client.request('/repos/search', { headers, query: { q: 'alpha' } })).status).toBe(304)
    await ann.client.patch('/repos/ann/alpha', { description: 'new' })
    expect((await bob.client.request('/repos/search', { headers, query: { q: 'alpha' } })).status).toBe(200)
  })
})

describe('lists', () => {
  test("one's own: owned and worked on, by name", async () => {
    const list = await bob.client.get('/user/repos')
    expect([names(list), list.headers.get('x-total-count')]).toEqual([['fork', 'under_score'], '2'])
    expect((await service.anonymous.get('/user/repos')).status).toBe(401)
  })

  test("a user's: as made, and none that are hidden, in the total neither", async () => {
    const list = await bob.client.get('/users/ann/repos')
    expect([names(list), list.headers.get('x-total-count')]).toEqual([['alpha', 'gamma', 'delta', 'under_score'], '4'])
    expect((await ann.client.get('/users/ANN/repos')).headers.get('x-total-count')).toBe('5')
    expect((await ann.client.get('/users/nobody/repos')).status).toBe(404)
  })
})

/** Many people, organizations, teams and repositories, drawn by one seed. */
async function makeWorld(seed: number): Promise<void> {
  const { sql } = service.context
  await sql.begin(async (tx) => {
    await tx`select setseed(${seed / 1000})`
    await tx`insert into users (name, email, kind, visibility, is_restricted)
      select 'w' || ${seed}::int || '-' || n, 'w' || n, case when n % 3 = 0 then 'organization' else 'user' end,
        (array['public', 'limited', 'private'])[1 + floor(random() * 3)::int], n % 3 <> 0 and random() < 0.2
      from generate_series(1, 12) n`
    await tx`insert into repositories (owner_id, name, is_private, is_archived, is_template, is_fork, is_mirror)
      select u.id, 'r' || n, random() < 0.4, random() < 0.3, random() < 0.3, random() < 0.3, random() < 0.3
      from users u, generate_series(1, 2) n where u.name like ${`w${seed}-%`} order by random()`
    await tx`insert into collaborations (repository_id, user_id, permission)
      select r.id, u.id, (array['read', 'write', 'admin'])[1 + floor(random() * 3)::int]
      from repositories r, users u where u.kind = 'user' and u.name like 'w%' and r.owner_id <> u.id and random() < 0.05
      on conflict do nothing`
    await tx`insert into teams (organization_id, name, permission, includes_all_repositories)
      select u.id, 't' || n, case when n = 1 then 'owner' else (array['none', 'read', 'admin'])[1 + floor(random() * 3)::int] end, n = 1 or random() < 0.3
      from users u, generate_series(1, 3) n where u.kind = 'organization' and u.name like ${`w${seed}-%`}`
    await tx`insert into team_units (team_id, unit, permission)
      select t.id, 'repo.code', (array['none', 'read', 'write'])[1 + floor(random() * 3)::int] from teams t where t.permission = 'none'
      on conflict do nothing`
    await tx`insert into team_repositories (team_id, repository_id)
      select t.id, r.id from teams t join repositories r on r.owner_id = t.organization_id where random() < 0.3 on conflict do nothing`
    await tx`insert into team_members (team_id, user_id, organization_id)
      select t.id, u.id, t.organization_id from teams t, users u where u.kind = 'user' and u.name like 'w%' and random() < 0.15
      on conflict do nothing`
    await tx`insert into organization_members (organization_id, user_id)
      select distinct organization_id, user_id from team_members on conflict do nothing`
  })
}

describe('in generated worlds', () => {
  const flags = [
    {},
    { isPrivate: true },
    { isArchived: false },
    { isFork: true, isMirror: false },
    { isTemplate: true },
  ]
  test.each([1, 2])('list, total and the rule about rights agree for everybody (seed %i)', async (seed) => {
    await makeWorld(seed)
    const { context } = service
    const rows = await context.sql<{ id: number }[]>`select id from repositories order by id`
    const people = await context.sql<{ name: string }[]>`select name from users where kind = 'user' order by id`
    const page = { number: 1, limit: 1000, offset: 0 }
    for (const actor of [undefined, ...(await Promise.all(people.map(({ name }) => actorOf(name))))].flat()) {
      const expected: number[] = []
      for (const { id } of rows) {
        const loaded = await findRepositoryById(context.db, id, actor?.user.id)
        if (loaded && decideRights(context.config, actor, loaded).highest >= Level.read) expected.push(id)
      }
      const found = await listRepositories(context, actor, { filter: {}, order: { by: 'id' }, page })
      const who = actor ? `${actor.user.name}${actor.publicOnly ? ' (public only)' : ''}` : 'visitor'
      expect([who, found.rows.map(({ repository }) => repository.id)]).toEqual([who, expected])
      for (const filter of flags) {
        const some = await listRepositories(context, actor, { filter, order: { by: 'name' }, page })
        expect([who, filter, await countRepositories(context, actor, filter)]).toEqual([who, filter, some.rows.length])
      }
    }
  })

  async function actorOf(name: string): Promise<Actor[]> {
    const account = await findAccount(service.context.db, name, undefined)
    if (!account) throw new Error(`no account ${name}`)
    const actor: Actor = { user: account.row, method: 'password', publicOnly: false }
    return [actor, { ...actor, publicOnly: true }]
  }

  test('totals follow every change, however the rows are written', async () => {
    const { sql } = service.context
    const differences = () => sql`
      with counted as (select visibility, is_private, is_archived, is_template, is_fork, is_mirror, count(*)::int as number
        from repositories join users on users.id = owner_id group by 1, 2, 3, 4, 5, 6),
      kept as (select owner_visibility as visibility, is_private, is_archived, is_template, is_fork, is_mirror, sum(repositories)::int as number
        from repository_totals group by 1, 2, 3, 4, 5, 6 having sum(repositories) <> 0)
      (table counted except table kept) union all (table kept except table counted)`
    await sql`update users set visibility = (array['public', 'limited', 'private'])[1 + floor(random() * 3)::int] where name like 'w1-%'`
    await sql`update repositories set is_private = not is_private, is_archived = random() < 0.5 where id % 3 = 0`
    await sql`update repositories set owner_id = (select id from users where name = 'w2-1'), name = 'moved' || id where id % 7 = 0`
    await sql`delete from repositories where id % 5 = 0`
    expect([...(await differences())]).toEqual([])
    await rollTotals(service.context)
    await rollTotals(service.context)
    expect([...(await differences())]).toEqual([])
    const [size] = await sql<{ rows: number }[]>`select count(*)::int as rows from repository_totals`
    expect(size?.rows).toBeLessThan(97)
    const wrong =
      await sql`select name from users where repositories_count <> (select count(*) from repositories where owner_id = users.id)`
    expect([...wrong]).toEqual([])
  })

  test('from the end a list has the same rows as from the beginning', async () => {
    const { context } = service
    const [admin] = await actorOf('root-admin')
    await context.sql`insert into repositories (owner_id, name, is_private)
      select (select id from users where name = 'w2-2'), 'many-' || n, n % 3 = 0 from generate_series(1, 3000) n`
    await context.sql`update repository_counters set stars_count = repository_id % 7`
    for (const order of [{ by: 'name' }, { by: 'stars', isDescending: true }, { by: 'alpha' }] as const) {
      const all = await listRepositories(context, admin, {
        filter: {},
        order,
        page: { number: 1, limit: 4000, offset: 0 },
      })
      for (const offset of [0, 1020, all.total - 60, all.total - 20, all.total - 10, all.total]) {
        const part = await listRepositories(context, admin, {
          filter: {},
          order,
          page: { number: 2, limit: 20, offset },
        })
        const ids = (rows: typeof all.rows) => rows.map(({ repository }) => repository.id)
        expect([order.by, offset, ids(part.rows)]).toEqual([order.by, offset, ids(all.rows.slice(offset, offset + 20))])
      }
    }
  })
})
