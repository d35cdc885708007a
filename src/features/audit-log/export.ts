import type { Db } from '../../../db/client.ts'
import { presentAuditEntry } from '../../wire/audit-entry.ts'
import { type AuditFilter, listAuditEntries } from './store.ts'

const BATCH = 500

/** JSON Lines, the newest first. Reads the next entries when the client has taken the last, so that memory stays flat. */
export function exportAuditEntries(db: Db, filter: AuditFilter): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let belowId: number | undefined
  return new ReadableStream({
    async pull(controller) {
      const rows = await listAuditEntries(db, filter, { belowId, limit: BATCH })
      belowId = rows.at(-1)?.id
      if (rows.length > 0)
        controller.enqueue(encoder.encode(rows.map((row) => `${JSON.stringify(presentAuditEntry(row))}\n`).join('')))
      if (rows.length < BATCH) controller.close()
    },
  })
}
