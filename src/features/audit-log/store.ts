import { and, desc, eq, gte, like, lt, or, type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { escapeLike } from '../../../db/like.ts'
import { type AuditRow, auditEntries } from '../../../db/schema/audit.ts'

export interface AuditFilter {
  /** A whole action, or its kind: `user` finds `user.edit`. */
  action?: string
  /** Name of the person who acted, under sudo either of both. */
  actor?: string
  subjectKind?: string
  subjectId?: number
  address?: string
  since?: Date
  before?: Date
}

/** The newest first. `belowId`: where the last page ended. */
export function listAuditEntries(
  db: Db,
  filter: AuditFilter,
  { belowId, limit }: { belowId: number | undefined; limit: number },
): Promise<AuditRow[]> {
  const after = belowId === undefined ? undefined : lt(auditEntries.id, belowId)
  return db
    .select()
    .from(auditEntries)
    .where(and(conditions(filter), after))
    .orderBy(desc(auditEntries.id))
    .limit(limit)
}

function conditions({ action, actor, subjectKind, subjectId, address, since, before }: AuditFilter): SQL | undefined {
  const byName = actor === undefined ? undefined : sql`lower(${actor})`
  return and(
    action === undefined
      ? undefined
      : or(eq(auditEntries.action, action), like(auditEntries.action, `${escapeLike(action)}.%`)),
    byName && or(eq(sql`lower(${auditEntries.actorName})`, byName), eq(sql`lower(${auditEntries.sudoerName})`, byName)),
    subjectKind === undefined ? undefined : eq(auditEntries.subjectKind, subjectKind),
    subjectId === undefined ? undefined : eq(auditEntries.subjectId, subjectId),
    address === undefined ? undefined : eq(auditEntries.address, address),
    since && gte(auditEntries.createdAt, since),
    before && lt(auditEntries.createdAt, before),
  )
}
