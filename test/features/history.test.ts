import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { makeHistory } from '../git/made-history.ts'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../harness/service.ts'

/** What the API says of a long history is what Git itself says of it, in a clone that the service has not touched. */
const COMMITS = 2100
let service: TestService
let owner: TestUser
let repository: TestRepository
let shas: string[]

/** In UTC as the service: a zip has local times. */
const git = (...args: string[]) =>
  service.git(['-c', 'core.quotePath=false', ...args], { cwd: `${service.git.folder}/source`, env: { TZ: 'UTC' } })
const linesOf = async (...args: string[]) => (await git(...args)).split('\n').filter((line) => line !== '')
const fieldsOf = async (...args: string[]) => (await git(...args)).split('\0').filter((field) => field !== '')
const get = (path: string, query: Record<string, string | number> = {}) =>
  owner.client.get(`${repository.path}/${path}`, query)
const bytesOf = async (path: string) =>
  (
    await fetch(`${service.url}/api/v1${repository.path}/${path}`, {
      headers: { authorization: `token ${owner.token}` },
    })
  ).bytes()

beforeAll(async () => {
  service = await startTestService({ settings: { RATE_LIMIT: 'off' } })
  owner = await service.createUser()
  repository = await service.createRepository(owner, { auto_init: false })
  await service.git(['init', '-q', 'source'])
  const cwd = `${service.git.folder}/source`
  await service.git(['fast-import', '--quiet', '--done'], { cwd, input: makeHistory(COMMITS) })
  await git('push', '-q', repository.cloneUrl, 'main', 'side')
  shas = await linesOf('rev-list', 'main')
  expect(shas.length).toBeGreaterThan(1900)
  expect((await linesOf('rev-list', 'main', 'side')).length).toBe(COMMITS)
})
afterAll(() => service.stop())

const text = Type.String()
const Named = Type.Object({ sha: text })
const Person = Type.Object({ name: text, email: text, date: text })
const Listed = Type.Object({
  sha: text,
  commit: Type.Object({ message: text, tree: Named, author: Person }),
  parents: Type.Array(Named),
})
const Page = Type.Array(Listed)
const TreePage = Type.Object({
  tree: Type.Array(Type.Object({ path: text, mode: text, type: text, sha: text, size: Type.Integer() })),
  total_count: Type.Integer(),
})
const Changed = Type.Object({ files: Type.Array(Type.Object({ filename: text })), stats: Type.Object({}) })
const Compared = Type.Object({ total_commits: Type.Integer(), commits: Page })
const Entries = Type.Array(Type.Object({ path: text, type: text, sha: text, last_commit_sha: text }))

function read<Shape extends TSchema>(shape: Shape, body: unknown): Static<Shape> {
  if (Value.Check(shape, body)) return body
  throw new Error(`not what was asked for: ${JSON.stringify(body).slice(0, 200)}`)
}

/** Every page of a list of commits. */
async function listed(query: Record<string, string | number> = {}): Promise<Static<typeof Page>> {
  const all: Static<typeof Page> = []
  for (let page = 1; ; page += 1) {
    const answer = await get('commits', {
      stat: 'false',
      files: 'false',
      verification: 'false',
      limit: 50,
      page,
      ...query,
    })
    const items = read(Page, answer.body)
    all.push(...items)
    if (all.length >= Number(answer.headers.get('x-total-count')) || items.length === 0) return all
  }
}

test('every commit has its parents, tree, people, times and message', async () => {
  const format = '%H%n%T%n%P%n%an%n%ae%n%at%n%B%x00'
  const wanted = (await git('log', `--format=${format}`, 'main')).split('\0\n').map((text) => text.replace(/\0$/, ''))
  const found = (await listed()).map(({ sha, commit, parents }) =>
    [
      ...[sha, commit.tree.sha, parents.map((parent) => parent.sha).join(' ')],
      ...[commit.author.name, commit.author.email, Date.parse(commit.author.date) / 1000, commit.message],
    ].join('\n'),
  )
  expect(found).toEqual(wanted.filter((text) => text !== ''))
})

test('commits are chosen as Git chooses them', async () => {
  const [middle = '', early = ''] = [shas[Math.floor(shas.length / 2)], shas.at(-100)]
  const when = new Date(Number(await git('log', '-1', '--format=%ct', middle)) * 1000).toISOString()
  const cases: [Record<string, string>, string[]][] = [
    [{ path: 'docs/märz' }, ['main', '--', 'docs/märz']],
    [{ path: 'src/deep' }, ['main', '--', 'src/deep']],
    [{ sha: middle, path: 'a b' }, [middle, '--', 'a b']],
    [{ since: when }, [`--since=${when}`, 'main']],
    [{ until: when, path: 'src' }, [`--until=${when}`, 'main', '--', 'src']],
    [{ not: early, sha: 'side' }, ['side', `^${early}`]],
  ]
  for (const [query, args] of cases) {
    const wanted = await linesOf('rev-list', ...args)
    expect(wanted.length).toBeGreaterThan(10)
    expect([query, (await listed(query)).map(({ sha }) => sha)]).toEqual([query, wanted])
  }
})

