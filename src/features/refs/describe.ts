import type { EventPayload } from '../../events/catalogue.ts'
import type { Git } from '../../git/engine.ts'
import { isGitError } from '../../git/errors.ts'
import { summaryOf } from './disk.ts'
import { parseRef } from './names.ts'

/** One ref that is not where its row says. */
export interface RefMove {
  ref: string
  /** null: the ref is new. */
  old: string | null
  /** null: the ref is gone. */
  new: string | null
}

/** Newest commits that an event of a push carries. */
const MAX_COMMITS = 20
/** Moves of one push whose commits are listed; each costs two Git processes while other pushes to the repository wait. */
const MAX_DESCRIBED = 20

interface Ground {
  git: Git
  repositoryId: number
  /** Where a new branch is taken to start: the tip of the default branch before this push. */
  base: string | undefined
}

/** The payloads of the `push` events, in the order of the moves. */
export async function describePushes(ground: Ground, moves: readonly RefMove[]): Promise<EventPayload<'push'>[]> {
  const payloads: EventPayload<'push'>[] = []
  for (const [index, move] of moves.entries()) {
    const isListed = index < MAX_DESCRIBED && parseRef(move.ref)?.kind === 'branch'
    payloads.push({ ...plain(move), ...(isListed && (await describe(ground, move))) })
  }
  return payloads
}

type Described = Pick<EventPayload<'push'>, 'commits' | 'commitsCount' | 'isForced'>

function plain({ ref, old, new: next }: RefMove): EventPayload<'push'> {
  return { ref, oldSha: old ?? zerosLike(next), newSha: next ?? zerosLike(old), commitsCount: 0, isForced: false }
}

const zerosLike = (sha: string | null): string => '0'.repeat(sha?.length ?? 40)

/** Undefined also when the old commit is gone: a branch may be restored long after its objects were cleaned up. */
async function describe(ground: Ground, move: RefMove): Promise<Described | undefined> {
  try {
    return await compare(ground, move)
  } catch (error) {
    if (isGitError(error, 'not-found')) return undefined
    throw error
  }
}

async function compare({ git, repositoryId, base }: Ground, move: RefMove): Promise<Described | undefined> {
  if (move.new === null) return undefined
  const since = move.old ?? base
  const not = since === undefined || since === move.new ? [] : [since]
  // A branch made where the default branch stands brings nothing new.
  if (since === move.new) return { commits: [], commitsCount: 0, isForced: false }
  const [commits, distance] = await Promise.all([
    git.log(repositoryId, { revision: move.new, not, limit: MAX_COMMITS }),
    since === undefined ? undefined : git.aheadBehind(repositoryId, move.new, since),
  ])
  const ahead = distance?.ahead ?? (await git.countCommits(repositoryId, { revision: move.new }))
  return {
    commits: commits.map((commit) => ({ sha: commit.sha, ...summaryOf(commit) })),
    commitsCount: ahead,
    isForced: move.old !== null && (distance?.behind ?? 0) > 0,
  }
}
