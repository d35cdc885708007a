import { requireOwnedQuota } from '../../access/quota.ts'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import type { Context } from '../../context.ts'
import { pathProblem } from '../../git/paths.ts'
import { badRequest, forbidden, invalid, notFound } from '../../kernel/errors.ts'
import { wireTime } from '../../kernel/time.ts'
import type { LfsPushAccess } from './gate.ts'
import {
  countLocks,
  findLock,
  insertLock,
  type LockFilter,
  listLocks,
  type OwnedLock,
  removeLock,
} from './lock-store.ts'

/** A lock as git-lfs reads it. */
const present = ({ lock, ownerName }: OwnedLock) => ({
  id: String(lock.id),
  path: lock.path,
  locked_at: wireTime(lock.lockedAt),
  owner: { name: ownerName },
})
export type ShownLock = ReturnType<typeof present>

/** What an index of PostgreSQL holds, and longer than paths are. */
const MAX_PATH_BYTES = 1024

/**
 * Locks a file for the caller, whether or not it is there yet.
 * @returns `isNew: false` with the lock of whoever was first
 * @throws Refusal 403 for a key of a repository, which is nobody, 422 for what is no path of a file
 */
export async function createLock(
  context: Context,
  access: LfsPushAccess,
  path: string,
): Promise<{ lock: ShownLock; isNew: boolean }> {
  const { db, clock } = context
  const { actor, repo } = access
  requirePerson(actor)
  if (pathProblem(path) !== undefined || Buffer.byteLength(path) > MAX_PATH_BYTES) throw invalid('no path of a file')
  const repositoryId = repo.repository.id
  const made = await db.transaction(async (tx) => {
    const lock = await insertLock(tx, { repositoryId, path, ownerId: actor.user.id, lockedAt: clock.now() })
    const count = () => countLocks(tx, repositoryId)
    if (lock) await requireOwnedQuota(tx, context.config, { items: 'locks', of: `repository ${repositoryId}`, count })
    return lock
  })
  if (made) return { lock: present({ lock: made, ownerName: actor.user.name }), isNew: true }
  const first = await findLock(db, { repositoryId, path })
  // Given back at this moment.
  if (!first) return createLock(context, access, path)
  return { lock: present(first), isNew: false }
}

function requirePerson({ isDeployKey }: LfsPushAccess['actor']): void {
  if (isDeployKey) throw forbidden('a key of a repository is nobody, and locks nothing')
}

const LOCKS_PER_PAGE = 100

/** Where a page begins, and how long it is: the text of a query, or the fields of a body. */
export interface AskedPage {
  cursor?: string | undefined
  limit?: string | number | undefined
}

/** @throws Refusal 400 for a cursor or limit that is none */
async function page({ db, config }: Context, filter: LockFilter, { cursor = '0', limit }: AskedPage) {
  const asked = Number(limit ?? LOCKS_PER_PAGE)
  const after = idOf(cursor)
  if (after === undefined || !Number.isSafeInteger(asked) || asked < 0) throw badRequest('no such cursor or limit')
  const size = Math.min(asked || LOCKS_PER_PAGE, Math.max(LOCKS_PER_PAGE, config.maxResponseItems))
  const rows = await listLocks(db, { ...filter, after, limit: size + 1 })
  const shown = rows.slice(0, size)
  const last = shown.at(-1)?.lock.id
  return { rows: shown, ...(rows.length > size && { next_cursor: String(last) }) }
}

/** @throws Refusal 400 */
export async function answerLocks(
  context: Context,
  { repository }: RepositoryAccess,
  { path, id, ...asked }: AskedPage & { path?: string | undefined; id?: string | undefined },
) {
  // What cannot be an id is the id of no lock; no lock has 0.
  const filter = { repositoryId: repository.id, path: path || undefined, id: id ? (idOf(id) ?? 0) : undefined }
  if (filter.path?.includes('\0')) return { locks: [] }
  const { rows, ...next } = await page(context, filter, asked)
  return { locks: rows.map(present), ...next }
}

/** The caller's locks and those of others: what a push looks at. @throws Refusal 400 */
export async function answerVerify(context: Context, { actor, repo }: LfsPushAccess, asked: AskedPage) {
  const { rows, ...next } = await page(context, { repositoryId: repo.repository.id }, asked)
  const isOurs = ({ lock }: OwnedLock) => !actor.isDeployKey && lock.ownerId === actor.user.id
  return {
    ours: rows.filter(isOurs).map(present),
    theirs: rows.filter((row) => !isOurs(row)).map(present),
    ...next,
  }
}

/** @throws Refusal 403 for a lock of somebody else without `force`, 404 for one of another repository as for none */
export async function unlock(
  { db }: Context,
  { actor, repo }: LfsPushAccess,
  { id, isForced }: { id: string; isForced: boolean },
): Promise<ShownLock> {
  requirePerson(actor)
  const [repositoryId, lockId] = [repo.repository.id, idOf(id) ?? 0]
  const found = await findLock(db, { repositoryId, id: lockId })
  if (!found) throw notFound('lock not found')
  const ownerId = isForced ? undefined : actor.user.id
  if (ownerId !== undefined && found.lock.ownerId !== ownerId)
    throw forbidden(`${found.lock.path} is locked by ${found.ownerName}; --force unlocks it all the same`)
  if (!(await removeLock(db, { repositoryId, id: lockId, ownerId }))) throw notFound('lock not found')
  return present(found)
}

const idOf = (text: string): number | undefined => (/^\d{1,15}$/.test(text) ? Number(text) : undefined)
