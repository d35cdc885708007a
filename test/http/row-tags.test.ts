import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Client } from '../harness/client.ts'
import { startTestService, type TestService, type TestUser } from '../harness/service.ts'

/**
 * Most of these answers have a tag of the versions of their rows, made before there is any text. Whatever changes in an answer has to
 * change the tag: one tag of a path never stands for two texts, whoever reads and whatever happened in between.
 */
let service: TestService
let alice: TestUser
let bob: TestUser
let carol: TestUser
let dora: TestUser
let readers: Client[]
let team: number
/** The newest comment of bob. */
let commented: number

const repo = '/repos/alice/tagged'
const issue = `${repo}/issues/1`

beforeAll(async () => {
  service = await startTestService()
  alice = await service.createUser('alice')
  bob = await service.createUser('bob')
  carol = await service.createUser('carol')
  dora = await service.createUser('dora')
  await service.createRepository(alice, { name: 'tagged' })
  await alice.client.post('/orgs', { username: 'club', email: 'club@example.org' })
  team = (
    await alice.client.post('/orgs/club/teams', { name: 'crew', permission: 'none', units: ['repo.code'] })
  ).number('id')
  await alice.client.put(`/teams/${team}/members/bob`)
  await bob.client.post(`${repo}/forks`, {})
  for (const name of ['bug', 'new']) await alice.client.post(`${repo}/labels`, { name, color: '#ff0000' })
  await alice.client.post(`${repo}/milestones`, { title: 'one' })
  await alice.client.put(`${repo}/collaborators/bob`, { permission: 'read' })
  await alice.client.put(`${repo}/collaborators/dora`, { permission: 'write' })
  await carol.client.post(`${repo}/issues`, { title: 'first' })
  const planned = await alice.client.patch(issue, { milestone: 1, assignees: ['dora'] })
  expect(planned.body).toMatchObject({ milestone: { id: 1 }, assignees: [{ login: 'dora' }] })
  await service.context.sql`insert into issue_labels (issue_id, label_id) values (1, 1)`
  for (const body of ['one', 'two']) await carol.client.post(`${issue}/comments`, { body })
  const basic = service.client({ basic: `alice:${alice.password}` })
  const narrow = await basic.post('/users/alice/tokens', { name: 'narrow', scopes: ['public-only', 'all'] })
  const token = narrow.string('sha1')
  readers = [service.anonymous, alice.client, bob.client, service.admin.client, service.client({ token })]
})
afterAll(() => service.stop())

const texts = new Map<string, string>()

/** What a reader is told, held against all that was told under the same tag before. */
async function look(template: string, reader: Client): Promise<string> {
  const path = template.replace('{team}', String(team))
  const { status, headers, text } = await reader.get(path)
  if (status !== 200) return `${status}`
  const told = [text, headers.get('link'), headers.get('x-total-count')].join('\n')
  const tag = `${path} ${headers.get('etag')}`
  expect([tag, texts.get(tag) ?? told]).toEqual([tag, told])
  texts.set(tag, told)
  const again = await reader.request(path, { headers: { 'if-none-match': headers.get('etag') ?? '' } })
  expect([path, again.status]).toEqual([path, 304])
  return told
}

const lookAll = (path: string) => Promise.all(readers.map((reader) => look(path, reader)))

const issues = [issue, `${repo}/issues`]
const comments = [`${issue}/comments`, `${repo}/issues/comments`, `${repo}/issues/comments/4`]
const fork = '/repos/bob/tagged'
const lists = ['/repos/search?limit=1', '/users/alice/repos', '/users/bob/repos']

interface Change {
  name: string
  /** Where it shows to at least one reader. */
  shows: string[]
  make(): Promise<{ status: number }>
}

const settings = (user: TestUser, json: object) => user.client.patch('/user/settings', json)

