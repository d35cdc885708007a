import { Value } from '@sinclair/typebox/value'
import { and, eq } from 'drizzle-orm'
import type { Db } from '../../db/client.ts'
import { events } from '../../db/schema/events.ts'
import { users } from '../../db/schema/users.ts'
import type { Context } from '../context.ts'
import { readEvent } from '../events/stored.ts'
import { loadRepository } from '../features/repositories/load.ts'
import { viewerOf } from '../http/viewer.ts'
import type { HookCommon } from '../wire/hook-schema.ts'
import { presentRepository, Repository } from '../wire/repository.ts'
import { presentGhost, presentUserToVisitors, type User } from '../wire/user.ts'
import type { Viewer } from '../wire/viewer.ts'

/** What payloads show is made for visitors: a receiver may be anybody. */
export const hookViewer = (context: Context): Viewer => viewerOf(context, undefined)

/** As it is; one that is gone as it was when it was deleted. */
export async function showRepository(context: Context, id: number): Promise<Repository | undefined> {
  const shown = await loadRepository(context, undefined, id)
  return shown ? presentRepository(shown, hookViewer(context)) : lastSeen(context.db, id)
}

/** Undefined also for deletions by older versions, which did not keep what clients saw. */
async function lastSeen(db: Db, id: number): Promise<Repository | undefined> {
  const ofIt = and(eq(events.kind, 'repository.deleted'), eq(events.repositoryId, id))
  const [row] = await db.select().from(events).where(ofIt)
  const event = row && readEvent(row)
  const shown = event?.kind === 'repository.deleted' ? event.payload.shown : undefined
  return Value.Check(Repository, shown) ? shown : undefined
}

/** Whoever did it; the ghost user where nobody did, or the account is gone. */
export async function showSender(context: Context, actorId: number | null): Promise<User> {
  const [user] = actorId === null ? [] : await context.db.select().from(users).where(eq(users.id, actorId))
  return user ? presentUserToVisitors(user, hookViewer(context)) : presentGhost(hookViewer(context))
}

/** Undefined where nothing is known of the repository any more. */
export async function showCommon(
  context: Context,
  { repositoryId, actorId }: { repositoryId: number | null; actorId: number | null },
): Promise<HookCommon | undefined> {
  const repository = repositoryId === null ? undefined : await showRepository(context, repositoryId)
  return repository && { repository, sender: await showSender(context, actorId) }
}

/** A file as an event keeps it. */
export const withTime = <Asset extends { createdAt: string }>(asset: Asset) => ({
  ...asset,
  createdAt: new Date(asset.createdAt),
})
