import { randomBytes } from 'node:crypto'
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { GitError } from '../errors.ts'
import type { PackBuilder, PackedObjects } from '../pack.ts'
import { syncFolder, writeDurable } from './durable.ts'
import { type Runner, runGit } from './process.ts'

/**
 * The pack goes first and the index last, as git does it: a reader knows a pack by its index. Temporary names begin with `tmp_`, so
 * that git's own cleaning removes what a crash leaves.
 */
export async function writePack(folder: string, packed: PackedObjects): Promise<void> {
  const packs = join(folder, 'objects', 'pack')
  const temporary = join(packs, `tmp_pack_${randomBytes(8).toString('hex')}`)
  const files = [`${temporary}.pack`, `${temporary}.idx`] as const
  try {
    // Flushed side by side: half the time of one after the other (0.9 against 2.5 ms for five files).
    await Promise.all([writeDurable(files[0], packed.pack, 0o444), writeDurable(files[1], packed.index, 0o444)])
    await rename(files[0], join(packs, `pack-${packed.name}.pack`))
    await rename(files[1], join(packs, `pack-${packed.name}.idx`))
    await syncFolder(packs)
  } catch (error) {
    await Promise.all(files.map((file) => rm(file, { force: true })))
    throw error
  }
}

/** The same through git with all of its checks; for content that needs them (`.gitmodules`). 6 ms instead of 1. */
export async function writeCheckedPack(runner: Runner, folder: string, builder: PackBuilder): Promise<void> {
  const { pack } = await builder.build()
  const args = ['index-pack', '--stdin', '--strict']
  const { exitCode, stderr } = await runGit(runner, { args, folder, stdin: pack, accepts: [0, 1, 128] })
  if (exitCode !== 0) throw new GitError('invalid', 'content', 'git refuses the content', { stderr })
}
