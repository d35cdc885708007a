import { and, desc, eq } from 'drizzle-orm'
import type { HookRow } from '../../db/schema/hooks.ts'
import { repositories } from '../../db/schema/repositories.ts'
import type { Actor } from '../auth/actor.ts'
import type { Context } from '../context.ts'
import { invalid, notFound } from '../kernel/errors.ts'
import { presentPushPayload } from '../wire/hook-payload.ts'
import { presentUserToVisitors } from '../wire/user.ts'
import { hookViewer, showRepository } from './common.ts'
import { insertAlone } from './delivery-service.ts'
import { formatBody } from './messages/format.ts'
import { readHookCommits } from './news-of-refs.ts'
import { getHook } from './service.ts'
import type { HookParent } from './store.ts'

/**
 * Sends the newest commit of a repository to one hook as if it had just been pushed, whatever events the hook is for. A hook of an owner
 * or of the site is notified of the repository that changed last. Inactive hooks are not notified.
 * @throws Refusal 404 for another parent's hook and for an empty repository, 422 where there is no repository to show
 */
export async function testHook(
  context: Context,
  actor: Actor,
  { parent, id, ref }: { parent: HookParent; id: string; ref?: string | undefined },
): Promise<void> {
  const hook = await getHook(context, parent, id)
  const repositoryId = hook.repositoryId ?? (await newestRepository(context, hook))
  const repository = await showRepository(context, repositoryId)
  if (!repository || repository.empty) throw notFound()
  if (!hook.isActive) return
  const sender = presentUserToVisitors(actor.user, hookViewer(context))
  const branch = `refs/heads/${repository.default_branch}`
  const { sha } = await context.git.resolve(repositoryId, branch)
  const commits = [...(await readHookCommits(context, repository, [sha])).values()]
  const payload = presentPushPayload(
    { repository, sender },
    {
      ...{ ref: ref || branch, before: sha, after: sha, commits },
      ...{ totalCommits: commits.length, headCommit: commits[0] ?? null, compareFrom: sha },
    },
  )
  const body = formatBody(hook.type, { type: 'push', payload }, hook.settings)
  if (body === undefined) throw invalid(`a hook of type ${hook.type} is told of no pushes`)
  const text = JSON.stringify(body, null, 2)
  await context.db.transaction((tx) => insertAlone(tx, { hookId: hook.id, eventType: 'push', payload: text }))
}

async function newestRepository({ db }: Context, { ownerId }: HookRow): Promise<number> {
  const isCandidate = and(
    eq(repositories.isEmpty, false),
    ownerId === null ? undefined : eq(repositories.ownerId, ownerId),
  )
  const [newest] = await db
    .select({ id: repositories.id })
    .from(repositories)
    .where(isCandidate)
    .orderBy(desc(repositories.updatedAt))
    .limit(1)
  if (!newest) throw invalid('there is no repository with a commit to send a test of')
  return newest.id
}
