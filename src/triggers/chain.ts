import type { Context } from '../context.ts'
import type { StoredEvent } from '../events/catalogue.ts'
import type { Cause } from '../features/actions-runs/cause.ts'
import { countChained, hasStanding } from '../features/actions-runs/standing-store.ts'

/** As GitHub documents it: of A that starts B that starts C ... the fifth does not begin. */
const MAX_LENGTH = 3
/** Of all that come of one. Ten workflows that wait for each other's three events would else be thousands within the length. */
const MAX_RUNS = 100

type RunEvent = StoredEvent<'workflow_run.requested' | 'workflow_run.in_progress' | 'workflow_run.completed'>

export const isOfRun = (event: StoredEvent): event is RunEvent =>
  event.kind === 'workflow_run.requested' ||
  event.kind === 'workflow_run.in_progress' ||
  event.kind === 'workflow_run.completed'

/** The place in their chain of the runs that a run starts. Undefined where nobody waits for it, or the chain is long enough. */
export async function nextInChain(
  { db }: Context,
  { repositoryId, payload: { runId, chainLength, chainRootId } }: RunEvent,
): Promise<Cause['chain'] | undefined> {
  const rootId = chainRootId ?? runId
  if (repositoryId === null || chainLength >= MAX_LENGTH) return undefined
  if (!(await hasStanding(db, repositoryId, 'workflow_run'))) return undefined
  return (await countChained(db, rootId)) < MAX_RUNS ? { length: chainLength + 1, rootId } : undefined
}
