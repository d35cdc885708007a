import type { Db } from '../../../db/client.ts'
import type { AttachmentRow } from '../../../db/schema/attachments.ts'
import { violatedConstraint } from '../../../db/violations.ts'
import { requireKeptBytes, requireRoom } from '../../access/byte-quota.ts'
import { requireOwnedQuota } from '../../access/quota.ts'
import type { Actor } from '../../auth/actor.ts'
import { ALL_TYPES, type Config } from '../../config.ts'
import type { Context } from '../../context.ts'
import { invalid, notFound, Refusal } from '../../kernel/errors.ts'
import { bareName, readName } from './name.ts'
import { attachmentQuota } from './quota.ts'
import { announcedBytes, discardFile, receiveFile } from './receive.ts'
import {
  type AttachmentPlace,
  countAttachments,
  findAttachment,
  holdRepository,
  insertAttachment,
  removeAttachment,
  renameAttachment,
} from './store.ts'

interface FileRule {
  maxBytes: number
  allowedEndings: readonly string[]
  /** What the place is called. */
  of: string
  placeId: number
  /** What is said of a file that is not there. */
  missing: string
}

function ruleOf(config: Config, place: AttachmentPlace): FileRule {
  if ('releaseId' in place) {
    const [maxBytes, allowedEndings] = [config.releaseFileMaxSize, config.releaseAllowedTypes]
    return { maxBytes, allowedEndings, of: 'release', placeId: place.releaseId, missing: 'not found' }
  }
  const maxBytes = config.attachmentMaxSize
  const allowedEndings = config.attachmentAllowedTypes.includes(ALL_TYPES) ? [] : config.attachmentAllowedTypes
  const [of, placeId] = 'issueId' in place ? ['issue', place.issueId] : ['comment', place.commentId]
  return { maxBytes, allowedEndings, of, placeId, missing: `no such attachment in ${of}` }
}

/** @throws Refusal 404, also for a file of another place */
export async function getFile(
  { db, config }: Context,
  place: AttachmentPlace,
  id: number | undefined,
): Promise<AttachmentRow> {
  const found = id === undefined ? undefined : await findAttachment(db, place, { id })
  if (!found) throw notFound(ruleOf(config, place).missing)
  return found
}

export interface Upload {
  actor: Actor
  request: Request
  /** Goes before the name in the form. */
  name: string | undefined
}

/**
 * Stores a file and adds it to its place. The row is written when the whole file is stored; nobody sees it before.
 * @param around runs in the transaction of the row, before it is written; what it returns runs after that
 * @throws Refusal 404, 413 past ATTACHMENT_MAX_OWNER_BYTES, 422 for one more than a place may have, and as `receiveFile`
 */
export async function addFile(
  context: Context,
  place: AttachmentPlace,
  { actor, request, name }: Upload,
  around?: (tx: Db) => Promise<() => Promise<void>>,
): Promise<AttachmentRow> {
  const { db, config } = context
  if (!config.attachmentEnabled) throw notFound()
  const { maxBytes, allowedEndings, of, placeId } = ruleOf(config, place)
  const { repositoryId } = place
  await requireRoom(db, attachmentQuota(config), { repositoryId, more: announcedBytes(request) })
  const file = await receiveFile(context, request, { name, maxBytes, allowedEndings })
  try {
    return await db.transaction(async (tx) => {
      if (!(await holdRepository(tx, repositoryId))) throw notFound()
      const tell = await around?.(tx)
      // Where the place has gone meanwhile, the reference fails: 404.
      const row = await insertAttachment(tx, { ...file, ...place, uploaderId: actor.user.id })
      const count = () => countAttachments(tx, place)
      await requireOwnedQuota(tx, config, { items: `files of ${withArticle(of)}`, of: `${of} ${placeId}`, count })
      await requireKeptBytes(tx, attachmentQuota(config), repositoryId)
      await tell?.()
      return row
    })
  } catch (error) {
    // After any other failure the row may be there all the same: a commit whose answer was lost.
    if (error instanceof Refusal || violatedConstraint(error) !== undefined) await discardFile(context, file)
    throw error
  }
}

const withArticle = (word: string): string => (word === 'issue' ? `an ${word}` : `a ${word}`)

/**
 * Wire: an empty name changes nothing.
 * @throws Refusal 404, 422 for a name that cannot be
 */
export async function renameFile(
  context: Context,
  place: AttachmentPlace,
  { id, name }: { id: number | undefined; name?: string | undefined },
): Promise<AttachmentRow> {
  const found = await getFile(context, place, id)
  if (!name) return found
  if (bareName(name) === '') throw invalid('the name of a file has more than folders')
  const { allowedEndings, missing } = ruleOf(context.config, place)
  const row = await renameAttachment(context.db, place, { id: found.id, name: readName(name, allowedEndings) })
  if (!row) throw notFound(missing)
  return row
}

/** The bytes go soon after. @throws Refusal 404 */
export async function deleteFile(
  { db, config }: Context,
  place: AttachmentPlace,
  id: number | undefined,
): Promise<void> {
  if (id === undefined || !(await removeAttachment(db, place, id))) throw notFound(ruleOf(config, place).missing)
}
