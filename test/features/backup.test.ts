import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { storagePath } from '../../src/git/storage.ts'
import { createClient } from '../harness/client.ts'
import { copyDatabase } from '../harness/copy-database.ts'
import type { TestDatabase } from '../harness/database.ts'
import { type RunningProgram, runProgram, serveProgram } from '../harness/program.ts'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../harness/service.ts'
import { until } from '../harness/until.ts'

const SECRET_KEY = 'kept beside the copies of the rest'
const PUSHERS = 2

let service: TestService
let owner: TestUser
let shared: TestRepository
let isOver = false
const work: Promise<void>[] = []
/** What was answered so far. */
const journal = { issues: 0, repositories: [] as string[], pushes: new Map<string, string>(), pushed: 0 }

beforeAll(async () => {
  service = await startTestService({ settings: { SECRET_KEY } })
  owner = await service.createUser()
  shared = await service.createRepository(owner)
  for (let index = 0; index < PUSHERS; index++) work.push(push(`pusher-${index}`))
  work.push(write())
})
afterAll(async () => {
  isOver = true
  await Promise.all(work)
  await service.stop()
})

async function push(name: string): Promise<void> {
  const cwd = join(service.git.folder, name)
  await service.git(['clone', '-q', shared.cloneUrl, cwd])
  for (let round = 0; !isOver; round++) {
    await Bun.write(join(cwd, `${round}.bin`), crypto.getRandomValues(new Uint8Array(20_000)))
    await service.git(['add', '-A'], { cwd })
    await service.git(['commit', '-qm', `change ${round}`], { cwd })
    // Now and then a branch that was never there: its whole history may come after the copy.
    const refs = round % 5 === 4 ? ['HEAD', `HEAD:refs/heads/${name}-${round}`] : ['HEAD']
    await service.git(['push', '-q', 'origin', ...refs.map((ref) => (ref === 'HEAD' ? `HEAD:${name}` : ref))], { cwd })
    journal.pushes.set(name, await service.git(['rev-parse', 'HEAD'], { cwd }))
    journal.pushed += 1
  }
}

/** Issues, new repositories, and the deletion of every third. */
async function write(): Promise<void> {
  for (let round = 0; !isOver; round++) {
    const issue = await owner.client.post(`${shared.path}/issues`, { title: `issue ${round}` })
    journal.issues = Math.max(journal.issues, issue.number('number'))
    const name = `made-${round}`
    const made = await owner.client.post('/user/repos', { name, auto_init: true })
    if (round % 3 === 2) await owner.client.delete(`/repos/${owner.name}/${name}`)
    else if (made.status === 201) journal.repositories.push(name)
    await service.drain()
  }
}

async function more(count: number): Promise<void> {
  const before = journal.pushed
  await until(() => journal.pushed >= before + count, `${count} more pushes`, 60_000)
}

/**
 * As an operator's `cp` or `rsync`: file by file, in the order of folders, whatever is written meanwhile. Twice, as the README says:
 * packs that are rolled together while the first pass runs are in neither of its lists.
 */
async function copyFolders(to: string): Promise<void> {
  mkdirSync(to, { recursive: true, mode: 0o700 })
  for (let pass = 0; pass < 2; pass++) {
    const copy = Bun.spawn(['cp', '-a', `${service.context.config.repositoriesDir}/.`, to], { stderr: 'ignore' })
    // It fails where files vanish while it runs, and has copied the rest.
    await copy.exited
  }
}

interface Restored {
  database: TestDatabase
  folder: string
  settings: Record<string, string>
}

async function backUp(order: 'database first' | 'folders first'): Promise<Restored> {
  const folder = join(service.folder, order.replace(' ', '-'))
  const repositories = join(folder, 'repositories')
  let database: TestDatabase
  if (order === 'database first') {
    database = await copyDatabase(service.databaseUrl)
    await more(4)
    await copyFolders(repositories)
  } else {
    await copyFolders(repositories)
    await more(4)
    database = await copyDatabase(service.databaseUrl)
  }
  return { database, folder, settings: { DATABASE_URL: database.url, DATA_DIR: folder, SECRET_KEY, LOG_LEVEL: 'warn' } }
}

test.each(['database first', 'folders first'] as const)(
  'a backup that is taken while people work, %s, is whole again after `doctor --data --repair`',
  async (order) => {
    await more(2)
    const before = { ...journal, repositories: [...journal.repositories], pushes: new Map(journal.pushes) }
    const { database, folder, settings } = await backUp(order)
    // As copied in the moment in which Git held it.
    await Bun.write(join(folder, 'repositories', storagePath(shared.id), 'refs/heads/pusher-0.lock'), '')
    let restored: RunningProgram | undefined
    try {
      const repaired = await runProgram(['doctor', '--data', '--repair'], settings)
      expect(repaired.stdout.match(/^FAULT.*\n.*$/gm)).toBeNull()
      // Else nothing came between the two copies, and nothing was shown.
      expect(repaired.stdout).toContain('REPAIRED')
      expect(repaired.exitCode).toBe(0)
      restored = await serveProgram({ ...settings, LOG_LEVEL: 'info' })
      const client = createClient({ url: restored.url, credential: { token: owner.token } })
      expect((await client.get(`${shared.path}/issues/${before.issues}`)).status).toBe(200)
      for (const name of before.repositories)
        expect((await client.get(`/repos/${owner.name}/${name}/branches/main`)).status).toBe(200)
      for (const [name, sha] of before.pushes) {
        const compared = await client.get(`${shared.path}/compare/${sha}...${name}`)
        expect([compared.status, compared.text.slice(0, 200)]).toEqual([200, expect.anything()])
      }
      // Whoever has more than the copy pushes it again.
      const url = shared.cloneUrl.replace(new URL(shared.cloneUrl).host, new URL(restored.url).host)
      for (const name of before.pushes.keys())
        await service.git(['push', '-q', url, `HEAD:${name}`], { cwd: join(service.git.folder, name) })
      restored.kill('SIGTERM')
      expect(await restored.exited).toBe(0)
      expect((await runProgram(['doctor', '--data'], settings)).stdout).toMatch(/^All is well: /)
    } finally {
      restored?.kill('SIGKILL')
      await database.drop()
    }
  },
  180_000,
)
