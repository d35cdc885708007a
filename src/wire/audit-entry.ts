import { t } from 'elysia'
import type { AuditRow } from '../../db/schema/audit.ts'
import { wireTime } from '../kernel/time.ts'
import { int64 } from './fields.ts'

const Person = t.Object({ id: int64(), name: t.String() })

export type AuditEntry = typeof AuditEntry.static
export const AuditEntry = t.Object(
  {
    id: int64(),
    created_at: t.String({ format: 'date-time' }),
    action: t.String(),
    actor: t.Nullable(Person),
    sudo_actor: t.Nullable(Person),
    method: t.String(),
    token_id: t.Nullable(int64()),
    address: t.String(),
    route: t.String(),
    request_id: t.String(),
    subject: t.Object({ kind: t.String(), id: t.Nullable(int64()), name: t.String() }),
    changes: t.Record(t.String(), t.Object({ before: t.Any(), after: t.Any() })),
  },
  { $id: 'AuditEntry' },
)

export const presentAuditEntry = (row: AuditRow): AuditEntry => ({
  id: row.id,
  created_at: wireTime(row.createdAt),
  action: row.action,
  actor: row.actorId === null ? null : { id: row.actorId, name: row.actorName },
  sudo_actor: row.sudoerId === null ? null : { id: row.sudoerId, name: row.sudoerName },
  method: row.method,
  token_id: row.tokenId,
  address: row.address,
  route: row.route,
  request_id: row.requestId,
  subject: { kind: row.subjectKind, id: row.subjectId, name: row.subjectName },
  changes: Object.fromEntries(Object.entries(row.changes).map(([name, [before, after]]) => [name, { before, after }])),
})
