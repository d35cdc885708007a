import { and, desc, eq, sql } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { type ActionsConclusion, actionsRuns } from '../../../db/schema/actions.ts'

interface Asked {
  repositoryId: number
  file: string
  ref: string
  event: string | undefined
}

/** Of the newest completed run of a workflow. */
export async function findConclusion(
  db: Db,
  { repositoryId, file, ref, event }: Asked,
): Promise<ActionsConclusion | undefined> {
  const [run] = await db
    .select({ conclusion: actionsRuns.conclusion })
    .from(actionsRuns)
    .where(
      and(
        eq(actionsRuns.repositoryId, repositoryId),
        eq(actionsRuns.workflowFile, file),
        eq(actionsRuns.ref, ref),
        // Written out: for a parameter the planner could not take the index.
        sql`${actionsRuns.status} = 'completed'`,
        event === undefined ? undefined : eq(actionsRuns.event, event),
      ),
    )
    .orderBy(desc(actionsRuns.id))
    .limit(1)
  return run?.conclusion ?? undefined
}
