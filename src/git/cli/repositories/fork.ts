import type { Call } from '../../model.ts'
import { runGit } from '../process/process.ts'
import { getHead } from '../refs/refs.ts'
import { objectFormatOf, requireFolder, type Store } from '../store.ts'
import { buildInPlace, writeSkeleton } from './repositories.ts'

/**
 * Fetched rather than copied or linked: objects that no ref of the source reaches any more, a deleted branch with a secret in it,
 * must not live on in a fork.
 */
export async function forkRepository(
  store: Store,
  id: number,
  sourceId: number,
  { branch }: { branch?: string } = {},
  call?: Call,
): Promise<void> {
  const source = await requireFolder(store.runner.root, sourceId)
  const head = branch === undefined ? await getHead(store, sourceId) : `refs/heads/${branch}`
  const objectFormat = await objectFormatOf(store, sourceId)
  const refs = branch === undefined ? ['refs/heads/*', 'refs/tags/*'] : [`refs/heads/${branch}`]
  await buildInPlace(store, id, async (folder) => {
    await writeSkeleton(folder, { objectFormat, head })
    await runGit(store.runner, {
      args: [
        'fetch',
        '--quiet',
        '--no-tags',
        '--no-write-fetch-head',
        '--end-of-options',
        source,
        ...refs.map((ref) => `+${ref}:${ref}`),
      ],
      folder,
      // Closed everywhere else; this path is one of the store's own.
      settings: [['protocol.file.allow', 'always']],
      call,
      isTransfer: true,
      memory: 'any',
    })
  })
}
