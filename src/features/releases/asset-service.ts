import type { AttachmentRow } from '../../../db/schema/attachments.ts'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import type { Context } from '../../context.ts'
import { addFile, deleteFile, getFile, renameFile, type Upload } from '../attachments/files.ts'
import { type AttachmentPlace, findAttachment } from '../attachments/store.ts'
import type { Subject } from '../tags/service.ts'
import { findReadableRelease, getRelease } from './service.ts'

/** A file as a path names it. */
export interface AssetPath {
  release: number | undefined
  asset: number | undefined
}

/** @throws Refusal 404, also for a file of another release */
export async function getAsset(context: Context, repo: RepositoryAccess, path: AssetPath): Promise<AttachmentRow> {
  return getFile(context, await placeOf(context, repo, path.release), path.asset)
}

/** Of several with one name the newest; undefined where there is none that the caller may see. */
export async function findAssetByName(
  context: Context,
  repo: RepositoryAccess,
  { tagName, name }: { tagName: string; name: string },
): Promise<AttachmentRow | undefined> {
  const found = await findReadableRelease(context, repo, { tagName })
  const place = found && { repositoryId: repo.repository.id, releaseId: found.release.id }
  return place && findAttachment(context.db, place, { name })
}

/** @throws Refusal 404, and as `addFile` */
export async function addAsset(
  context: Context,
  { actor, repo }: Subject,
  { release, ...upload }: Omit<Upload, 'actor'> & { release: number | undefined },
): Promise<AttachmentRow> {
  return addFile(context, await placeOf(context, repo, release), { actor, ...upload })
}

/** @throws Refusal 404, 422 for a name that cannot be */
export async function renameAsset(
  context: Context,
  repo: RepositoryAccess,
  { name, ...path }: AssetPath & { name?: string | undefined },
): Promise<AttachmentRow> {
  return renameFile(context, await placeOf(context, repo, path.release), { id: path.asset, name })
}

/** The bytes go soon after. @throws Refusal 404 */
export async function deleteAsset(context: Context, repo: RepositoryAccess, path: AssetPath): Promise<void> {
  await deleteFile(context, await placeOf(context, repo, path.release), path.asset)
}

async function placeOf(context: Context, repo: RepositoryAccess, id: number | undefined): Promise<AttachmentPlace> {
  const { release } = await getRelease(context, repo, { id })
  return { repositoryId: repo.repository.id, releaseId: release.id }
}
