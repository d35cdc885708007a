import { eq } from 'drizzle-orm'
import type { MigrationPartRow, MigrationRow } from '../../../db/schema/migrations.ts'
import { repositories } from '../../../db/schema/repositories.ts'
import type { Context } from '../../context.ts'
import { isGitError } from '../../git/errors.ts'
import type { JobRun } from '../../jobs/handlers.ts'
import { sha256Hex } from '../../kernel/hashing.ts'
import { reasonOf } from '../mirrors/failure.ts'
import { MAX_COPY_TRIES, nextTry } from '../mirrors/schedule.ts'
import { findPullMirror } from '../mirrors/store.ts'
import type { Attempt, PagedPart } from './batch.ts'
import { carryFile } from './files/carry.ts'
import { removeFiles } from './files/store.ts'
import { greet } from './greet.ts'
import { partOf } from './parts.ts'
import { objectsOf } from './read.ts'
import { openSource, SourceError, type SourcePage } from './source.ts'
import {
  enqueueImports,
  findMigration,
  findOpenPart,
  holdRepository,
  listParts,
  removeItems,
  updateMigration,
  updatePart,
} from './store.ts'
import { copyWiki } from './wiki.ts'

/** Pages of one job; then others of its queue have their turn. */
const PAGES_PER_RUN = 20
/** No page is begun later than that after the job. The last one may be a large file. */
const RUN_MS = 10 * 60 * 1000
/** As many as servers give, unless they are configured otherwise. */
const PAGE_SIZE = 50
/** From when it was asked for. */
const LONGEST_MS = 3 * 24 * 3600 * 1000

/**
 * Takes over the next pages of a repository's content. Each page is one transaction together with the note of how far it is, and nothing
 * that has come is taken again: a killed attempt is simply made again.
 */
export async function runMigration(context: Context, repositoryId: number, run: JobRun): Promise<void> {
  const { db, clock } = context
  const migration = await findMigration(db, repositoryId)
  if (!migration || migration.endedAt !== null) return
  // Branches and tags come first; their event begins with the rest.
  if (await findPullMirror(db, repositoryId)) return
  await updateMigration(db, repositoryId, { attemptedAt: clock.now(), nextAt: null })
  try {
    const source = await openSource(context, migration, run.signal)
    await carryPages(context, { migration: await greet(context, { migration, source, run }), source, run })
  } catch (error) {
    run.signal.throwIfAborted()
    // Deleted meanwhile.
    if (isGitError(error) && error.code === 'repository') return
    await recordFailure(context, { migration, error, run })
  }
}

async function carryPages(context: Context, attempt: Attempt): Promise<void> {
  const { db, clock } = context
  const { repositoryId, startedAt } = attempt.migration
  if (clock.now().getTime() - startedAt.getTime() > LONGEST_MS)
    throw new SourceError('the migration has taken more than three days', { isFinal: true })
  const endsAt = clock.now().getTime() + RUN_MS
  for (let pages = 0; pages < PAGES_PER_RUN && clock.now().getTime() < endsAt; pages++) {
    const part = await findOpenPart(db, repositoryId)
    if (!part) return await finish(context, attempt)
    if (!(await carryNext(context, attempt, part))) return
  }
  await db.transaction(async (tx) => {
    await attempt.run.holdLease(tx)
    await enqueueImports(tx, [repositoryId])
  })
}

/** False when the repository is gone. */
async function carryNext(context: Context, attempt: Attempt, { name, ...part }: MigrationPartRow): Promise<boolean> {
  if (name === 'wiki') return carryWiki(context, attempt, { name, ...part })
  if (name === 'release_files') return carryFile(context, attempt, { name, ...part })
  const { path, query } = partOf(name)
  const page = await attempt.source.list(path, { ...query, page: part.page, limit: PAGE_SIZE })
  return carryPage(context, attempt, { part: { name, ...part }, page })
}

