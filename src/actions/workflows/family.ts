import { MAX_CALLED_WORKFLOWS } from './limits.ts'
import type { Job, Workflow } from './model.ts'
import type { WorkflowFamily } from './plan-model.ts'
import { describeProblem, type WorkflowProblem } from './problems.ts'
import type { ReadWorkflow } from './read.ts'

export type ReadFamily =
  | { family: WorkflowFamily; errors?: undefined }
  | { family?: undefined; errors: WorkflowProblem[] }

/**
 * Reads all workflows that one calls, and those that these call.
 * @param read undefined where there is no such file
 */
export async function readFamily(
  workflow: Workflow,
  read: (path: string) => Promise<ReadWorkflow | undefined>,
): Promise<ReadFamily> {
  const called: Record<string, Workflow> = {}
  const waiting = callsOf(workflow)
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const { path, job } = next
    if (path === workflow.path || Object.hasOwn(called, path)) continue
    if (Object.keys(called).length === MAX_CALLED_WORKFLOWS)
      return { errors: [describeProblem(`The workflow calls more than ${MAX_CALLED_WORKFLOWS} others.`, job.at)] }
    const found = await read(path)
    if (!found)
      return { errors: [describeProblem(`\`${path}\`, which the job \`${job.id}\` calls, does not exist.`, job.at)] }
    if (found.errors)
      return { errors: found.errors.map((error) => ({ ...error, message: `In \`${path}\`: ${error.message}` })) }
    called[path] = found.workflow
    waiting.push(...callsOf(found.workflow))
  }
  return { family: { workflow, called } }
}

const callsOf = ({ jobs }: Workflow): { path: string; job: Job }[] =>
  jobs.flatMap((job) => (job.call ? [{ path: job.call.path, job }] : []))
