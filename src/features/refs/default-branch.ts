import { eq } from 'drizzle-orm'
import { type RepositoryRow, repositories } from '../../../db/schema/repositories.ts'
import type { Context } from '../../context.ts'
import { appendEvent } from '../../events/append.ts'
import type { RefMove } from './describe.ts'
import { BRANCHES, type RefName } from './names.ts'
import { findAnyBranch } from './store.ts'

interface Change {
  /** Refs that came with this comparison, in their order. */
  created: readonly RefName[]
  /** Every ref was compared: then HEAD counts more than the column. */
  isWhole: boolean
  /** What HEAD names, in full; undefined: there is nothing to choose. */
  head: string | undefined
}

/** Taken before others that came at the same time, as clients create them by habit. */
const USUAL = ['main', 'master']

/**
 * Keeps the column and HEAD on disk equal, and both on a branch that exists: the first push decides when the wanted branch is
 * not in it. Runs under the repository's lock. Returns the name.
 */
export async function setDefaultBranch(context: Context, repository: RepositoryRow, change: Change): Promise<string> {
  const { db, git } = context
  const { id, defaultBranch } = repository
  if (change.head === undefined) return defaultBranch
  const head = shortName(change.head)
  const branches = change.created.filter(({ kind }) => kind === 'branch').map(({ name }) => name)
  const usual = USUAL.filter((name) => branches.includes(name))
  // HEAD goes before the column: who changes both writes HEAD first, and may have been killed between them.
  const wanted = [...(change.isWhole ? [head] : []), defaultBranch, ...usual, ...branches]
  const chosen = (await findAnyBranch(db, id, wanted)) ?? defaultBranch
  if (chosen !== defaultBranch) {
    await db.update(repositories).set({ defaultBranch: chosen }).where(eq(repositories.id, id))
    const subject = { actorId: null, repositoryId: id, ownerId: repository.ownerId }
    await appendEvent(db, { ...subject, kind: 'repository.default_branch_changed', payload: {} })
  }
  if (chosen !== head) await git.setHead(id, chosen)
  return chosen
}

/**
 * The branch that pull requests are made for unless they say otherwise. It goes along where the comparison shows it under a new name,
 * and is none where it is gone.
 */
export function targetBranchAfter(target: string, moves: readonly RefMove[]): string {
  const gone = moves.find((move) => move.ref === BRANCHES + target && move.new === null)
  if (!gone) return target
  const renamed = moves.find((move) => move.old === null && move.new === gone.old && move.ref.startsWith(BRANCHES))
  return renamed ? shortName(renamed.ref) : ''
}

const shortName = (ref: string): string => (ref.startsWith(BRANCHES) ? ref.slice(BRANCHES.length) : ref)
