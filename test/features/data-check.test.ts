import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, readdirSync } from 'node:fs'
import { mkdir, rename, rm, symlink, truncate, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { openChannels } from '../../db/channels.ts'
import type { DataProblem } from '../../src/doctor/data/check.ts'
import { storagePath } from '../../src/git/storage.ts'
import { enqueueJob } from '../../src/jobs/enqueue.ts'
import { isServed } from '../../src/jobs/look.ts'
import { runProgram } from '../harness/program.ts'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../harness/service.ts'
import { until } from '../harness/until.ts'
import { findFaults } from './transport/twins.ts'

let service: TestService
let owner: TestUser
let repo: TestRepository
let folder: string

beforeAll(async () => {
  service = await startTestService()
  owner = await service.createUser()
  await service.createRepository(owner)
})
afterAll(() => service.stop())
beforeEach(async () => {
  repo = await service.createRepository(owner)
  folder = join(service.context.config.repositoriesDir, storagePath(repo.id))
  await service.drain()
})

afterEach(async () => {
  await owner.client.delete(repo.path)
  await service.drain()
})

/** Faults in the order they were found, as `subject: detail`. */
async function check(isRepairing = false): Promise<{ faults: DataProblem[]; lines: string[] }> {
  const faults = await findFaults(service, isRepairing)
  return { faults, lines: faults.map(({ subject, detail }) => `${subject}: ${detail}`) }
}

/** The connection of a server that waits for jobs: one without workers, such as the one under test, leaves none. */
async function openWorker(): Promise<AsyncDisposable> {
  const { sql } = service.context
  const channels = openChannels({ url: service.databaseUrl, sql })
  channels.listen('nothing', () => undefined)
  await until(() => isServed(sql), 'the connection is there')
  return {
    async [Symbol.asyncDispose]() {
      await channels.close()
      await until(async () => !(await isServed(sql)), 'the connection is gone')
    },
  }
}

const named = () => `${repo.owner}/${repo.name} (${repo.id})`

/** Found without a change, repaired when that is asked for, and gone after it. */
async function expectRepaired(...lines: (string | RegExp)[]): Promise<void> {
  for (const isRepairing of [false, true]) {
    const { faults, lines: found } = await check(isRepairing)
    expect(found).toEqual(lines.map((line) => (typeof line === 'string' ? line : expect.stringMatching(line))))
    expect(faults.filter(({ isRepaired }) => isRepaired !== isRepairing)).toEqual([])
  }
  expect((await check()).lines).toEqual([])
}

/** One more commit on `main`, by push. Returns its id. */
async function push(branch = 'main'): Promise<string> {
  const cwd = join(service.git.folder, crypto.randomUUID())
  await service.git(['clone', '-q', repo.cloneUrl, cwd])
  await Bun.write(join(cwd, 'file.txt'), crypto.randomUUID())
  await service.git(['add', '-A'], { cwd })
  await service.git(['commit', '-qm', 'change'], { cwd })
  await service.git(['push', '-q', 'origin', `HEAD:${branch}`], { cwd })
  await service.drain()
  return service.git(['rev-parse', 'HEAD'], { cwd })
}

const shaOf = async (branch = 'main') => (await owner.client.get(`${repo.path}/branches/${branch}`)).string('commit.id')

/** As if a day had passed for what a killed process left. */
async function age(...paths: string[]): Promise<void> {
  const past = new Date(Date.now() - 86_400_000)
  for (const path of paths) await utimes(path, past, past)
}

test('a service that works is well', async () => {
  await push()
  await owner.client.post(`${repo.path}/issues`, { title: 'one' })
  await service.drain()
  expect((await check(true)).lines).toEqual([])
})

describe('folders', () => {
  test('a missing one is told of, and an empty repository takes its place with all but the content', async () => {
    await owner.client.post(`${repo.path}/issues`, { title: 'kept' })
    const sha = await shaOf()
    await rm(folder, { recursive: true })
    expect((await check()).lines).toEqual([`${named()}: ${storagePath(repo.id)} is missing`])
    const { lines, faults } = await check(true)
    expect(faults.every(({ isRepaired }) => isRepaired)).toBe(true)
    expect(lines[1]).toBe(`${named()}: refs/heads/main is nothing, not ${sha.slice(0, 10)}`)
    await service.drain()
    expect((await check()).lines).toEqual([])
    expect((await owner.client.get(repo.path)).body).toMatchObject({ empty: true, default_branch: 'main' })
    expect((await owner.client.get(`${repo.path}/issues`)).body).toMatchObject([{ title: 'kept' }])
    await service.git(['push', '-q', repo.cloneUrl, 'HEAD:main'], { cwd: await workTree() })
  })

  test('one without repository is set aside, where it can be adopted', async () => {
    const { context } = service
    const id = 4_000_000_001
    await context.git.createRepository(id, { objectFormat: 'sha1', defaultBranch: 'trunk' })
    await expectRepaired(`${storagePath(id)}: no repository has this folder`)
    const place = `${service.admin.name}/lost-${id}`
    expect((await service.admin.client.get('/admin/unadopted')).body).toEqual([place])
    expect((await service.admin.client.post(`/admin/unadopted/${place}`)).status).toBe(204)
    expect((await service.admin.client.get(`/repos/${place}`)).body).toMatchObject({ default_branch: 'trunk' })
    await service.drain()
  })

  test('one that a job is about to remove is no fault', async () => {
    await owner.client.delete(repo.path)
    expect(existsSync(folder)).toBe(true)
    expect((await check()).lines).toEqual([])
    await service.drain()
    expect(existsSync(folder)).toBe(false)
  })

  test('a link in its place is named, not followed', async () => {
    await rename(folder, `${folder}.elsewhere`)
    await symlink(`${folder}.elsewhere`, folder)
    const { faults } = await check(true)
    expect(faults).toMatchObject([
      { subject: named(), detail: `${storagePath(repo.id)} is a link or a file`, isRepaired: false },
    ])
    await rm(folder)
    await rename(`${folder}.elsewhere`, folder)
  })

  test('of another volume, or of another database, nothing is made up or moved', async () => {
    const root = service.context.config.repositoriesDir
    await rename(join(root, '@repositories'), join(root, '@away'))
    await mkdir(join(root, '@repositories'))
    const { faults } = await check(true)
    expect(faults).toMatchObject([{ subject: 'Folders', isRepaired: false }])
    expect(faults[0]?.detail).toMatch(/^(\d+) of \1 repositories have no folder/)
    expect(readdirSync(join(root, '@repositories'))).toEqual([])
    for (let id = 4_100_000_000; id < 4_100_000_010; id++)
      await service.context.git.createRepository(id, { objectFormat: 'sha1', defaultBranch: 'main' })
    expect((await check(true)).lines[1]).toStartWith('Folders: 10 of 10 folders in')
    await rm(join(root, '@repositories'), { recursive: true })
    await rename(join(root, '@away'), join(root, '@repositories'))
    expect((await check()).lines).toEqual([])
  })

  test('without HEAD or the empty folders that a backup left out get them back', async () => {
    await truncate(join(folder, 'HEAD'))
    await rm(join(folder, 'config'))
    await expectRepaired(`${named()}: ${storagePath(repo.id)} lacks HEAD, its settings, objects or refs`)
    expect((await owner.client.get(`${repo.path}/commits`)).status).toBe(200)
  })

  test('locks, quarantines and half-built folders of killed processes go when they are old', async () => {
    const root = service.context.config.repositoriesDir
    const left = [join(folder, 'refs/heads/main.lock'), join(folder, 'objects/pack/tmp_pack_x')]
    for (const path of left) await Bun.write(path, 'x')
    await mkdir(join(folder, 'objects/incoming-x'))
    await mkdir(join(root, '@creating/9-x'))
    await using _worker = await openWorker()
    expect((await check()).lines).toEqual([])
    await age(...left, join(folder, 'objects/incoming-x'), join(root, '@creating/9-x'))
    await expectRepaired(
      /^\S+ \(\d+\): killed processes left 3 locks or temporary files, such as /,
      'Folders: 1 were left half built or half removed, such as @creating/9-x',
    )
    await push()
  })
})

describe('refs', () => {
  test('that were moved on the disk are recorded', async () => {
    const sha = await shaOf()
    await service.git(['--git-dir', folder, 'update-ref', 'refs/heads/by-hand', sha])
    await expectRepaired(`${named()}: refs/heads/by-hand is ${sha.slice(0, 10)}, not nothing`)
    expect(await shaOf('by-hand')).toBe(sha)
    await service.drain()
  })

  test('a HEAD that dangles names the default branch again', async () => {
    await Bun.write(join(folder, 'HEAD'), 'ref: refs/heads/gone\n')
    await expectRepaired(`${named()}: HEAD names refs/heads/gone, which is not the default branch`)
    expect(await Bun.file(join(folder, 'HEAD')).text()).toBe('ref: refs/heads/main\n')
  })

  test('one of zeros, or empty, is what its row says', async () => {
    const sha = await shaOf()
    for (const content of [`${'0'.repeat(40)}\n`, '']) {
      await Bun.write(join(folder, 'refs/heads/main'), content)
      await expectRepaired(/objects are missing or damaged: .*refs\/heads\/main/)
      expect(await Bun.file(join(folder, 'refs/heads/main')).text()).toBe(`${sha}\n`)
    }
  })

  test('one whose objects did not come with the copy goes back to its last whole state', async () => {
    const first = await shaOf()
    const packs = new Set(readdirSync(join(folder, 'objects/pack')))
    const second = await push()
    await push('topic')
    for (const name of readdirSync(join(folder, 'objects/pack')))
      if (!packs.has(name)) await rm(join(folder, 'objects/pack', name))
    const { faults } = await check(true)
    expect(faults[0]).toMatchObject({ subject: named(), isRepaired: true })
    expect(faults[0]?.detail).toContain(`refs/heads/main was ${second} and is ${first}`)
    await service.drain()
    expect((await check()).lines).toEqual([])
    expect(await shaOf()).toBe(first)
    // Before that push there was no such branch.
    expect((await owner.client.get(`${repo.path}/branches/topic`)).status).toBe(404)
    await push()
  })

  test('damage that leaves no whole state is named, and stays as it is', async () => {
    await service.context.sql`delete from events where repository_id = ${repo.id}`
    for (const name of readdirSync(join(folder, 'objects/pack'))) await rm(join(folder, 'objects/pack', name))
    const { faults } = await check(true)
    expect(faults).toMatchObject([{ subject: named(), isRepaired: false }])
    expect(faults[0]?.detail).toContain('no whole state is known of refs/heads/main')
    expect(faults[0]?.remedy).toStartWith('put it back from a backup')
  })
})

test('an empty object goes, and comes again with the next push', async () => {
  const blob = await service.git(['--git-dir', folder, 'hash-object', '-w', '--stdin'], { input: 'lost\n' })
  const tree = await service.git(['--git-dir', folder, 'mktree'], { input: `100644 blob ${blob}\tlost.txt\n` })
  const sha = await service.git(['--git-dir', folder, 'commit-tree', '-m', 'x', tree])
  await service.git(['--git-dir', folder, 'update-ref', 'refs/heads/loose', sha])
  await check(true)
  const path = join(folder, 'objects', blob.slice(0, 2), blob.slice(2))
  const cwd = join(service.git.folder, crypto.randomUUID())
  await service.git(['clone', '-q', '-b', 'loose', repo.cloneUrl, cwd])
  await rm(path)
  await Bun.write(path, '')
  const { faults } = await check(true)
  expect(faults).toMatchObject([{ subject: named(), isRepaired: false }])
  expect(existsSync(path)).toBe(false)
  await service.git(['commit', '-q', '--amend', '-m', 'again'], { cwd })
  await service.git(['push', '-q', '--force', 'origin', 'loose'], { cwd })
  await service.drain()
  expect((await check()).lines).toEqual([])
})

test('numbers and rows that repeat others are counted anew', async () => {
  const { sql } = service.context
  const organization = `org-${crypto.randomUUID().slice(0, 8)}`
  await owner.client.post('/orgs', { username: organization })
  await owner.client.put(`${repo.path}/topics`, { topics: ['lost-topic'] })
  await owner.client.post(`${repo.path}/issues`, { title: 'one' })
  await service.drain()
  await sql`update repositories set is_empty = true where id = ${repo.id}`
  await sql`update repository_counters set stars_count = 7, last_issue_number = 0 where repository_id = ${repo.id}`
  await sql`delete from topics where name = 'lost-topic'`
  await sql`delete from organization_members where organization_id = (select id from users where name = ${organization})`
  await sql`insert into repository_totals values ('public', false, false, false, false, false, 3)`
  await expectRepaired(
    `repository_counters ${repo.id}: stars_count is 7, not 0`,
    `repositories ${repo.id}: is_empty is true, not false`,
    `repository_counters ${repo.id}: last_issue_number is 0, not 1`,
    'Sums of repositories: 1 are wrong or missing',
    'Members of organizations: 1 are wrong or missing',
    'Topics: 1 are wrong or missing',
  )
  expect((await owner.client.get(`/orgs/${organization}/members`)).body).toMatchObject([{ login: owner.name }])
  expect((await owner.client.post(`${repo.path}/issues`, { title: 'two' })).number('number')).toBe(2)
})

test('a sequence that fell behind its table goes on above it', async () => {
  const { sql } = service.context
  await owner.client.post(`${repo.path}/issues`, { title: 'one' })
  await sql`select setval('issues_id_seq', 1, false)`
  const [row] = await sql`select max(id)::int as top from issues`
  await sql`update issues set id = default where false`
  await expectRepaired(`issues: the next number would be 2, but ${row?.top} is in use`)
  expect((await owner.client.post(`${repo.path}/issues`, { title: 'two' })).status).toBe(201)
})

test('what a killed server left in rows is ended', async () => {
  const { sql, db } = service.context
  await sql`insert into pushes (repository_id, created_at) values (${repo.id}, now() - interval '1 day')`
  await sql`insert into repository_reservations (created_at) values (now() - interval '1 day')`
  await enqueueJob(db, 'events.react', { eventIds: [], reaction: 'x' })
  await sql`update jobs set attempts = max_attempts, last_error = 'no luck', failed_at = now(), retired_at = now()`
  await expectRepaired(
    'Pushes: 1 began longer ago than a push may take, and did not end',
    'Creations: 1 were interrupted',
    /^Job \d+: events.react failed for good: no luck$/,
  )
  await sql`delete from jobs`
})

test('a size that is far off is measured anew', async () => {
  await service.context.sql`update repository_counters set size_bytes = 5000000 where repository_id = ${repo.id}`
  await expectRepaired(/it takes \d+ bytes, not 5000000$/)
})

describe('hearth doctor --data', () => {
  const run = (...words: string[]) =>
    runProgram(['doctor', ...words], {
      DATABASE_URL: service.databaseUrl,
      DATA_DIR: service.context.config.dataDir,
    })

  test('says that all is well, names what is not, repairs it when told to, and ends accordingly', async () => {
    const well = await run('--data')
    expect([well.exitCode, well.stderr]).toEqual([0, ''])
    expect(well.stdout).toMatch(/^All is well: \d+ repositories and \d+ folders were looked through\.\n$/)
    await service.context.sql`update repository_counters set forks_count = 3 where repository_id = ${repo.id}`
    const bad = await run('--data', '--quick')
    expect(bad.exitCode).toBe(1)
    expect(bad.stdout).toContain(`FAULT  repository_counters ${repo.id}: forks_count is 3, not 0\n`)
    expect(bad.stdout).toContain('To fix it: bun run start doctor --data --repair counts it anew\n')
    expect(bad.stdout).toContain('\n1 fault is left: ')
    const repaired = await run('--data', '--repair')
    expect(repaired.exitCode).toBe(0)
    expect(repaired.stdout).toStartWith(`REPAIRED repository_counters ${repo.id}: forks_count is 3, not 0\n`)
    expect(repaired.stdout).toContain('\nAll is well, 1 repaired: ')
    expect((await run('--data')).exitCode).toBe(0)
  })

  test('is needed for its own options, which its help tells', async () => {
    const { exitCode, stderr } = await run('--repair')
    expect([exitCode, stderr]).toEqual([64, '--repair and --quick go with --data\n'])
    const { stdout } = await run('--help')
    for (const option of ['--data', '--repair', '--quick']) expect(stdout).toContain(`  ${option} `)
  })
})

async function workTree(): Promise<string> {
  const cwd = join(service.git.folder, crypto.randomUUID())
  await mkdir(cwd)
  await service.git(['init', '-q'], { cwd })
  await Bun.write(join(cwd, 'a.txt'), 'a')
  await service.git(['add', '-A'], { cwd })
  await service.git(['commit', '-qm', 'first'], { cwd })
  return cwd
}