test('trees have the names, modes, ids and sizes of Git', async () => {
  for (const sha of [shas[0], shas[700], shas[1500]]) {
    const lines = await fieldsOf('ls-tree', '-r', '-t', '-l', '-z', sha ?? '')
    const found: string[] = []
    for (let page = 1; ; page += 1) {
      const answer = await get(`git/trees/${sha}`, { recursive: 'true', per_page: 150, page })
      const { tree, total_count: total } = read(TreePage, answer.body)
      for (const { mode, type, sha: id, size, path } of tree)
        found.push(`${mode} ${type} ${id} ${type === 'tree' ? '-' : size}\t${path}`)
      if (found.length >= total) break
    }
    expect(found).toEqual(lines.map((line) => line.replace(/ +(\S+)\t/, ' $1\t')))
  }
})

/** Some commits of every part of the history, merges among them. */
const some = () => shas.filter((_, index) => index % 45 === 0 || index % 299 === 2)

/** How many digits of an id are shown depends on how many objects are near. */
const withoutIds = (text: string) => text.replaceAll(/^index [0-9a-f]+\.\.[0-9a-f]+/gm, 'index')

test('what a commit has changed is what Git says of it, in names, numbers and text', async () => {
  for (const sha of some()) {
    const parent = (await linesOf('rev-list', '--parents', '-1', sha))[0]?.split(' ')[1]
    const range = parent === undefined ? ['--root', sha] : [parent, sha]
    const names = await fieldsOf('diff-tree', '-r', '--no-renames', '--no-commit-id', '--name-only', '-z', ...range)
    const numbers = await linesOf('diff-tree', '-r', '-M', '--no-commit-id', '--numstat', ...range)
    const sum = (at: number) => numbers.reduce((total, line) => total + (Number(line.split('\t')[at]) || 0), 0)
    const { body } = await get(`git/commits/${sha}`)
    const { files, stats } = read(Changed, body)
    expect([sha, files.map(({ filename }) => filename).sort()]).toEqual([sha, names.sort()])
    expect(stats).toEqual({ total: sum(0) + sum(1), additions: sum(0), deletions: sum(1) })
    const printed = await git('diff-tree', '-p', '-M', '--no-commit-id', ...range)
    const told = Buffer.from(await bytesOf(`git/commits/${sha}.diff`)).toString()
    expect(withoutIds(told)).toBe(withoutIds(printed === '' ? '' : `${printed}\n`))
  }
})

test('a patch of a commit makes its tree of that of its parent, by the real git', async () => {
  const env = { GIT_INDEX_FILE: join(service.git.folder, 'index') }
  const cwd = `${service.git.folder}/source`
  for (const sha of some().slice(0, -1)) {
    if ((await git('rev-list', '--parents', '-1', sha)).split(' ').length !== 2) continue
    await service.git(['read-tree', `${sha}^`], { cwd, env })
    const input = Buffer.from(await bytesOf(`git/commits/${sha}.patch`)).toString()
    await service.git(['apply', '--cached', '--allow-empty', '--whitespace=nowarn'], { cwd, env, input })
    expect(await service.git(['write-tree'], { cwd, env })).toBe(await git('rev-parse', `${sha}^{tree}`))
  }
})

test('a comparison has the commits that Git finds', async () => {
  for (const [base, head] of [
    ['main', 'side'],
    ['side', 'main'],
    [shas[1200], shas[1000]],
  ]) {
    const wanted = await linesOf('rev-list', `${base}..${head}`)
    const { body } = await get(`compare/${base}...${head}`)
    const { total_commits: total, commits } = read(Compared, body)
    expect(total).toBe(wanted.length)
    expect(commits.map(({ sha }) => sha)).toEqual(wanted.slice(0, 250))
  }
})

test('files have their bytes, and of each the commit that changed it last', async () => {
  for (const folder of ['', 'src', 'docs/märz', 'a b']) {
    const { body } = await get(`contents/${encodeURI(folder)}`)
    const entries = read(Entries, body).filter((_, index) => index % 9 === 0)
    expect(entries.length).toBeGreaterThan(0)
    for (const { path, type, sha, last_commit_sha: last } of entries) {
      expect([path, last]).toEqual([path, await git('log', '-1', '--format=%H', 'main', '--', path)])
      expect(sha).toBe(await git('rev-parse', `main:${path}`))
      if (type === 'dir') continue
      const bytes = await bytesOf(`raw/${path.split('/').map(encodeURIComponent).join('/')}`)
      expect(await service.git(['hash-object', '--stdin'], { input: new Blob([bytes]) })).toBe(sha)
    }
  }
})

test('archives hold what those of Git hold, byte for byte', async () => {
  const prefix = `--prefix=${repository.name}/`
  for (const sha of [shas[0], shas[900]]) {
    const file = join(service.git.folder, `${sha}.tar`)
    await git('archive', '--format=tar', prefix, `--output=${file}`, sha ?? '')
    expect(Buffer.compare(gunzipSync(await bytesOf(`archive/${sha}.tar.gz`)), await Bun.file(file).bytes())).toBe(0)
    await git('archive', '--format=zip', prefix, `--output=${file}`, sha ?? '')
    expect(Buffer.compare(await bytesOf(`archive/${sha}.zip`), await Bun.file(file).bytes())).toBe(0)
  }
})
