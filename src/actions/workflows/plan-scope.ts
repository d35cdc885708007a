import type { ExpressionData } from '@actions/expressions/data/expressiondata'
import { type Contexts, toData } from './expression.ts'
import type { Budget } from './expression-functions.ts'
import type { Json, JsonRecord } from './json.ts'
import type { Permissions, Workflow } from './model.ts'
import type { Outcomes } from './outcome.ts'
import type { Concurrency, FinishedJob, PassedSecrets } from './plan-model.ts'
import { WorkflowError } from './problems.ts'

/** What is the same for the whole run. */
export interface RunScope {
  budget: Budget
  called: Readonly<Record<string, Workflow>>
  finished: Readonly<Record<string, FinishedJob>>
  open: ReadonlySet<string>
  /** Keys of what is open or finished. */
  begun: readonly string[]
  isCancelled: boolean
  github: ExpressionData
  vars: ExpressionData
}

/** The jobs of one file: of the workflow itself, or of one that a job calls. */
export interface FileScope {
  run: RunScope
  workflow: Workflow
  /** Before the ids and names of its jobs: `call/`, `call / `. */
  keyPrefix: string
  namePrefix: string
  inputs: JsonRecord
  secrets: PassedSecrets
  /** What the caller may do. */
  ceiling?: Permissions | undefined
  /** Of its callers. */
  concurrency: Concurrency[]
  /** The group of the whole run. */
  runGroup?: string | undefined
  /** Paths of its callers. */
  callers: string[]
}

/** What expressions of a file can name. Contexts that a place does not allow are refused when the file is read. */
export function contextsOf({ run, inputs }: FileScope, more: Readonly<Record<string, Json>> = {}): Contexts {
  return new Map([
    ['github', run.github],
    ['gitea', run.github],
    ['vars', run.vars],
    ['inputs', toData(inputs)],
    ...Object.entries(more).map(([name, value]): [string, ExpressionData] => [name, toData(value)]),
  ])
}

/**
 * The scope of what holds a turn in a group.
 * @throws WorkflowError where the run or a caller has that turn: it would wait for its own end
 */
export function holdGroup(file: FileScope, concurrency: Concurrency): FileScope {
  const taken = [file.runGroup, ...file.concurrency.map(({ group }) => group)].map((group) => group?.toLowerCase())
  if (taken.includes(concurrency.group.toLowerCase()))
    throw new WorkflowError(`The concurrency group \`${concurrency.group}\` is that of the run or of a caller.`)
  return { ...file, concurrency: [...file.concurrency, concurrency] }
}

/** The `needs` context: result and outputs of the jobs that one names. */
export const needsContext = (needs: readonly string[], outcomes: Outcomes): JsonRecord =>
  Object.fromEntries(
    needs.flatMap((id) => {
      const outcome = outcomes.get(id)
      return outcome ? [[id, { result: outcome.result, outputs: outcome.outputs }]] : []
    }),
  )
