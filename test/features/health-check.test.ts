import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pino from 'pino'
import type { Context } from '../../src/context.ts'
import { repositoryTasks } from '../../src/features/repository-maintenance/tasks.ts'
import { createGit, type GitOption } from '../../src/git/cli/git.ts'
import { storagePath } from '../../src/git/storage.ts'
import { startTestService, type TestRepository, type TestService } from '../harness/service.ts'

let service: TestService
let sound: TestRepository
let broken: TestRepository
const lines: { level: number; msg: string; repositoryId: number; checked?: number; undecided?: number }[] = []

beforeAll(async () => {
  service = await startTestService({
    log: pino({ level: 'info' }, { write: (line: string) => lines.push(JSON.parse(line)) }),
  })
  const owner = await service.createUser()
  sound = await service.createRepository(owner)
  broken = await service.createRepository(owner)
  await rm(join(service.context.config.repositoriesDir, storagePath(broken.id), 'objects/pack'), { recursive: true })
})
afterAll(() => service.stop())
beforeEach(async () => {
  await service.context.sql`truncate repository_checks`
})

/** The task over an engine with other limits on the same folders. */
async function check(
  option: Partial<GitOption>,
  around: (context: Context, run: () => Promise<void>) => Promise<void>,
) {
  lines.length = 0
  const git = await createGit({ repositoriesDir: service.context.config.repositoriesDir, ...option })
  const context: Context = { ...service.context, git }
  const task = repositoryTasks.find(({ name }) => name === 'repo_health_check')
  if (!task) throw new Error('no such task')
  await around(context, () => task.run(context, new AbortController().signal))
  await git.close()
}

const noted = async () => [
  ...(await service.context.sql`
    select repository_id::integer as id, problems, checked_at is not null as checked from repository_checks order by 1`),
]
const errors = () => lines.filter(({ level }) => level >= 50).map(({ repositoryId }) => repositoryId)
const warnings = () => lines.filter(({ level }) => level === 40).map(({ repositoryId }) => repositoryId)

test('a check that had its time names what is damaged, and that alone', async () => {
  await check({}, (_, run) => run())
  expect([errors(), warnings()]).toEqual([[broken.id], []])
  expect(await noted()).toMatchObject([
    { id: sound.id, problems: [], checked: true },
    { id: broken.id, checked: true },
  ])
  expect(lines.at(-1)).toMatchObject({ checked: 1, damaged: 1, undecided: 0 })
})

test('a check that takes too long says nothing, keeps what was known and comes again in its turn', async () => {
  await service.context.sql`
    insert into repository_checks (repository_id, problems) values (${broken.id}, array['known before'])`
  // Git waits for ever for what a pipe in place of a ref has to say.
  const pipes = [sound, broken].map(({ id }) =>
    join(service.context.config.repositoriesDir, storagePath(id), 'refs/heads/silent'),
  )
  await Promise.all(pipes.map((pipe) => Bun.$`mkfifo ${pipe}`.quiet()))
  await check({ transferTimeoutMs: 100 }, (_, run) => run())
  await Promise.all(pipes.map((pipe) => rm(pipe)))
  expect(errors()).toEqual([])
  expect(warnings().sort()).toEqual([sound.id, broken.id])
  expect(await noted()).toEqual([
    { id: sound.id, problems: [], checked: true },
    { id: broken.id, problems: ['known before'], checked: true },
  ])
})

test('a machine that is too busy leaves all to the next run', async () => {
  await check({ maxTransfers: 1, maxQueue: 0 }, async ({ git }, run) => {
    // An answer that nobody reads holds the only place.
    const body = new ReadableStream<Uint8Array>({ pull: () => new Promise<void>(() => {}) }, { highWaterMark: 0 })
    const abort = new AbortController()
    const held = await git.serve(sound.id, 'receive-pack', { body, signal: abort.signal })
    await run()
    abort.abort()
    await held.done
  })
  expect(errors()).toEqual([])
  expect(warnings().sort()).toEqual([sound.id, broken.id])
  expect(await noted()).toEqual([])
  expect(lines.at(-1)).toMatchObject({ checked: 0, damaged: 0, undecided: 2 })
})

test('a check that the machine ended leaves the repository to the next run', async () => {
  const gitBinary = join(service.folder, 'killed-git')
  await writeFile(gitBinary, '#!/bin/sh\ncase "$*" in *fsck*) kill -9 $$ ;; esac\nexec git "$@"\n', { mode: 0o755 })
  await check({ gitBinary }, (_, run) => run())
  expect(errors()).toEqual([])
  expect(warnings().sort()).toEqual([sound.id, broken.id])
  expect(await noted()).toEqual([])
})
