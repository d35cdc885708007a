import type { Db } from '../../../db/client.ts'
import type { IssueRow } from '../../../db/schema/issues.ts'
import { unitOf } from '../../access/issues.ts'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import { Level, type Unit } from '../../access/units.ts'
import type { Actor } from '../../auth/actor.ts'
import { badRequest, forbidden } from '../../kernel/errors.ts'
import { isAssigned } from './store.ts'

/** What is done to an issue's times, and by whom. */
export interface Tracking {
  actor: Actor
  repo: RepositoryAccess
  issue: IssueRow
}

/**
 * Wire: writers, the author and who is assigned; everybody who may read where the repository lets them. Stopwatches are for writers.
 * @throws Refusal 400 where times are switched off, 403 for whoever may not book any
 */
export async function requireTracking(db: Db, { actor, repo, issue }: Tracking): Promise<void> {
  requireTimes(repo)
  if (!repo.repository.allowOnlyContributorsToTrackTime || seesAllTimes(repo, unitOf(issue))) return
  if (issue.posterId === actor.user.id || (await isAssigned(db, issue.id, actor.user.id))) return
  throw forbidden('only contributors may track time')
}

/** @throws Refusal 400 where times are switched off */
export function requireTimes({ repository }: RepositoryAccess): void {
  if (!repository.enableTimeTracker) throw badRequest('time tracking disabled')
}

/** Wire: those who may write. Others see their own only. */
export const seesAllTimes = ({ rights }: RepositoryAccess, unit: Unit): boolean => rights.level(unit) >= Level.write
