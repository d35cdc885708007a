import { asc, eq, gt } from 'drizzle-orm'
import { attachments } from '../../../db/schema/attachments.ts'
import { keyOf } from '../../features/attachments/objects.ts'
import { type DataCheck, settle } from './check.ts'

const BATCH = 500

/** Files of releases, issues and comments whose bytes are lost, or cut: what was restored is older than the rows. Bytes that no row names go by the clock. */
export async function checkAttachments(check: DataCheck): Promise<void> {
  const { db, objects } = check.context
  check.progress('files of releases, issues and comments')
  for (let after = 0; !check.signal.aborted; ) {
    const newer = gt(attachments.id, after)
    const rows = await db.select().from(attachments).where(newer).orderBy(asc(attachments.id)).limit(BATCH)
    for (const { id, uuid, name, size } of rows) {
      after = id
      const key = keyOf(uuid)
      const found = await objects.size(key)
      if (found === size) continue
      // It may have been deleted since it was read.
      if ((await db.$count(attachments, eq(attachments.id, id))) === 0) continue
      await settle(check, {
        subject: `File ${JSON.stringify(name)} (${id})`,
        detail: found === undefined ? 'its bytes are missing' : `it has ${found} bytes, not ${size}`,
        remedy: `put ${key} back from a backup of OBJECTS_DIR or the bucket, or delete the file`,
      })
    }
    if (rows.length < BATCH) return
  }
}
