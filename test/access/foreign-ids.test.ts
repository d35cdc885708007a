import { afterAll, beforeAll, expect, test } from 'bun:test'
import { objectOf, parseJson } from '../../src/http/openapi/json.ts'
import type { Answer } from '../harness/client.ts'
import { startTestService, type TestService, type TestUser } from '../harness/service.ts'

/**
 * Every operation that names a thing by its number, asked for the number of a thing of somebody else below a parent of one's own. The
 * list comes from the API description: an operation that is new has to be listed here with a foreign thing of its kind.
 */
let service: TestService
let alice: TestUser
let bob: TestUser
beforeAll(async () => {
  service = await startTestService()
  alice = await service.createUser('alice')
  bob = await service.createUser('bob')
})
afterAll(() => service.stop())

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBbgdWEuRR2LJQJoaLRU4mUeL7o6DOKnNVRdTWN7hLhX'
const hook = { type: 'gitea', config: { url: 'https://hooks.example/', content_type: 'json' }, events: ['push'] }
const application = { name: 'theirs', redirect_uris: ['https://app.example/back'] }
const own = '/repos/{owner}/{repo}'

/** Things of bob, in the words of the paths that lead to them. */
async function things(): Promise<Map<string, number>> {
  await service.createRepository(bob, { name: 'theirs' })
  const post = async (path: string, json: object): Promise<Answer> => {
    const made = await bob.client.post(path, json)
    expect([path, made.status]).toEqual([path, 201])
    return made
  }
  const at = '/repos/bob/theirs'
  await post('/orgs', { username: 'bobs', visibility: 'private' })
  await post(`${at}/issues`, { title: 'theirs' })
  const made: [string, Answer][] = [
    [`${own}/hooks/`, await post(`${at}/hooks`, hook)],
    [`${own}/labels/`, await post(`${at}/labels`, { name: 'theirs', color: '#ff0000' })],
    [`${own}/milestones/`, await post(`${at}/milestones`, { title: 'theirs' })],
    [
      `${own}/keys/`,
      await post(`${at}/keys`, {
        title: 'theirs',
        key: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBbgdWEuRR2LJQJoaLRU4mUeL7o6DOKnNVRdTWN7hLhY',
      }),
    ],
    [`${own}/releases/`, await post(`${at}/releases`, { tag_name: 'theirs' })],
    [
      `${own}/tag_protections/`,
      await post(`${at}/tag_protections`, { name_pattern: 'v*', whitelist_usernames: ['bob'] }),
    ],
    [`${own}/issues/comments/`, await post(`${at}/issues/1/comments`, { body: 'theirs' })],
    ['/orgs/{org}/hooks/', await post('/orgs/bobs/hooks', hook)],
    ['/orgs/{org}/labels/', await post('/orgs/bobs/labels', { name: 'theirs', color: '#00ff00' })],
    ['/teams/', await post('/orgs/bobs/teams', { name: 'theirs', permission: 'write', units: ['repo.code'] })],
    ['/user/hooks/', await post('/user/hooks', hook)],
    ['/user/keys/', await post('/user/keys', { title: 'theirs', key: KEY })],
    ['/user/applications/oauth2/', await post('/user/applications/oauth2', application)],
    ['/repositories/', await post('/user/repos', { name: 'secret', private: true })],
  ]
  // A notification about what nobody else may see.
  await service.admin.client.post('/repos/bob/secret/issues', { title: 'theirs' })
  await service.drain()
  const thread = (await bob.client.get('/notifications')).number('0.id')
  return new Map([
    ...made.map(([path, answer]): [string, number] => [path, answer.number('id')]),
    ['/notifications/threads/', thread],
  ])
}

/** Where another test asks the same: below an administrator, by a number within the repository, or with keys of its own. */
const ELSEWHERE = [
  '/admin/hooks/',
  '/admin/users/{username}/keys/',
  '/user/gpg_keys/',
  `${own}/issues/{index}`,
  `${own}/hooks/git/`,
]

test('the number of a thing of somebody else leads nowhere below a parent of one’s own', async () => {
  await service.createRepository(alice, { name: 'mine' })
  await alice.client.post('/repos/alice/mine/issues', { title: 'mine' })
  await alice.client.post('/orgs', { username: 'alices' })
  const numbers = await things()
  const tables =
    'hooks deploy_keys labels milestones releases tag_protections comments teams public_keys repositories team_members team_repositories notifications oauth_applications reactions'
  const rows = async () => {
    const all = await Promise.all(
      tables
        .split(' ')
        .map(
          (table) =>
            service.context.sql`select ${service.context.sql(table)}::text as row from ${service.context.sql(table)}`,
        ),
    )
    return all.flatMap((found) => found.map(({ row }) => String(row))).sort()
  }
  const before = await rows()
  const description = await fetch(`${service.url}/swagger.v1.json`)
  const { paths } = objectOf(parseJson(await description.text()))
  const wrong: string[] = []
  let asked = 0
  for (const [path, item] of Object.entries(objectOf(paths))) {
    if (!/\{(id|index|team)\}/.test(path) || ELSEWHERE.some((start) => path.startsWith(start))) continue
    // `{team}` is a name, which the test of organizations asks for.
    if (path.includes('{team}')) continue
    const [, number] = [...numbers].find(([start]) => path.startsWith(`${start}{`)) ?? []
    if (number === undefined) {
      wrong.push(`${path}: say in this test what a foreign thing of its kind is`)
      continue
    }
    const names: Record<string, string> = { owner: 'alice', repo: 'mine', org: 'alices', username: 'alice' }
    const target = path.replace(/\{(\w+)\}/g, (_, name: string) => names[name] ?? String(number))
    for (const method of Object.keys(objectOf(item))) {
      const hasBody = ['patch', 'put', 'post'].includes(method)
      const json = hasBody ? { ...application, title: 'x', body: 'x', content: 'heart' } : undefined
      const answer = await alice.client.request(target, { method: method.toUpperCase(), json })
      asked += 1
      // Wire: the Gitea API says of a key, which everybody may see in a list, that it is not the caller's.
      const isOwnKey = path.startsWith('/user/keys/')
      // Wire: a deploy key or a label that is not there is gone already; the rows below say whether one has gone.
      const isGone = path.startsWith(`${own}/keys/`) || path.includes('/labels/')
      const expected = method !== 'delete' ? 404 : isOwnKey ? 403 : isGone ? 204 : 404
      if (answer.status !== expected) wrong.push(`${method.toUpperCase()} ${target}: ${answer.status} ${answer.text}`)
    }
  }
  expect(wrong).toEqual([])
  expect(asked).toBeGreaterThan(30)
  expect(await rows()).toEqual(before)
})

test('labels and milestones of another repository cannot be put on an issue, nor seen through it', async () => {
  const label = await bob.client.post('/repos/bob/theirs/labels', { name: 'private word', color: '#123456' })
  const milestone = await bob.client.post('/repos/bob/theirs/milestones', { title: 'private plan' })
  const path = '/repos/alice/mine/issues'
  const tries = [
    await alice.client.post(path, { title: 'x', labels: [label.number('id')] }),
    await alice.client.post(path, { title: 'x', milestone: milestone.number('id') }),
    await alice.client.patch(`${path}/1`, { milestone: milestone.number('id') }),
    await alice.client.get(path, { milestones: milestone.number('id') }),
    await alice.client.get(path, { labels: label.number('id') }),
  ]
  for (const { text } of tries) expect(text).not.toMatch(/private (word|plan)/)
  expect((await alice.client.get(path)).text).not.toMatch(/private (word|plan)/)
})
