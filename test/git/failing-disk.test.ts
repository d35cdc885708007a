import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdir, symlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { StreamCache } from '../../src/git/cli/cache/stream-cache.ts'
import { errorCode } from '../../src/kernel/thrown.ts'
import { openStage, type Stage } from './stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage.close())

/** Whatever lies below cannot be read, by root neither: it fails with ELOOP. */
async function breakFolder(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await symlink(path, path)
}

const failureOf = (work: Promise<unknown>) => work.then(() => undefined, errorCode)

test('a repository on a disk that fails is not reported as missing, which would offer to make an empty one', async () => {
  expect(await stage.git.repair.folderState(7)).toBe('missing')
  await breakFolder(dirname(stage.folder(7)))
  expect(await failureOf(stage.git.repair.folderState(7))).toBe('ELOOP')
})

test('a cache of streams that cannot be cleaned says so; one that is not there yet is clean', async () => {
  const cacheIn = (folder: string) => new StreamCache({ folder, maxBytes: 1, clock: { now: () => new Date() } })
  expect(await cacheIn(stage.work('none')).clean()).toBe(0)
  const broken = stage.work('broken')
  await breakFolder(broken)
  expect(await failureOf(cacheIn(broken).clean())).toBe('ELOOP')
})