/** In one piece. False when the repository is gone. */
async function carryWiki(
  context: Context,
  { migration, source, run }: Attempt,
  part: MigrationPartRow,
): Promise<boolean> {
  const { db, clock } = context
  const held = await holdRepository(db, migration)
  if (!held) return false
  const { credentials } = migration
  const count = (await source.hasWiki()) ? await copyWiki(context, { ...held, credentials, run }) : 0
  await db.transaction(async (tx) => {
    await run.holdLease(tx)
    const endedAt = clock.now()
    await updatePart(tx, part, { seen: count, carried: count, total: count, endedAt })
    await updateMigration(tx, migration.repositoryId, { failures: 0, lastError: '' })
  })
  return true
}

/** False when the repository is gone. */
function carryPage(
  context: Context,
  { migration, run }: Attempt,
  { part, page }: { part: MigrationPartRow & { name: PagedPart }; page: SourcePage },
): Promise<boolean> {
  const { db, clock, config } = context
  const { repositoryId } = migration
  const digest = sha256Hex(JSON.stringify(page.items))
  // Some servers know no pages, and answer each with everything.
  const isEnd = page.items.length === 0 || digest === part.digest
  const seen = part.seen + (isEnd ? 0 : page.items.length)
  if (seen > config.migrationMaxItems)
    throw new SourceError(
      `the other server has more than ${config.migrationMaxItems} ${part.name} (MIGRATION_MAX_ITEMS)`,
      { isFinal: true },
    )
  return db.transaction(async (tx) => {
    await run.holdLease(tx)
    const held = await holdRepository(tx, migration)
    if (!held) return false
    const now = clock.now()
    const names = new Set((await listParts(tx, repositoryId)).map(({ name }) => name))
    const brings = { bringsLabels: names.has('labels'), bringsFiles: names.has('release_files') }
    const batch = { context: { ...context, db: tx }, migration, ...held, now, ...brings }
    const items = isEnd ? [] : objectsOf(page.items, page.items.length)
    const carried = part.carried + (items.length === 0 ? 0 : await partOf(part.name).carry(batch, items))
    const total = page.total ?? part.total
    const progress = { digest, total, seen, carried, endedAt: isEnd ? now : null, page: part.page + 1 }
    if (!(await updatePart(tx, part, progress))) throw new Error('another attempt has written this page')
    await updateMigration(tx, repositoryId, { failures: 0, lastError: '' })
    return true
  })
}

/** Everything has come: the credentials go, and what was switched off so long is there. */
async function finish({ db, clock, log }: Context, { migration, run }: Attempt): Promise<void> {
  const { repositoryId, opensIssues } = migration
  await db.transaction(async (tx) => {
    await run.holdLease(tx)
    const endedAt = clock.now()
    await updateMigration(tx, repositoryId, { endedAt, credentials: null, lastError: '', failures: 0 })
    await removeItems(tx, repositoryId)
    await removeFiles(tx, repositoryId)
    if (opensIssues)
      await tx
        .update(repositories)
        .set({ hasIssues: true, updatedAt: endedAt })
        .where(eq(repositories.id, repositoryId))
  })
  log.info({ repositoryId }, 'a repository has taken over what another server had of it')
}

/** @throws the error itself where the queue shall try again */
async function recordFailure(
  { db, clock, log }: Context,
  { migration: { repositoryId }, error, run }: { migration: MigrationRow; error: unknown; run: JobRun },
): Promise<void> {
  const reason = error instanceof SourceError ? error.message : reasonOf(error)
  if (reason === undefined) throw error
  log.info({ repositoryId, reason, err: error }, 'what a repository has on another server could not be taken over')
  await db.transaction(async (tx) => {
    await run.holdLease(tx)
    const migration = await findMigration(tx, repositoryId)
    // Deleted meanwhile.
    if (!migration) return
    const failures = migration.failures + 1
    const isFinal = (error instanceof SourceError && error.isFinal) || failures >= MAX_COPY_TRIES
    const nextAt = isFinal ? null : nextTry(clock.now(), failures)
    const left = isFinal ? { credentials: null } : {}
    await updateMigration(tx, repositoryId, { lastError: reason, failures, nextAt, ...left })
    if (nextAt) await enqueueImports(tx, [repositoryId], { runAt: nextAt })
  })
}
