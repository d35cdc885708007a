import { type SQL, sql } from 'drizzle-orm'
import { repositories } from '../../db/schema/repositories.ts'

/** `hasUnit` as a condition over `repositories`, for the units that lists are made of. */
export const unitSwitch = {
  'repo.code': sql`${repositories.hasCode}`,
  'repo.issues': sql`(${repositories.hasIssues} and ${repositories.externalTracker} is null)`,
  'repo.releases': sql`${repositories.hasReleases}`,
  'repo.pulls': sql`${repositories.hasPullRequests}`,
  'repo.actions': sql`${repositories.hasActions}`,
} as const satisfies Record<string, SQL>
