// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are the texts of templates.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { expand, variablesOf } from '../../src/features/generation/variables.ts'
import type { Answer } from '../harness/client.ts'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../harness/service.ts'

let service: TestService
let alice: TestUser
let bob: TestUser
let mould: TestRepository
let secret: Answer
beforeAll(async () => {
  service = await startTestService()
  alice = await service.createUser('alice')
  bob = await service.createUser('bob')
  mould = await service.createRepository(alice, { name: 'the-mould', template: true, description: 'a mould' })
  const files = {
    'src/${REPO_NAME_SNAKE}/$REPO_OWNER.txt':
      'I am ${REPO_NAME_PASCAL} by $REPO_OWNER, not $HOME nor ${TEMPLATE_OWNER_X}\n',
    'src/${REPO_DESCRIPTION}': 'odd',
    'src/bytes': '\xff\xfe$REPO_NAME\x00',
    'plain.txt': '$REPO_NAME',
    'notes.md': '# ${TEMPLATE_NAME_TITLE}: ${TEMPLATE_DESCRIPTION}',
    '.gitea/template': '# files\n\nsrc/**\n*.md\n[broken\n',
  }
  const operations = Object.entries(files).map(([path, text]) => ({ operation: 'create', path, content: btoa(text) }))
  expect((await alice.client.post(`${mould.path}/contents`, { files: operations })).status).toBe(201)
  await alice.client.post(`${mould.path}/contents/late.txt`, { content: btoa('late') })
  secret = await alice.client.post(`${mould.path}/contents/secret.txt`, { content: btoa('secret') })
  await alice.client.delete(`${mould.path}/contents/secret.txt`, { sha: secret.string('content.sha') })
  await alice.client.post(`${mould.path}/branches`, { new_branch_name: 'extra' })
  await alice.client.put(`${mould.path}/topics`, { topics: ['cast'] })
  await alice.client.post(`${mould.path}/labels`, { name: 'hot', color: '#ff0000' })
  await alice.client.post(`${mould.path}/branch_protections`, { rule_name: 'main', required_approvals: 2 })
  const hook = { type: 'gitea', active: true, config: { url: 'https://hooks.example/', content_type: 'json' } }
  expect((await alice.client.post(`${mould.path}/hooks`, hook)).status).toBe(201)
})
afterAll(() => service.stop())

const generate = (who: TestUser, option: object, path = mould.path) => who.client.post(`${path}/generate`, option)
const textOf = async (path: string) => atob((await bob.client.get(path)).string('content'))

test('the files of a template become one commit, with its variables expanded where it says so', async () => {
  const made = await generate(bob, { owner: 'bob', name: 'MyNew-thing', git_content: true, description: '' })
  expect([made.status, made.body]).toMatchObject([
    201,
    { full_name: 'bob/MyNew-thing', empty: false, fork: false, template: false, branch_count: 1, topics: [] },
  ])
  const path = '/repos/bob/MyNew-thing'
  const contents = `${path}/contents`
  expect(await textOf(`${contents}/src/my_new_thing/bob.txt`)).toBe(
    'I am MyNewThing by bob, not $HOME nor ${TEMPLATE_OWNER_X}\n',
  )
  expect(await textOf(`${contents}/src/bytes`)).toBe('\xff\xfeMyNew-thing\x00')
  expect(await textOf(`${contents}/plain.txt`)).toBe('$REPO_NAME')
  expect(await textOf(`${contents}/notes.md`)).toBe('# The-Mould: a mould')
  expect(await textOf(`${contents}/late.txt`)).toBe('late')
  // A name that would be empty stays.
  expect(await textOf(`${contents}/src/${encodeURIComponent('${REPO_DESCRIPTION}')}`)).toBe('odd')
  expect((await bob.client.get(`${contents}/.gitea`)).status).toBe(404)
  const commits = await bob.client.get(`${path}/commits`)
  expect(commits.body).toMatchObject([
    { commit: { message: 'Initial commit\n', author: { name: 'bob' } }, parents: [] },
  ])
  const { isSound } = await service.context.git.fsck(made.number('id'), { isFull: true })
  expect(isSound).toBe(true)
  for (const kind of ['labels', 'hooks', 'branch_protections', 'tags'])
    expect([kind, (await bob.client.get(`${path}/${kind}`)).body]).toEqual([kind, []])
})

test('nothing of the history of a template comes along', async () => {
  const made = await generate(bob, { owner: 'bob', name: 'clean', git_content: true })
  const blob = await bob.client.get(`/repos/bob/clean/git/blobs/${secret.string('content.sha')}`)
  expect([made.status, blob.status >= 400]).toEqual([201, true])
  expect((await bob.client.get(`/repos/bob/clean/git/commits/${secret.string('commit.sha')}`)).status).toBe(404)
})

