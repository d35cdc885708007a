import { type Scope, toData } from './expression.ts'
import { Budget } from './expression-functions.ts'
import { cut } from './instances.ts'
import { planFile } from './plan-file.ts'
import type { PlanContexts, ReadPlan, WorkflowFamily } from './plan-model.ts'
import { contextsOf, type FileScope } from './plan-scope.ts'
import { problemOf } from './problems.ts'
import { evaluateConcurrency } from './settings.ts'
import { evaluateText } from './template.ts'

/**
 * Says what of a run is to be done now: which jobs are ready, which wait, which are skipped. It is asked again with each job that ends,
 * because matrices, conditions and names may depend on results. Problems of one job are in that job; the errors are of the whole.
 */
export function planJobs({ workflow, called }: WorkflowFamily, contexts: PlanContexts): ReadPlan {
  const file: FileScope = {
    run: {
      budget: new Budget(),
      called,
      finished: contexts.finished,
      open: new Set(contexts.open),
      begun: [...contexts.open, ...Object.keys(contexts.finished)],
      isCancelled: contexts.isCancelled,
      github: toData(contexts.github),
      vars: toData(contexts.vars),
    },
    workflow,
    keyPrefix: '',
    namePrefix: '',
    inputs: contexts.inputs,
    secrets: 'all',
    concurrency: [],
    callers: [],
  }
  try {
    const scope: Scope = { contexts: contextsOf(file), functions: [], budget: file.run.budget }
    const runName = workflow.runName === undefined ? '' : evaluateText(workflow.runName, scope)
    const concurrency = workflow.concurrency && evaluateConcurrency(workflow.concurrency, '', scope)
    const { jobs } = planFile({ ...file, runGroup: concurrency?.group })
    return { plan: { runName: cut(runName), concurrency, jobs } }
  } catch (error) {
    return { errors: [problemOf(error)] }
  }
}
