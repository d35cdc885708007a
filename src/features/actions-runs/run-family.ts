import type { ActionsRunRow } from '../../../db/schema/actions.ts'
import { readFamily } from '../../actions/workflows/family.ts'
import type { WorkflowFamily } from '../../actions/workflows/plan-model.ts'
import type { Context } from '../../context.ts'

export type ReadRunFamily = { family: WorkflowFamily; error?: undefined } | { family?: undefined; error: string }

/**
 * The workflow of a run with all that it calls. The texts were read when the run was made, so an error is of another version of this
 * program, or of too much work.
 */
export async function readRunFamily(
  { workflows }: Pick<Context, 'workflows'>,
  { files, workflowPath }: Pick<ActionsRunRow, 'files' | 'workflowPath'>,
): Promise<ReadRunFamily> {
  const readOne = async (path: string) => {
    const text = Object.hasOwn(files, path) ? files[path] : undefined
    return text === undefined ? undefined : workflows.read(text, path)
  }
  const own = await readOne(workflowPath)
  if (!own?.workflow) return { error: own?.errors?.[0]?.message ?? `${workflowPath} is missing.` }
  const { family, errors } = await readFamily(own.workflow, readOne)
  return family ? { family } : { error: errors[0]?.message ?? 'A called workflow cannot be read.' }
}
