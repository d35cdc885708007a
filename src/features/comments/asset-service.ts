import type { AttachmentRow } from '../../../db/schema/attachments.ts'
import { unitOf } from '../../access/issues.ts'
import { Level } from '../../access/units.ts'
import type { Context } from '../../context.ts'
import { forbidden, notFound } from '../../kernel/errors.ts'
import { addFile, deleteFile, renameFile, type Upload } from '../attachments/files.ts'
import { type Doer, filesOf, getComment, tellOfEdit } from './service.ts'
import { type FoundComment, lockComment, updateComment } from './store.ts'

/** A file of a comment as a path names it. */
export interface CommentAssetPath {
  comment: string
  asset: number | undefined
}

/**
 * Stores a file and adds it to the comment, which counts as changed.
 * @throws Refusal 403, 404, and as `addFile`
 */
export async function addCommentAsset(
  context: Context,
  doer: Doer,
  { comment: id, ...upload }: Omit<Upload, 'actor'> & { comment: string },
): Promise<AttachmentRow> {
  const { comment } = await getChangeable(context, doer, id)
  const { actor } = doer
  return addFile(context, filesOf(doer.repo, comment), { actor, ...upload }, async (tx) => {
    const before = await lockComment(tx, comment.id)
    if (!before) throw notFound()
    return async () => {
      const changed = await updateComment(tx, comment.id, { updatedAt: context.clock.now() })
      // Wire: hooks receive a file as an edit that leaves the text as it was.
      await tellOfEdit(tx, doer, { comment: changed, oldBody: before.body })
    }
  })
}

/** @throws Refusal 403, 404, 422 for a name that cannot be */
export async function renameCommentAsset(
  context: Context,
  doer: Doer,
  { comment: id, asset, name }: CommentAssetPath & { name?: string | undefined },
): Promise<AttachmentRow> {
  const { comment } = await getChangeable(context, doer, id)
  return renameFile(context, filesOf(doer.repo, comment), { id: asset, name })
}

/** @throws Refusal 403, 404 */
export async function deleteCommentAsset(
  context: Context,
  doer: Doer,
  { comment: id, asset }: CommentAssetPath,
): Promise<void> {
  const { comment } = await getChangeable(context, doer, id)
  await deleteFile(context, filesOf(doer.repo, comment), asset)
}

/** Wire: files of a comment are for its author, if that one may write, and for administrators of the repository. */
async function getChangeable(context: Context, { actor, repo }: Doer, id: string): Promise<FoundComment> {
  const found = await getComment(context, repo, id)
  const isAuthor = found.comment.posterId === actor.user.id
  const level = repo.rights.level(unitOf(found.issue))
  if (level >= Level.admin || (isAuthor && level >= Level.write)) return found
  throw forbidden('user should have permission to edit comment')
}
