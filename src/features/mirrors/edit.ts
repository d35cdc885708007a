import type { NewRepository, RepositoryRow } from '../../../db/schema/repositories.ts'
import type { Context } from '../../context.ts'
import { invalid } from '../../kernel/errors.ts'
import { nextTurn, readInterval } from './schedule.ts'
import { updatePullMirror } from './store.ts'

interface MirrorChange {
  mirror_interval?: string | undefined
  enable_prune?: boolean | undefined
}

/**
 * What an edit of a repository says about its mirror; `context.db` is the transaction. Wire: of what is no mirror it is passed over.
 * @returns what changes in the row of the repository
 * @throws Refusal 422 for an interval that cannot be, or that is too short
 */
export async function editMirror(
  context: Context,
  { id, isMirror }: RepositoryRow,
  { mirror_interval: interval, enable_prune: prunes }: MirrorChange,
): Promise<Pick<NewRepository, 'mirrorIntervalSeconds'>> {
  if (!isMirror) return {}
  if (prunes !== undefined) await updatePullMirror(context.db, id, { prunes })
  if (interval === undefined) return {}
  const seconds = requireInterval(context, interval)
  await updatePullMirror(context.db, id, { nextAt: nextTurn(context.clock.now(), seconds) })
  return { mirrorIntervalSeconds: seconds }
}

/** @throws Refusal 422 */
export function requireInterval({ config }: Context, text: string): number {
  const seconds = readInterval(text, config)
  if (seconds !== undefined) return seconds
  throw invalid(`an interval is 0, or at least ${config.mirrorMinInterval}m such as 8h30m`, 'mirror_interval')
}
