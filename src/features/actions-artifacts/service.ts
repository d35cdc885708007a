import type { ActionsArtifactRow } from '../../../db/schema/actions-artifacts.ts'
import { requireOwnedQuota } from '../../access/quota.ts'
import type { RuntimeTask } from '../../auth/runtime-tokens.ts'
import type { Context } from '../../context.ts'
import { badRequest, conflict, invalid, notFound } from '../../kernel/errors.ts'
import { parseTime } from '../../kernel/time.ts'
import { readName } from '../attachments/name.ts'
import { holdRepository } from '../attachments/store.ts'
import type { CreateArtifactRequest, FinalizeArtifactRequest, ListArtifactsRequest } from './messages.ts'
import {
  countOfAttempt,
  holdOwn,
  insertArtifact,
  listNewest,
  removeArtifact,
  removeBegun,
  updateArtifact,
} from './store.ts'

const DAY_MS = 86_400_000
/** Wire: what @actions/artifact says of the zip that it makes. */
const ARCHIVE = 'application/zip'
/** Wire: what @actions/artifact refuses too, since such files cannot be made everywhere. */
const FORBIDDEN = /["<>:|*?]/

/**
 * Begins an artifact. Its name is taken from here on in this attempt at the run, unless the job ends without finishing it. Asked again by
 * the same job it begins anew.
 * @throws Refusal 404, 409 for a name that is taken, 422
 */
export async function createArtifact(
  context: Context,
  task: RuntimeTask,
  { name: sent, expires_at: asked, mime_type: mediaType = ARCHIVE, ...backend }: CreateArtifactRequest,
): Promise<ActionsArtifactRow> {
  const { db, config, clock } = context
  requireOwnRun(task, backend)
  const name = readArtifactName(sent)
  const { taskId, jobId, runId, repositoryId, runAttempt } = task
  const now = clock.now()
  const expiresAt = readExpiry(asked, { now, days: config.actionsArtifactRetentionDays })
  return db.transaction(async (tx) => {
    if (!(await holdRepository(tx, repositoryId))) throw notFound()
    await removeBegun(tx, { runId, runAttempt, name }, taskId)
    const owner = { repositoryId, runId, runAttempt, jobId, taskId }
    const times = { expiresAt, createdAt: now, updatedAt: now }
    const row = await insertArtifact(tx, {
      ...owner,
      name,
      isArchive: mediaType === ARCHIVE,
      state: 'uploading',
      ...times,
    })
    if (!row) throw conflict('an artifact with this name already exists on the workflow run')
    const count = () => countOfAttempt(tx, { runId, runAttempt })
    await requireOwnedQuota(tx, config, { items: 'artifacts of a run', of: `run ${runId}`, count })
    return row
  })
}

/**
 * Makes an artifact seen, and final. Asked again for the same content it says the same.
 * @throws Refusal 400 where nothing was sent, 404, 422 where something else has come than was sent
 */
export async function finalizeArtifact(
  { db, clock }: Context,
  task: RuntimeTask,
  { name, size, hash, ...backend }: FinalizeArtifactRequest,
): Promise<ActionsArtifactRow> {
  requireOwnRun(task, backend)
  return db.transaction(async (tx) => {
    const row = await holdOwn(tx, { ...task, name }, task.taskId)
    if (!row) throw notFound('the artifact was not begun by this job')
    if (row.storeKey === null) throw badRequest('nothing was uploaded to the artifact')
    if (size !== undefined && Number(size) !== row.sizeBytes)
      throw invalid(`the artifact has ${row.sizeBytes} bytes, not ${size}`)
    if (hash !== undefined && hash.toLowerCase() !== `sha256:${row.sha256}`)
      throw invalid('the content of the artifact has another SHA-256 than was said')
    if (row.state !== 'uploading') return row
    await updateArtifact(tx, row.id, { state: 'finalized', updatedAt: clock.now() })
    return row
  })
}

/** What the jobs of the run have made so far. @throws Refusal 404 for another run */
export function listArtifacts(
  { db }: Context,
  task: RuntimeTask,
  { name_filter: name, id_filter: id, ...backend }: ListArtifactsRequest,
): Promise<ActionsArtifactRow[]> {
  requireOwnRun(task, backend)
  return listNewest(db, task.runId, { name, id: id === undefined ? undefined : Number(id) })
}

interface Named {
  workflow_run_backend_id: string
  name: string
}

/** @throws Refusal 404 */
export async function getOfRun({ db }: Context, task: RuntimeTask, { name, ...backend }: Named) {
  requireOwnRun(task, backend)
  const [row] = await listNewest(db, task.runId, { name })
  if (!row) throw notFound('artifact not found')
  return row
}

/** Any job of the run may: `overwrite` of actions/upload-artifact deletes first. @throws Refusal 404 */
export async function deleteOfRun(context: Context, task: RuntimeTask, named: Named): Promise<ActionsArtifactRow> {
  const row = await getOfRun(context, task, named)
  if (!(await removeArtifact(context.db, row.id))) throw notFound('artifact not found')
  return row
}

function requireOwnRun(
  { runId }: RuntimeTask,
  { workflow_run_backend_id: named }: { workflow_run_backend_id: string },
) {
  if (named !== String(runId)) throw notFound('the token of the job is for another run')
}

function readArtifactName(sent: string): string {
  if (sent === '' || readName(sent, []) !== sent || FORBIDDEN.test(sent))
    throw invalid('the name of an artifact has no folders, and none of " < > : | * ?')
  return sent
}

/** Never later than the setting says. */
function readExpiry(asked: string | undefined, { now, days }: { now: Date; days: number }): Date {
  const latest = new Date(now.getTime() + days * DAY_MS)
  if (asked === undefined) return latest
  const wanted = parseTime(asked)
  if (!wanted) throw invalid('expires_at: not a time')
  if (wanted <= now) throw invalid('expires_at: lies in the past')
  return wanted < latest ? wanted : latest
}
