import { and, asc, eq, lte, sql } from 'drizzle-orm'
import { anyOf } from '../../../db/any-of.ts'
import type { Db } from '../../../db/client.ts'
import { type PullMirrorRow, type PushMirrorRow, pullMirrors, pushMirrors } from '../../../db/schema/mirrors.ts'
import { type RepositoryRow, repositories } from '../../../db/schema/repositories.ts'
import { numberedPage, type Page, type Paged } from '../../kernel/page.ts'

export interface PullMirror {
  mirror: PullMirrorRow
  repository: RepositoryRow
}

export async function findPullMirror(db: Db, repositoryId: number): Promise<PullMirror | undefined> {
  const [found] = await db
    .select({ mirror: pullMirrors, repository: repositories })
    .from(pullMirrors)
    .innerJoin(repositories, eq(repositories.id, pullMirrors.repositoryId))
    .where(eq(pullMirrors.repositoryId, repositoryId))
  return found
}

export async function insertPullMirror(tx: Db, mirror: typeof pullMirrors.$inferInsert): Promise<void> {
  await tx.insert(pullMirrors).values(mirror)
}

export async function updatePullMirror(tx: Db, repositoryId: number, change: Partial<PullMirrorRow>): Promise<void> {
  await tx.update(pullMirrors).set(change).where(eq(pullMirrors.repositoryId, repositoryId))
}

export async function removePullMirror(tx: Db, repositoryId: number): Promise<void> {
  await tx.delete(pullMirrors).where(eq(pullMirrors.repositoryId, repositoryId))
}

export async function setMirrorUpdated(tx: Db, repositoryId: number, mirrorUpdatedAt: Date): Promise<void> {
  await tx.update(repositories).set({ mirrorUpdatedAt }).where(eq(repositories.id, repositoryId))
}

interface Due {
  now: Date
  /** What is taken now is due again then, in case nothing comes of it. */
  again: Date
  limit: number
}

const isOpen = (column: typeof pullMirrors.repositoryId | typeof pushMirrors.repositoryId) =>
  sql`not exists (select 1 from ${repositories} where ${repositories.id} = ${column} and ${repositories.isArchived})`

/** Takes what is due of repositories that are not archived: nobody else takes it too. Returns the ids of the repositories. */
export async function takeDuePulls(tx: Db, { now, again, limit }: Due): Promise<number[]> {
  const due = tx
    .select({ id: pullMirrors.repositoryId })
    .from(pullMirrors)
    .where(and(lte(pullMirrors.nextAt, now), isOpen(pullMirrors.repositoryId)))
    .orderBy(asc(pullMirrors.nextAt))
    .limit(limit)
    .for('update', { skipLocked: true })
  const rows = await tx
    .update(pullMirrors)
    .set({ nextAt: again })
    .where(sql`${pullMirrors.repositoryId} in (${due})`)
    .returning({ id: pullMirrors.repositoryId })
  return rows.map(({ id }) => id)
}

/** The same for those that are pushed to. */
export async function takeDuePushes(tx: Db, { now, again, limit }: Due): Promise<number[]> {
  const due = tx
    .select({ id: pushMirrors.id })
    .from(pushMirrors)
    .where(and(lte(pushMirrors.nextAt, now), isOpen(pushMirrors.repositoryId)))
    .orderBy(asc(pushMirrors.nextAt))
    .limit(limit)
    .for('update', { skipLocked: true })
  const rows = await tx
    .update(pushMirrors)
    .set({ nextAt: again })
    .where(sql`${pushMirrors.id} in (${due})`)
    .returning({ id: pushMirrors.id })
  return rows.map(({ id }) => id)
}

export async function findPushMirror(db: Db, id: number): Promise<PushMirrorRow | undefined> {
  const [row] = await db.select().from(pushMirrors).where(eq(pushMirrors.id, id))
  return row
}

export async function findPushMirrorByName(
  db: Db,
  repositoryId: number,
  remoteName: string,
): Promise<PushMirrorRow | undefined> {
  const [row] = await db.select().from(pushMirrors).where(named(repositoryId, remoteName))
  return row
}

const named = (repositoryId: number, remoteName: string) =>
  and(eq(pushMirrors.repositoryId, repositoryId), eq(pushMirrors.remoteName, remoteName))

export async function listPushMirrors(db: Db, repositoryId: number, page: Page): Promise<Paged<PushMirrorRow>> {
  const ofRepository = eq(pushMirrors.repositoryId, repositoryId)
  const rows = db
    .select()
    .from(pushMirrors)
    .where(ofRepository)
    .orderBy(asc(pushMirrors.id))
    .limit(page.limit)
    .offset(page.offset)
  const [found, total] = await Promise.all([rows, db.$count(pushMirrors, ofRepository)])
  return numberedPage(page, { rows: found, total })
}

/** Of all these repositories, in their order; those that follow each push only, if wanted. A repository has few. */
export async function listPushMirrorIds(
  db: Db,
  repositoryIds: readonly number[],
  { onCommitOnly }: { onCommitOnly: boolean },
): Promise<number[]> {
  const wanted = onCommitOnly ? eq(pushMirrors.syncsOnCommit, true) : undefined
  const rows = await db
    .select({ id: pushMirrors.id })
    .from(pushMirrors)
    .where(and(anyOf(pushMirrors.repositoryId, repositoryIds), wanted))
    .orderBy(asc(pushMirrors.id))
  return rows.map(({ id }) => id)
}

export const countPushMirrors = (db: Db, repositoryId: number): Promise<number> =>
  db.$count(pushMirrors, eq(pushMirrors.repositoryId, repositoryId))

export async function insertPushMirror(tx: Db, mirror: typeof pushMirrors.$inferInsert): Promise<PushMirrorRow> {
  const [row] = await tx.insert(pushMirrors).values(mirror).returning()
  if (row === undefined) throw new Error('insert returned no row')
  return row
}

export async function updatePushMirror(tx: Db, id: number, change: Partial<PushMirrorRow>): Promise<void> {
  await tx.update(pushMirrors).set(change).where(eq(pushMirrors.id, id))
}

/** Undefined when there was none of that name. */
export async function removePushMirror(
  tx: Db,
  repositoryId: number,
  remoteName: string,
): Promise<PushMirrorRow | undefined> {
  const [row] = await tx.delete(pushMirrors).where(named(repositoryId, remoteName)).returning()
  return row
}
