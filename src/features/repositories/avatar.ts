import type { RepositoryAccess } from '../../access/repository-access.ts'
import { recordAudit } from '../../audit/record.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { notFound } from '../../kernel/errors.ts'
import { readAvatar, storeAvatar } from '../avatars/service.ts'
import { updateRepository } from './store.ts'
import { auditSubjectOf } from './subject.ts'

/**
 * Shows a picture, or none, with a repository.
 * @param image in base64
 * @throws Refusal as `readAvatar`
 */
export async function setRepositoryAvatar(
  { db, clock }: Context,
  { actor, repo }: { actor: Actor; repo: RepositoryAccess },
  image: string | undefined,
): Promise<void> {
  const avatar = image === undefined ? undefined : readAvatar(image)
  const { repository, owner } = repo
  await db.transaction(async (tx) => {
    if (avatar) await storeAvatar(tx, avatar)
    const after = { avatar: avatar?.hash ?? '' }
    const row = await updateRepository(tx, repository.id, { ...after, updatedAt: clock.now() })
    if (!row) throw notFound()
    const subject = auditSubjectOf({ repository: row, owner })
    await recordAudit(tx, actor, { action: 'repository.edit', subject, before: { avatar: repository.avatar }, after })
  })
}
