import { and, asc, eq, isNull, type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import type { Db } from '../../../db/client.ts'
import {
  type ActionsRunnerRow,
  actionsRegistrationTokens,
  actionsRunners,
  actionsTasks,
} from '../../../db/schema/actions.ts'
import { numberedPage, type Page, type Paged } from '../../kernel/page.ts'

/** For whose repositories a runner works: one repository, all of an account, or all of the site. */
export interface RunnerScope {
  repositoryId: number | null
  ownerId: number | null
}

export const siteScope: RunnerScope = { repositoryId: null, ownerId: null }
export const accountScope = (ownerId: number): RunnerScope => ({ repositoryId: null, ownerId })
export const repositoryScope = (repositoryId: number): RunnerScope => ({ repositoryId, ownerId: null })

/** A runner, with whether a job is at work on it. */
export interface StoredRunner {
  runner: ActionsRunnerRow
  isBusy: boolean
}

type ScopeColumns = Record<'repositoryId' | 'ownerId', PgColumn>

const sameScope = (table: ScopeColumns, { repositoryId, ownerId }: RunnerScope): SQL | undefined =>
  and(
    repositoryId === null ? isNull(table.repositoryId) : eq(table.repositoryId, repositoryId),
    ownerId === null ? isNull(table.ownerId) : eq(table.ownerId, ownerId),
  )

const columns = {
  runner: actionsRunners,
  // The condition is an SQL of its own: of columns that stand in the text itself, a select of one table leaves the name of the table out.
  isBusy: sql<boolean>`exists (select from ${actionsTasks}
    where ${and(eq(actionsTasks.runnerId, actionsRunners.id), eq(actionsTasks.status, 'in_progress'))})`,
}

/** In the order in which they came. `scope` undefined: those of all scopes. */
export async function listStoredRunners(
  db: Db,
  { scope, isDisabled }: { scope: RunnerScope | undefined; isDisabled: boolean | undefined },
  page: Page,
): Promise<Paged<StoredRunner>> {
  const where = and(
    scope && sameScope(actionsRunners, scope),
    isDisabled === undefined ? undefined : eq(actionsRunners.isDisabled, isDisabled),
  )
  const byId = db
    .select(columns)
    .from(actionsRunners)
    .where(where)
    .orderBy(asc(actionsRunners.id))
    .limit(page.limit)
    .offset(page.offset)
  const [rows, total] = await Promise.all([byId, db.$count(actionsRunners, where)])
  return numberedPage(page, { rows, total })
}

export const countRunners = (db: Db, scope: RunnerScope): Promise<number> =>
  db.$count(actionsRunners, sameScope(actionsRunners, scope))

export async function findRunner(db: Db, id: number): Promise<StoredRunner | undefined> {
  const [row] = await db.select(columns).from(actionsRunners).where(eq(actionsRunners.id, id))
  return row
}

export async function findRunnerByUuid(db: Db, uuid: string): Promise<ActionsRunnerRow | undefined> {
  const [row] = await db.select().from(actionsRunners).where(eq(actionsRunners.uuid, uuid))
  return row
}

export async function insertRunner(tx: Db, runner: typeof actionsRunners.$inferInsert): Promise<ActionsRunnerRow> {
  const [row] = await tx.insert(actionsRunners).values(runner).returning()
  if (!row) throw new Error('insert returned no row')
  return row
}

/** Undefined when it is gone. */
export async function updateRunner(
  tx: Db,
  id: number,
  change: Partial<Pick<ActionsRunnerRow, 'isDisabled' | 'version' | 'labels'>>,
): Promise<ActionsRunnerRow | undefined> {
  const [row] = await tx
    .update(actionsRunners)
    .set({ ...change, updatedAt: sql`now()` })
    .where(eq(actionsRunners.id, id))
    .returning()
  return row
}

export async function removeRunner(tx: Db, id: number): Promise<ActionsRunnerRow | undefined> {
  const [row] = await tx.delete(actionsRunners).where(eq(actionsRunners.id, id)).returning()
  return row
}

/** One that was made for a single job goes with the end of that. Others stay. */
export async function removeEphemeralRunner(tx: Db, id: number): Promise<void> {
  await tx.delete(actionsRunners).where(and(eq(actionsRunners.id, id), eq(actionsRunners.isEphemeral, true)))
}

/** The token of the scope: the given one, unless it has one already. Sealed. */
export async function keepRegistrationToken(
  db: Db,
  scope: RunnerScope,
  made: { token: Uint8Array; tokenHash: string },
): Promise<Uint8Array> {
  const [inserted] = await db
    .insert(actionsRegistrationTokens)
    .values({ ...scope, ...made })
    .onConflictDoNothing()
    .returning({ token: actionsRegistrationTokens.token })
  if (inserted) return inserted.token
  const [row] = await db
    .select({ token: actionsRegistrationTokens.token })
    .from(actionsRegistrationTokens)
    .where(sameScope(actionsRegistrationTokens, scope))
  if (!row) throw new Error('the token of the scope has gone meanwhile')
  return row.token
}

/** The scope that a registration token opens. */
export async function findRegistrationScope(db: Db, tokenHash: string): Promise<RunnerScope | undefined> {
  const [row] = await db
    .select({ repositoryId: actionsRegistrationTokens.repositoryId, ownerId: actionsRegistrationTokens.ownerId })
    .from(actionsRegistrationTokens)
    .where(eq(actionsRegistrationTokens.tokenHash, tokenHash))
  return row
}
