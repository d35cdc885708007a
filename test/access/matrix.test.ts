import { afterAll, beforeAll, expect, test } from 'bun:test'
import { objectOf, parseJson } from '../../src/http/openapi/json.ts'
import { startTestService, type TestService, type TestUser } from '../harness/service.ts'

/**
 * Every operation there is, asked by those who may not: the list comes from the API description, so that a new operation is in it by
 * itself. What is hidden has to answer as what does not exist, to the byte.
 */
let service: TestService
let owner: TestUser
let stranger: TestUser
let operations: readonly Operation[]
beforeAll(async () => {
  service = await startTestService({ settings: { RATE_LIMIT: 'off' } })
  owner = await service.createUser('owner')
  stranger = await service.createUser('stranger')
  await service.createRepository(owner, { name: 'hidden', private: true })
  await service.createUser('unseen')
  await service.admin.client.patch('/admin/users/unseen', { login_name: 'unseen', visibility: 'private' })
  await owner.client.post('/orgs', { username: 'secluded', visibility: 'private' })
  const description = await fetch(`${service.url}/swagger.v1.json`)
  const { paths } = objectOf(parseJson(await description.text()))
  operations = Object.entries(objectOf(paths)).flatMap(([path, item]) =>
    // A template is a repository like any other.
    Object.keys(objectOf(item)).map((method) => ({ path: path.replaceAll('{template_', '{'), method })),
  )
})
afterAll(() => service.stop())

interface Operation {
  path: string
  method: string
}

interface Caller {
  name: string
  headers: Record<string, string>
}

const withToken = (name: string, token: string): Caller => ({ name, headers: { authorization: `token ${token}` } })

let counter = 0
async function tokenOf(user: TestUser, scopes: string[]): Promise<string> {
  counter += 1
  const basic = service.client({ basic: `${user.name}:${user.password}` })
  return (await basic.post(`/users/${user.name}/tokens`, { name: `token ${counter}`, scopes })).string('sha1')
}

/** Status, headers that tell something, and body, without what differs by nature. */
async function ask(operation: Operation, caller: Caller, names: Record<string, string>): Promise<string> {
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => names[name] ?? '1')
  const method = operation.method.toUpperCase()
  const hasBody = !['GET', 'HEAD', 'DELETE'].includes(method)
  const response = await fetch(`${service.url}/api/v1${path}`, {
    method,
    headers: { ...caller.headers, ...(hasBody ? { 'content-type': 'application/json' } : {}) },
    redirect: 'manual',
    ...(hasBody ? { body: '{}' } : {}),
  })
  const told = ['location', 'etag', 'x-total-count', 'link', 'www-authenticate', 'allow'].map((name) =>
    response.headers.get(name),
  )
  const body = (await response.text()).replace(/"request_id":"[^"]+"/, '')
  const text = `${response.status} ${told.join('|')} ${body}`
  const words = Object.values(names).filter((name) => !/^\d+$/.test(name))
  return words.reduce((neutral, name) => neutral.replaceAll(name, 'NAME'), text)
}

const under = (prefix: string) => operations.filter(({ path }) => path === prefix || path.startsWith(`${prefix}/`))
const titleOf = ({ method, path }: Operation) => `${method.toUpperCase()} ${path}`
const statusOf = (answer: string) => Number(answer.slice(0, 3))

/** Asks each operation about something hidden and about something absent, and compares. */
async function compare(
  chosen: readonly Operation[],
  callers: Caller[],
  names: { hidden: Record<string, string>; absent: Record<string, string> },
) {
  const differences: string[] = []
  for (const operation of chosen)
    for (const caller of callers) {
      const hidden = await ask(operation, caller, names.hidden)
      const absent = await ask(operation, caller, names.absent)
      if (hidden !== absent || ![401, 403, 404].includes(statusOf(hidden)))
        differences.push(
          `${titleOf(operation)} as ${caller.name}:\n  hidden ${hidden.slice(0, 200)}\n  absent ${absent.slice(0, 200)}`,
        )
    }
  expect(differences).toEqual([])
}

test('a private repository answers strangers on every operation as one that does not exist', async () => {
  const callers = [
    { name: 'a visitor', headers: {} },
    withToken('a stranger', stranger.token),
    withToken('a token without the scope', await tokenOf(owner, ['read:misc'])),
    withToken('a token for public things', await tokenOf(owner, ['public-only', 'all'])),
  ]
  const chosen = under('/repos/{owner}/{repo}')
  expect(chosen.length).toBeGreaterThan(20)
  const names = (repo: string) => ({ owner: 'owner', repo })
  await compare(chosen, callers, { hidden: names('hidden'), absent: names('absent') })
}, 120_000)

