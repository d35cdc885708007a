import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { FileBody, streamed } from '../../http/download.ts'
import { gate } from '../../http/gate.ts'
import { queryInstant, queryInteger, queryText } from '../../http/query.ts'
import { readPage } from '../../kernel/page.ts'
import { AuditEntry, presentAuditEntry } from '../../wire/audit-entry.ts'
import { exportAuditEntries } from './export.ts'
import { type AuditFilter, listAuditEntries } from './store.ts'

const filterQuery = {
  action: queryText(),
  actor: queryText(),
  subject_kind: queryText(),
  subject_id: queryInteger(),
  address: queryText(),
  since: queryInstant('since'),
  before: queryInstant('before'),
}

interface FilterQuery {
  action?: string | undefined
  actor?: string | undefined
  subject_kind?: string | undefined
  subject_id?: number | undefined
  address?: string | undefined
  since?: Date | undefined
  before?: Date | undefined
}

const filterOf = ({ subject_kind, subject_id, ...rest }: FilterQuery): AuditFilter => ({
  ...rest,
  subjectKind: subject_kind,
  subjectId: subject_id,
})

/** Who changed what. Pages go on below the last id of the page before, so that new entries move nothing. */
export const auditLogRoutes = (context: Context) =>
  new Elysia({ name: 'audit-log', prefix: '/admin/audit', detail: { tags: ['admin'] } })
    .use(gate(context))
    .get(
      '',
      async ({ query }) => {
        const { defaultPagingNum: defaultLimit, maxResponseItems: maxLimit } = context.config
        const { limit } = readPage({ limit: query.limit }, { defaultLimit, maxLimit })
        const rows = await listAuditEntries(context.db, filterOf(query), { belowId: query.below_id, limit })
        return rows.map(presentAuditEntry)
      },
      {
        admin: true,
        query: t.Object({ ...filterQuery, below_id: queryInteger(), limit: queryInteger() }),
        response: { 200: t.Array(AuditEntry) },
        detail: { operationId: 'adminListAudit', summary: 'The audit trail, the newest first', 'x-refuses': [422] },
      },
    )
    .get(
      '/export',
      ({ query }) =>
        streamed(exportAuditEntries(context.db, filterOf(query)), {
          headers: {
            'content-type': 'application/x-ndjson',
            'content-disposition': 'attachment; filename="audit.jsonl"',
            'cache-control': 'no-store',
          },
        }),
      {
        admin: true,
        query: t.Object(filterQuery),
        response: { 200: FileBody },
        detail: {
          operationId: 'adminExportAudit',
          summary: 'The audit trail as JSON Lines',
          'x-produces': 'application/x-ndjson',
          'x-refuses': [422],
        },
      },
    )
