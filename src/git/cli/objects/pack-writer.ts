import { randomBytes } from 'node:crypto'
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { GitError } from '../../errors.ts'
import type { PackedObjects } from '../../pack.ts'
import { syncFolder, writeDurable } from '../process/durable.ts'
import { type Runner, runGit } from '../process/process.ts'

/**
 * The pack goes first and the index last, as git does it: a reader knows a pack by its index. Temporary names begin with `tmp_`, so
 * that git's own cleaning removes what a crash leaves. `check` may refuse the pack before it is seen.
 */
export async function writePack(
  folder: string,
  packed: PackedObjects,
  check?: (packFile: string) => Promise<void>,
): Promise<void> {
  const packs = join(folder, 'objects', 'pack')
  const temporary = join(packs, `tmp_pack_${randomBytes(8).toString('hex')}`)
  const files = [`${temporary}.pack`, `${temporary}.idx`] as const
  try {
    // Flushed side by side: half the time of one after the other (0.9 against 2.5 ms for five files).
    await Promise.all([writeDurable(files[0], packed.pack, 0o444), writeDurable(files[1], packed.index, 0o444)])
    await check?.(files[0])
    await rename(files[0], join(packs, `pack-${packed.name}.pack`))
    await rename(files[1], join(packs, `pack-${packed.name}.idx`))
    await syncFolder(packs)
  } catch (error) {
    await Promise.all(files.map((file) => rm(file, { force: true })))
    throw error
  }
}

/**
 * All checks of git, for content that needs them (`.gitmodules`); 5 ms. The file is checked in place: fed by a stream, git 2.39
 * installs the pack first and complains afterwards.
 */
export async function checkPack(runner: Runner, folder: string, packFile: string): Promise<void> {
  const index = packFile.replace(/\.pack$/, '.checked')
  const args = ['index-pack', '--strict', '-o', index, packFile]
  try {
    const { exitCode, stderr } = await runGit(runner, { args, folder, accepts: [0, 1, 128] })
    if (exitCode !== 0) throw new GitError('invalid', 'content', 'git refuses the content', { stderr })
  } finally {
    await rm(index, { force: true })
  }
}
