import type { ActionsArtifactRow } from '../../../db/schema/actions-artifacts.ts'
import type { Context } from '../../context.ts'
import { notFound } from '../../kernel/errors.ts'
import { type ActionArtifact, presentArtifact } from '../../wire/actions-artifact.ts'
import { listRunsById } from '../actions-runs/lists.ts'
import { presentRuns } from '../actions-runs/shared-routes.ts'

/** Those of a run that was deleted meanwhile are left out. */
export async function presentArtifacts(
  context: Context,
  rows: readonly ActionsArtifactRow[],
): Promise<ActionArtifact[]> {
  const runIds = [...new Set(rows.map(({ runId }) => runId))]
  const runs = runIds.length === 0 ? [] : await listRunsById(context.db, runIds)
  const byId = new Map((await presentRuns(context, runs)).map((run) => [run.id, run]))
  return rows.flatMap((row) => {
    const run = byId.get(row.runId)
    return run ? [presentArtifact(row, run)] : []
  })
}

export async function presentOneArtifact(context: Context, row: ActionsArtifactRow): Promise<ActionArtifact> {
  const [artifact] = await presentArtifacts(context, [row])
  if (!artifact) throw notFound('artifact not found')
  return artifact
}
