import { t } from 'elysia'
import type { MigrationPartRow, MigrationRow } from '../../db/schema/migrations.ts'
import { wireTime } from '../kernel/time.ts'

const timeOrNull = () => t.Nullable(t.String({ format: 'date-time' }))

export type Migration = typeof Migration.static
export const Migration = t.Object(
  {
    service: t.String(),
    api_address: t.String({ description: 'The repository in the API of the other server' }),
    status: t.Union([t.Literal('waiting'), t.Literal('running'), t.Literal('failed'), t.Literal('done')], {
      description: '`waiting`: branches and tags come first; `failed`: the last try failed',
    }),
    parts: t.Array(
      t.Object({
        name: t.String(),
        status: t.Union([t.Literal('waiting'), t.Literal('running'), t.Literal('done')]),
        seen: t.Integer({ description: 'How many the other server has shown' }),
        carried: t.Integer({ description: 'How many of them are here' }),
        total: t.Nullable(t.Integer({ description: 'How many there are, as the other server says' })),
      }),
    ),
    not_carried: t.Array(t.String(), { description: 'What was asked for and does not come' }),
    failures: t.Integer({ description: 'In a row' }),
    last_error: t.String(),
    started: t.String({ format: 'date-time' }),
    last_attempt: timeOrNull(),
    next_attempt: timeOrNull(),
    ended: timeOrNull(),
  },
  { $id: 'Migration' },
)

const time = (at: Date | null): string | null => (at ? wireTime(at) : null)

export function presentMigration(migration: MigrationRow, parts: readonly MigrationPartRow[]): Migration {
  const current = migration.greetedAt === null ? undefined : parts.find(({ endedAt }) => endedAt === null)
  return {
    service: migration.service,
    api_address: migration.apiUrl,
    status: statusOf(migration),
    parts: parts.map((part) => ({
      name: part.name,
      status: part.endedAt !== null ? 'done' : part === current ? 'running' : 'waiting',
      seen: part.seen,
      carried: part.carried,
      total: part.total,
    })),
    not_carried: migration.notCarried,
    failures: migration.failures,
    last_error: migration.lastError,
    started: wireTime(migration.startedAt),
    last_attempt: time(migration.attemptedAt),
    next_attempt: time(migration.nextAt),
    ended: time(migration.endedAt),
  }
}

function statusOf({ endedAt, lastError, attemptedAt }: MigrationRow): Migration['status'] {
  if (endedAt !== null) return 'done'
  if (lastError !== '') return 'failed'
  return attemptedAt === null ? 'waiting' : 'running'
}
