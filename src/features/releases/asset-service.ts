import type { AttachmentRow } from '../../../db/schema/attachments.ts'
import { violatedConstraint } from '../../../db/violations.ts'
import { requireOwnedQuota } from '../../access/quota.ts'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import type { Context } from '../../context.ts'
import { notFound, Refusal } from '../../kernel/errors.ts'
import { readName } from '../attachments/name.ts'
import { discardFile, receiveFile } from '../attachments/receive.ts'
import {
  type AttachmentPlace,
  countAttachments,
  findAttachment,
  insertAttachment,
  removeAttachment,
  renameAttachment,
} from '../attachments/store.ts'
import type { Subject } from '../tags/service.ts'
import { findReadableRelease, getRelease } from './service.ts'

/** A file as a path names it. */
export interface AssetPath {
  release: number | undefined
  asset: number | undefined
}

/** @throws Refusal 404, also for a file of another release */
export async function getAsset(context: Context, repo: RepositoryAccess, path: AssetPath): Promise<AttachmentRow> {
  const place = await placeOf(context, repo, path.release)
  const found = path.asset === undefined ? undefined : await findAttachment(context.db, place, { id: path.asset })
  if (!found) throw notFound()
  return found
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

interface Upload {
  release: number | undefined
  request: Request
  /** Goes before the name in the form. */
  name: string | undefined
}

/**
 * Stores a file and adds it to the release. The row is written when the whole file is stored; nobody sees it before.
 * @throws Refusal 404, 422 for one more than a release may have, and as `receiveFile`
 */
export async function addAsset(
  context: Context,
  { actor, repo }: Subject,
  { release, request, name }: Upload,
): Promise<AttachmentRow> {
  const { db, config } = context
  if (!config.attachmentEnabled) throw notFound()
  const place = await placeOf(context, repo, release)
  const file = await receiveFile(context, request, {
    name,
    maxBytes: config.releaseFileMaxSize,
    allowedEndings: config.releaseAllowedTypes,
  })
  try {
    return await db.transaction(async (tx) => {
      // Where the release has gone meanwhile, the reference fails: 404.
      const row = await insertAttachment(tx, { ...file, ...place, uploaderId: actor.user.id })
      await requireOwnedQuota(tx, config, {
        items: 'files of a release',
        of: `release ${place.releaseId}`,
        count: () => countAttachments(tx, place),
      })
      return row
    })
  } catch (error) {
    // After any other failure the row may be there all the same: a commit whose answer was lost.
    if (error instanceof Refusal || violatedConstraint(error) !== undefined) await discardFile(context, file)
    throw error
  }
}

/**
 * Wire: an empty name changes nothing.
 * @throws Refusal 404, 422 for a name that cannot be
 */
export async function renameAsset(
  context: Context,
  repo: RepositoryAccess,
  { name, ...path }: AssetPath & { name?: string | undefined },
): Promise<AttachmentRow> {
  const found = await getAsset(context, repo, path)
  if (!name) return found
  const change = { id: found.id, name: readName(name, context.config.releaseAllowedTypes) }
  const row = await renameAttachment(context.db, await placeOf(context, repo, path.release), change)
  if (!row) throw notFound()
  return row
}

/** The bytes go soon after. @throws Refusal 404 */
export async function deleteAsset(context: Context, repo: RepositoryAccess, path: AssetPath): Promise<void> {
  const place = await placeOf(context, repo, path.release)
  if (path.asset === undefined || !(await removeAttachment(context.db, place, path.asset))) throw notFound()
}

async function placeOf(context: Context, repo: RepositoryAccess, id: number | undefined): Promise<AttachmentPlace> {
  const { release } = await getRelease(context, repo, { id })
  return { repositoryId: repo.repository.id, releaseId: release.id }
}
