import { and, asc, eq, isNull, sql } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { type DeployKeyRow, deployKeys, publicKeys } from '../../../db/schema/credentials.ts'
import { numberedPage, type Page, type Paged } from '../../kernel/page.ts'
import type { ShownDeployKey } from '../../wire/deploy-key.ts'

export interface DeployKeyFilter {
  repositoryId: number
  id?: number
  keyId?: number | undefined
  fingerprint?: string | undefined
}

const matching = ({ repositoryId, id, keyId, fingerprint }: DeployKeyFilter) =>
  and(
    eq(deployKeys.repositoryId, repositoryId),
    id === undefined ? undefined : eq(deployKeys.id, id),
    keyId === undefined ? undefined : eq(deployKeys.keyId, keyId),
    fingerprint === undefined ? undefined : eq(publicKeys.fingerprint, fingerprint),
  )

const columns = { deployKey: deployKeys, key: publicKeys }

/** In the order in which they were added. */
export async function listDeployKeys(db: Db, filter: DeployKeyFilter, page: Page): Promise<Paged<ShownDeployKey>> {
  const joined = eq(publicKeys.id, deployKeys.keyId)
  const rows = db
    .select(columns)
    .from(deployKeys)
    .innerJoin(publicKeys, joined)
    .where(matching(filter))
    .orderBy(asc(deployKeys.id))
    .limit(page.limit)
    .offset(page.offset)
  const count = db
    .select({ total: sql<number>`count(*)::int` })
    .from(deployKeys)
    .innerJoin(publicKeys, joined)
    .where(matching(filter))
  const [found, [counted]] = await Promise.all([rows, count])
  return numberedPage(page, { rows: found, total: counted?.total ?? 0 })
}

export async function findDeployKey(db: Db, filter: DeployKeyFilter): Promise<ShownDeployKey | undefined> {
  const [row] = await db
    .select(columns)
    .from(deployKeys)
    .innerJoin(publicKeys, eq(publicKeys.id, deployKeys.keyId))
    .where(matching(filter))
  return row
}

export const countDeployKeys = (db: Db, repositoryId: number): Promise<number> =>
  db.$count(deployKeys, eq(deployKeys.repositoryId, repositoryId))

/** The id of a key that opens repositories; undefined when it is the key of an account. The row stays until the transaction ends. */
export async function holdKey(
  tx: Db,
  key: { key: string; keyType: string; fingerprint: string },
): Promise<number | undefined> {
  const [row] = await tx
    .insert(publicKeys)
    .values({ ...key, userId: null, title: '' })
    .onConflictDoUpdate({
      target: publicKeys.fingerprint,
      set: { fingerprint: sql`excluded.fingerprint` },
      setWhere: isNull(publicKeys.userId),
    })
    .returning({ id: publicKeys.id })
  return row?.id
}

export async function insertDeployKey(tx: Db, key: typeof deployKeys.$inferInsert): Promise<DeployKeyRow> {
  const [row] = await tx.insert(deployKeys).values(key).returning()
  if (!row) throw new Error('insert returned no row')
  return row
}

export async function removeDeployKey(tx: Db, repositoryId: number, id: number): Promise<DeployKeyRow | undefined> {
  const [row] = await tx
    .delete(deployKeys)
    .where(and(eq(deployKeys.repositoryId, repositoryId), eq(deployKeys.id, id)))
    .returning()
  return row
}
