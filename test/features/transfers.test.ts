import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../harness/service.ts'

let service: TestService
let alice: TestUser
let bob: TestUser
let carol: TestUser
beforeAll(async () => {
  service = await startTestService()
  alice = await service.createUser('alice')
  bob = await service.createUser('bob')
  carol = await service.createUser('carol')
})
afterAll(() => service.stop())

const give = (who: TestUser, path: string, to: string, more: object = {}) =>
  who.client.post(`${path}/transfer`, { new_owner: to, ...more })
const answer = (who: TestUser, path: string, word: 'accept' | 'reject') => who.client.post(`${path}/transfer/${word}`)
const hidden = () => service.createRepository(alice, { private: true })
const statusFor = async (who: TestUser, path: string) => (await who.client.get(path)).status

/** Of an organization that somebody owns. */
let numberOfOrganizations = 0
async function organizationOf(owner: TestUser, option: object = {}): Promise<string> {
  const name = `guild${++numberOfOrganizations}`
  expect((await owner.client.post('/orgs', { username: name, ...option })).status).toBe(201)
  return name
}

describe('an offer', () => {
  test('lets the recipient look and answer, and nobody else', async () => {
    const { path, name } = await hidden()
    const offered = await give(alice, path, 'bob')
    const transfer = { doer: { login: 'alice' }, recipient: { login: 'bob' }, teams: [] }
    expect([offered.status, offered.body]).toMatchObject([201, { full_name: `alice/${name}`, repo_transfer: transfer }])
    expect((await bob.client.get(path)).body).toMatchObject({
      repo_transfer: transfer,
      permissions: { admin: false, push: false, pull: true },
    })
    expect([await statusFor(carol, path), (await answer(carol, path, 'accept')).status]).toEqual([404, 404])
    await alice.client.put(`${path}/collaborators/carol`, { permission: 'admin' })
    for (const word of ['accept', 'reject'] as const) expect((await answer(carol, path, word)).status).toBe(403)
    expect((await answer(alice, path, 'accept')).status).toBe(403)
    expect((await service.anonymous.post(`${path}/transfer/accept`)).status).toBe(401)
    expect((await give(alice, path, 'carol')).status).toBe(409)
  })

  test('that is declined or taken back leaves everything as it was, and the recipient outside', async () => {
    const { path } = await hidden()
    for (const who of [bob, alice]) {
      await give(alice, path, 'bob')
      expect((await answer(who, path, 'reject')).status).toBe(200)
      expect(await statusFor(bob, path)).toBe(404)
      expect((await alice.client.get(path)).body).not.toHaveProperty('repo_transfer')
      expect((await answer(alice, path, 'reject')).status).toBe(404)
    }
  })

  test('is void when who made it does not own the repository any more', async () => {
    const guild = await organizationOf(alice)
    const { path } = await makeIn(guild)
    const teams = await alice.client.get(`/orgs/${guild}/teams`)
    const owners = `/teams/${teams.number('0.id')}/members`
    await alice.client.put(`${owners}/carol`)
    expect((await give(carol, path, 'bob')).status).toBe(201)
    await alice.client.delete(`${owners}/carol`)
    expect((await answer(bob, path, 'accept')).status).toBe(403)
    expect((await alice.client.get(path)).status).toBe(200)
  })

  test('to an organization is for those who may make repositories there', async () => {
    const guild = await organizationOf(carol)
    const { path, name } = await hidden()
    expect((await give(alice, path, guild)).status).toBe(201)
    expect([await statusFor(carol, path), await statusFor(bob, path)]).toEqual([200, 404])
    const accepted = await answer(carol, path, 'accept')
    expect([accepted.status, accepted.body]).toMatchObject([202, { full_name: `${guild}/${name}`, private: true }])
    expect(await statusFor(alice, `/repos/${guild}/${name}`)).toBe(404)
  })
})

const makeIn = async (organization: string): Promise<Pick<TestRepository, 'path' | 'name'>> => {
  const made = await alice.client.post(`/orgs/${organization}/repos`, { name: 'plans', private: true, auto_init: true })
  return { path: `/repos/${organization}/plans`, name: made.string('name') }
}

