import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Answer } from '../harness/client.ts'
import { startTestService, type TestService, type TestUser } from '../harness/service.ts'

let service: TestService
let ann: TestUser
let bob: TestUser
beforeAll(async () => {
  service = await startTestService()
  ann = await service.createUser('ann')
  bob = await service.createUser('bob')
  for (const name of ['open', 'other']) await ann.client.post('/user/repos', { name })
  await ann.client.post('/user/repos', { name: 'hidden', private: true })
})
afterAll(() => service.stop())

const listed = (answer: Answer, key: string): [unknown[], string | null] => {
  if (!Array.isArray(answer.body)) throw new Error(`${answer.status} ${answer.text}`)
  return [answer.body.map((item) => Reflect.get(Object(item), key)), answer.headers.get('x-total-count')]
}

describe('stars', () => {
  test('are given, shown, counted and taken back', async () => {
    expect((await bob.client.get('/user/starred/ann/open')).status).toBe(404)
    expect((await bob.client.put('/user/starred/ann/open')).status).toBe(204)
    expect((await bob.client.put('/user/starred/ann/open')).status).toBe(204)
    expect((await bob.client.get('/user/starred/ANN/Open')).status).toBe(204)
    expect((await bob.client.get('/repos/ann/open')).number('stars_count')).toBe(1)
    expect((await bob.client.get('/user')).number('starred_repos_count')).toBe(1)
    expect(listed(await service.anonymous.get('/repos/ann/open/stargazers'), 'login')).toEqual([['bob'], '1'])
    expect((await bob.client.delete('/user/starred/ann/open')).status).toBe(204)
    expect((await bob.client.delete('/user/starred/ann/open')).status).toBe(204)
    expect((await bob.client.get('/repos/ann/open')).number('stars_count')).toBe(0)
    const kinds = await service.context.sql`select kind from events where kind like 'star.%' order by id`
    expect(kinds.map(({ kind }) => kind)).toEqual(['star.added', 'star.removed'])
  })

  test('lists come newest first and show each reader what they may see', async () => {
    for (const name of ['open', 'hidden', 'other']) await ann.client.put(`/user/starred/ann/${name}`)
    expect(listed(await ann.client.get('/user/starred'), 'name')).toEqual([['other', 'hidden', 'open'], '3'])
    expect(listed(await bob.client.get('/users/ann/starred'), 'name')).toEqual([['other', 'open'], '2'])
    expect(listed(await ann.client.get('/user/starred', { limit: 1, page: 2 }), 'name')).toEqual([['hidden'], '3'])
    expect((await service.anonymous.get('/users/ann/starred')).status).toBe(401)
    expect((await service.anonymous.get('/user/starred')).status).toBe(401)
    expect((await bob.client.get('/users/nobody/starred')).status).toBe(404)
  })

  test('what is hidden cannot be starred, nor can the blocked star', async () => {
    expect((await bob.client.put('/user/starred/ann/hidden')).status).toBe(404)
    expect((await bob.client.get('/repos/ann/hidden/stargazers')).status).toBe(404)
    expect((await service.anonymous.put('/user/starred/ann/open')).status).toBe(401)
    const { sql } = service.context
    await sql`insert into blocks (blocker_id, blocked_id) select a.id, b.id from users a, users b where a.name = 'ann' and b.name = 'bob'`
    expect((await bob.client.put('/user/starred/ann/open')).status).toBe(403)
    expect((await bob.client.put('/repos/ann/open/subscription')).status).toBe(403)
    await sql`delete from blocks`
  })

  test('a token needs the scopes of both areas', async () => {
    const basic = service.client({ basic: `bob:${bob.password}` })
    const made = await basic.post('/users/bob/tokens', { name: 'user', scopes: ['write:user'] })
    expect((await service.client({ token: made.string('sha1') }).put('/user/starred/ann/open')).status).toBe(403)
  })

  test('the hidden among the stargazers are neither shown nor counted', async () => {
    await service.createUser('ghostly').then(({ client }) => client.put('/user/starred/ann/other'))
    await service.context.sql`update users set visibility = 'private' where name = 'ghostly'`
    expect(listed(await bob.client.get('/repos/ann/other/stargazers'), 'login')).toEqual([['ann'], '1'])
    expect(listed(await service.admin.client.get('/repos/ann/other/stargazers'), 'login')[1]).toBe('2')
  })
})

