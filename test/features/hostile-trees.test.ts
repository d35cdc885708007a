import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../harness/service.ts'
import { until } from '../harness/until.ts'
import { openSink } from '../webhooks/sink.ts'
import { processesWith } from './transport/replica.ts'

/** Forty trees of a few hundred bytes each, which together name 10^40 files. Everybody may push that. */
let service: TestService
let owner: TestUser
let repository: TestRepository
let commit: string
beforeAll(async () => {
  service = await startTestService({
    settings: { GIT_MAX_MEMORY_TOTAL: '512MiB', RATE_LIMIT: 'off', WEBHOOK_ALLOWED_HOSTS: 'loopback' },
  })
  owner = await service.createUser()
  repository = await service.createRepository(owner, { auto_init: false })
  const { git } = service
  await git(['init', '-q', 'bomb'])
  const cwd = `${git.folder}/bomb`
  let item = `100644 blob ${await git(['hash-object', '-w', '--stdin'], { cwd, input: 'x\n' })}`
  for (let level = 0; level < 40; level += 1) {
    const names = Array.from({ length: 10 }, (_, index) => `${item}\tfolder${index}${level === 0 ? '.js' : ''}`)
    item = `040000 tree ${await git(['mktree'], { cwd, input: `${names.join('\n')}\n` })}`
  }
  commit = await git(['commit-tree', item.split(' ')[2] ?? '', '-m', 'bomb'], { cwd })
  await git(['push', '-q', repository.cloneUrl, `${commit}:refs/heads/main`], { cwd })
})
afterAll(() => service.stop())

/** Git processes of this service but those that wait for the next question. */
function works(): number[] {
  const waiting = new Set(processesWith('cat-file'))
  return processesWith(`--git-dir=${service.folder}/`).filter((pid) => !waiting.has(pid))
}

/** The longest time in which this process, the server included, did nothing else. */
async function longestPause(work: () => Promise<unknown>): Promise<number> {
  let [last, longest] = [performance.now(), 0]
  const timer = setInterval(() => {
    const now = performance.now()
    longest = Math.max(longest, now - last)
    last = now
  }, 5)
  await work()
  clearInterval(timer)
  return longest
}

test('what would have no end is refused before Git begins, however many ask', async () => {
  const headers = { authorization: `token ${owner.token}` }
  const paths = [
    `git/commits/${commit}`,
    'commits',
    'archive/main.zip',
    'archive/main.tar.gz?path=folder0',
    `git/commits/${commit}.diff`,
    `git/commits/${commit}.patch`,
  ]
  const asked = Array.from({ length: 5 }, () => paths).flat()
  const answers = await Promise.all(
    asked.map(async (path) => {
      const answer = await fetch(`${service.url}/api/v1${repository.path}/${path}`, { headers })
      await answer.bytes()
      return [path, answer.status]
    }),
  )
  expect(answers).toEqual(asked.map((path) => [path, 413]))
  await until(() => works().length === 0, 'git has ended')
}, 90_000)

test('the history of a path is told, and the memory for it is bounded', async () => {
  const answer = await owner.client.get(`${repository.path}/commits`, {
    path: 'folder0/folder1',
    stat: false,
    files: false,
  })
  expect([answer.status, Object(answer.body).length]).toEqual([200, 1])
})

test('hooks are told of a push and of a status of such a commit, without its files', async () => {
  await service.drain()
  const sink = await openSink()
  const config = { url: sink.url, content_type: 'json' }
  const hook = { type: 'gitea', active: true, events: ['push', 'status'], config }
  expect((await owner.client.post(`${repository.path}/hooks`, hook)).status).toBe(201)
  const cwd = `${service.git.folder}/bomb`
  await service.git(['push', '-q', repository.cloneUrl, `${commit}:refs/heads/again`], { cwd })
  expect((await owner.client.post(`${repository.path}/statuses/${commit}`, { state: 'success' })).status).toBe(201)
  await service.drain()
  await sink.close()
  const told = { id: commit, message: 'bomb\n', added: [], removed: [], modified: [] }
  const [push, status] = ['push', 'status'].map((name) =>
    sink.received.find(({ headers }) => headers['x-gitea-event'] === name),
  )
  expect(push?.json).toMatchObject({ ref: 'refs/heads/again', head_commit: told })
  expect(status?.json).toMatchObject({ state: 'success', commit: told })
})