describe('a repository that was given away', () => {
  test('keeps what is in it, and its old name leads to it', async () => {
    const { path, name, cloneUrl } = await service.createRepository(alice)
    await alice.client.post(`${path}/issues`, { title: 'kept' })
    await carol.client.put(`/user/starred/alice/${name}`)
    await carol.client.post(`${path}/forks`, {})
    await give(alice, path, 'bob')
    expect((await answer(bob, path, 'accept')).status).toBe(202)
    const moved = await bob.client.get(`/repos/bob/${name}`)
    expect(moved.body).toMatchObject({ owner: { login: 'bob' }, stars_count: 1, forks_count: 1, open_issues_count: 1 })
    expect((await carol.client.get(`/repos/carol/${name}`)).body).toMatchObject({
      parent: { full_name: `bob/${name}` },
    })
    const old = await alice.client.get(`${path}/issues/1`, { page: 2 })
    expect([old.status, old.headers.get('location')]).toEqual([301, `/api/v1/repos/bob/${name}/issues/1?page=2`])
    expect(await service.git(['ls-remote', cloneUrl, 'refs/heads/main'])).toContain('refs/heads/main')
    await service.drain()
    const feed = await bob.client.get(`/repos/bob/${name}/activities/feeds`)
    expect([feed.string('0.op_type'), feed.string('0.content')]).toEqual(['transfer_repo', `alice/${name}`])
    await alice.client.post('/user/repos', { name })
    expect((await alice.client.get(path)).body).toMatchObject({ owner: { login: 'alice' } })
  })

  test('leads on along a chain of owners and new names, but not strangers', async () => {
    const { path, name } = await hidden()
    await give(alice, path, 'bob')
    await answer(bob, path, 'accept')
    await bob.client.patch(`/repos/bob/${name}`, { name: `${name}-new` })
    await give(bob, `/repos/bob/${name}-new`, 'carol')
    await answer(carol, `/repos/bob/${name}-new`, 'accept')
    for (const old of [path, `/repos/bob/${name}`, `/repos/bob/${name}-new`]) {
      const { status, headers } = await carol.client.get(old)
      expect([old, status, headers.get('location')]).toEqual([old, 301, `/api/v1/repos/carol/${name}-new`])
      expect([old, await statusFor(alice, old)]).toEqual([old, 404])
    }
  })

  test('keeps collaborators, and has the teams of its new organization instead of the old ones', async () => {
    const [from, to] = [await organizationOf(alice), await organizationOf(alice)]
    const { path, name } = await makeIn(from)
    const team = async (of: string, member: string) => {
      const made = await alice.client.post(`/orgs/${of}/teams`, {
        name: 'crew',
        permission: 'write',
        units: ['repo.code'],
      })
      await alice.client.put(`/teams/${made.number('id')}/members/${member}`)
      return made.number('id')
    }
    const label = await alice.client.post(`/orgs/${from}/labels`, { name: 'theirs', color: '#00aabb' })
    await alice.client.post(`${path}/issues`, { title: 'labelled', labels: [label.number('id')] })
    const [old, foreign] = [await team(from, 'bob'), await team(to, 'bob')]
    await alice.client.put(`${path}/teams/crew`)
    await alice.client.put(`${path}/collaborators/carol`, { permission: 'read' })
    const rule = { rule_name: 'main', enable_push: true, enable_push_whitelist: true, push_whitelist_teams: ['crew'] }
    expect((await alice.client.post(`${path}/branch_protections`, rule)).status).toBe(201)
    expect((await give(alice, path, to, { team_ids: [old] })).status).toBe(403)
    expect((await give(alice, path, to, { team_ids: [999_999] })).status).toBe(422)
    const moved = await give(alice, path, to, { team_ids: [foreign, foreign] })
    expect(moved.status).toBe(202)
    const place = `/repos/${to}/${name}`
    expect((await alice.client.get(`${place}/teams`)).body).toMatchObject([{ name: 'Owners' }, { id: foreign }])
    expect((await alice.client.get(`${place}/branch_protections/main`)).body).toMatchObject({
      push_whitelist_teams: [],
    })
    expect((await alice.client.get(`${place}/issues/1`)).body).toMatchObject({ labels: [] })
    expect([await statusFor(bob, place), await statusFor(carol, place)]).toEqual([200, 200])
  })

  test('counts for its new owner, who may own no more than is allowed', async () => {
    const { path } = await hidden()
    const poor = await service.createUser()
    await service.admin.client.patch(`/admin/users/${poor.name}`, {
      login_name: poor.name,
      source_id: 0,
      max_repo_creation: 0,
    })
    await give(alice, path, poor.name)
    expect((await answer(poor, path, 'accept')).status).toBe(403)
    expect((await alice.client.get(path)).body).toMatchObject({ owner: { login: 'alice' } })
  })
})