describe('watches', () => {
  test('the maker of a repository watches it; others come and go', async () => {
    const mine = await ann.client.get('/repos/ann/open/subscription')
    const url = `${service.url}/api/v1/repos/ann/open`
    expect(mine.body).toMatchObject({ subscribed: true, ignored: false, reason: null, repository_url: url })
    expect(mine.string('url')).toBe(`${url}/subscription`)
    expect((await bob.client.get('/repos/ann/open/subscription')).status).toBe(404)
    expect((await bob.client.put('/repos/ann/open/subscription')).body).toMatchObject({ subscribed: true })
    expect((await bob.client.put('/repos/ann/open/subscription')).status).toBe(200)
    expect((await bob.client.get('/repos/ann/open')).number('watchers_count')).toBe(2)
    expect(listed(await service.anonymous.get('/repos/ann/open/subscribers'), 'login')).toEqual([['ann', 'bob'], '2'])
    expect(listed(await bob.client.get('/user/subscriptions'), 'name')).toEqual([['open'], '1'])
    expect(listed(await bob.client.get('/users/ann/subscriptions'), 'name')).toEqual([['open', 'other'], '2'])
    expect(listed(await ann.client.get('/user/subscriptions'), 'name')).toEqual([['hidden', 'open', 'other'], '3'])
    expect((await bob.client.delete('/repos/ann/open/subscription')).status).toBe(204)
    expect((await bob.client.get('/repos/ann/open')).number('watchers_count')).toBe(1)
  })

  test('a new repository of an organization is watched by all whose teams reach it', async () => {
    const member = await service.createUser()
    const other = await service.createUser()
    await ann.client.post('/orgs', { username: 'watchful' })
    const everywhere = { name: 'all', units: ['repo.code'], includes_all_repositories: true }
    const reaching = (await ann.client.post('/orgs/watchful/teams', everywhere)).number('id')
    const chosen = (await ann.client.post('/orgs/watchful/teams', { name: 'few', units: ['repo.code'] })).number('id')
    await ann.client.put(`/teams/${reaching}/members/${member.name}`)
    await ann.client.put(`/teams/${chosen}/members/${other.name}`)
    await ann.client.post('/orgs/watchful/repos', { name: 'r' })
    const watchers = await ann.client.get('/repos/watchful/r/subscribers')
    expect(listed(watchers, 'login')[0].toSorted()).toEqual(['ann', member.name])
    expect((await ann.client.get('/repos/watchful/r')).number('watchers_count')).toBe(2)
  })

  test('visitors and strangers are refused', async () => {
    for (const method of ['GET', 'PUT', 'DELETE']) {
      expect((await service.anonymous.request('/repos/ann/open/subscription', { method })).status).toBe(401)
      expect((await bob.client.request('/repos/ann/hidden/subscription', { method })).status).toBe(404)
    }
    expect((await service.anonymous.get('/user/subscriptions')).status).toBe(401)
    expect((await service.anonymous.get('/users/ann/subscriptions')).status).toBe(401)
    expect((await bob.client.get('/repos/ann/hidden/subscribers')).status).toBe(404)
  })
})

