import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type { Actor } from '../auth/actor.ts'
import type { SiteRules } from './decide.ts'
import { unitSwitch } from './unit-switch.ts'
import { visibleTo } from './visible.ts'

/**
 * Whether the reader may see an issue or a pull request now, as a condition over `repositories` joined with its owner in `users`: what
 * somebody was once notified of is hidden again from whoever has lost access since.
 */
export function visibleSubject(site: SiteRules, actor: Actor | undefined, isPull: SQLWrapper): SQL {
  const ofPull = sql`${unitSwitch['repo.pulls']} and ${visibleTo(site, actor, 'repo.pulls')}`
  const ofIssue = sql`${unitSwitch['repo.issues']} and ${visibleTo(site, actor, 'repo.issues')}`
  return sql`case when ${isPull} then ${ofPull} else ${ofIssue} end`
}
