import { and, eq, gt } from 'drizzle-orm'
import { pushes } from '../../../db/schema/refs.ts'
import type { Context } from '../../context.ts'
import type { RefMove } from './describe.ts'
import { readDiskRefs } from './disk.ts'
import { BRANCHES } from './names.ts'
import { loadRows, lockRepository } from './store.ts'
import { compare } from './sync.ts'

export interface RefDifferences {
  moves: RefMove[]
  /** What HEAD names where that is no branch, or not the default branch; undefined where all is right, or nothing was pushed yet. */
  head: string | undefined
  /** A push began less than a minute ago: it may be about to record what it has moved. */
  isPushed: boolean
}

const PUSH_SECONDS = 60

/** What `syncRefs` would record, and changes nothing. Undefined for a repository that is gone. */
export async function findRefDifferences(context: Context, repositoryId: number): Promise<RefDifferences | undefined> {
  const { git, clock } = context
  return context.db.transaction(async (tx) => {
    const repository = await lockRepository(tx, repositoryId)
    if (!repository) return undefined
    const [disk, rows] = [await readDiskRefs(git, repositoryId), await loadRows(tx, repositoryId)]
    const moves = compare(disk, rows, undefined)
    const head = await git.getHead(repositoryId)
    const hasBranches = [...disk.keys()].some((name) => name.startsWith(BRANCHES))
    const isRight = !hasBranches || (disk.has(head) && head === BRANCHES + repository.defaultBranch)
    const since = new Date(clock.now().getTime() - PUSH_SECONDS * 1000)
    const ofRepository = and(eq(pushes.repositoryId, repositoryId), gt(pushes.createdAt, since))
    return { moves, head: isRight ? undefined : head, isPushed: (await tx.$count(pushes, ofRepository)) > 0 }
  })
}
