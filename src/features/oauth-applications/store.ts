import { and, desc, eq, isNull, notInArray, sql } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { type OAuthApplicationRow, oauthApplications } from '../../../db/schema/oauth.ts'
import { numberedPage, type Page, type Paged } from '../../kernel/page.ts'

type NewApplication = typeof oauthApplications.$inferInsert

export async function insertApplication(db: Db, application: NewApplication): Promise<OAuthApplicationRow> {
  const [row] = await db.insert(oauthApplications).values(application).returning()
  if (row === undefined) throw new Error('insert returned no row')
  return row
}

export async function listApplications(db: Db, ownerId: number, page: Page): Promise<Paged<OAuthApplicationRow>> {
  const own = eq(oauthApplications.ownerId, ownerId)
  const newestFirst = db.select().from(oauthApplications).where(own).orderBy(desc(oauthApplications.id))
  const [rows, total] = await Promise.all([
    newestFirst.limit(page.limit).offset(page.offset),
    db.$count(oauthApplications, own),
  ])
  return numberedPage(page, { rows, total })
}

const ofOwner = (ownerId: number, id: number) =>
  and(eq(oauthApplications.id, id), eq(oauthApplications.ownerId, ownerId))

export async function findApplication(db: Db, ownerId: number, id: number): Promise<OAuthApplicationRow | undefined> {
  const [row] = await db.select().from(oauthApplications).where(ofOwner(ownerId, id))
  return row
}

const CLIENT_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export async function findByClientId(db: Db, clientId: string): Promise<OAuthApplicationRow | undefined> {
  // Whatever else a client sends is no id, nor a text that PostgreSQL has to take.
  if (!CLIENT_ID.test(clientId)) return undefined
  const [row] = await db.select().from(oauthApplications).where(eq(oauthApplications.clientId, clientId))
  return row
}

/** The application as it was, and locked. */
export async function lockApplication(db: Db, ownerId: number, id: number): Promise<OAuthApplicationRow | undefined> {
  const [row] = await db.select().from(oauthApplications).where(ofOwner(ownerId, id)).for('update')
  return row
}

export async function updateApplication(
  db: Db,
  id: number,
  change: Partial<NewApplication>,
): Promise<OAuthApplicationRow> {
  const [row] = await db
    .update(oauthApplications)
    .set({ ...change, updatedAt: sql`now()` })
    .where(eq(oauthApplications.id, id))
    .returning()
  if (row === undefined) throw new Error('update returned no row')
  return row
}

export async function removeApplication(db: Db, ownerId: number, id: number): Promise<OAuthApplicationRow | undefined> {
  const [row] = await db.delete(oauthApplications).where(ofOwner(ownerId, id)).returning()
  return row
}

export const countApplications = (db: Db, ownerId: number): Promise<number> =>
  db.$count(oauthApplications, eq(oauthApplications.ownerId, ownerId))

export async function isBuiltIn(db: Db, id: number): Promise<boolean> {
  const builtIn = and(eq(oauthApplications.id, id), isNull(oauthApplications.ownerId))
  return (await db.$count(oauthApplications, builtIn)) > 0
}

/** Makes the built-in applications these, and no others. */
export async function replaceBuiltIn(db: Db, applications: readonly NewApplication[]): Promise<void> {
  const wanted = applications.map(({ clientId }) => clientId)
  await db
    .delete(oauthApplications)
    .where(and(isNull(oauthApplications.ownerId), notInArray(oauthApplications.clientId, wanted)))
  if (applications.length === 0) return
  await db
    .insert(oauthApplications)
    .values([...applications])
    .onConflictDoUpdate({
      target: oauthApplications.clientId,
      set: { name: sql`excluded.name`, redirectUris: sql`excluded.redirect_uris` },
      setWhere: isNull(oauthApplications.ownerId),
    })
}
