import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startTestService, type TestService, type TestUser } from '../harness/service.ts'
import { addKey, makeKey, type TestKey, withKey } from '../harness/ssh.ts'
import { recordStatements } from '../harness/statements.ts'

/**
 * What is hidden and what does not exist are answered by the same statements, so that time does not tell one from the other. The
 * statements are counted, and their texts compared: a clock would tell the load of the machine.
 */
let service: TestService
let stranger: TestUser
let key: TestKey
const callers: [name: string, headers: Record<string, string>][] = [['a visitor', {}]]

beforeAll(async () => {
  service = await startTestService({ settings: { SSH_ENABLED: 'true', SSH_PORT: '0' } })
  const owner = await service.createUser('owner')
  stranger = await service.createUser('stranger')
  await service.createRepository(stranger, { name: 'open' })
  const restricted = await service.createUser('restricted')
  const hidden = await service.createUser('hidden')
  for (const name of ['closed', 'renamed']) await service.createRepository(owner, { name, private: true })
  await owner.client.patch('/repos/owner/renamed', { name: 'closed-now' })
  await service.createRepository(hidden, { name: 'within' })
  const moved = await service.createUser('moved')
  await service.createRepository(moved, { name: 'within' })
  await owner.client.post('/orgs', { username: 'lodge', visibility: 'private' })
  await service.admin.client.post('/admin/users/moved/rename', { new_username: 'moved-now' })
  const edit = (name: string, change: object) =>
    service.admin.client.patch(`/admin/users/${name}`, { source_id: 0, login_name: name, ...change })
  for (const name of ['hidden', 'moved-now']) expect((await edit(name, { visibility: 'private' })).status).toBe(200)
  expect((await edit('restricted', { restricted: true })).status).toBe(200)
  key = makeKey(service)
  await addKey(stranger, key)
  const scopes = ['public-only', 'all']
  const basic = service.client({ basic: `owner:${owner.password}` })
  const narrow = (await basic.post('/users/owner/tokens', { name: 'narrow', scopes })).string('sha1')
  callers.push(
    ['a stranger', { authorization: `token ${stranger.token}` }],
    ['a restricted account', { authorization: `token ${restricted.token}` }],
    ['the owner with a token for public things', { authorization: `token ${narrow}` }],
  )
})
afterAll(() => service.stop())

async function statementsOf(work: () => Promise<number>): Promise<{ status: number; texts: string[] }> {
  const statements = recordStatements(service.context)
  try {
    const status = await work()
    return { status, texts: statements.texts() }
  } finally {
    statements.stop()
  }
}

const REPOSITORIES = [
  'owner/closed',
  'owner/renamed',
  'hidden/within',
  'moved/within',
  'owner/nothing',
  'nobody/nothing',
]
const ACCOUNTS = ['hidden', 'moved', 'lodge', 'nobody']

test.each([
  ['API', '/api/v1/repos/NAME', REPOSITORIES],
  ['API below a repository', '/api/v1/repos/NAME/issues', REPOSITORIES],
  ['raw pages', '/NAME/raw/branch/main/README.md', REPOSITORIES],
  ['archives', '/NAME/archive/main.zip', REPOSITORIES],
  ['badges', '/NAME/actions/workflows/ci.yml/badge.svg', REPOSITORIES],
  ['Git over HTTP', '/NAME.git/info/refs?service=git-upload-pack', REPOSITORIES],
  ['pushes over HTTP', '/NAME.git/info/refs?service=git-receive-pack', REPOSITORIES],
  ['Git LFS', '/NAME.git/info/lfs/locks', REPOSITORIES],
  ['objects of Git LFS', `/NAME.git/info/lfs/objects/${'a'.repeat(64)}`, REPOSITORIES],
  ['API of people', '/api/v1/users/NAME', ACCOUNTS],
  ['API below a person', '/api/v1/users/NAME/repos', ACCOUNTS],
  ['API of organizations', '/api/v1/orgs/NAME', ACCOUNTS],
  ['API below an organization', '/api/v1/orgs/NAME/repos', ACCOUNTS],
  ['lists of a person’s issues', '/api/v1/repos/stranger/open/issues?created_by=NAME', ACCOUNTS],
])('%s: the same statements for what is hidden and for what does not exist', async (_, path, names) => {
  const absent = names.at(-1) ?? ''
  for (const [caller, headers] of callers) {
    const ask = (name: string) =>
      statementsOf(async () => {
        const answer = await fetch(service.url + path.replace('NAME', name), { headers, redirect: 'manual' })
        await answer.text()
        return answer.status
      })
    const { status, texts } = await ask(absent)
    expect(status).toBeOneOf([401, 404])
    for (const name of names) expect({ caller, name, ...(await ask(name)) }).toEqual({ caller, name, status, texts })
  }
})

test('teams: the same statements for one of a hidden organization and for none', async () => {
  const owner = service.client({ basic: 'owner:correct horse battery' })
  const [hidden] = [(await owner.get('/orgs/lodge/teams')).number('0.id')]
  for (const [, headers] of callers.slice(1, 3)) {
    const ask = (id: number) =>
      statementsOf(async () => (await fetch(`${service.url}/api/v1/teams/${id}`, { headers })).status)
    expect(await ask(hidden)).toEqual(await ask(999_999))
  }
})

test('Git over SSH: the same statements for what is hidden and for what does not exist', async () => {
  const ask = (name: string) =>
    statementsOf(
      async () =>
        (await service.git.run(['ls-remote', `${service.context.sshRoot}${name}.git`], { env: withKey(key) })).exitCode,
    )
  await ask('nobody/nothing')
  const answers = []
  for (const name of REPOSITORIES) answers.push(await ask(name))
  for (const answer of answers) expect(answer).toEqual(answers[0] ?? answer)
  expect(answers[0]?.texts.length).toBeGreaterThan(0)
})
