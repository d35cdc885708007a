import type { ActionsArtifactRow } from '../../../db/schema/actions-artifacts.ts'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import { recordAudit } from '../../audit/record.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { notFound } from '../../kernel/errors.ts'
import { parseId } from '../../kernel/ids.ts'
import { findShown } from './lists.ts'
import { removeArtifact } from './store.ts'

/** @throws Refusal 404, also for an artifact of another repository, and for one that is being sent */
export async function getArtifact(
  { db }: Context,
  { repository }: RepositoryAccess,
  text: string,
): Promise<ActionsArtifactRow> {
  const id = parseId(text)
  const row = id === undefined ? undefined : await findShown(db, repository.id, id)
  if (!row) throw notFound('artifact not found')
  return row
}

/** @throws Refusal 404, also when its bytes are gone */
export async function getUnexpired(
  context: Context,
  repo: RepositoryAccess,
  text: string,
): Promise<ActionsArtifactRow> {
  const row = await getArtifact(context, repo, text)
  if (row.state === 'expired') throw notFound('Artifact has expired')
  return row
}

/** The bytes go soon after. @throws Refusal 404 */
export async function deleteArtifact(
  context: Context,
  { actor, repo }: { actor: Actor; repo: RepositoryAccess },
  text: string,
): Promise<void> {
  const { id, name, repositoryId, runId } = await getArtifact(context, repo, text)
  await context.db.transaction(async (tx) => {
    if (!(await removeArtifact(tx, id))) throw notFound('artifact not found')
    await recordAudit(tx, actor, {
      action: 'actions_artifact.delete',
      subject: { kind: 'actions_artifact', id, name },
      before: { repositoryId, runId },
    })
  })
}
