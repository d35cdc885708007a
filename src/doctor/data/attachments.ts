import { asc, eq, gt } from 'drizzle-orm'
import { attachments } from '../../../db/schema/attachments.ts'
import { keyOf } from '../../features/attachments/objects.ts'
import type { DataCheck } from './check.ts'
import { checkStoredFile } from './stored-file.ts'

const BATCH = 500

/** Files of releases, issues and comments whose bytes are lost, or cut: what was restored is older than the rows. Bytes that no row names go by the clock. */
export async function checkAttachments(check: DataCheck): Promise<void> {
  const { db } = check.context
  check.progress('files of releases, issues and comments')
  for (let after = 0; !check.signal.aborted; ) {
    const newer = gt(attachments.id, after)
    const rows = await db.select().from(attachments).where(newer).orderBy(asc(attachments.id)).limit(BATCH)
    for (const { id, uuid, name, size } of rows) {
      after = id
      const isThere = async () => (await db.$count(attachments, eq(attachments.id, id))) > 0
      const subject = `File ${JSON.stringify(name)} (${id})`
      await checkStoredFile(check, { key: keyOf(uuid), size, subject, isThere })
    }
    if (rows.length < BATCH) return
  }
}
