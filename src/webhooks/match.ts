import { and, asc, eq, inArray, or, sql } from 'drizzle-orm'
import type { Db } from '../../db/client.ts'
import { type HookRow, hooks } from '../../db/schema/hooks.ts'
import { parseGlob } from '../kernel/glob.ts'
import type { HookEvent } from './events.ts'
import type { HookMessageType } from './messages/payload.ts'

/** Active hooks that may be notified of what happens in a place: the repository's own, then its owner's, then the site's. */
export async function findListeners(
  db: Db,
  { repositoryId, ownerId }: { repositoryId: number | null; ownerId: number | null },
): Promise<HookRow[]> {
  const places = [
    repositoryId === null ? undefined : and(eq(hooks.scope, 'repository'), eq(hooks.repositoryId, repositoryId)),
    ownerId === null ? undefined : and(eq(hooks.scope, 'owner'), eq(hooks.ownerId, ownerId)),
    eq(hooks.scope, 'site'),
  ]
  const order = sql`case ${hooks.scope} when 'repository' then 0 when 'owner' then 1 else 2 end`
  return db
    .select()
    .from(hooks)
    .where(and(inArray(hooks.scope, ['repository', 'owner', 'site']), eq(hooks.isActive, true), or(...places)))
    .orderBy(order, asc(hooks.id))
}

/** The word of `events` that a hook asks for an event type by. Wire: one word asks for all three kinds of reviews. */
const wordOf = (type: HookMessageType): HookEvent => {
  switch (type) {
    case 'pull_request_review_approved':
    case 'pull_request_review_rejected':
    case 'pull_request_review_comment':
      return 'pull_request_review'
    default:
      return type
  }
}

/** @param ref in full, for pushes and for refs that come and go: of other events the filter says nothing */
export function isWanted({ events, branchFilter }: HookRow, type: HookMessageType, ref: string | undefined): boolean {
  if (!events.includes(wordOf(type))) return false
  if (ref === undefined || ['', '*', '**'].includes(branchFilter)) return true
  const glob = parseGlob(branchFilter)
  const branch = /^refs\/heads\/(.*)$/s.exec(ref)?.[1]
  return glob.matches(ref) || (branch !== undefined && glob.matches(branch))
}