test('a private user and a private organization answer strangers as ones that do not exist', async () => {
  const callers = [{ name: 'a visitor', headers: {} }, withToken('a stranger', stranger.token)]
  const people = under('/users/{username}')
  expect(people.length).toBeGreaterThan(8)
  await compare(people, callers, {
    hidden: { username: 'unseen', target: 'unseen' },
    absent: { username: 'nobody', target: 'nobody' },
  })
  await compare(under('/orgs/{org}'), callers, { hidden: { org: 'secluded' }, absent: { org: 'no-such' } })
})

test('administration is for administrators whose token has the scope', async () => {
  const narrow = withToken(
    'a token without the scope',
    await tokenOf(service.admin, ['write:user', 'write:repository']),
  )
  const reader = withToken('a reading token', await tokenOf(service.admin, ['read:admin']))
  const wrong: string[] = []
  const names = { username: 'owner', owner: 'owner', repo: 'hidden' }
  for (const operation of under('/admin')) {
    const expected: [Caller, number][] = [
      [{ name: 'a visitor', headers: {} }, 401],
      [withToken('a plain user', stranger.token), 403],
      [narrow, 403],
      ...(operation.method === 'get' ? [] : [[reader, 403] satisfies [Caller, number]]),
    ]
    for (const [caller, status] of expected) {
      const answer = await ask(operation, caller, names)
      if (statusOf(answer) !== status) wrong.push(`${titleOf(operation)} as ${caller.name}: ${answer.slice(0, 150)}`)
    }
  }
  expect(wrong).toEqual([])
})

test('what belongs to the caller is asked for by somebody, with a token that has a scope', async () => {
  const misc = withToken('a token without the scope', await tokenOf(owner, ['read:misc']))
  const wrong: string[] = []
  for (const operation of under('/user')) {
    const names = { username: 'stranger', owner: 'owner', repo: 'hidden' }
    const [visitor, narrow] = [
      await ask(operation, { name: '', headers: {} }, names),
      await ask(operation, misc, names),
    ]
    if (statusOf(visitor) !== 401 || statusOf(narrow) !== 403)
      wrong.push(`${titleOf(operation)}: ${visitor.slice(0, 100)} / ${narrow.slice(0, 100)}`)
  }
  expect(wrong).toEqual([])
})

test('a token for chosen repositories changes nothing but these, on any operation', async () => {
  const basic = service.client({ basic: `owner:${owner.password}` })
  const option = { name: 'chosen', scopes: ['all'], repositories: [{ owner: 'owner', name: 'hidden' }] }
  const caller = withToken('a limited token', (await basic.post('/users/owner/tokens', option)).string('sha1'))
  const elsewhere = operations.filter(
    ({ path, method }) => !['get', 'head'].includes(method) && !/\/\{owner\}\/\{repo\}|^\/mark(down|up)/.test(path),
  )
  expect(elsewhere.length).toBeGreaterThan(50)
  const wrong: string[] = []
  const names = { username: 'owner', org: 'secluded', owner: 'owner', repo: 'hidden' }
  for (const operation of elsewhere) {
    const answer = await ask(operation, caller, names)
    // Tokens are the business of passwords.
    const expected = operation.path.startsWith('/users/{username}/tokens') ? 401 : 403
    if (statusOf(answer) !== expected) wrong.push(`${titleOf(operation)}: ${answer.slice(0, 150)}`)
  }
  expect(wrong).toEqual([])
  const forked = await ask({ method: 'post', path: '/repos/{owner}/{repo}/forks' }, caller, names)
  expect(statusOf(forked)).toBe(403)
  await service.createRepository(stranger, { name: 'public' })
  const others = { owner: 'stranger', repo: 'public' }
  for (const operation of operations.filter(
    ({ path, method }) => path.includes('/{owner}/{repo}') && !['get', 'head'].includes(method),
  ))
    expect([titleOf(operation), statusOf(await ask(operation, caller, others))]).toEqual([titleOf(operation), 403])
})

