import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../harness/service.ts'
import { commit, hostRepository, workTree } from './transport/hosted.ts'

let service: TestService
let owner: TestUser
let other: TestUser
let repo: TestRepository

beforeAll(async () => {
  service = await startTestService()
  owner = await service.createUser()
  other = await service.createUser()
  repo = await service.createRepository(owner)
})
afterAll(() => service.stop())

interface Seen {
  op_type: string
  ref_name: string
  content: string
  comment_id: number
  is_private: boolean
}

async function feed(
  path: string,
  who = service.anonymous,
  query: Record<string, string | number> = {},
): Promise<Seen[]> {
  await service.drain()
  const answer = await who.get(`${path}/activities/feeds`, { limit: 50, ...query })
  expect([path, answer.status]).toEqual([path, 200])
  const rows: Seen[] = Array.isArray(answer.body) ? answer.body : []
  if (query.page === undefined && query.limit === undefined)
    expect(answer.headers.get('x-total-count')).toBe(String(rows.length))
  return rows
}

const words = (rows: Seen[]) => rows.map(({ op_type }) => op_type)

describe('what happens', () => {
  test('is recorded once each, the newest first, under the words of Gitea', async () => {
    await owner.client.patch(repo.path, { name: 'renamed' })
    const path = `/repos/${owner.name}/renamed`
    await other.client.post(`${path}/issues`, { title: 'first', body: 'b' })
    await other.client.post(`${path}/issues/1/comments`, { body: 'y'.repeat(300) })
    await owner.client.patch(`${path}/issues/1`, { state: 'closed' })
    await owner.client.patch(`${path}/issues/1`, { state: 'open' })
    await other.client.put(`/user/starred/${owner.name}/renamed`)
    await service.drain()
    await service.context.sql`update events set fanned_out_at = null`
    const rows = await feed(path)
    expect(words(rows)).toEqual([
      'star_repo',
      'reopen_issue',
      'close_issue',
      'comment_issue',
      'create_issue',
      'rename_repo',
      'create_repo',
    ])
    expect(rows.map(({ content }) => content)).toEqual([
      '',
      '1|first',
      '1|first',
      `1|${'y'.repeat(200)}…`,
      '1|first',
      repo.name,
      '',
    ])
    expect(rows[2]?.comment_id).toBeGreaterThan(0)
    repo = { ...repo, path, name: 'renamed' }
  })

  test('shows present texts, and nothing of what was deleted', async () => {
    const second = await owner.client.post(`${repo.path}/issues`, { title: 'tipo' })
    await owner.client.patch(`${repo.path}/issues/${second.number('number')}`, { title: 'typo' })
    expect((await feed(repo.path))[0]).toMatchObject({ op_type: 'create_issue', content: '2|typo' })
    await owner.client.delete(`${repo.path}/issues/2`)
    expect((await feed(repo.path)).filter(({ content }) => content.startsWith('2|'))).toEqual([])
  })

  test('tells of pushes with their commits, of tags and of refs that went', async () => {
    const hosted = await hostRepository(service, owner)
    const cwd = await workTree(service.git)
    await commit(service.git, cwd, { 'a.txt': 'a' })
    await service.git(['push', '-q', hosted.as(owner), 'main', 'main:refs/tags/v1', 'main:refs/heads/x'], { cwd })
    await commit(service.git, cwd, { 'b.txt': 'b' })
    await service.git(['push', '-q', hosted.as(owner), 'main'], { cwd })
    await service.git(['push', '-q', hosted.as(owner), ':refs/tags/v1', ':refs/heads/x'], { cwd })
    const rows = await feed(`/repos/${owner.name}/${hosted.name}`)
    const told = rows.map(({ op_type, ref_name }) => `${op_type} ${ref_name}`)
    expect(told.slice(0, 3).sort()).toEqual([
      'commit_repo refs/heads/main',
      'delete_branch refs/heads/x',
      'delete_tag refs/tags/v1',
    ])
    expect(told).toContain('push_tag refs/tags/v1')
    const head = await service.git(['rev-parse', 'HEAD'], { cwd })
    const pushed = rows.find(({ op_type }) => op_type === 'commit_repo')
    expect(JSON.parse(pushed?.content ?? '')).toMatchObject({
      Len: 1,
      Commits: [{ Sha1: head, AuthorName: 'Test' }],
      HeadCommit: { Sha1: head },
      CompareURL: expect.stringMatching(new RegExp(`^${owner.name}/${hosted.name}/compare/[0-9a-f]{40}\\.{3}${head}$`)),
    })
  })
})