test('everything else is copied where it is asked for', async () => {
  const all = { labels: true, topics: true, webhooks: true, protected_branch: true, avatar: true, git_hooks: true }
  const made = await generate(bob, { owner: 'bob', name: 'all', private: true, default_branch: 'trunk', ...all })
  expect(made.body).toMatchObject({ empty: true, private: true, topics: ['cast'], default_branch: 'trunk' })
  expect((await bob.client.get('/repos/bob/all/labels')).body).toMatchObject([{ name: 'hot', color: 'ff0000' }])
  expect((await bob.client.get('/repos/bob/all/hooks')).body).toMatchObject([
    { config: { url: 'https://hooks.example/' } },
  ])
  expect((await bob.client.get('/repos/bob/all/branch_protections')).body).toMatchObject([
    { rule_name: 'main', required_approvals: 2 },
  ])
  const files = await generate(bob, { owner: 'bob', name: 'files', git_content: true, default_branch: 'trunk' })
  expect([
    files.string('default_branch'),
    (await bob.client.get('/repos/bob/files/branches')).string('0.name'),
  ]).toEqual(['trunk', 'trunk'])
})

test.each([
  [{ name: 'nothing' }, 422],
  [{ name: 'x', git_content: false }, 422],
  [{ git_content: true }, 422],
  [{ name: 'x y', git_content: true }, 422],
  [{ name: 'x', git_content: true, default_branch: 'a..b' }, 422],
  [{ name: 'x', git_content: 'yes' }, 422],
  [{ name: 'x', git_content: true, owner: '' }, 404],
  [{ name: 'x', git_content: true, owner: 'nobody-at-all' }, 404],
  [{ name: 'x', git_content: true, owner: 'alice' }, 403],
  [{ name: 'taken', git_content: true }, 409],
])('%j is answered with its refusal', async (option, status) => {
  if (status === 409) await bob.client.post('/user/repos', { name: 'taken' })
  expect((await generate(bob, { owner: 'bob', ...option })).status).toBe(status)
})

test('it takes a template, one that the caller may read, and the right to make repositories there', async () => {
  const plain = await service.createRepository(alice)
  const option = { owner: 'bob', name: 'y', git_content: true }
  expect((await generate(bob, option, plain.path)).status).toBe(422)
  const hidden = await service.createRepository(alice, { template: true, private: true })
  expect((await generate(bob, option, hidden.path)).status).toBe(404)
  expect((await service.anonymous.post(`${mould.path}/generate`, option)).status).toBe(401)
  await alice.client.post('/orgs', { username: 'works' })
  expect((await generate(bob, { ...option, owner: 'works' })).status).toBe(403)
  expect((await generate(alice, { ...option, owner: 'works' })).string('full_name')).toBe('works/y')
})

test('of several with one name at one moment one is made', async () => {
  const answers = await Promise.all(
    Array.from({ length: 4 }, () => generate(bob, { owner: 'bob', name: 'race', git_content: true })),
  )
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409])
})

test.each([
  ['$REPO_NAME', 'my-Repo'],
  ['${REPO_NAME_SNAKE} ${REPO_NAME_KEBAB} ${REPO_NAME_CAMEL} ${REPO_NAME_PASCAL}', 'my_repo my-repo myRepo MyRepo'],
  ['${REPO_NAME_LOWER} ${REPO_NAME_UPPER} ${REPO_NAME_TITLE}', 'my-repo MY-REPO My-Repo'],
  ['$REPO_NAMES ${REPO_NAME $ ${} $(REPO_NAME) $1', '$REPO_NAMES ${REPO_NAME $ ${} $(REPO_NAME) $1'],
  ['$REPO_HTTPS_URL $TEMPLATE_NAME $YEAR-$MONTH-$DAY', 'https://h/o/my-Repo.git base 2026-03-09'],
])('%j is expanded as Gitea does', (text, expected) => {
  const describe = (name: string) => ({
    owner: 'o',
    name,
    description: 'd',
    htmlUrl: `https://h/o/${name}`,
    cloneUrl: `https://h/o/${name}.git`,
    sshUrl: `ssh://h/o/${name}.git`,
  })
  const variables = variablesOf(
    { REPO: describe('my-Repo'), TEMPLATE: describe('base') },
    new Date('2026-03-09T12:00:00Z'),
  )
  expect(expand(text, variables)).toBe(expected)
})
