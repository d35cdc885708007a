import { t } from 'elysia'
import { cursorQuery, queryBoolean, queryInstant, queryList, queryText } from '../../http/query.ts'
import { badRequest } from '../../kernel/errors.ts'

const statuses = ['unread', 'read', 'pinned']

/** What lists are asked for. */
export const listQuery = t.Object({
  ...cursorQuery,
  all: queryBoolean({ description: 'Those that were read as well' }),
  'status-types': queryList({ description: 'Without it: unread and pinned ones', enum: statuses }),
  'subject-type': queryList({ enum: ['issue', 'pull', 'commit', 'repository'] }),
  since: queryInstant('since'),
  before: queryInstant('before'),
})
export type ListQuery = typeof listQuery.static

const toStatus = queryText({ description: 'Without it: read', enum: statuses })

/** Which threads are marked, and as what. */
export const markQuery = t.Object({
  // Wire: 400 here, where other times are 422.
  last_read_at: queryInstant('last_read_at', () => badRequest('last_read_at is no RFC 3339 time')),
  all: queryBoolean({ description: 'Whatever their status' }),
  'status-types': queryList({ description: 'Without it: unread ones', enum: statuses }),
  'to-status': toStatus,
})
export type MarkQuery = typeof markQuery.static

export const markOneQuery = t.Object({ 'to-status': toStatus })