describe('topics', () => {
  const topics = async (path = '/repos/ann/open/topics') => (await bob.client.get(path)).body

  test('are set, added and removed, each once and in small letters', async () => {
    expect((await ann.client.put('/repos/ann/open/topics', { topics: ['Zoo', ' apple ', 'zoo', ''] })).status).toBe(204)
    expect(await topics()).toEqual({ topics: ['apple', 'zoo'] })
    expect((await ann.client.put('/repos/ann/open/topics/Mid.dle')).status).toBe(204)
    expect((await ann.client.put('/repos/ann/open/topics/mid.dle')).status).toBe(204)
    expect(await topics()).toEqual({ topics: ['apple', 'mid.dle', 'zoo'] })
    expect((await bob.client.get('/repos/ann/open')).body).toMatchObject({ topics: ['apple', 'mid.dle', 'zoo'] })
    expect((await ann.client.delete('/repos/ann/open/topics/zoo')).status).toBe(204)
    expect((await ann.client.delete('/repos/ann/open/topics/zoo')).status).toBe(404)
    const page = await bob.client.get('/repos/ann/open/topics', { limit: 1, page: 2 })
    expect([page.body, page.headers.get('x-total-count')]).toEqual([{ topics: ['mid.dle'] }, '2'])
    expect((await ann.client.put('/repos/ann/open/topics', { topics: null })).status).toBe(204)
    expect(await topics()).toEqual({ topics: [] })
  })

  test('two who add at once both succeed', async () => {
    const wanted = ['a1', 'a2', 'a3', 'a4', 'a5', 'a6']
    await Promise.all(wanted.map((name) => ann.client.put(`/repos/ann/other/topics/${name}`)))
    expect(await topics('/repos/ann/other/topics')).toEqual({ topics: wanted })
  })

  test.each([['-x'], ['x y'], ['x'.repeat(36)], ['ö'], ['a/b']])('%p is no topic', async (name) => {
    const set = await ann.client.put('/repos/ann/open/topics', { topics: ['fine', name] })
    expect([set.status, set.string('message')]).toEqual([422, 'Topic names are invalid'])
    expect((await ann.client.put(`/repos/ann/open/topics/${encodeURIComponent(name)}`)).status).toBe(422)
    expect(await topics()).toEqual({ topics: [] })
  })

  test.each([[[]], ['text'], [5]])('the body %j is no object, and takes no topics away', async (body) => {
    await ann.client.put('/repos/ann/open/topics', { topics: ['stays'] })
    expect((await ann.client.put('/repos/ann/open/topics', body)).status).toBe(422)
    expect(await topics()).toEqual({ topics: ['stays'] })
    await ann.client.put('/repos/ann/open/topics', {})
    expect(await topics()).toEqual({ topics: [] })
  })

  test('no more than 25', async () => {
    const many = Array.from({ length: 25 }, (_, index) => `t${index}`)
    expect((await ann.client.put('/repos/ann/open/topics', { topics: [...many, 'over'] })).status).toBe(422)
    expect((await ann.client.put('/repos/ann/open/topics', { topics: many })).status).toBe(204)
    expect((await ann.client.put('/repos/ann/open/topics/over')).status).toBe(422)
    await ann.client.put('/repos/ann/open/topics', { topics: [] })
  })

  test('only administrators of the repository change them', async () => {
    expect((await bob.client.put('/repos/ann/open/topics', { topics: [] })).status).toBe(403)
    expect((await bob.client.put('/repos/ann/open/topics/x')).status).toBe(403)
    expect((await bob.client.delete('/repos/ann/open/topics/x')).status).toBe(403)
    expect((await service.anonymous.put('/repos/ann/open/topics/x')).status).toBe(401)
    expect((await bob.client.get('/repos/ann/hidden/topics')).status).toBe(404)
  })

  test('are found with the number of repositories that the caller sees', async () => {
    await ann.client.put('/repos/ann/hidden/topics', { topics: ['shared', 'secret'] })
    await ann.client.put('/repos/ann/open/topics', { topics: ['shared'] })
    const found = async ({ client }: Pick<TestUser, 'client'>, q: string) => {
      const answer = await client.get('/topics/search', { q })
      const all = Array.isArray(Object(answer.body).topics) ? Object(answer.body).topics : []
      const shown = all.map((topic: unknown) => [Object(topic).topic_name, Object(topic).repo_count])
      return [shown, answer.headers.get('x-total-count')]
    }
    expect(await found(ann, 'SHAR')).toEqual([[['shared', 2]], '1'])
    expect(await found(bob, 'shar')).toEqual([[['shared', 1]], '1'])
    expect(await found(ann, 'secret')).toEqual([[['secret', 1]], '1'])
    expect(await found(bob, 'secret')).toEqual([[], '0'])
    expect(await found({ client: service.anonymous }, '%')).toEqual([[], '0'])
  })
})