const changes: Change[] = [
  {
    name: 'a repository is described',
    shows: [repo, fork, ...lists],
    make: () => alice.client.patch(repo, { description: 'new' }),
  },
  {
    name: 'a repository is starred',
    shows: [repo, '/users/bob', ...lists],
    make: () => bob.client.put('/user/starred/alice/tagged'),
  },
  { name: 'a topic is added', shows: [repo, `${repo}/topics`], make: () => alice.client.put(`${repo}/topics/small`) },
  {
    name: 'the owner has another full name',
    shows: [repo, fork, '/user', '/users/alice', `${repo}/commits`, ...lists],
    make: () => settings(alice, { full_name: 'Alice A.' }),
  },
  {
    name: 'the owner hides the address',
    shows: [repo, fork, '/users/alice'],
    make: () => settings(alice, { hide_email: true }),
  },
  {
    name: 'a reader gets more rights',
    shows: [repo, `${repo}/branches`, `${repo}/branches/main`, '/users/alice/repos'],
    make: () => alice.client.put(`${repo}/collaborators/bob`, { permission: 'write' }),
  },
  {
    name: 'a repository is made',
    shows: ['/repos/search?limit=1', '/users/alice/repos'],
    make: () => alice.client.post('/user/repos', { name: 'second' }),
  },
  { name: 'an issue has another title', shows: issues, make: () => alice.client.patch(issue, { title: 'other' }) },
  {
    name: 'a label is renamed',
    shows: [...issues, `${repo}/labels`],
    make: () => alice.client.patch(`${repo}/labels/1`, { name: 'fault' }),
  },
  {
    name: 'a label is taken for another, without a change of the issue',
    shows: issues,
    make: async () => {
      await service.context.sql`update issue_labels set label_id = 2 where issue_id = 1`
      return { status: 200 }
    },
  },
  {
    name: 'a milestone is renamed',
    shows: issues,
    make: () => alice.client.patch(`${repo}/milestones/1`, { title: 'two' }),
  },
  {
    name: 'an assignee has another full name',
    shows: [...issues, '/users/dora'],
    make: () => settings(dora, { full_name: 'Dora D.' }),
  },
  {
    name: 'a writer has another full name',
    shows: [...issues, ...comments],
    make: () => settings(carol, { full_name: 'Carol C.' }),
  },
  {
    name: 'an issue is commented on',
    shows: [...issues, ...comments.slice(0, 2)],
    make: async () => {
      const made = await bob.client.post(`${issue}/comments`, { body: 'x' })
      commented = made.number('id')
      return made
    },
  },
  { name: 'a comment is changed', shows: comments, make: () => carol.client.patch(comments[2] ?? '', { body: 'y' }) },
  {
    name: 'a comment goes',
    shows: [...issues, ...comments.slice(0, 2)],
    make: () => bob.client.delete(`${repo}/issues/comments/${commented}`),
  },
  {
    name: 'an issue on another page',
    shows: [`${repo}/issues?limit=1&page=2`, repo],
    make: () => carol.client.post(`${repo}/issues`, { title: 'next' }),
  },
  {
    name: 'somebody is followed',
    shows: ['/users/carol', ...issues.slice(0, 1)],
    make: () => bob.client.put('/user/following/carol'),
  },
  {
    name: 'an organization has another full name',
    shows: ['/orgs/club', '/teams/{team}'],
    make: () => alice.client.patch('/orgs/club', { full_name: 'Club' }),
  },
  {
    name: 'a team reaches more',
    shows: ['/teams/{team}'],
    make: () => alice.client.patch(`/teams/${team}`, { units: ['repo.code', 'repo.issues'] }),
  },
  {
    name: 'a branch is made',
    shows: [`${repo}/branches?limit=1`, `${repo}/git/refs`, `${repo}/git/refs/heads`],
    make: () => alice.client.post(`${repo}/branches`, { new_branch_name: 'other' }),
  },
  {
    name: 'a file is made',
    shows: [
      `${repo}/commits`,
      `${repo}/contents`,
      `${repo}/git/trees/main`,
      `${repo}/branches/main`,
      `${repo}/git/commits/main`,
    ],
    make: () => alice.client.post(`${repo}/contents/a.txt`, { content: 'YQ==', message: 'a file' }),
  },
  {
    name: 'a person comes, on another page',
    shows: ['/users/search?limit=1'],
    make: () =>
      service.admin.client.post('/admin/users', {
        username: 'zoe',
        email: 'zoe@example.org',
        password: 'correct horse battery',
      }),
  },
  {
    name: 'a repository is renamed',
    shows: ['/users/alice/repos', fork],
    make: () => alice.client.patch(repo, { name: 'renamed' }),
  },
]

test.each(changes)('$name', async ({ shows, make }) => {
  const before = await Promise.all(shows.map(lookAll))
  const { status } = await make()
  expect(status).toBeLessThan(300)
  const after = await Promise.all(shows.map(lookAll))
  const same = shows.filter((_, index) => Bun.deepEquals(before[index], after[index]))
  expect(same).toEqual([])
})
