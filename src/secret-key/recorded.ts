import { eq } from 'drizzle-orm'
import type { Db } from '../../db/client.ts'
import { instance } from '../../db/schema/instance.ts'

/** Which key the database is sealed with, by its fingerprint. */
export async function recordedFingerprint(db: Db): Promise<string | undefined> {
  const [row] = await db.select({ fingerprint: instance.keyFingerprint }).from(instance)
  return row?.fingerprint
}

/** Of several replicas that start on an empty database, the first one records its key. @returns what is recorded then */
export async function recordFirst(db: Db, fingerprint: string): Promise<string | undefined> {
  await db.insert(instance).values({ keyFingerprint: fingerprint }).onConflictDoNothing()
  return recordedFingerprint(db)
}

/** @returns whether `known` was recorded until now: else somebody has recorded another one meanwhile */
export async function recordInPlaceOf(tx: Db, known: string, keyFingerprint: string): Promise<boolean> {
  const changed = await tx.update(instance).set({ keyFingerprint }).where(eq(instance.keyFingerprint, known))
  return changed.count > 0
}