test('a token for public things shows no address of anybody, its owner included', async () => {
  // Empty: the addresses in commits are as public as the repository.
  await service.createRepository(owner, { name: 'shown', auto_init: false })
  const caller = withToken('a token for public things', await tokenOf(owner, ['public-only', 'all']))
  const told: string[] = []
  const names = { username: 'owner', owner: 'owner', repo: 'shown', org: 'none', target: 'owner' }
  for (const operation of operations.filter(({ method }) => method === 'get')) {
    const answer = await ask(operation, caller, names)
    if (answer.includes('@localhost.localdomain')) told.push(`${titleOf(operation)}: ${answer.slice(0, 300)}`)
  }
  expect(told).toEqual([])
})

/** Who names a person exactly may give them access, whether or not the person hides. */
const NAMING = new Set(['PUT /teams/{id}/members/{username}', 'PUT /repos/{owner}/{repo}/collaborators/{collaborator}'])

test('below what is the caller’s own, a hidden person, organization or team reads like one that does not exist', async () => {
  await service.createRepository(stranger, { name: 'home' })
  await stranger.client.post('/orgs', { username: 'homeland' })
  const team = await stranger.client.post('/orgs/homeland/teams', {
    name: 't',
    permission: 'read',
    units: ['repo.code'],
  })
  const units = ['repo.code']
  const hiddenTeam = await owner.client.post('/orgs/secluded/teams', { name: 'cell', permission: 'read', units })
  const hiddenRepository = await owner.client.get('/repos/owner/hidden')
  const own = { owner: 'stranger', repo: 'home', org: 'homeland', username: 'stranger', id: String(team.number('id')) }
  const compared: [prefix: string, name: string, hidden: string, absent: string][] = [
    ['/user/following/{username}', 'username', 'unseen', 'nobody'],
    ['/user/blocks/{username}', 'username', 'unseen', 'nobody'],
    ['/users/{username}/following/{target}', 'target', 'unseen', 'nobody'],
    ['/users/{username}/orgs/{org}', 'org', 'secluded', 'no-such'],
    ['/orgs/{org}/members/{username}', 'username', 'unseen', 'nobody'],
    ['/orgs/{org}/public_members/{username}', 'username', 'unseen', 'nobody'],
    ['/orgs/{org}/blocks/{username}', 'username', 'unseen', 'nobody'],
    ['/teams/{id}/members/{username}', 'username', 'unseen', 'nobody'],
    ['/teams/{id}/repos/{org}/{repo}', 'repo', 'hidden', 'absent'],
    ['/repos/{owner}/{repo}/collaborators/{collaborator}', 'collaborator', 'unseen', 'nobody'],
    ['/repos/{owner}/{repo}/teams/{team}', 'team', 'cell', 'none'],
    ['/teams/{id}', 'id', String(hiddenTeam.number('id')), '999999'],
    ['/repositories/{id}', 'id', String(hiddenRepository.number('id')), '999999'],
  ]
  const caller = withToken('who owns the parent', stranger.token)
  const differences: string[] = []
  for (const [prefix, name, hidden, absent] of compared)
    for (const operation of under(prefix)) {
      if (NAMING.has(titleOf(operation))) continue
      const answers: string[] = []
      for (const value of [hidden, absent]) {
        const answer = await ask(operation, caller, { ...own, [name]: value })
        answers.push(answer)
      }
      if (answers[0] !== answers[1])
        differences.push(`${titleOf(operation)}:\n  hidden ${answers[0]}\n  absent ${answers[1]}`)
    }
  expect(differences).toEqual([])
})

