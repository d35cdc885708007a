import { asc, eq, isNull, lt, or, type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { repositoryChecks } from '../../../db/schema/checks.ts'
import { repositories } from '../../../db/schema/repositories.ts'
import type { Context } from '../../context.ts'
import { isGitError } from '../../git/errors.ts'
import type { CronTask } from '../../jobs/cron-tasks.ts'

const DAY_MS = 86_400_000
/** Each repository is looked through about this often: a run takes those whose turn it is, the longest waiting first. */
const CHECK_DAYS = 7
const MAINTAIN_DAYS = 3
/** Repositories of one run: what is left over is done by the next one. */
const MAX_A_RUN = 2000
const BATCH = 50

/** Calls `work` for each repository that `due` finds, until there is none, the run is long enough or the signal fires. */
async function inSlices(
  { db }: Context,
  { due, order }: { due: SQL | undefined; order: SQL },
  work: (id: number) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  for (let done = 0; done < MAX_A_RUN && !signal.aborted; ) {
    const ids = await listDue(db, due, order)
    if (ids.length === 0) return
    for (const id of ids) {
      if (signal.aborted) return
      await work(id)
      done += 1
    }
  }
}

async function listDue(db: Db, due: SQL | undefined, order: SQL): Promise<number[]> {
  const rows = await db
    .select({ id: repositories.id })
    .from(repositories)
    .leftJoin(repositoryChecks, eq(repositoryChecks.repositoryId, repositories.id))
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
  let [checked, damaged] = [0, 0]
  const check = async (repositoryId: number) => {
    const problems = await problemsOf(context, repositoryId, signal)
    if (problems === undefined) return
    checked += 1
    if (problems.length > 0) {
      damaged += 1
      log.error({ repositoryId, problems }, 'a repository is damaged or cannot be read')
    }
    await note(db, repositoryId, { checkedAt: clock.now(), problems })
  }
  await inSlices(context, { due, order: sql`${repositoryChecks.checkedAt} asc nulls first` }, check, signal)
  log.info({ checked, damaged, git: git.version }, 'repositories checked')
}

/** Undefined when it cannot be said, because the run ends. */
async function problemsOf({ git }: Context, id: number, signal: AbortSignal): Promise<string[] | undefined> {
  try {
    const { isSound, problems } = await git.fsck(id, {}, { signal })
    return isSound ? [] : problems.slice(0, 50)
  } catch (error) {
    if (signal.aborted) return undefined
    return [error instanceof Error ? error.message : String(error)]
  }
}

async function maintainRepositories(context: Context, signal: AbortSignal): Promise<void> {
  const { db, git, clock, log } = context
  const before = new Date(clock.now().getTime() - MAINTAIN_DAYS * DAY_MS)
  const due = or(
    isNull(repositoryChecks.maintainedAt),
    // Nothing to tidy where nothing has changed.
    sql`${repositoryChecks.maintainedAt} < ${before.toISOString()}::text::timestamptz
      and ${repositoryChecks.maintainedAt} < ${repositories.updatedAt}`,
  )
  let maintained = 0
  const maintain = async (repositoryId: number) => {
    const startedAt = clock.now()
    try {
      await git.maintain(repositoryId, { isFull: true }, { signal })
      maintained += 1
    } catch (err) {
      if (signal.aborted) return
      if (!isGitError(err, 'not-found')) log.error({ err, repositoryId }, 'a repository could not be tidied up')
    }
    await note(db, repositoryId, { maintainedAt: startedAt })
  }
  await inSlices(context, { due, order: sql`${repositoryChecks.maintainedAt} asc nulls first` }, maintain, signal)
  log.info({ maintained }, 'repositories tidied up')
}

export const upkeepTasks: readonly CronTask[] = [
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