describe('feeds', () => {
  test('of people are what they did, and what happened in what they own or watch', async () => {
    const own = await feed(`/users/${other.name}`, service.anonymous, { 'only-performed-by': 'true' })
    expect(words(own)).toEqual(['star_repo', 'comment_issue', 'create_issue'])
    expect(words(await feed(`/users/${owner.name}`))).toContain('star_repo')
    const performed = await feed(`/users/${owner.name}`, service.anonymous, { 'only-performed-by': 'true' })
    expect(words(performed)).not.toContain('star_repo')
  })

  test('have days and pages', async () => {
    const all = await feed(repo.path)
    const today = service.context.clock.now().toISOString().slice(0, 10)
    expect(words(await feed(repo.path, service.anonymous, { date: today }))).toEqual(words(all))
    expect(await feed(repo.path, service.anonymous, { date: '2001-01-01' })).toEqual([])
    for (const date of ['nope', '2026-02-31', '2026-1-1'])
      expect(words(await feed(repo.path, service.anonymous, { date }))).toEqual(words(all))
    const second = await service.anonymous.get(`${repo.path}/activities/feeds`, { limit: 2, page: 2 })
    expect(second.headers.get('x-total-count')).toBe(String(all.length))
    expect(second.body).toMatchObject(all.slice(2, 4))
    const beyond = await service.anonymous.get(`${repo.path}/activities/feeds`, { limit: 2, page: 99 })
    expect([beyond.body, beyond.headers.get('x-total-count')]).toEqual([[], String(all.length)])
  })

  test('are empty for others when their person hides', async () => {
    await other.client.patch('/user/settings', { hide_activity: true })
    const path = `/users/${other.name}`
    expect(await feed(path, owner.client)).toEqual([])
    expect((await feed(path, other.client)).length).toBeGreaterThan(0)
    expect((await feed(path, service.admin.client)).length).toBeGreaterThan(0)
  })

  describe('leave out, in what everybody reads,', () => {
    const counts = async (path: string) => {
      const found: number[] = []
      for (const who of [shy, await service.createUser(), undefined, service.admin])
        found.push((await feed(path, who?.client)).length)
      return found
    }
    let shy: TestUser

    test.each([
      ['somebody who may not be known', { visibility: 'private' }, [2, 1, 1, 2]],
      ['from visitors somebody limited', { visibility: 'limited' }, [2, 2, 1, 2]],
      ['somebody who hides their activity', { hide_activity: true }, [2, 1, 1, 2]],
      ['nobody else', {}, [2, 2, 2, 2]],
    ])('%s', async (_, settings, expected) => {
      shy = await service.createUser()
      const open = await service.createRepository(owner)
      await shy.client.post(`${open.path}/issues`, { title: 'by a shy one' })
      const changed = await service.admin.client.patch(`/admin/users/${shy.name}`, {
        source_id: 0,
        login_name: shy.name,
        visibility: 'visibility' in settings ? settings.visibility : 'public',
      })
      expect(changed.status).toBe(200)
      if ('hide_activity' in settings) await shy.client.patch('/user/settings', settings)
      expect(await counts(open.path)).toEqual(expected)
    })

    test('nobody from those who share a closed repository, unless they hide', async () => {
      shy = await service.createUser()
      const closed = await service.createRepository(owner, { private: true })
      await owner.client.put(`${closed.path}/collaborators/${shy.name}`, { permission: 'write' })
      await shy.client.post(`${closed.path}/issues`, { title: 'by a shy one' })
      await service.admin.client.patch(`/admin/users/${shy.name}`, {
        source_id: 0,
        login_name: shy.name,
        visibility: 'private',
      })
      expect((await feed(closed.path, owner.client)).length).toBe(2)
      await shy.client.patch('/user/settings', { hide_activity: true })
      expect((await feed(closed.path, owner.client)).length).toBe(1)
      expect((await feed(closed.path, shy.client)).length).toBe(2)
    })
  })

  test('show what the reader may see now, down to the unit, and count nothing else', async () => {
    await owner.client.post('/orgs', { username: 'feeding' })
    for (const name of ['open', 'secret', 'unreached'])
      await owner.client.post('/orgs/feeding/repos', { name, private: name !== 'open', auto_init: true })
    await owner.client.post('/repos/feeding/secret/issues', { title: 'hush' })
    const coder = await service.createUser()
    const team = await owner.client.post('/orgs/feeding/teams', { name: 'coders', units_map: { 'repo.code': 'read' } })
    const id = team.number('id')
    await owner.client.put(`/teams/${id}/members/${coder.name}`)
    await owner.client.put(`/teams/${id}/repos/feeding/secret`)
    expect(words(await feed('/orgs/feeding', owner.client))).toHaveLength(4)
    expect(words(await feed('/orgs/feeding', other.client))).toEqual(['create_repo'])
    expect(words(await feed('/orgs/feeding'))).toEqual(['create_repo'])
    expect(words(await feed('/orgs/feeding', coder.client))).toEqual(['create_repo', 'create_repo'])
    expect(words(await feed(`/teams/${id}`, coder.client))).toEqual(['create_repo'])
    expect(words(await feed(`/teams/${id}`, owner.client))).toEqual(['create_issue', 'create_repo'])
    await owner.client.patch(`/teams/${id}`, { units_map: { 'repo.code': 'read', 'repo.issues': 'read' } })
    expect(words(await feed(`/teams/${id}`, coder.client))).toEqual(['create_issue', 'create_repo'])
    await owner.client.patch('/repos/feeding/secret', { has_issues: false })
    expect(words(await feed(`/teams/${id}`, owner.client))).toEqual(['create_repo'])
    expect((await other.client.get('/repos/feeding/secret/activities/feeds')).status).toBe(404)
    expect((await other.client.get(`/teams/${id}/activities/feeds`)).status).toBe(404)
    await owner.client.patch('/orgs/feeding', { visibility: 'private' })
    expect((await other.client.get('/orgs/feeding/activities/feeds')).status).toBe(404)
    expect((await service.anonymous.get('/orgs/nothing/activities/feeds')).status).toBe(404)
  })
})
