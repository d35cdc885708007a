import { sql } from 'drizzle-orm'
import { bigint, boolean, check, index, integer, jsonb, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { bytes, createdAt, id, instant, reference, updatedAt } from './columns.ts'
import { repositories } from './repositories.ts'
import { users } from './users.ts'

/** Of the whole site where both are null, of an account for all its repositories, or of one repository. */
const scope = () => ({
  ownerId: reference().references(() => users.id, { onDelete: 'cascade' }),
  repositoryId: reference().references(() => repositories.id, { onDelete: 'cascade' }),
})

/** Machines that run jobs. */
export const actionsRunners = pgTable(
  'actions_runners',
  {
    id: id(),
    ...scope(),
    /** What the runner calls itself by in each request. */
    uuid: uuid().notNull().defaultRandom(),
    /** SHA-256 of the token that it has from its registration. */
    tokenHash: text().notNull(),
    name: text().notNull(),
    version: text().notNull().default(''),
    labels: text().array().notNull(),
    isDisabled: boolean().notNull().default(false),
    /** Gone after its first job. */
    isEphemeral: boolean().notNull().default(false),
    /** Its last request for work, to the nearest `HEARTBEAT_SECONDS`; null before the first. */
    lastSeenAt: instant(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [
    uniqueIndex('actions_runners_uuid_key').on(table.uuid),
    index('actions_runners_owner_idx').on(table.ownerId, table.id),
    index('actions_runners_repository_idx').on(table.repositoryId, table.id),
    check('actions_runners_one_scope', sql`num_nonnulls(owner_id, repository_id) <= 1`),
    check('actions_runners_labels_count', sql`cardinality(labels) <= 100`),
  ],
)
export type ActionsRunnerRow = typeof actionsRunners.$inferSelect

/** With one of these a machine becomes a runner of its scope. Each scope has one, which is shown again on request. */
export const actionsRegistrationTokens = pgTable(
  'actions_registration_tokens',
  {
    id: id(),
    ...scope(),
    tokenHash: text().notNull(),
    /** Sealed for the purpose `runner registration`. */
    token: bytes().notNull(),
    createdAt: createdAt(),
  },
  (table) => [
    uniqueIndex('actions_registration_tokens_hash_key').on(table.tokenHash),
    uniqueIndex('actions_registration_tokens_scope_key').on(
      sql`coalesce(${table.ownerId}, 0)`,
      sql`coalesce(${table.repositoryId}, 0)`,
    ),
    check('actions_registration_tokens_one_scope', sql`num_nonnulls(owner_id, repository_id) <= 1`),
  ],
)

/**
 * - blocked: a run waits for its concurrency group or for an approval, a job for other jobs
 * - queued: ready for a runner
 * - in_progress: at work
 * - completed: it has a conclusion
 */
export const actionsStatuses = ['blocked', 'queued', 'in_progress', 'completed'] as const
export type ActionsStatus = (typeof actionsStatuses)[number]

export const actionsConclusions = ['success', 'failure', 'cancelled', 'skipped'] as const
export type ActionsConclusion = (typeof actionsConclusions)[number]

const state = () => ({
  status: text({ enum: actionsStatuses }).notNull(),
  conclusion: text({ enum: actionsConclusions }),
  startedAt: instant(),
  completedAt: instant(),
})

export type ActionsJson = string | number | boolean | null | ActionsJson[] | ActionsJsonRecord
export interface ActionsJsonRecord {
  [key: string]: ActionsJson
}

/** One execution of a workflow. Run again it stays the same run, with another attempt. */
export const actionsRuns = pgTable(
  'actions_runs',
  {
    id: id(),
    repositoryId: reference()
      .notNull()
      .references(() => repositories.id, { onDelete: 'cascade' }),
    /** Counted from 1 in each repository. */
    number: integer().notNull(),
    /** The name of its file, such as `ci.yml`. */
    workflowFile: text().notNull(),
    /** As the workflow calls itself. */
    workflowName: text().notNull(),
    /** From the root of the repository; a key of `files`. */
    workflowPath: text().notNull(),
    /** The texts of the workflow and of those that it calls, by path, as they were at the commit. They are read again for each plan. */
    files: jsonb().$type<Record<string, string>>().notNull(),
    title: text().notNull(),
    event: text().notNull(),
    /** The event of the outbox that it is for; null for a dispatch. */
    eventId: reference(),
    /** The contexts, as they were when the run was made. */
    github: jsonb().$type<ActionsJsonRecord>().notNull(),
    vars: jsonb().$type<Record<string, string>>().notNull(),
    /** Of `workflow_dispatch`. */
    inputs: jsonb().$type<ActionsJsonRecord>().notNull(),
    /** Who caused the event; null when the account is gone. */
    actorId: reference().references(() => users.id, { onDelete: 'set null' }),
    /** Who started the present attempt. */
    triggerActorId: reference().references(() => users.id, { onDelete: 'set null' }),
    ref: text().notNull(),
    headSha: text().notNull(),
    /** Of runs that other runs start by `workflow_run`: how many came one after the other before this one, and the first of them. */
    chainLength: integer().notNull().default(0),
    chainRootId: reference(),
    /** From 1. */
    attempt: integer().notNull().default(1),
    ...state(),
    /** Somebody who may write has to allow it first. */
    needsApproval: boolean().notNull().default(false),
    /** Why it failed before any job. */
    error: text(),
    /** Somebody has asked it to end. */
    isCancelled: boolean().notNull().default(false),
    /** Grows with everything that makes another plan: a plan is written only while it is the one that it was made for. */
    revision: integer().notNull().default(0),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [
    uniqueIndex('actions_runs_number_key').on(table.repositoryId, table.number),
    uniqueIndex('actions_runs_event_key').on(table.eventId, table.repositoryId, table.workflowPath),
    index('actions_runs_repository_idx').on(table.repositoryId, table.id),
    index('actions_runs_open_idx').on(table.repositoryId, table.id).where(sql`status <> 'completed'`),
    index('actions_runs_actor_idx').on(table.triggerActorId, table.id),
    index('actions_runs_sha_idx').on(table.repositoryId, table.headSha),
    // The event comes last: the newest of all events is found, and one of a rare event without a look at the rows.
    index('actions_runs_outcome_idx')
      .on(table.repositoryId, table.workflowFile, table.ref, table.id, table.event)
      .where(sql`status = 'completed'`),
    index('actions_runs_chain_idx').on(table.chainRootId).where(sql`chain_root_id is not null`),
    check('actions_runs_chain', sql`(chain_length = 0) = (chain_root_id is null)`),
    check('actions_runs_conclusion', sql`(status = 'completed') = (conclusion is not null)`),
    check('actions_runs_completed_at', sql`(status = 'completed') = (completed_at is not null)`),
  ],
)
export type ActionsRunRow = typeof actionsRuns.$inferSelect

/**
 * Whose turn it is in the concurrency groups of a repository: a run, or a job of one, waits for its turn or has it. With the holder's end the
 * row goes.
 */
export const actionsTurns = pgTable(
  'actions_turns',
  {
    /** The order of arrival. */
    id: id(),
    repositoryId: reference()
      .notNull()
      .references(() => repositories.id, { onDelete: 'cascade' }),
    /** In lower case. */
    groupName: text().notNull(),
    runId: reference()
      .notNull()
      .references(() => actionsRuns.id, { onDelete: 'cascade' }),
    /** The key of a job, or of the job that called its workflow; empty for the run. */
    holder: text().notNull(),
    isHeld: boolean().notNull().default(false),
    /** A newer one wants its turn: its holder is to end. */
    isOusted: boolean().notNull().default(false),
  },
  (table) => [
    uniqueIndex('actions_turns_held_key').on(table.repositoryId, table.groupName).where(sql`is_held`),
    uniqueIndex('actions_turns_holder_key').on(table.runId, table.holder, table.groupName),
    index('actions_turns_line_idx').on(table.repositoryId, table.groupName, table.id),
  ],
)
export type ActionsTurnRow = typeof actionsTurns.$inferSelect

/** What of the plan is needed once a job is ready. */
export interface ActionsJobPlan {
  /** Within its file. */
  id: string
  /** The jobs of a matrix have the same. */
  group: string
  failFast: boolean
  maxParallel: number | null
  timeoutMinutes: number
  continueOnError: boolean
  /** Null: the default of the repository. */
  permissions: Record<string, 'none' | 'read' | 'write'> | null
  /** All, or by their names for the job those of the repository. */
  secrets: 'all' | Record<string, string>
  /** The inputs of a called workflow; null in one that nobody calls. */
  callInputs: ActionsJsonRecord | null
  needs: Record<string, { result: ActionsConclusion; outputs: Record<string, string> }>
  /** Titles, in the order of the file. */
  steps: string[]
}

export const actionsJobs = pgTable(
  'actions_jobs',
  {
    id: id(),
    runId: reference()
      .notNull()
      .references(() => actionsRuns.id, { onDelete: 'cascade' }),
    repositoryId: reference()
      .notNull()
      .references(() => repositories.id, { onDelete: 'cascade' }),
    /** Within the run, as the plan of the workflow says it: `build`, `build[1]`, `call/build`. */
    key: text().notNull(),
    name: text().notNull(),
    /** Its place in the file. */
    position: integer().notNull(),
    /** Ids of jobs of the same file that have to end before. */
    needs: text().array().notNull(),
    /** What a runner must have to take it: `runs-on`. Empty until it is ready. */
    labels: text().array().notNull(),
    /** Set when it is ready. */
    plan: jsonb().$type<ActionsJobPlan>(),
    /** The workflow that its runner gets, in YAML. */
    payload: text(),
    /** How often a runner has taken it. */
    attempt: integer().notNull().default(0),
    /** The attempt of the run that its state is of. What a rerun keeps is of an earlier one. */
    runAttempt: integer().notNull().default(1),
    /** The attempt of a runner that the state is of; null before one has it, and again after a rerun was asked for. */
    taskId: reference(),
    /** Its runner is asked to end it. */
    isCancelled: boolean().notNull().default(false),
    /** Why it could not run. */
    error: text(),
    ...state(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [
    uniqueIndex('actions_jobs_key').on(table.runId, table.key),
    index('actions_jobs_repository_idx').on(table.repositoryId, table.id),
    // What has not ended is little beside all there was.
    index('actions_jobs_open_idx').on(table.repositoryId, table.id).where(sql`status <> 'completed'`),
    index('actions_jobs_queued_idx').on(table.id).where(sql`status = 'queued'`),
    check(
      'actions_jobs_ready',
      sql`status not in ('queued', 'in_progress') or (plan is not null and payload is not null)`,
    ),
    check('actions_jobs_conclusion', sql`(status = 'completed') = (conclusion is not null)`),
    check('actions_jobs_completed_at', sql`(status = 'completed') = (completed_at is not null)`),
  ],
)
export type ActionsJobRow = typeof actionsJobs.$inferSelect

export interface ActionsStep {
  name: string
  status: ActionsStatus
  conclusion: ActionsConclusion | null
  startedAt: string | null
  completedAt: string | null
  /** Which rows of the log are its own. */
  logIndex: number
  logLength: number
}

/** One attempt at a job by one runner. */
export const actionsTasks = pgTable(
  'actions_tasks',
  {
    id: id(),
    jobId: reference()
      .notNull()
      .references(() => actionsJobs.id, { onDelete: 'cascade' }),
    attempt: integer().notNull(),
    /** The runner may be gone by now. */
    runnerId: reference().notNull(),
    runnerName: text().notNull(),
    status: text({ enum: ['in_progress', 'completed'] }).notNull(),
    conclusion: text({ enum: actionsConclusions }),
    steps: jsonb().$type<ActionsStep[]>().notNull(),
    outputs: jsonb().$type<Record<string, string>>().notNull().default({}),
    /** SHA-256 of the token that the job has while it runs. */
    tokenHash: text().notNull(),
    /** The values that its log must not show, as JSON, sealed for the purpose `actions masks`; null once the log is complete. */
    masks: bytes(),
    /** How many rows of the log are stored. */
    logRows: integer().notNull().default(0),
    /** Bytes of all that came, unpacked; what is beyond MAX_ACTIONS_LOG_BYTES is not stored. */
    logBytes: bigint({ mode: 'number' }).notNull().default(0),
    isLogComplete: boolean().notNull().default(false),
    /** The last sign of life of the runner. */
    lastSeenAt: instant().notNull().defaultNow(),
    startedAt: instant().notNull().defaultNow(),
    completedAt: instant(),
  },
  (table) => [
    uniqueIndex('actions_tasks_attempt_key').on(table.jobId, table.attempt),
    uniqueIndex('actions_tasks_token_key').on(table.tokenHash),
    index('actions_tasks_runner_idx').on(table.runnerId).where(sql`status = 'in_progress'`),
    check('actions_tasks_conclusion', sql`(status = 'completed') = (conclusion is not null)`),
  ],
)
export type ActionsTaskRow = typeof actionsTasks.$inferSelect

/** Rows of a log, as they came. */
export const actionsLogChunks = pgTable(
  'actions_log_chunks',
  {
    taskId: reference()
      .notNull()
      .references(() => actionsTasks.id, { onDelete: 'cascade' }),
    /** The number of its first row. */
    firstRow: integer().notNull(),
    rowCount: integer().notNull(),
    /** Its lines, each with the time before it; gzip. */
    lines: bytes().notNull(),
  },
  (table) => [uniqueIndex('actions_log_chunks_key').on(table.taskId, table.firstRow)],
)

/** Workflows that somebody has switched off. */
export const actionsDisabledWorkflows = pgTable(
  'actions_disabled_workflows',
  {
    repositoryId: reference()
      .notNull()
      .references(() => repositories.id, { onDelete: 'cascade' }),
    workflowFile: text().notNull(),
    createdAt: createdAt(),
  },
  (table) => [uniqueIndex('actions_disabled_workflows_key').on(table.repositoryId, table.workflowFile)],
)

/**
 * What workflows of the default branch wait for that nobody brings by a push. It is read from Git with each push to that branch, so that
 * nothing has to be read to know that nobody waits.
 */
export const actionsStandingTriggers = pgTable(
  'actions_standing_triggers',
  {
    id: id(),
    repositoryId: reference()
      .notNull()
      .references(() => repositories.id, { onDelete: 'cascade' }),
    event: text({ enum: ['schedule', 'workflow_run'] }).notNull(),
    /** Of a schedule: five fields. Empty for runs. */
    cron: text().notNull().default(''),
    /** Of the IANA database; empty: UTC. */
    timezone: text().notNull().default(''),
    /** When a schedule is due; null: never, or it is none. */
    nextAt: instant(),
    /** Who pushed it: the runs of a schedule are theirs. */
    actorId: reference().references(() => users.id, { onDelete: 'set null' }),
    createdAt: createdAt(),
  },
  (table) => [
    uniqueIndex('actions_standing_triggers_key').on(table.repositoryId, table.event, table.cron, table.timezone),
    index('actions_standing_triggers_due_idx').on(table.nextAt).where(sql`next_at is not null`),
    index('actions_standing_triggers_actor_idx').on(table.actorId),
    check(
      'actions_standing_triggers_schedule',
      sql`event = 'schedule' or (cron = '' and timezone = '' and next_at is null)`,
    ),
  ],
)
export type StandingTriggerRow = typeof actionsStandingTriggers.$inferSelect
