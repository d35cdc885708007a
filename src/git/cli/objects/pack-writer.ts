import { randomBytes } from 'node:crypto'
import { mkdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { syncFolder, writeDurable } from '../../../kernel/durable.ts'
import { GitError } from '../../errors.ts'
import type { PackedObjects } from '../../pack.ts'
import { type Runner, runGit } from '../process/process.ts'

/**
 * Written aside, as git does with a push, and moved when it is whole: git takes every `*.idx` among the packs for one, under whatever
 * name, and dies where the name has changed meanwhile. The pack goes first and the index last: a reader knows a pack by its index.
 * What a crash leaves aside is removed like what a push leaves. `check` may refuse the pack before it is seen.
 */
export async function writePack(
  folder: string,
  packed: PackedObjects,
  check?: (packFile: string) => Promise<void>,
): Promise<void> {
  const aside = join(folder, 'objects', `tmp_objdir-${randomBytes(8).toString('hex')}`)
  const [from, to] = [join(aside, 'pack'), join(folder, 'objects', 'pack')]
  const [pack, index] = [`pack-${packed.name}.pack`, `pack-${packed.name}.idx`]
  try {
    await mkdir(from, { recursive: true })
    // Flushed side by side: half the time of one after the other (0.9 against 2.5 ms for five files).
    await Promise.all([
      writeDurable(join(from, pack), packed.pack, 0o444),
      writeDurable(join(from, index), packed.index, 0o444),
    ])
    await check?.(join(from, pack))
    await rename(join(from, pack), join(to, pack))
    await rename(join(from, index), join(to, index))
    await syncFolder(to)
  } finally {
    await rm(aside, { recursive: true, force: true })
  }
}

/**
 * All checks of git, for content that needs them (`.gitmodules`); 5 ms. The objects lie aside and must be found there: git 2.39 passes
 * over a `.gitmodules` that it cannot find, and fed by a stream it installs the pack first and complains afterwards.
 */
export async function checkPack(runner: Runner, folder: string, packFile: string): Promise<void> {
  const aside = dirname(dirname(packFile))
  const args = ['index-pack', '--strict', '-o', join(aside, 'checked'), packFile]
  const place = { folder, beside: folder, environment: { GIT_OBJECT_DIRECTORY: aside } }
  const { exitCode, stderr } = await runGit(runner, { ...place, args, accepts: [0, 1, 128] })
  if (exitCode !== 0) throw new GitError('invalid', 'content', 'git refuses the content', { stderr })
}
