import type { AttachmentRow } from '../../../db/schema/attachments.ts'
import { judge } from '../../access/decide.ts'
import { findRepositoryById } from '../../access/load.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { withRights } from '../../http/repository-gate.ts'
import { seesDrafts } from '../releases/service.ts'
import { noFile } from './no-file.ts'
import { isUuid } from './objects.ts'
import { findByUuid } from './store.ts'

/**
 * The file of an address that names nothing else. Who knows the address has no right by that.
 * @throws Refusal 404, in the same words for what is hidden
 */
export async function getReadableAttachment(
  context: Context,
  actor: Actor | undefined,
  uuid: string,
): Promise<AttachmentRow> {
  const found = isUuid(uuid) ? await findByUuid(context.db, uuid) : undefined
  const loaded = found && (await findRepositoryById(context.db, found.attachment.repositoryId, actor?.user.id))
  if (!found || !loaded) throw noFile()
  const repo = withRights(context, actor, loaded)
  const verdict = judge(actor, repo, { unit: 'repo.releases', level: 'read', isChange: false })
  if (verdict !== 'granted' || (found.isDraft && !seesDrafts(repo))) throw noFile()
  return found.attachment
}
