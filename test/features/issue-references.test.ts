import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { recordCommits } from '../../src/features/issue-references/commits.ts'
import type { Client } from '../harness/client.ts'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../harness/service.ts'

setDefaultTimeout(60_000)

let service: TestService
let ann: TestUser
let bob: TestUser
let repo: TestRepository
let hidden: TestRepository
beforeAll(async () => {
  service = await startTestService()
  ann = await service.createUser('ann')
  bob = await service.createUser('bob')
  repo = await service.createRepository(ann, { name: 'open' })
  hidden = await service.createRepository(ann, { name: 'hidden', private: true })
})
afterAll(() => service.stop())

async function write(at: TestRepository, body = '', who = ann): Promise<{ path: string; number: number }> {
  const made = await who.client.post(`${at.path}/issues`, { title: 'x', body })
  expect(made.status).toBe(201)
  return { path: `${at.path}/issues/${made.number('number')}`, number: made.number('number') }
}

async function timeline(client: Client, path: string) {
  await service.drain()
  const { status, body, headers } = await client.get(`${path}/timeline`)
  const entries = Array.isArray(body) ? body : []
  expect([status, headers.get('x-total-count')]).toEqual([200, String(entries.length)])
  return entries
}

const typesOf = async (client: Client, path: string) => (await timeline(client, path)).map(({ type }) => type)

async function commit(at: TestRepository, message: string, { who = ann, branch = 'main' } = {}): Promise<string> {
  const path = `${at.path}/contents/${crypto.randomUUID()}.txt`
  const made = await who.client.post(path, { content: 'aGk=', message, branch })
  expect([message, made.status]).toEqual([message, 201])
  return made.string('commit.sha')
}

test('issues and comments that name an issue stand in its timeline, with where they are', async () => {
  const named = await write(repo)
  const issue = await write(repo, `like #${named.number} and again #${named.number}, not \`#${named.number}\` in code`)
  const other = await write(hidden)
  const comment = await ann.client.post(`${other.path}/comments`, { body: `closes ann/open#${named.number}` })
  const [first, second, ...more] = await timeline(ann.client, named.path)
  expect(more).toEqual([])
  const own = await ann.client.get(issue.path)
  expect(first).toMatchObject({ type: 'issue_ref', body: '', ref_issue: own.body, ref_comment: null })
  expect(first).toMatchObject({ ref_action: 'none', ref_commit_sha: '', user: { login: 'ann' } })
  expect(second).toMatchObject({ type: 'comment_ref', ref_issue: { number: other.number }, ref_action: 'none' })
  expect(second.ref_comment).toEqual({ ...Object(comment.body) })
  // Words in an issue close nothing.
  expect((await ann.client.get(named.path)).string('state')).toBe('open')
})

test('a reference from where the reader may not look is no entry, and not counted', async () => {
  const named = await write(repo)
  await write(hidden, `ann/open#${named.number}`)
  const sha = await commit(hidden, `closes ann/open#${named.number}`)
  expect(await typesOf(ann.client, named.path)).toEqual(['issue_ref', 'commit_ref', 'close'])
  const shown = await timeline(ann.client, named.path)
  expect(shown.map((entry) => entry.ref_commit_sha)).toEqual(['', sha, sha])
  for (const client of [bob.client, service.anonymous]) {
    const entries = await timeline(client, named.path)
    expect(entries.map(({ type }) => type)).toEqual(['close'])
    expect(JSON.stringify(entries)).not.toContain('hidden')
    expect(JSON.stringify(entries)).not.toContain(sha)
  }
  await ann.client.put(`${hidden.path}/collaborators/bob`, { permission: 'read' })
  expect(await typesOf(bob.client, named.path)).toEqual(['issue_ref', 'commit_ref', 'close'])
  await ann.client.delete(`${hidden.path}/collaborators/bob`)
})