describe('organizations', () => {
  beforeAll(async () => {
    const { sql } = service.context
    await sql`insert into users (name, email, kind, visibility) values ('club', '', 'organization', 'public'), ('lodge', '', 'organization', 'private')`
    await sql`insert into teams (organization_id, name, permission, includes_all_repositories)
      select id, 'Owners', 'owner', true from users where name in ('club', 'lodge')`
    await sql`insert into team_members (team_id, user_id, organization_id)
      select t.id, u.id, t.organization_id from teams t, users u, users o
      where u.name = 'ann' and o.id = t.organization_id and o.name in ('club', 'lodge')`
  })

  test('members who may make repositories for it do', async () => {
    const made = await ann.client.post('/orgs/CLUB/repos', { name: 'new', auto_init: true })
    expect(made.body).toMatchObject({ full_name: 'club/new', permissions: { admin: true, push: true, pull: true } })
    expect((await ann.client.post('/org/club/repos', { name: 'old' })).status).toBe(201)
    expect((await ann.client.post('/org/lodge/repos', { name: 'inside' })).body).toMatchObject({
      private: false,
      internal: true,
    })
    expect((await service.admin.client.post('/orgs/club/repos', { name: 'by-admin' })).status).toBe(201)
    expect(listed(await service.anonymous.get('/orgs/club/repos'), 'name')).toEqual([['new', 'old', 'by-admin'], '3'])
    expect(await service.context.sql`select * from collaborations`).toHaveLength(0)
  })

  test('others do not, and of a hidden organization they learn nothing', async () => {
    expect((await bob.client.post('/orgs/club/repos', { name: 'x' })).status).toBe(403)
    expect((await bob.client.post('/org/club/repos', { name: 'x' })).status).toBe(403)
    expect((await service.anonymous.post('/org/club/repos', { name: 'x' })).status).toBe(401)
    for (const path of [
      '/orgs/lodge/repos',
      '/orgs/nobody/repos',
      '/orgs/ann/repos',
      '/org/lodge/repos',
      '/org/nobody/repos',
      '/org/ann/repos',
    ])
      expect([path, (await bob.client.post(path, { name: 'x' })).status]).toEqual([path, 404])
    expect((await bob.client.get('/orgs/lodge/repos')).status).toBe(404)
    expect(listed(await ann.client.get('/orgs/lodge/repos'), 'name')).toEqual([['inside'], '1'])
  })

  test('a member of a team that may make repositories administers those they made', async () => {
    const { sql } = service.context
    await sql`insert into teams (organization_id, name, permission, can_create_org_repo) select id, 'makers', 'read', true from users where name = 'club'`
    await sql`insert into team_members (team_id, user_id, organization_id)
      select t.id, u.id, t.organization_id from teams t, users u where u.name = 'bob' and t.name = 'makers'`
    const made = await bob.client.post('/orgs/club/repos', { name: 'mine' })
    expect(made.body).toMatchObject({ permissions: { admin: true } })
    expect((await bob.client.patch('/repos/club/mine', { description: 'changed' })).status).toBe(200)
    expect((await bob.client.patch('/repos/club/new', { description: 'changed' })).status).toBe(403)
  })

  test('team_id finds what a team reaches, for members only', async () => {
    const [team] = await service.context.sql<{ id: number }[]>`
      select t.id from teams t join users u on u.id = t.organization_id where u.name = 'club' and permission = 'owner'`
    const total = async ({ client }: TestUser, query = {}) =>
      (await client.get('/repos/search', { team_id: team?.id ?? 0, ...query })).headers.get('x-total-count')
    expect(await total(ann)).toBe('4')
    const stranger = await service.createUser()
    expect(await total(stranger)).toBe('0')
  })
})

test('stars, watchers and forks count what everybody may know of', async () => {
  const [owner, fan, keeper] = [await service.createUser(), await service.createUser(), await service.createUser()]
  const repo = await service.createRepository(owner)
  const counts = async () => {
    const { body } = await service.anonymous.get(repo.path)
    const { stars_count, watchers_count, forks_count } = Object(body)
    return [stars_count, watchers_count, forks_count]
  }
  const show = async (person: TestUser, visibility: string) => {
    const change = { login_name: person.name, source_id: 0, visibility }
    expect((await service.admin.client.patch(`/admin/users/${person.name}`, change)).status).toBe(200)
  }
  await keeper.client.post('/orgs', { username: 'cellar', visibility: 'private' })
  await keeper.client.post(`${repo.path}/forks`, { organization: 'cellar' })
  expect(await counts()).toEqual([0, 1, 0])
  await fan.client.put(`/user/starred/${owner.name}/${repo.name}`)
  await fan.client.put(`${repo.path}/subscription`)
  const fork = await fan.client.post(`${repo.path}/forks`, {})
  expect(await counts()).toEqual([1, 2, 1])
  await show(fan, 'private')
  expect(await counts()).toEqual([0, 1, 0])
  await show(fan, 'public')
  expect(await counts()).toEqual([1, 2, 1])
  await fan.client.patch(`/repos/${fork.string('full_name')}`, { private: true })
  expect(await counts()).toEqual([1, 2, 0])
  await fan.client.patch(`/repos/${fork.string('full_name')}`, { private: false })
  expect(await counts()).toEqual([1, 2, 1])
  await service.admin.client.delete(`/admin/users/${fan.name}?purge=true`)
  expect(await counts()).toEqual([0, 1, 0])
})

test('who reads an archived repository may star and watch it', async () => {
  const repo = await service.createRepository(ann)
  await ann.client.patch(repo.path, { archived: true })
  const starred = `/user/starred/ann/${repo.name}`
  expect((await bob.client.put(starred)).status).toBe(204)
  expect((await bob.client.delete(starred)).status).toBe(204)
  expect((await bob.client.put(`${repo.path}/subscription`)).status).toBe(200)
  expect((await bob.client.delete(`${repo.path}/subscription`)).status).toBe(204)
})

test('counters are what they count', async () => {
  const wrong = await service.context.sql`
    select name from repositories join repository_counters on repository_id = id
    where stars_count <> (select count(*) from stars join users on users.id = user_id
        where stars.repository_id = repositories.id and visibility = 'public')
      or watchers_count <> (select count(*) from watches join users on users.id = user_id
        where watches.repository_id = repositories.id and is_subscribed and visibility = 'public')
    union all select name from users where stars_count <> (select count(*) from stars where user_id = users.id)`
  expect([...wrong]).toEqual([])
})
