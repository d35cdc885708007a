import type { Db } from '../../../db/client.ts'
import { violatedConstraint } from '../../../db/violations.ts'
import { requireOwnedQuota } from '../../access/quota.ts'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import { recordAudit } from '../../audit/record.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { invalid, notFound } from '../../kernel/errors.ts'
import type { ShownDeployKey } from '../../wire/deploy-key.ts'
import { parsePublicKey } from '../public-keys/parse.ts'
import type { CreateKeyOption } from '../public-keys/schema.ts'
import { lockRepository } from '../refs/store.ts'
import { auditSubjectOf } from '../repositories/subject.ts'
import { countDeployKeys, findDeployKey, holdKey, insertDeployKey, removeDeployKey } from './store.ts'

interface Subject {
  actor: Actor
  repo: RepositoryAccess
}

/** @throws Refusal 404, also for a key of another repository */
export async function getDeployKey(
  { db }: Context,
  { repository }: RepositoryAccess,
  id: number | undefined,
): Promise<ShownDeployKey> {
  const found = id === undefined ? undefined : await findDeployKey(db, { repositoryId: repository.id, id })
  if (!found) throw notFound()
  return found
}

/** @throws Refusal 422 for a key that cannot be taken, the key of an account, and for a key or a title that the repository has already */
export async function addDeployKey(
  { db, config }: Context,
  { actor, repo }: Subject,
  option: CreateKeyOption,
): Promise<ShownDeployKey> {
  const { id: repositoryId } = repo.repository
  const parsed = parsePublicKey(option.key)
  const content = { key: parsed.line, keyType: parsed.kind, fingerprint: parsed.fingerprint }
  const { title, read_only: isReadOnly = false } = option
  try {
    return await db.transaction(async (tx) => {
      await lockFirst(tx, repositoryId)
      const keyId = await holdKey(tx, content)
      if (keyId === undefined) throw invalid('Key content has been used as non-deploy key')
      const deployKey = await insertDeployKey(tx, { repositoryId, keyId, title, isReadOnly })
      await requireOwnedQuota(tx, config, {
        items: 'deploy keys',
        of: `repository ${repositoryId}`,
        count: () => countDeployKeys(tx, repositoryId),
      })
      const after = { title, fingerprint: parsed.fingerprint, isReadOnly }
      await recordAudit(tx, actor, {
        action: 'deploy_key.create',
        subject: auditSubjectOf(repo),
        after,
      })
      return { deployKey, key: content }
    })
  } catch (error) {
    const constraint = violatedConstraint(error)
    if (constraint === 'deploy_keys_key') throw invalid('This key has already been added to this repository')
    if (constraint === 'deploy_keys_title_key') throw invalid('A key with the same name already exists')
    throw error
  }
}

/** Wire: one that is not there is gone. */
export async function deleteDeployKey(
  { db }: Context,
  { actor, repo }: Subject,
  id: number | undefined,
): Promise<void> {
  if (id === undefined) return
  await db.transaction(async (tx) => {
    await lockFirst(tx, repo.repository.id)
    const row = await removeDeployKey(tx, repo.repository.id, id)
    if (!row) return
    const before = { title: row.title, isReadOnly: row.isReadOnly }
    await recordAudit(tx, actor, {
      action: 'deploy_key.delete',
      subject: auditSubjectOf(repo),
      before,
    })
  })
}

/**
 * The repository before its keys, as the deletion of a repository locks them: the other way round each would wait for the other.
 * @throws Refusal 404 when it is gone
 */
async function lockFirst(tx: Db, repositoryId: number): Promise<void> {
  if (!(await lockRepository(tx, repositoryId))) throw notFound()
}