describe('a transfer is refused', () => {
  test.each([
    ['to nobody', {}, 404],
    ['to an empty name', { new_owner: '' }, 404],
    ['to somebody unknown', { new_owner: 'nobody-at-all' }, 404],
    ['to oneself', { new_owner: 'alice' }, 422],
    ['with teams for a person', { new_owner: 'bob', team_ids: [1] }, 422],
    ['without a name', { new_owner: ['bob'] }, 422],
    ['with something else than teams', { new_owner: 'bob', team_ids: ['x'] }, 422],
  ])('%s', async (_, body, status) => {
    const { path } = await hidden()
    expect((await alice.client.post(`${path}/transfer`, body)).status).toBe(status)
    expect((await alice.client.get(path)).body).not.toHaveProperty('repo_transfer')
  })

  test('where the name is taken, the recipient hides or has blocked the owner, and for others than owners', async () => {
    const { path, name } = await hidden()
    await bob.client.post('/user/repos', { name })
    expect((await give(alice, path, 'bob')).status).toBe(422)
    const secret = await organizationOf(bob, { visibility: 'private' })
    expect((await give(alice, path, secret)).status).toBe(404)
    const angry = await service.createUser()
    await angry.client.put('/user/blocks/alice')
    expect((await give(alice, path, angry.name)).status).toBe(403)
    await alice.client.put(`${path}/collaborators/carol`, { permission: 'admin' })
    expect((await give(carol, path, 'carol')).status).toBe(403)
    expect((await service.anonymous.post(`${path}/transfer`, { new_owner: 'bob' })).status).toBe(401)
  })

  test('where the new owner has a fork of the same repository', async () => {
    const source = await service.createRepository(alice)
    await bob.client.post(`${source.path}/forks`, {})
    await carol.client.post(`${source.path}/forks`, { name: `${source.name}-hers` })
    const path = `/repos/carol/${source.name}-hers`
    await give(carol, path, 'bob')
    expect((await answer(bob, path, 'accept')).status).toBe(422)
    expect((await bob.client.get(path)).body).toMatchObject({ owner: { login: 'carol' } })
  })
})

describe('at the same moment', () => {
  test('one answer counts', async () => {
    const { path, name } = await hidden()
    await give(alice, path, 'bob')
    const words = ['accept', 'reject', 'accept', 'reject'] as const
    const answers = await Promise.all(words.map((word) => answer(bob, path, word)))
    const good = answers.filter(({ status }) => status < 300)
    expect(good).toHaveLength(1)
    for (const { status } of answers) expect([200, 202, 301, 404]).toContain(status)
    const owners = await service.context.sql`select owner_id from repositories where name = ${name}`
    expect(owners).toHaveLength(1)
  })

  test('one of two that bring the same name to one owner wins', async () => {
    const [one, other] = [await service.createUser(), await service.createUser()]
    await one.client.post('/user/repos', { name: 'same' })
    await other.client.post('/user/repos', { name: 'same' })
    const paths = [one, other].map((who) => `/repos/${who.name}/same`)
    await Promise.all([one, other].map((who, index) => give(who, paths[index] ?? '', 'bob')))
    const answers = await Promise.all(paths.map((path) => answer(bob, path, 'accept')))
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 422])
  })

  test('repositories that go round in a circle arrive', async () => {
    const [one, other] = [await hidden(), await service.createRepository(bob, { private: true })]
    await Promise.all([give(alice, one.path, 'bob'), give(bob, other.path, 'alice')])
    const answers = await Promise.all([answer(bob, one.path, 'accept'), answer(alice, other.path, 'accept')])
    expect(answers.map(({ status }) => status)).toEqual([202, 202])
    const counts = await service.context.sql`
      select name from users where repositories_count <> (select count(*) from repositories where owner_id = users.id)`
    expect([...counts]).toEqual([])
  })
})