test('a comparison that needs more memory than a command may have is ended', async () => {
  const large = await service.createRepository(owner, { auto_init: false })
  const { git } = service
  await git(['init', '-q', '-b', 'main', 'large'])
  const cwd = `${git.folder}/large`
  for (const turn of [0, 1]) {
    const lines = Array.from({ length: 1_500_000 }, (_, line) => line * 2 + turn)
    await Bun.write(`${cwd}/lines.txt`, lines.join('\n'))
    await git(['add', '.'], { cwd })
    await git(['commit', '-q', '-m', 'lines'], { cwd })
    await git(['-c', 'pack.window=0', 'push', '-q', large.cloneUrl, 'main'], { cwd })
  }
  const sha = await git(['rev-parse', 'HEAD'], { cwd })
  const answer = await owner.client.get(`${large.path}/git/commits/${sha}`)
  expect([answer.status, answer.text]).toEqual([413, expect.stringContaining('too much memory')])
  // The lines of the difference are under way when it ends.
  await expect(owner.client.get(`${large.path}/git/commits/${sha}.diff`)).rejects.toThrow('closed')
  await until(() => works().length === 0, 'git has ended')
})

test('a client that leaves an archive leaves no work behind', async () => {
  // A hundred thousand files.
  const part = Array.from({ length: 35 }, () => 'folder0').join('/')
  const client = new AbortController()
  const url = `${service.url}/api/v1${repository.path}/archive/main.tar.gz?path=${part}`
  const answer = fetch(url, { headers: { authorization: `token ${owner.token}` }, signal: client.signal }).catch(
    () => 0,
  )
  await until(() => works().length > 0, 'git begins')
  client.abort()
  await answer
  await until(() => works().length === 0, 'git ends')
})

test('what is read of such a tree has an end, and others are served meanwhile', async () => {
  const pause = await longestPause(async () => {
    await service.drain()
    const tree = await owner.client.get(`${repository.path}/git/trees/main`, { recursive: true })
    expect([tree.status, Object(tree.body).truncated]).toEqual([200, true])
    for (const path of ['contents', 'languages', 'branches', 'compare/main...main'])
      expect([path, (await owner.client.get(`${repository.path}/${path}`)).status]).toEqual([path, 200])
  })
  expect(pause).toBeLessThan(3000)
})

test('folders within folders have a depth', async () => {
  const deep = await service.createRepository(owner, { auto_init: false })
  const { git } = service
  await git(['init', '-q', '--bare', 'deep'])
  const cwd = `${git.folder}/deep`
  const blob = await git(['hash-object', '-w', '--stdin'], { cwd, input: 'x\n' })
  for (const [branch, depth] of [
    ['low', 400],
    ['deep', 600],
  ] as const) {
    await git(['read-tree', '--empty'], { cwd })
    await git(['update-index', '--add', '--cacheinfo', `100644,${blob},${'a/'.repeat(depth)}file`], { cwd })
    const tip = await git(['commit-tree', await git(['write-tree'], { cwd }), '-m', branch], { cwd })
    await git(['push', '-q', deep.cloneUrl, `${tip}:refs/heads/${branch}`], { cwd })
  }
  const headers = { authorization: `token ${owner.token}` }
  const statusOf = async (branch: string) => {
    const answer = await fetch(`${service.url}/api/v1${deep.path}/archive/${branch}.zip`, { headers })
    await answer.bytes()
    return answer.status
  }
  expect([await statusOf('low'), await statusOf('deep')]).toEqual([200, 413])
})
