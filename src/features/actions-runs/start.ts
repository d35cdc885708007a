import { basename } from 'node:path/posix'
import type { ActionsRunRow } from '../../../db/schema/actions.ts'
import { readFamily } from '../../actions/workflows/family.ts'
import { readWorkflowFiles, type WorkflowFile } from '../../actions/workflows/files.ts'
import type { Workflow } from '../../actions/workflows/model.ts'
import type { Plan, WorkflowFamily } from '../../actions/workflows/plan-model.ts'
import type { Context } from '../../context.ts'
import { readValues } from '../actions-values/store.ts'
import { isProtectedRef } from '../protections/protected-ref.ts'
import type { Cause } from './cause.ts'
import { compare } from './difference.ts'
import { fullRef, githubContext } from './github-context.ts'
import { MAX_TITLE } from './limits.ts'
import { placeOf } from './place.ts'
import { describeJobs } from './ready-jobs.ts'
import { listDisabled, listStartedPaths, reserveRun } from './store.ts'
import { insertRun, reportProblem } from './transitions.ts'
import { type DescribedPlan, writePlan } from './write-plan.ts'

/** Makes a run of each workflow that the event starts. Once more makes none. */
export async function startRuns(context: Context, cause: Cause): Promise<void> {
  const { db, git } = context
  const { repository, eventId, sha } = cause
  const files = await readWorkflowFiles(git, repository.id, sha)
  if (files.length === 0) return
  const disabled = await listDisabled(db, repository.id)
  const started = eventId === null ? new Set<string>() : await listStartedPaths(db, eventId)
  for (const file of files) {
    if (disabled.has(basename(file.path)) || started.has(file.path)) continue
    const chosen = await chooseFile(context, file, cause)
    if (chosen) await createRun(context, cause, { ...chosen, files })
  }
}

type Chosen =
  | { path: string; workflow: Workflow; problem?: undefined }
  | { path: string; workflow?: undefined; problem: string }

/** Undefined where the event does not start it. What cannot be read is told of with pushes, since nobody knows what it waits for. */
async function chooseFile({ workflows }: Context, file: WorkflowFile, { event }: Cause): Promise<Chosen | undefined> {
  const { path } = file
  const isReported = event.name === 'push' && event.ref?.kind === 'branch'
  const withProblem = (problem: string | undefined): Chosen | undefined =>
    isReported ? { path, problem: problem ?? 'The workflow cannot be read.' } : undefined
  if (file.text === undefined) return withProblem(file.problem)
  const { workflow, errors } = await workflows.read(file.text, path)
  if (!workflow) return withProblem(describe(errors))
  const match = await workflows.match(workflow, event)
  if (match.errors) return withProblem(describe(match.errors))
  return match.isMatched ? { path, workflow } : undefined
}

const describe = (errors: readonly { message: string; line: number; column: number }[]): string | undefined =>
  errors[0] && `Line ${errors[0].line}, column ${errors[0].column}: ${errors[0].message}`

/**
 * Makes a run of one workflow, with the first state of its jobs. One that cannot be planned has failed, and says why.
 * @returns undefined when the event has started it already, or the repository is gone
 */
export async function createRun(
  context: Context,
  cause: Cause,
  { files, ...chosen }: Chosen & { files: readonly WorkflowFile[] },
): Promise<ActionsRunRow | undefined> {
  const { db, clock } = context
  const { repository, owner } = cause
  const reserved = await reserveRun(db, repository.id)
  if (!reserved) return undefined
  const seed = await seedOf(context, cause, { ...reserved, path: chosen.path, workflow: chosen.workflow })
  const planned = chosen.workflow ? await planFirst(context, seed, chosen.workflow, files) : { problem: chosen.problem }
  return db.transaction(async (tx) => {
    const now = clock.now()
    const problem = planned.problem
    const state =
      problem === undefined
        ? ({ ...planned.values, status: 'queued' } as const)
        : ({ status: 'completed', conclusion: 'failure', completedAt: now, error: problem } as const)
    const run = await insertRun(tx, { ...seed, ...state, createdAt: now, updatedAt: now }, repository)
    if (!run) return undefined
    const at = { tx, place: placeOf(context, { run, repository, owner }), now }
    if (problem !== undefined) {
      await reportProblem(at, problem)
      return run
    }
    await writePlan(at, run, planned)
    return run
  })
}

/** What a run has before it is planned. */
async function seedOf(
  context: Context,
  cause: Cause,
  { id, number, path, workflow }: { id: number; number: number; path: string; workflow: Workflow | undefined },
) {
  const { db } = context
  const { repository, actor, eventId, event, ref, sha, title, inputs = {} } = cause
  const workflowFile = basename(path)
  const isProtected = await isProtectedRef(db, repository.id, ref)
  const variables = await readValues(db, 'variable', { repositoryId: repository.id, ownerId: repository.ownerId })
  return {
    ...{ id, number, repositoryId: repository.id, workflowFile, workflowPath: path, eventId, inputs },
    workflowName: workflow && workflow.name !== path ? workflow.name : workflowFile,
    files: {},
    title: title.slice(0, MAX_TITLE),
    ...{ chainLength: cause.chain?.length ?? 0, chainRootId: cause.chain?.rootId ?? null },
    event: event.name,
    github: githubContext(context, cause, { id, number, workflowFile, isProtected }),
    vars: Object.fromEntries(variables.map(({ name, value }) => [name, value ?? ''])),
    ...{ actorId: actor?.id ?? null, triggerActorId: actor?.id ?? null, ref: fullRef(ref), headSha: sha },
  }
}

type FirstPlan = (DescribedPlan & { values: Partial<ActionsRunRow>; problem?: undefined }) | { problem: string }

async function planFirst(
  context: Context,
  { github, vars, inputs }: Awaited<ReturnType<typeof seedOf>>,
  workflow: Workflow,
  files: readonly WorkflowFile[],
): Promise<FirstPlan> {
  const { workflows } = context
  const texts = new Map(files.flatMap(({ path, text }) => (text === undefined ? [] : [[path, text] as const])))
  const { family, errors } = await readFamily(workflow, async (path) => {
    const text = texts.get(path)
    return text === undefined ? undefined : workflows.read(text, path)
  })
  if (!family) return { problem: describe(errors) ?? 'A called workflow cannot be read.' }
  const read = await workflows.plan(family, { github, vars, inputs, finished: {}, open: [], isCancelled: false })
  if (!read.plan) return { problem: describe(read.errors) ?? 'The run cannot be planned.' }
  const difference = await describeJobs(
    context,
    family,
    compare(read.plan.jobs, [], { isCancelled: false, attempt: 1 }),
  )
  return { values: valuesOf(read.plan, family, texts), difference, concurrency: read.plan.concurrency }
}

/** The files that each later plan reads. */
function valuesOf(plan: Plan, { workflow, called }: WorkflowFamily, texts: ReadonlyMap<string, string>) {
  const paths = [workflow.path, ...Object.keys(called)]
  return {
    files: Object.fromEntries(paths.map((path) => [path, texts.get(path) ?? ''])),
    ...(plan.runName === '' ? {} : { title: plan.runName }),
  }
}