test.each([
  ['GET', '/repos/search?uid={id}', ''],
  ['GET', '/users/search?uid={id}', ''],
  ['GET', '/users/search?q={name}', ''],
  ['GET', '/repos/stranger/home/issues?created_by={name}', ''],
  ['GET', '/repos/stranger/home/issues?mentioned_by={name}', ''],
  ['POST', '/repos/stranger/home/issues', '{"title":"x","assignee":"{name}"}'],
  ['POST', '/repos/stranger/home/issues', '{"title":"x","assignees":["{name}"]}'],
  ['POST', '/markdown', '{"Text":"@{name} {name}/hidden#1","Mode":"comment"}'],
  ['POST', '/repos/stranger/home/forks', '{"organization":"{name}"}'],
  ['GET', '/users/{name}/keys', ''],
  ['PUT', '/repos/stranger/home/issues/1/subscriptions/{name}', ''],
  ['GET', '/repos/stranger/home/times/{name}', ''],
  ['GET', '/repos/stranger/home/issues/1/times?user={name}', ''],
  ['POST', '/repos/stranger/home/issues/1/times', '{"time":1,"user_name":"{name}"}'],
] as const)('%s %s tells a hidden person from none nowhere', async (method, path, body) => {
  const unseen = await service.admin.client.get('/users/unseen')
  const answers: string[] = []
  for (const [id, name] of [
    [unseen.number('id'), 'unseen'],
    [999_999, 'nobody'],
  ] as const) {
    const fill = (text: string) => text.replaceAll('{id}', String(id)).replaceAll('{name}', name)
    const response = await fetch(`${service.url}/api/v1${fill(path)}`, {
      method,
      headers: { authorization: `token ${stranger.token}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: fill(body) }),
    })
    const told = ['x-total-count', 'link', 'location'].map((header) => response.headers.get(header))
    const text = `${response.status} ${told.join('|')} ${await response.text()}`
    answers.push(text.replace(/"request_id":"[^"]+"/, '').replaceAll(name, 'NAME'))
  }
  expect(answers[0]).toBe(answers[1] ?? '')
})

/** What whoever may read any unit of a repository may ask: about the repository and its people. */
const WITHOUT_UNIT =
  /^(GET \/repos\/\{owner\}\/\{repo\}(\/(topics|stargazers|subscribers|teams|collaborators.*|assignees|reviewers|activities\/feeds|notifications|new_pin_allowed))?|(PUT|DELETE) .*\/subscription|PUT .*\/notifications|POST .*\/mark(up|down.*))$/
const WITHIN_UNIT: Record<string, RegExp> = {
  'repo.wiki': / \/repos\/\{owner\}\/\{repo\}\/wiki/,
  'repo.releases': / \/repos\/\{owner\}\/\{repo\}\/releases/,
  'repo.issues': / \/repos\/\{owner\}\/\{repo\}\/(issues|labels|milestones|times)/,
  // A comment tells by itself what it is on: by its id it is looked up in both units.
  'repo.pulls':
    / \/repos\/\{owner\}\/\{repo\}\/(labels|milestones|pulls|issues\/comments|issues\/\{index\}\/comments\/\{id\})/,
  'repo.code':
    / \/repos\/\{owner\}\/\{repo\}\/(contents|file-contents|diffpatch|editorconfig|branches|tags|statuses|commits|git|compare|raw|media|archive|languages|licenses|forks|merge-upstream|mirror-sync|generate|issue_templates|issue_config|signing)/,
}

test('a member of a team reaches the units of the team only, on every operation', async () => {
  await owner.client.post('/orgs', { username: 'guild', visibility: 'public' })
  expect((await owner.client.post('/orgs/guild/repos', { name: 'hall', private: true, auto_init: true })).status).toBe(
    201,
  )
  await owner.client.post('/repos/guild/hall/issues', { title: 'x' })
  await owner.client.post('/repos/guild/hall/wiki/new', { title: 'Home' })
  const wrong: string[] = []
  for (const [unit, within] of Object.entries(WITHIN_UNIT)) {
    const member = await service.createUser()
    const json = { name: unit.slice(5), permission: 'write', units: [unit], includes_all_repositories: true }
    const team = await owner.client.post('/orgs/guild/teams', json)
    expect((await owner.client.put(`/teams/${team.number('id')}/members/${member.name}`)).status).toBe(204)
    const caller = withToken(unit, member.token)
    for (const operation of under('/repos/{owner}/{repo}')) {
      const answer = await ask(operation, caller, { owner: 'guild', repo: 'hall', filepath: 'README.md', ref: 'main' })
      const title = titleOf(operation)
      if (![403, 404].includes(statusOf(answer)) && !WITHOUT_UNIT.test(title) && !within.test(title))
        wrong.push(`${unit}: ${title}: ${answer.slice(0, 100)}`)
    }
    const clone = await fetch(`${service.url}/guild/hall.git/info/refs?service=git-upload-pack`, {
      headers: caller.headers,
    })
    expect([unit, clone.status]).toEqual([unit, unit === 'repo.code' ? 200 : 404])
    const wiki = await fetch(`${service.url}/guild/hall.wiki.git/info/refs?service=git-upload-pack`, {
      headers: caller.headers,
    })
    expect([unit, wiki.status]).toEqual([unit, unit === 'repo.wiki' ? 200 : 404])
  }
  expect(wrong).toEqual([])
})
