import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { unitSwitch } from '../../access/unit-switch.ts'
import { visibleTo } from '../../access/visible.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'

/**
 * Whether the reader may see now what a thread is about, as a condition over `repositories` joined with its owner in `users`: what
 * was notified once is hidden again from whoever has lost access since.
 */
export function visibleSubject({ config }: Pick<Context, 'config'>, actor: Actor, isPull: SQLWrapper): SQL {
  const ofPull = sql`${unitSwitch['repo.pulls']} and ${visibleTo(config, actor, 'repo.pulls')}`
  const ofIssue = sql`${unitSwitch['repo.issues']} and ${visibleTo(config, actor, 'repo.issues')}`
  return sql`case when ${isPull} then ${ofPull} else ${ofIssue} end`
}
