import type { CommitStatusRow } from '../../../db/schema/statuses.ts'
import { requireOwnedQuota } from '../../access/quota.ts'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { appendEvent } from '../../events/append.ts'
import { notFound } from '../../kernel/errors.ts'
import type { CreateStatusOption } from './schema.ts'
import { countStatuses, insertStatus } from './store.ts'

/** @throws Refusal 404 for what names no commit */
export async function requireCommit(context: Context, repo: RepositoryAccess, ref: string): Promise<string> {
  const sha = await context.git.findCommit(repo.repository.id, ref)
  if (sha === undefined) throw notFound('not found', [`object does not exist [id: ${ref}, rel_path: ]`])
  return sha
}

/** @throws Refusal 404 for what names no commit, 422 where the context has said too much about it */
export async function createStatus(
  context: Context,
  { actor, repo }: { actor: Actor; repo: RepositoryAccess },
  { ref, option }: { ref: string; option: CreateStatusOption },
): Promise<CommitStatusRow> {
  const { id: repositoryId, ownerId } = repo.repository
  const sha = await requireCommit(context, repo, ref)
  const place = { repositoryId, sha }
  const said = {
    state: option.state,
    context: option.context ?? '',
    description: option.description ?? '',
    targetUrl: option.target_url ?? '',
  }
  return context.db.transaction(async (tx) => {
    const now = context.clock.now()
    const row = await insertStatus(tx, { ...place, ...said, creatorId: actor.user.id, createdAt: now })
    await requireOwnedQuota(tx, context.config, {
      items: 'statuses of one context',
      of: `commit ${sha} of repository ${repositoryId} ${said.context}`,
      count: () => countStatuses(tx, place, said.context),
    })
    const payload = { statusId: row.id, sha, ...said, createdAt: now.toISOString() }
    await appendEvent(tx, { kind: 'status.created', actorId: actor.user.id, repositoryId, ownerId, payload })
    return row
  })
}
