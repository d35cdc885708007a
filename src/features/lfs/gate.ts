import { eq } from 'drizzle-orm'
import { publicKeys } from '../../../db/schema/credentials.ts'
import { users } from '../../../db/schema/users.ts'
import type { Actor } from '../../auth/actor.ts'
import { requireUsableAccount } from '../../auth/authenticate.ts'
import { findActorOfTask } from '../../auth/job-tokens.ts'
import type { Context } from '../../context.ts'
import { identify, originOf, requireScopes } from '../../http/admission.ts'
import { exchangeOf } from '../../http/exchange.ts'
import { accessForFetch, accessForPush, type GitAccess, type GitSubject, type PushAccess } from '../../http/git-gate.ts'
import { countCaller, countWrongCredential } from '../../http/rate-limit.ts'
import { notFound, unauthorized } from '../../kernel/errors.ts'
import { findDeployKey } from '../deploy-keys/store.ts'
import { bringsToken, type Grant, type Operation, readGrant } from './token.ts'

/** Who asks, and by which key where one was shown. */
interface Caller {
  actor: Actor | undefined
  grant?: Grant
}

/** What tokens that are made for the caller say of the credential. */
interface LfsKey {
  keyId?: number | undefined
}
export type LfsAccess = GitAccess & LfsKey
export type LfsPushAccess = PushAccess & LfsKey

/**
 * The gate of Git LFS for reading: the one of a fetch, and beside its credentials the tokens of Git LFS.
 * @throws Refusal as `repositoryForFetch`
 */
export async function repositoryForDownload(
  context: Context,
  request: Request,
  subject: GitSubject,
): Promise<LfsAccess> {
  const { actor, grant } = await callerOf(context, request, 'download')
  const access = await accessForFetch(context, actor, subject)
  requireSame(access, grant)
  return { ...access, keyId: grant?.keyId }
}

/** The same for changes, as a push is judged. @throws Refusal as `repositoryForPush` */
export async function repositoryForUpload(
  context: Context,
  request: Request,
  subject: GitSubject,
): Promise<LfsPushAccess> {
  const { actor, grant } = await callerOf(context, request, 'upload')
  const access = await accessForPush(context, actor, subject)
  requireSame(access, grant)
  return { ...access, keyId: grant?.keyId }
}

/** In the words for what does not exist. A wiki has no objects. */
function requireSame({ repo, unit }: GitAccess, grant: Grant | undefined): void {
  const isAnother = grant && grant.repositoryId !== repo.repository.id
  if (isAnother || unit !== 'repo.code') throw notFound('repository not found')
}

/** What a token for the caller says. */
export function grantFor({ actor, repo, keyId }: Omit<LfsPushAccess, 'unit'>, operation: Operation): Grant {
  const { id } = repo.repository
  // A token for chosen repositories reads others while they are public.
  const isOutside = actor.repositoryIds !== undefined && !actor.repositoryIds.includes(id)
  return {
    repositoryId: id,
    userId: actor.user.id,
    operation,
    publicOnly: actor.publicOnly || isOutside,
    isDeployKey: actor.isDeployKey === true,
    ...(keyId !== undefined && { keyId }),
    ...(actor.job && { taskId: actor.job.taskId }),
  }
}

async function callerOf(context: Context, request: Request, operation: Operation): Promise<Caller> {
  if (!bringsToken(request)) {
    const actor = await identify(context, request)
    return { actor: actor && requireScopes(actor, 'repository', operation === 'upload' ? 'POST' : 'GET') }
  }
  const exchange = exchangeOf(request)
  const grant = readGrant(context, request)
  const bearer = grant && (await findBearer(context, grant))
  // A token for uploads also reads: a push begins with what is there already.
  if (!grant || !bearer || (operation === 'upload' && grant.operation !== 'upload')) {
    await countWrongCredential(context, exchange)
    throw unauthorized('the token of Git LFS is none, is for something else, or its time is over')
  }
  const actor = { ...bearer, origin: originOf(context, exchange) }
  await countCaller(context, exchange, actor)
  if (actor.user.kind === 'user') requireUsableAccount(context, actor.user)
  return { actor, grant }
}

async function findBearer(context: Context, grant: Grant): Promise<Actor | undefined> {
  if (grant.taskId !== undefined) return findActorOfTask(context, grant.taskId)
  const user = await findHolder(context, grant)
  const { publicOnly, repositoryId, isDeployKey } = grant
  return (
    user && {
      user,
      method: 'key',
      publicOnly,
      repositoryIds: [repositoryId],
      ...(isDeployKey && { isDeployKey: true }),
    }
  )
}

/** The account as it is now, unless the key that the token was given for is gone. */
async function findHolder({ db }: Context, { userId, keyId, isDeployKey, repositoryId }: Grant) {
  const [user] = await db.select().from(users).where(eq(users.id, userId))
  if (keyId === undefined) return user
  if (!isDeployKey) return (await db.$count(publicKeys, eq(publicKeys.id, keyId))) > 0 ? user : undefined
  return (await findDeployKey(db, { repositoryId, keyId })) ? user : undefined
}
