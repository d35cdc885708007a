import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startTestService, type TestService, type TestUser } from '../harness/service.ts'
import { commit, type Hosted, hostRepository, workTree } from './transport/hosted.ts'

let service: TestService
let owner: TestUser
let reader: TestUser
let repo: Hosted
let path: string
let head: string
let first: string

beforeAll(async () => {
  service = await startTestService()
  owner = await service.createUser()
  reader = await service.createUser()
  repo = await hostRepository(service, owner)
  path = `/repos/${owner.name}/${repo.name}/branches`
  const cwd = await workTree(service.git)
  first = await service.git(['rev-parse', 'HEAD'], { cwd })
  await commit(service.git, cwd, { 'a.txt': 'a' })
  const env = { GIT_COMMITTER_DATE: '2030-01-02T03:04:05Z' }
  await service.git(['commit', '-q', '--amend', '--no-edit'], { cwd, env })
  head = await service.git(['rev-parse', 'HEAD'], { cwd })
  await service.git(['push', '-q', repo.as(owner), 'main', `${first}:refs/heads/feature/one`], { cwd })
})
afterAll(() => service.stop())

const names = (body: unknown) => (Array.isArray(body) ? body.map(({ name }) => name) : body)

describe('reading branches', () => {
  test('lists them without git, the newest commit first, with the headers of a list', async () => {
    const answer = await reader.client.get(path, { limit: 1 })
    expect(answer.status).toBe(200)
    expect(names(answer.body)).toEqual(['main'])
    expect(answer.headers.get('x-total-count')).toBe('2')
    expect(answer.headers.get('link')).toContain('rel="next"')
    const second = await reader.client.get(path, { limit: 1, page: 2 })
    expect(names(second.body)).toEqual(['feature/one'])
  })

  test('shows one whose name has a slash, plain or encoded', async () => {
    for (const name of ['feature/one', 'feature%2Fone']) {
      const answer = await service.anonymous.get(`${path}/${name}`)
      expect(answer.status).toBe(200)
      expect(answer.body).toMatchObject({
        name: 'feature/one',
        protected: false,
        user_can_push: false,
        commit: {
          id: first,
          message: 'change README.md\n',
          url: `${service.url}/${owner.name}/${repo.name}/commit/${first}`,
          author: { name: 'Test', email: 'test@localhost.localdomain', username: '' },
          verification: { verified: false, reason: 'gpg.error.not_signed_commit', signature: '', payload: '' },
          added: null,
        },
      })
    }
    expect((await owner.client.get(`${path}/main`)).body).toMatchObject({ user_can_push: true, user_can_merge: true })
  })

  test('answers 304 until something about a branch changes', async () => {
    const before = await reader.client.get(`${path}/main`)
    const headers = { 'if-none-match': before.headers.get('etag') ?? '' }
    expect((await reader.client.request(`${path}/main`, { headers })).status).toBe(304)
    expect((await owner.client.request(`${path}/main`, { headers })).status).toBe(200)
    const list = await reader.client.get(path)
    await owner.client.post(path, { new_branch_name: 'etag' })
    const again = await reader.client.request(path, { headers: { 'if-none-match': list.headers.get('etag') ?? '' } })
    expect(again.status).toBe(200)
    await owner.client.delete(`${path}/etag`)
  })

  test('names the account behind an address', async () => {
    const cwd = await workTree(service.git)
    const env = { GIT_AUTHOR_EMAIL: `${owner.name.toUpperCase()}@localhost.localdomain` }
    await service.git(['commit', '-q', '--amend', '--reset-author', '-m', 'mine'], { cwd, env })
    await service.git(['push', '-q', repo.as(owner), 'main:mine'], { cwd })
    const answer = await service.anonymous.get(`${path}/mine`)
    expect(answer.string('commit.author.username')).toBe(owner.name)
  })

  test('knows no branch by an unknown name or a broken encoding', async () => {
    expect((await reader.client.get(`${path}/nope`)).status).toBe(404)
    expect((await reader.client.get(`${path}/%ff`)).status).toBe(404)
    expect((await reader.client.get(`/repos/${owner.name}/nothing/branches`)).status).toBe(404)
  })
})

