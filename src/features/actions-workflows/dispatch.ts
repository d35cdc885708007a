import { basename } from 'node:path/posix'
import type { ActionsRunRow } from '../../../db/schema/actions.ts'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import { readWorkflowFiles, type WorkflowFile } from '../../actions/workflows/files.ts'
import { readDispatchInputs } from '../../actions/workflows/inputs.ts'
import { asJson, type JsonRecord, mapRecord, recordOf, textOf } from '../../actions/workflows/json.ts'
import type { Workflow } from '../../actions/workflows/model.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import type { Commit } from '../../git/model.ts'
import { isValidRefName } from '../../git/names.ts'
import { viewerOf } from '../../http/viewer.ts'
import { forbidden, invalid, notFound } from '../../kernel/errors.ts'
import { presentRepository } from '../../wire/repository.ts'
import { presentUserToVisitors } from '../../wire/user.ts'
import { fullRef } from '../actions-runs/github-context.ts'
import { createRun } from '../actions-runs/start.ts'
import { listDisabled } from '../actions-runs/store.ts'
import { parseRef, type RefName } from '../refs/names.ts'
import { loadRepository } from '../repositories/load.ts'
import type { CreateActionWorkflowDispatch } from './schema.ts'

/**
 * Starts a workflow by hand, as its file is at the ref.
 * @throws Refusal 403 while it is disabled, 404 for an unknown ref or workflow, 422 where the file or the inputs are wrong
 */
export async function dispatchWorkflow(
  context: Context,
  { actor, repo }: { actor: Actor; repo: RepositoryAccess },
  file: string,
  option: CreateActionWorkflowDispatch,
): Promise<ActionsRunRow> {
  const { repository, owner } = repo
  if ((await listDisabled(context.db, repository.id)).has(file)) throw forbidden('workflow is disabled')
  const place = await findRef(context, repository.id, option.ref)
  if (!place) throw notFound(`ref "${option.ref}" doesn't exist`)
  const { ref, commit } = place
  const files = await readWorkflowFiles(context.git, repository.id, commit.sha)
  const found = files.find(({ path }) => basename(path) === file)
  if (!found) throw notFound(`workflow "${file}" doesn't exist`)
  const workflow = await readDispatched(context, found)
  const inputs = readInputs(workflow, option.inputs ?? {})
  const run = await createRun(
    context,
    {
      ...{ repository, owner, actor: actor.user, eventId: null, event: { name: 'workflow_dispatch' }, ref, inputs },
      payload: await payloadOf(
        context,
        { actor, repo },
        { workflow: file, ref: fullRef(ref), inputs: textsOf(inputs) },
      ),
      sha: commit.sha,
      title: commit.message.split('\n')[0] ?? '',
    },
    { path: found.path, workflow, files },
  )
  if (!run) throw notFound()
  return run
}

/** A branch wins over a tag. */
async function findRef(
  { git }: Context,
  repositoryId: number,
  asked: string,
): Promise<{ ref: RefName; commit: Commit } | undefined> {
  const full = parseRef(asked)
  const names: RefName[] = full
    ? [full]
    : [
        { kind: 'branch', name: asked },
        { kind: 'tag', name: asked },
      ]
  for (const ref of names) {
    // What is no name could be a way from one, such as `main~1`.
    if (!isValidRefName(fullRef(ref))) continue
    const sha = await git.findCommit(repositoryId, fullRef(ref))
    if (sha !== undefined) return { ref, commit: await git.readCommit(repositoryId, sha) }
  }
  return undefined
}

async function readDispatched({ workflows }: Context, { path, text, problem }: WorkflowFile): Promise<Workflow> {
  if (text === undefined) throw invalid(problem)
  const { workflow, errors } = await workflows.read(text, path)
  if (!workflow) throw invalid(errors[0]?.message ?? 'The workflow cannot be read.')
  if (!Object.hasOwn(workflow.on.events, 'workflow_dispatch'))
    throw invalid('The workflow cannot be started by hand: its `on` has no `workflow_dispatch`.')
  return workflow
}

function readInputs({ on }: Workflow, given: JsonRecord): JsonRecord {
  const { inputs, problems } = readDispatchInputs(on.inputs, given)
  if (problems) throw invalid(problems.join(' '), 'inputs')
  return inputs
}

/** Wire: runners take the inputs from the event, where they are texts. */
const textsOf = (inputs: JsonRecord): JsonRecord => mapRecord(inputs, textOf)

/** What jobs read as `github.event`. Wire: as hooks show the repository and people. */
async function payloadOf(
  context: Context,
  { actor, repo }: { actor: Actor; repo: RepositoryAccess },
  facts: JsonRecord,
): Promise<JsonRecord> {
  const shown = await loadRepository(context, undefined, repo.repository.id)
  if (!shown) throw notFound()
  const viewer = viewerOf(context, undefined)
  const sender = presentUserToVisitors(actor.user, viewer)
  return recordOf(asJson({ ...facts, repository: presentRepository(shown, viewer), sender }))
}