test('who may not read an issue cannot write into its timeline, nor close it', async () => {
  const named = await write(hidden)
  const theirs = await service.createRepository(bob)
  await write(theirs, `ann/hidden#${named.number}`, bob)
  await commit(theirs, `fixes ann/hidden#${named.number}`, { who: bob })
  const open = await write(repo)
  await commit(theirs, `fixes ann/open#${open.number}`, { who: bob })
  expect(await typesOf(ann.client, named.path)).toEqual([])
  expect(await typesOf(ann.client, open.path)).toEqual(['commit_ref'])
  expect((await ann.client.get(open.path)).string('state')).toBe('open')
  await ann.client.put('/user/blocks/bob')
  const quiet = await write(repo)
  await write(theirs, `ann/open#${quiet.number}`, bob)
  expect(await typesOf(ann.client, quiet.path)).toEqual([])
  await ann.client.delete('/user/blocks/bob')
  // What oneself has written may be closed from anywhere.
  const own = await write(repo, '', bob)
  await commit(theirs, `Resolves: ann/open#${own.number}`, { who: bob })
  expect(await typesOf(ann.client, own.path)).toEqual(['commit_ref', 'close'])
})

test('a changed text takes its references along, and so does a deleted one', async () => {
  const [first, second] = [await write(repo), await write(repo)]
  const issue = await write(repo, `#${first.number}`)
  const comment = await ann.client.post(`${issue.path}/comments`, { body: `#${first.number} #${second.number}` })
  expect(await typesOf(ann.client, first.path)).toEqual(['issue_ref', 'comment_ref'])
  expect(await typesOf(ann.client, second.path)).toEqual(['comment_ref'])
  await ann.client.patch(issue.path, { body: `#${second.number}` })
  const at = `${repo.path}/issues/comments/${comment.number('id')}`
  await ann.client.patch(at, { body: `only #${first.number}` })
  expect(await typesOf(ann.client, first.path)).toEqual(['comment_ref'])
  expect(await typesOf(ann.client, second.path)).toEqual(['issue_ref'])
  await ann.client.delete(at)
  await ann.client.delete(issue.path)
  expect(await typesOf(ann.client, first.path)).toEqual([])
  expect(await typesOf(ann.client, second.path)).toEqual([])
})

test('a commit closes and opens what it names, once, when it is on the default branch', async () => {
  const named = await write(repo)
  await ann.client.post(`${repo.path}/branches`, { new_branch_name: 'side' })
  const title = `Repair <it>, closes #${named.number}`
  const sha = await commit(repo, `${title}\n\nand more`, { branch: 'side' })
  expect(await typesOf(ann.client, named.path)).toEqual(['commit_ref'])
  const [entry] = await timeline(ann.client, named.path)
  const page = `${service.context.baseUrl}/ann/open/commit/${sha}`
  expect(entry).toMatchObject({
    body: `<a href="${page}">Repair &lt;it&gt;, closes #${named.number}</a>`,
    ref_commit_sha: sha,
    ref_action: 'none',
  })
  const { git } = service
  const cwd = join(git.folder, 'merging')
  const at = ['-C', cwd]
  for (const args of [
    ['clone', '-q', repo.cloneUrl, cwd],
    [...at, 'merge', '-q', '--no-edit', 'origin/side'],
    [...at, 'push', '-q', 'origin', 'HEAD:main'],
  ])
    expect([args, (await git.run(args)).exitCode]).toEqual([args, 0])
  expect(await typesOf(ann.client, named.path)).toEqual(['commit_ref', 'close'])
  const closed = await ann.client.get(named.path)
  expect([closed.string('state'), typeof closed.string('closed_at')]).toEqual(['closed', 'string'])
  // Opened again by hand, it stays open, whatever becomes of the branch and of the jobs.
  await ann.client.patch(named.path, { state: 'open' })
  await service.context.sql`update events set fanned_out_at = null where kind in ('push', 'issue.created')`
  expect(await typesOf(ann.client, named.path)).toEqual(['commit_ref', 'close', 'reopen'])
  await ann.client.patch(named.path, { state: 'closed' })
  await commit(repo, `reopens #${named.number}`)
  expect((await typesOf(ann.client, named.path)).slice(-2)).toEqual(['commit_ref', 'reopen'])
  expect((await ann.client.get(named.path)).string('state')).toBe('open')
})

