import type { AttachmentRow } from '../../../db/schema/attachments.ts'
import { judge } from '../../access/decide.ts'
import { unitOf } from '../../access/issues.ts'
import { findRepositoryById } from '../../access/load.ts'
import type { Actor } from '../../auth/actor.ts'
import { narrowByScopes } from '../../auth/scopes.ts'
import type { Context } from '../../context.ts'
import { withRights } from '../../http/repository-gate.ts'
import { seesDrafts } from '../releases/service.ts'
import { noFile } from './no-file.ts'
import { isUuid } from './objects.ts'
import { findByUuid } from './store.ts'

/**
 * The file of an address that names nothing else. Who knows the address has no right by that: the release, or the issue, decides.
 * @throws Refusal 404, in the same words for what is hidden and for what the token does not reach
 */
export async function getReadableAttachment(
  context: Context,
  actor: Actor | undefined,
  uuid: string,
): Promise<AttachmentRow> {
  const found = isUuid(uuid) ? await findByUuid(context.db, uuid) : undefined
  const loaded = found && (await findRepositoryById(context.db, found.attachment.repositoryId, actor?.user.id))
  if (!found || !loaded) throw noFile()
  const { isPull, isDraft } = found
  const reader = actor && narrowByScopes(actor, isPull === null ? 'repository' : 'issue', false).actor
  if (actor && !reader) throw noFile()
  const repo = withRights(context, reader, loaded)
  const unit = isPull === null ? 'repo.releases' : unitOf({ isPull })
  const verdict = judge(reader, repo, { unit, level: 'read', isChange: false })
  if (verdict !== 'granted' || (isDraft && !seesDrafts(repo))) throw noFile()
  return found.attachment
}
