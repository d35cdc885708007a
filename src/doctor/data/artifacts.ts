import { and, asc, eq, gt } from 'drizzle-orm'
import { actionsArtifacts } from '../../../db/schema/actions-artifacts.ts'
import type { DataCheck } from './check.ts'
import { checkStoredFile } from './stored-file.ts'

const BATCH = 500

/** Artifacts whose bytes are lost, or cut: what was restored is older than the rows. Those that are being sent end with their job. */
export async function checkArtifacts(check: DataCheck): Promise<void> {
  const { db } = check.context
  check.progress('artifacts of runs')
  for (let after = 0; !check.signal.aborted; ) {
    const newer = and(gt(actionsArtifacts.id, after), eq(actionsArtifacts.state, 'finalized'))
    const rows = await db.select().from(actionsArtifacts).where(newer).orderBy(asc(actionsArtifacts.id)).limit(BATCH)
    for (const { id, name, storeKey, sizeBytes } of rows) {
      after = id
      if (storeKey === null || sizeBytes === null) continue
      const isThere = async () => (await db.$count(actionsArtifacts, eq(actionsArtifacts.storeKey, storeKey))) > 0
      const subject = `Artifact ${JSON.stringify(name)} (${id})`
      await checkStoredFile(check, { key: storeKey, size: sizeBytes, subject, isThere })
    }
    if (rows.length < BATCH) return
  }
}