test('what waits for another issue is not closed by a commit, and an archived repository takes no references', async () => {
  const [waiting, first] = [await write(repo), await write(repo)]
  const meta = { owner: 'ann', repo: 'open', index: first.number }
  expect((await ann.client.post(`${waiting.path}/dependencies`, meta)).status).toBe(201)
  await commit(repo, `closes #${waiting.number}`)
  expect(await typesOf(ann.client, waiting.path)).toEqual(['add_dependency', 'commit_ref'])
  const old = await service.createRepository(ann, { name: 'old' })
  const still = await write(old)
  await ann.client.patch(old.path, { archived: true })
  await commit(repo, `closes ann/old#${still.number}`)
  expect(await typesOf(ann.client, still.path)).toEqual([])
})

test('an issue that is named counts as changed, and its poster is told that it was closed', async () => {
  const named = await write(repo, '', bob)
  await service.context
    .sql`update issues set updated_at = '2020-01-01' where number = ${named.number} and repository_id = ${repo.id}`
  await write(repo, `#${named.number}`)
  await service.drain()
  expect((await ann.client.get(named.path)).string('updated_at')).not.toStartWith('2020')
  await bob.client.put('/notifications')
  await commit(repo, `closes #${named.number}`)
  await service.drain()
  const threads = await bob.client.get('/notifications')
  expect(threads.body).toMatchObject([{ subject: { state: 'closed' } }])
})

/** Pushes what one repository has to a new branch of another. */
async function pushAcross(from: TestRepository, to: TestRepository, prepare?: () => Promise<unknown>): Promise<void> {
  const { git } = service
  const cwd = join(git.folder, `across-${from.name}`)
  expect((await git.run(['clone', '-q', from.cloneUrl, cwd])).exitCode).toBe(0)
  await prepare?.()
  const push = ['-C', cwd, 'push', '-q', to.cloneUrl, `HEAD:refs/heads/from-${from.name}`]
  expect((await git.run(push)).exitCode).toBe(0)
}

test('a commit that was in a hidden repository first is shown once it reaches the repository of the issue', async () => {
  const named = await write(repo)
  const sha = await commit(hidden, `see ann/open#${named.number}`)
  expect(await typesOf(bob.client, named.path)).toEqual([])
  await pushAcross(hidden, repo)
  expect(await timeline(bob.client, named.path)).toMatchObject([{ type: 'commit_ref', ref_commit_sha: sha }])
  // Elsewhere once more it stays where everybody sees it.
  await service.context.sql`update events set fanned_out_at = null where kind = 'push' and repository_id = ${hidden.id}`
  expect(await typesOf(bob.client, named.path)).toEqual(['commit_ref'])
})

test('a commit whose repository is gone is shown again where it is pushed next', async () => {
  const named = await write(repo)
  const [lost, next] = [await service.createRepository(ann), await service.createRepository(ann)]
  await commit(lost, `see ann/open#${named.number}`)
  expect(await typesOf(bob.client, named.path)).toEqual(['commit_ref'])
  await pushAcross(lost, next, async () => {
    expect((await ann.client.delete(lost.path)).status).toBe(204)
    expect(await typesOf(bob.client, named.path)).toEqual([])
  })
  expect(await typesOf(bob.client, named.path)).toEqual(['commit_ref'])
})

test('commits of several repositories that close one issue at once do not wait for each other', async () => {
  const actorId = (await ann.client.get('/user')).number('id')
  const places = await Promise.all(Array.from({ length: 6 }, () => service.createRepository(ann)))
  for (let round = 0; round < 5; round += 1) {
    const named = await write(repo)
    const message = `closes ann/open#${named.number}`
    await Promise.all(
      places.map(({ id }, index) => {
        const commits = [{ sha: `${round}${index}`.padEnd(40, '0'), message }]
        const author = { actorId, repositoryId: id, at: new Date() }
        return recordCommits(service.context, author, { ref: 'refs/heads/main', commits })
      }),
    )
    const types = await typesOf(ann.client, named.path)
    expect(types.filter((type) => type === 'commit_ref')).toHaveLength(places.length)
    expect(types.filter((type) => type === 'close')).toHaveLength(1)
  }
})
