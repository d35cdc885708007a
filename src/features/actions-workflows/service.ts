import { basename } from 'node:path/posix'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import { readWorkflowFiles, type WorkflowFile } from '../../actions/workflows/files.ts'
import { recordAudit } from '../../audit/record.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import type { Commit } from '../../git/model.ts'
import { notFound } from '../../kernel/errors.ts'
import type { ShownWorkflow } from '../../wire/actions-workflow.ts'
import { disableWorkflow, enableWorkflow, listDisabled } from '../actions-runs/store.ts'

/** The workflows of the default branch, by name, those with problems too. */
export async function listWorkflows(context: Context, { repository }: RepositoryAccess): Promise<ShownWorkflow[]> {
  const commit = await context.git.findBranch(repository.id, repository.defaultBranch)
  if (!commit) return []
  return show(context, repository.id, commit, await readWorkflowFiles(context.git, repository.id, commit.sha))
}

/** @throws Refusal 404 */
export async function getWorkflow(
  context: Context,
  { repository }: RepositoryAccess,
  file: string,
): Promise<ShownWorkflow> {
  const commit = await context.git.findBranch(repository.id, repository.defaultBranch)
  const files = commit ? await readWorkflowFiles(context.git, repository.id, commit.sha) : []
  const found = files.filter(({ path }) => basename(path) === file)
  const [workflow] = commit ? await show(context, repository.id, commit, found) : []
  if (!workflow) throw notFound(`workflow "${file}" not found`)
  return workflow
}

async function show(
  { db, git, workflows }: Context,
  repositoryId: number,
  commit: Commit,
  files: readonly WorkflowFile[],
): Promise<ShownWorkflow[]> {
  const [first] = files
  if (!first) return []
  const folder = first.path.slice(0, -basename(first.path).length - 1)
  const names = files.map(({ path }) => basename(path))
  const changes = await git.lastCommits(repositoryId, { revision: commit.sha, folder, names })
  const commits = await git.readCommits(repositoryId, [...new Set(changes.values())])
  const disabled = await listDisabled(db, repositoryId)
  const shown: ShownWorkflow[] = []
  for (const { path, text } of files) {
    const file = basename(path)
    const read = text === undefined ? undefined : await workflows.read(text, path)
    const changed = commits.get(changes.get(file) ?? '') ?? commit
    const name = read?.workflow && read.workflow.name !== path ? read.workflow.name : file
    shown.push({ file, path, name, isDisabled: disabled.has(file), changedAt: changed.committer.date })
  }
  return shown
}

interface Change {
  actor: Actor
  repo: RepositoryAccess
}

/** From now on nothing starts it. Once more changes nothing. @throws Refusal 404 */
export async function disable(context: Context, { actor, repo }: Change, name: string): Promise<void> {
  const { file } = await getWorkflow(context, repo, name)
  await context.db.transaction(async (tx) => {
    if (await disableWorkflow(tx, repo.repository.id, file, context.clock.now()))
      await recordAudit(tx, actor, {
        action: 'actions_workflow.disable',
        subject: { kind: 'actions_workflow', name: file },
        after: { repositoryId: repo.repository.id, isDisabled: true },
      })
  })
}

/** Once more changes nothing. @throws Refusal 404 */
export async function enable(context: Context, { actor, repo }: Change, name: string): Promise<void> {
  const { file } = await getWorkflow(context, repo, name)
  await context.db.transaction(async (tx) => {
    if (await enableWorkflow(tx, repo.repository.id, file))
      await recordAudit(tx, actor, {
        action: 'actions_workflow.enable',
        subject: { kind: 'actions_workflow', name: file },
        after: { repositoryId: repo.repository.id, isDisabled: false },
      })
  })
}
