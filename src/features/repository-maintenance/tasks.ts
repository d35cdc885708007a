import { and, asc, eq, isNull, lt, notInArray, or, type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { repositoryChecks } from '../../../db/schema/checks.ts'
import { repositories } from '../../../db/schema/repositories.ts'
import { wikis } from '../../../db/schema/wikis.ts'
import type { Context } from '../../context.ts'
import { isGitError } from '../../git/errors.ts'
import type { CronTask } from '../../jobs/cron-tasks.ts'
import { messageOf } from '../../kernel/thrown.ts'
import { measureFolders } from '../refs/refresh.ts'
import { updateSize } from '../repositories/store.ts'
import { foldersOf } from '../wikis/store.ts'

const DAY_MS = 86_400_000
/** Each repository is looked through about this often: a run takes those whose turn it is, the longest waiting first. */
const CHECK_DAYS = 7
const MAINTAIN_DAYS = 3
/** Repositories of one run: what is left over is done by the next one. */
const MAX_A_RUN = 2000
const BATCH = 50

/**
 * Calls `work` for each repository that `due` finds, until there is none, the run is long enough or the signal fires. `work` says
 * whether it has noted something; what it has not is left to the next run.
 */
async function inSlices(
  { db }: Context,
  { due, order }: { due: SQL | undefined; order: SQL },
  work: (id: number) => Promise<boolean>,
  signal: AbortSignal,
): Promise<void> {
  const left: number[] = []
  for (let done = 0; done < MAX_A_RUN && !signal.aborted; ) {
    const ids = await listDue(db, left.length === 0 ? due : and(due, notInArray(repositories.id, left)), order)
    if (ids.length === 0) return
    for (const id of ids) {
      if (signal.aborted) return
      if (!(await work(id))) left.push(id)
      done += 1
    }
  }
}

async function listDue(db: Db, due: SQL | undefined, order: SQL): Promise<number[]> {
  const rows = await db
    .select({ id: repositories.id })
    .from(repositories)
    .leftJoin(repositoryChecks, eq(repositoryChecks.repositoryId, repositories.id))
    .leftJoin(wikis, eq(wikis.repositoryId, repositories.id))
    .where(due)
    .orderBy(order, asc(repositories.id))
    .limit(BATCH)
  return rows.map(({ id }) => id)
}

/** Notes what was done, whatever came of it: a repository that cannot be read must not keep the others from their turn. */
async function note(db: Db, repositoryId: number, done: Partial<typeof repositoryChecks.$inferInsert>): Promise<void> {
  // Selected, not given: the repository may be gone by now.
  const known = db.$count(repositories, eq(repositories.id, repositoryId))
  if ((await known) === 0) return
  await db
    .insert(repositoryChecks)
    .values({ repositoryId, ...done })
    .onConflictDoUpdate({ target: repositoryChecks.repositoryId, set: done })
}

async function checkRepositories(context: Context, signal: AbortSignal): Promise<void> {
  const { db, git, clock, log } = context
  const before = new Date(clock.now().getTime() - CHECK_DAYS * DAY_MS)
  const due = or(isNull(repositoryChecks.checkedAt), lt(repositoryChecks.checkedAt, before))
  const sums = { checked: 0, damaged: 0, undecided: 0 }
  const check = async (repositoryId: number) => {
    const found = await examine(context, repositoryId, signal)
    sums[found.state] += 1
    if (found.state === 'undecided') {
      if (!signal.aborted) log.warn({ repositoryId, reason: found.reason }, 'a repository could not be checked')
      // With what was known of it: one that takes too long would else take its time each night.
      if (found.isFinal) await note(db, repositoryId, { checkedAt: clock.now() })
      return found.isFinal
    }
    const { problems } = found
    if (problems.length > 0) log.error({ repositoryId, problems }, 'a repository is damaged or cannot be read')
    await note(db, repositoryId, { checkedAt: clock.now(), problems })
    return true
  }
  await inSlices(context, { due, order: sql`${repositoryChecks.checkedAt} asc nulls first` }, check, signal)
  log.info({ ...sums, git: git.version }, 'repositories checked')
}

type Finding =
  | { state: 'checked' | 'damaged'; problems: string[] }
  /** `isFinal`: trying again soon would end the same way. */
  | { state: 'undecided'; reason: string; isFinal: boolean }

/** A machine that is busy, a check that takes too long and one that was ended say nothing of the repository. */
async function examine({ db, git }: Context, id: number, signal: AbortSignal): Promise<Finding> {
  try {
    const found = { isSound: true, problems: [] as string[] }
    for (const folderId of await foldersOf(db, id)) {
      const { isSound, problems } = await git.fsck(folderId, {}, { signal })
      found.isSound &&= isSound
      found.problems.push(...problems.map((problem) => (folderId === id ? problem : `wiki: ${problem}`)))
    }
    return found.isSound
      ? { state: 'checked', problems: [] }
      : { state: 'damaged', problems: found.problems.slice(0, 50) }
  } catch (error) {
    const reason = messageOf(error)
    const isTimeout = isGitError(error, 'timeout')
    if (signal.aborted || isTimeout || isGitError(error, 'busy') || isGitError(error, 'aborted'))
      return { state: 'undecided', reason, isFinal: isTimeout && !signal.aborted }
    return { state: 'damaged', problems: [reason] }
  }
}

async function maintainRepositories(context: Context, signal: AbortSignal): Promise<void> {
  const { db, git, clock, log } = context
  const before = new Date(clock.now().getTime() - MAINTAIN_DAYS * DAY_MS)
  const due = or(
    isNull(repositoryChecks.maintainedAt),
    // Nothing to tidy where nothing has changed.
    sql`${repositoryChecks.maintainedAt} < ${before.toISOString()}::text::timestamptz
      and ${repositoryChecks.maintainedAt} < greatest(${repositories.updatedAt}, ${wikis.updatedAt})`,
  )
  let maintained = 0
  const maintain = async (repositoryId: number) => {
    const startedAt = clock.now()
    try {
      for (const folderId of await foldersOf(db, repositoryId))
        await git.maintain(folderId, { isFull: true }, { signal })
      await updateSize(db, repositoryId, await measureFolders(context, repositoryId))
      maintained += 1
    } catch (err) {
      if (signal.aborted || isGitError(err, 'busy')) return false
      if (!isGitError(err, 'not-found')) log.error({ err, repositoryId }, 'a repository could not be tidied up')
    }
    await note(db, repositoryId, { maintainedAt: startedAt })
    return true
  }
  await inSlices(context, { due, order: sql`${repositoryChecks.maintainedAt} asc nulls first` }, maintain, signal)
  log.info({ maintained }, 'repositories tidied up')
}

export const repositoryTasks: readonly CronTask[] = [
  {
    name: 'repo_health_check',
    schedule: '@midnight',
    description: `Look through the objects of repositories, each about every ${CHECK_DAYS} days`,
    run: checkRepositories,
  },
  {
    name: 'git_gc_repos',
    schedule: '@every 72h',
    description: 'Pack the objects of repositories that changed, drop unreachable ones, write commit graphs',
    run: maintainRepositories,
  },
]
