import type { AttachmentRow } from '../../../db/schema/attachments.ts'
import type { IssueRow } from '../../../db/schema/issues.ts'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import type { Context } from '../../context.ts'
import { forbidden, notFound } from '../../kernel/errors.ts'
import { addFile, deleteFile, renameFile, type Upload } from '../attachments/files.ts'
import { type Doer, recordEdit } from './edit.ts'
import { mayPlan } from './service.ts'
import { lockIssue, updateIssue } from './store.ts'

/** The place of an issue's files. */
export const filesOf = ({ repository }: RepositoryAccess, { id }: { id: number }) => ({
  repositoryId: repository.id,
  issueId: id,
})

/**
 * Stores a file and adds it to the issue, which counts as changed.
 * @throws Refusal 403 for others than the author and writers, 404, and as `addFile`
 */
export async function addIssueAsset(
  context: Context,
  doer: Doer,
  { issue, ...upload }: Omit<Upload, 'actor'> & { issue: IssueRow },
): Promise<AttachmentRow> {
  const { actor, repo } = doer
  requireChangeable(doer, issue)
  return addFile(context, filesOf(repo, issue), { actor, ...upload }, async (tx) => {
    const before = await lockIssue(tx, repo.repository.id, issue.number)
    if (!before) throw notFound()
    return async () => {
      const after = await updateIssue(tx, issue.id, { updatedAt: context.clock.now() })
      // Wire: hooks receive a file as an edit that leaves the text as it was.
      await recordEdit(tx, doer, { after, oldBody: before.body })
    }
  })
}

/** @throws Refusal 403, 404, 422 for a name that cannot be */
export async function renameIssueAsset(
  context: Context,
  doer: Doer,
  { issue, asset, name }: { issue: IssueRow; asset: number | undefined; name?: string | undefined },
): Promise<AttachmentRow> {
  requireChangeable(doer, issue)
  return renameFile(context, filesOf(doer.repo, issue), { id: asset, name })
}

/** @throws Refusal 403, 404 */
export async function deleteIssueAsset(
  context: Context,
  doer: Doer,
  { issue, asset }: { issue: IssueRow; asset: number | undefined },
): Promise<void> {
  requireChangeable(doer, issue)
  await deleteFile(context, filesOf(doer.repo, issue), asset)
}

function requireChangeable({ actor, repo }: Doer, issue: IssueRow): void {
  if (issue.posterId !== actor.user.id && !mayPlan(repo, issue))
    throw forbidden('user should have permission to write issue')
}
