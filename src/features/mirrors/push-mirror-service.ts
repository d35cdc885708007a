import type { PushMirrorRow } from '../../../db/schema/mirrors.ts'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import { recordAudit } from '../../audit/record.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import type { RemoteCredentials } from '../../git/model.ts'
import { badRequest, invalid, notFound, type Refusal, unauthorized } from '../../kernel/errors.ts'
import { randomHex } from '../../kernel/hashing.ts'
import { OutboundError } from '../../outbound/outbound-error.ts'
import { lockRepository } from '../refs/store.ts'
import { auditSubjectOf } from '../repositories/subject.ts'
import { type AddressProblem, areUsable, credentialsOf, type RemoteAddress, readAddress } from './address.ts'
import { judgeHost, sealCredentials } from './remote.ts'
import { nextTurn, readInterval } from './schedule.ts'
import type { CreatePushMirrorOption } from './schema.ts'
import { countPushMirrors, findPushMirrorByName, insertPushMirror, removePushMirror } from './store.ts'

/** Of one repository: each of its pushes may start a push to all of them. */
const MAX_PUSH_MIRRORS = 20

interface Change {
  actor: Actor
  repo: RepositoryAccess
}

/**
 * Sets a server up to follow the repository; nothing is sent yet. Wire: the statuses are Gitea's, 401 for an address that may not be
 * reached.
 * @throws Refusal 400 for an address or an interval that cannot be, 401, 422 for one mirror too many
 */
export async function createPushMirror(
  context: Context,
  { actor, repo }: Change,
  option: CreatePushMirrorOption,
): Promise<PushMirrorRow> {
  const { url, credentials } = await requireAddress(context, option)
  const intervalSeconds = requireInterval(context, option.interval ?? '')
  const now = context.clock.now()
  return context.db.transaction(async (tx) => {
    const repositoryId = repo.repository.id
    if (!(await lockRepository(tx, repositoryId))) throw notFound()
    if ((await countPushMirrors(tx, repositoryId)) >= MAX_PUSH_MIRRORS)
      throw invalid(`a repository has ${MAX_PUSH_MIRRORS} push mirrors at most`)
    const row = await insertPushMirror(tx, {
      repositoryId,
      // Wire: Gitea's kind of name.
      remoteName: `remote_mirror_${randomHex(10)}`,
      url,
      credentials: sealCredentials(context, credentials),
      intervalSeconds,
      syncsOnCommit: option.sync_on_commit ?? false,
      nextAt: nextTurn(now, intervalSeconds),
      createdAt: now,
    })
    await recordAudit(tx, actor, {
      action: 'push_mirror.create',
      subject: auditSubjectOf(repo),
      after: shownOf(row),
    })
    return row
  })
}

const shownOf = ({ remoteName, url, intervalSeconds, syncsOnCommit }: PushMirrorRow) => ({
  remoteName,
  url,
  intervalSeconds,
  syncsOnCommit,
})

const denied = (): Refusal => unauthorized('Permission denied')

const REFUSALS: Record<AddressProblem, () => Refusal> = {
  local: denied,
  protocol: () => badRequest('Invalid mirror protocol'),
  syntax: () => badRequest('Invalid Url '),
}

async function requireAddress(context: Context, option: CreatePushMirrorOption): Promise<RemoteAddress> {
  const address = readAddress(option.remote_address ?? '')
  if ('problem' in address) throw REFUSALS[address.problem]()
  const given: RemoteCredentials | undefined = credentialsOf(option.remote_username, option.remote_password)
  const credentials = given ?? address.credentials
  if (!areUsable(credentials)) throw badRequest('user name and password are one line each')
  try {
    await judgeHost(context, address.url)
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    throw error.problem === 'refused' ? denied() : badRequest(error.message)
  }
  return { url: address.url, credentials }
}

function requireInterval({ config }: Context, text: string): number {
  const seconds = readInterval(text, config)
  if (seconds !== undefined) return seconds
  throw badRequest(`an interval is 0, or at least ${config.mirrorMinInterval}m such as 8h30m`)
}

/** @throws Refusal 404 */
export async function getPushMirror(
  { db }: Context,
  { repository }: RepositoryAccess,
  name: string,
): Promise<PushMirrorRow> {
  const row = await findPushMirrorByName(db, repository.id, name)
  if (!row) throw notFound('the repository has no push mirror of this name')
  return row
}

/** Wire: one that does not exist is as good as deleted. */
export async function deletePushMirror({ db }: Context, { actor, repo }: Change, name: string): Promise<void> {
  await db.transaction(async (tx) => {
    const row = await removePushMirror(tx, repo.repository.id, name)
    if (row)
      await recordAudit(tx, actor, {
        action: 'push_mirror.delete',
        subject: auditSubjectOf(repo),
        before: shownOf(row),
      })
  })
}
