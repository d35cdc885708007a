import type { Json, JsonRecord } from './json.ts'
import type { Position } from './problems.ts'

/** A text in which each `${{ }}` is evaluated later, by the planner or by the runner. */
export type Template = string

/** A workflow file that keeps all rules. Plain data: it can be stored as JSON. */
export interface Workflow {
  /** From the root of the repository. */
  path: string
  /** Its own name, or else its path. */
  name: string
  runName?: Template | undefined
  on: Triggers
  permissions?: Permissions | undefined
  concurrency?: ConcurrencyTemplate | undefined
  /** In the order of the file. What they need exists, and goes in no circle. */
  jobs: Job[]
  /** `name`, `on`, `env`, `defaults` and `permissions` as they stand in the file: a runner gets them. */
  source: JsonRecord
}

export interface Triggers {
  /** By name, also of those below. */
  events: Record<string, EventFilter>
  schedule: ScheduleEntry[]
  /** Of `workflow_dispatch`. */
  inputs: Record<string, InputDefinition>
  /** Of `workflow_call`; absent where the workflow cannot be called. */
  call?: CallDefinition | undefined
}

/** Absent lists let everything through. Patterns are those of `pattern.ts`. */
export interface EventFilter {
  types?: string[] | undefined
  branches?: string[] | undefined
  branchesIgnore?: string[] | undefined
  tags?: string[] | undefined
  tagsIgnore?: string[] | undefined
  paths?: string[] | undefined
  pathsIgnore?: string[] | undefined
  /** Names of workflows, for `workflow_run`. */
  workflows?: string[] | undefined
}

export interface ScheduleEntry {
  /** Five fields. */
  cron: string
  /** Of the IANA database; UTC without it. */
  timezone?: string | undefined
}

export type InputType = 'string' | 'boolean' | 'number' | 'choice' | 'environment'

export interface InputDefinition {
  type: InputType
  description?: string | undefined
  isRequired: boolean
  default?: Json | undefined
  /** Of a choice. */
  options: string[]
}

export interface CallDefinition {
  inputs: Record<string, InputDefinition>
  /** By upper-case name: whether it has to be given. */
  secrets: Record<string, { isRequired: boolean }>
  outputs: Record<string, Template>
}

export interface ConcurrencyTemplate {
  group: Template
  cancelInProgress: boolean | Template
  /** How many may wait: the newest alone, or all. */
  queue: 'single' | 'max'
}

export type PermissionLevel = 'none' | 'read' | 'write'
/** Names that are absent have no access. */
export type Permissions = Record<string, PermissionLevel>

export interface Job {
  id: string
  /** Where it stands in the file. */
  at: Position
  name?: Template | undefined
  needs: string[]
  /** An expression without `${{ }}`, which always has a function for the state: `success()` where the file has none. */
  condition: string
  /** A label, labels, or `group` and `labels`. Absent in a job that calls a workflow. */
  runsOn?: Json | undefined
  strategy: StrategyTemplate | Template
  concurrency?: ConcurrencyTemplate | undefined
  timeoutMinutes?: number | Template | undefined
  continueOnError?: boolean | Template | undefined
  environment?: Template | undefined
  permissions?: Permissions | undefined
  /** Names of outputs. The runner evaluates them. */
  outputs: Record<string, Template>
  steps: Step[]
  /** Set in a job that calls a workflow. */
  call?: Call | undefined
  /** As it stands in the file, aliases resolved. */
  source: JsonRecord
}

/** The matrix, or parts of it, may be templates. */
export interface StrategyTemplate {
  matrix?: Json | undefined
  failFast?: boolean | Template | undefined
  maxParallel?: number | Template | undefined
}

export interface Step {
  /** What a list of steps shows. */
  title: Template
}

export interface Call {
  /** From the root of the repository. */
  path: string
  inputs: JsonRecord
  /** All, or by their upper-case names in the called workflow those of the caller. */
  secrets: 'inherit' | Record<string, string>
}
