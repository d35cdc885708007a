import { and, eq } from 'drizzle-orm'
import { anyOf } from '../../../db/any-of.ts'
import type { Db } from '../../../db/client.ts'
import { type MigrationRow, migrationParts, type PartName } from '../../../db/schema/migrations.ts'
import type { Context } from '../../context.ts'
import type { JobRun } from '../../jobs/handlers.ts'
import { keepNumbers } from './parts/issues.ts'
import { type Fields, numberOf, objectsOf } from './read.ts'
import type { Source } from './source.ts'
import { holdRepository, listParts, updateMigration } from './store.ts'

/** The units of the other server's repository, and what is in each. */
const UNITS: Readonly<Record<string, readonly PartName[]>> = {
  has_issues: ['labels', 'milestones', 'issues', 'comments'],
  has_releases: ['releases', 'release_files'],
  has_wiki: ['wiki'],
}

/**
 * Asks once what the other server has, and whose credentials these are. What is switched off there is not asked for.
 * @throws OutboundError, SourceError
 */
export async function greet(
  { db, clock }: Context,
  { migration, source, run }: { migration: MigrationRow; source: Source; run: JobRun },
): Promise<MigrationRow> {
  if (migration.greetedAt !== null) return migration
  const { repositoryId } = migration
  const there = await source.repository()
  const doerIdThere = (await source.ownId()) ?? null
  const last = await lastPull(source, there)
  return db.transaction(async (tx) => {
    await run.holdLease(tx)
    const off = Object.entries(UNITS).flatMap(([field, parts]) => (there[field] === false ? parts : []))
    const now = clock.now()
    const missing = await endParts(tx, { repositoryId, names: off, now })
    const reasons = missing.map((name) => `${name}: switched off on the other server`)
    const change = { greetedAt: now, doerIdThere, notCarried: [...migration.notCarried, ...reasons] }
    await updateMigration(tx, repositoryId, change)
    const bringsIssues = (await listParts(tx, repositoryId)).some(({ name }) => name === 'issues')
    if (bringsIssues && (await holdRepository(tx, migration))) await keepNumbers(tx, repositoryId, last)
    return { ...migration, ...change }
  })
}

/** Pull requests are not carried over, but their numbers are not given to others either. 0 without any. */
async function lastPull(source: Source, there: Fields): Promise<number> {
  if (there.has_pull_requests !== true || there.has_issues === false) return 0
  const { items } = await source.list('issues', { type: 'pulls', state: 'all', page: 1, limit: 1 })
  return Math.max(0, ...objectsOf(items, items.length).map(({ number }) => numberOf(number) ?? 0))
}

async function endParts(
  tx: Db,
  { repositoryId, names, now }: { repositoryId: number; names: readonly PartName[]; now: Date },
): Promise<PartName[]> {
  const rows = await tx
    .update(migrationParts)
    .set({ endedAt: now })
    .where(and(eq(migrationParts.repositoryId, repositoryId), anyOf(migrationParts.name, names)))
    .returning({ name: migrationParts.name })
  return rows.map(({ name }) => name)
}
