import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../harness/service.ts'

let service: TestService
let alice: TestUser
let bob: TestUser
beforeAll(async () => {
  service = await startTestService()
  alice = await service.createUser('alice')
  bob = await service.createUser('bob')
})
afterAll(() => service.stop())

interface Pair {
  source: TestRepository
  fork: string
}

async function forkedPair(): Promise<Pair> {
  const source = await service.createRepository(alice)
  const fork = await bob.client.post(`${source.path}/forks`, {})
  return { source, fork: `/repos/${fork.string('full_name')}` }
}

const write = async (who: TestUser, path: string, file: string, text: string) => {
  const made = await who.client.post(`${path}/contents/${file}`, { content: btoa(text), message: `add ${file}` })
  expect(made.status).toBe(201)
  return made.string('commit.sha')
}
const tip = async (path: string) => (await bob.client.get(`${path}/branches/main`)).string('commit.id')
const update = (fork: string, body: object = { branch: 'main' }) => bob.client.post(`${fork}/merge-upstream`, body)

test('a fork that only its parent is ahead of takes its commits, and then has nothing to take', async () => {
  const { source, fork } = await forkedPair()
  expect((await update(fork)).body).toEqual({ merge_type: 'up-to-date' })
  const sha = await write(alice, source.path, 'one.txt', 'one')
  expect((await update(fork)).body).toEqual({ merge_type: 'fast-forward' })
  expect(await tip(fork)).toBe(sha)
  expect((await update(fork)).body).toEqual({ merge_type: 'up-to-date' })
  await service.drain()
  const feed = await bob.client.get(`${fork}/activities/feeds`)
  expect(feed.body).toMatchObject([{ op_type: 'commit_repo', ref_name: 'refs/heads/main' }, { op_type: 'create_repo' }])
})

test('both histories are merged by one commit, unless none is wanted', async () => {
  const { source, fork } = await forkedPair()
  const [theirs, ours] = [await write(alice, source.path, 'a.txt', 'a'), await write(bob, fork, 'b.txt', 'b')]
  const refused = await update(fork, { branch: 'main', ff_only: true })
  expect([refused.status, await tip(fork)]).toEqual([400, ours])
  expect((await update(fork)).body).toEqual({ merge_type: 'merge' })
  const commit = await bob.client.get(`${fork}/git/commits/${await tip(fork)}`)
  expect(commit.body).toMatchObject({
    commit: { message: 'merge upstream\n', author: { name: 'bob' } },
    parents: [{ sha: ours }, { sha: theirs }],
  })
  for (const file of ['a.txt', 'b.txt']) expect((await bob.client.get(`${fork}/contents/${file}`)).status).toBe(200)
})

test('what contradicts each other is refused, and nothing moves', async () => {
  const { source, fork } = await forkedPair()
  await write(alice, source.path, 'same.txt', 'hers')
  const ours = await write(bob, fork, 'same.txt', 'his')
  const refused = await update(fork)
  expect([refused.status, await tip(fork)]).toEqual([409, ours])
  const { isSound } = await service.context.git.fsck((await bob.client.get(fork)).number('id'))
  expect(isSound).toBe(true)
})

test('of several at one moment each finds the branch as the one before has left it', async () => {
  const { source, fork } = await forkedPair()
  await write(alice, source.path, 'a.txt', 'a')
  await write(bob, fork, 'b.txt', 'b')
  const answers = await Promise.all(Array.from({ length: 4 }, () => update(fork)))
  for (const { status } of answers) expect([200, 409]).toContain(status)
  expect(answers.filter(({ body }) => JSON.stringify(body) === '{"merge_type":"merge"}')).toHaveLength(1)
  const commits = await bob.client.get(`${fork}/commits`, { limit: 1 })
  expect(commits.headers.get('x-total')).toBe('4')
})

test('who may not read the parent any more gets nothing of it', async () => {
  const { source, fork } = await forkedPair()
  await alice.client.patch(source.path, { private: true })
  await write(alice, source.path, 'secret.txt', 'secret')
  const before = await tip(fork)
  expect((await update(fork)).status).toBe(404)
  expect(await tip(fork)).toBe(before)
})

test('it needs a fork, a branch, and the right to write', async () => {
  const { source, fork } = await forkedPair()
  const plain = await service.createRepository(bob)
  expect((await update(plain.path)).status).toBe(422)
  for (const body of [{}, { branch: '' }, { branch: 'absent' }, { branch: '-x' }, { branch: 'a..b' }])
    expect([body, (await update(fork, body)).status]).toEqual([body, 404])
  expect((await update(fork, { branch: ['main'] })).status).toBe(422)
  expect((await alice.client.post(`${fork}/merge-upstream`, { branch: 'main' })).status).toBe(403)
  expect((await service.anonymous.post(`${fork}/merge-upstream`, { branch: 'main' })).status).toBe(401)
  await bob.client.patch(fork, { archived: true })
  expect((await update(fork)).status).toBe(423)
  expect((await alice.client.delete(source.path)).status).toBe(204)
  await bob.client.patch(fork, { archived: false })
  expect((await update(fork)).status).toBe(422)
})

test('a protected branch is brought up by those who may push to it', async () => {
  const { source, fork } = await forkedPair()
  await write(alice, source.path, 'new.txt', 'new')
  await bob.client.post(`${fork}/branch_protections`, { rule_name: 'main' })
  expect((await update(fork)).status).toBe(403)
  await bob.client.patch(`${fork}/branch_protections/main`, { enable_push: true })
  expect((await update(fork)).body).toEqual({ merge_type: 'fast-forward' })
})