describe('changing branches', () => {
  test('creates from the default branch, another ref or a commit', async () => {
    const made = await owner.client.post(path, { new_branch_name: 'from-default' })
    expect(made.status).toBe(201)
    expect(made.string('commit.id')).toBe(head)
    const other = await owner.client.post(path, { new_branch_name: 'x/y', old_ref_name: 'feature/one' })
    expect(other.string('commit.id')).toBe(first)
    const commit = await owner.client.post(path, { new_branch_name: 'z', old_ref_name: first })
    expect(commit.string('commit.id')).toBe(first)
    expect(await repo.rowLines()).toEqual(await repo.diskLines())
  })

  test('refuses to create what cannot be', async () => {
    expect((await owner.client.post(path, { new_branch_name: 'main' })).status).toBe(409)
    expect((await owner.client.post(path, { new_branch_name: 'main/sub' })).status).toBe(409)
    expect((await owner.client.post(path, { new_branch_name: 'new', old_ref_name: 'nope' })).status).toBe(404)
    expect((await owner.client.post(path, { new_branch_name: 'a..b' })).status).toBe(422)
    expect((await owner.client.post(path, { new_branch_name: '-x' })).status).toBe(422)
    expect((await owner.client.post(path, { new_branch_name: 'safe\u202egnp.x' })).status).toBe(422)
    expect((await owner.client.patch(`${path}/main`, { name: 'a\u2066b' })).status).toBe(422)
    expect((await owner.client.post(path, {})).status).toBe(422)
    expect((await reader.client.post(path, { new_branch_name: 'mine2' })).status).toBe(403)
    expect((await service.anonymous.post(path, { new_branch_name: 'mine2' })).status).toBe(401)
  })

  test('moves forward, and back only by force', async () => {
    await owner.client.post(path, { new_branch_name: 'moving', old_ref_name: first })
    const target = `${path}/moving`
    const stale = { new_commit_id: head, old_commit_id: head }
    expect((await owner.client.put(target, stale)).status).toBe(422)
    expect((await owner.client.put(target, { new_commit_id: head, old_commit_id: first })).status).toBe(204)
    expect((await owner.client.put(target, { new_commit_id: first })).status).toBe(422)
    expect((await owner.client.put(target, { new_commit_id: first, force: true })).status).toBe(204)
    expect((await owner.client.get(target)).string('commit.id')).toBe(first)
    expect((await owner.client.put(target, { new_commit_id: '0'.repeat(40) })).status).toBe(422)
    expect((await owner.client.put(`${path}/nope`, { new_commit_id: first })).status).toBe(404)
  })

  test('renames, and the default branch and HEAD go with it', async () => {
    expect((await owner.client.patch(`${path}/main`, { name: 'feature/one' })).status).toBe(422)
    expect((await owner.client.patch(`${path}/nope`, { name: 'other' })).status).toBe(404)
    expect((await owner.client.patch(`${path}/main`, { name: 'trunk' })).status).toBe(204)
    expect((await repo.row()).defaultBranch).toBe('trunk')
    expect(await service.context.git.getHead(repo.id)).toBe('refs/heads/trunk')
    expect((await owner.client.get(`${path}/main`)).status).toBe(404)
    expect((await owner.client.get(`${path}/trunk`)).string('commit.id')).toBe(head)
  })

  test('deletes any but the default branch', async () => {
    expect((await owner.client.delete(`${path}/trunk`)).status).toBe(403)
    expect((await reader.client.delete(`${path}/feature%2Fone`)).status).toBe(403)
    expect((await owner.client.delete(`${path}/feature%2Fone`)).status).toBe(204)
    expect((await owner.client.delete(`${path}/feature%2Fone`)).status).toBe(404)
    expect(await repo.rowLines()).toEqual(await repo.diskLines())
  })
})
