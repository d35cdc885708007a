import type { Db } from '../../../db/client.ts'
import type { UserRow } from '../../../db/schema/users.ts'
import { findAssignable } from '../../access/assignable.ts'
import { maySeeOwner } from '../../access/decide.ts'
import { findAccount } from '../../access/load-account.ts'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import { Level, type Unit } from '../../access/units.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { forbidden, invalid, notFound } from '../../kernel/errors.ts'
import { parseId } from '../../kernel/ids.ts'
import { givenTime } from '../../kernel/time.ts'
import { lockIssue } from '../issues/store.ts'
import { book, note } from './book.ts'
import { requireTracking, seesAllTimes, type Tracking } from './rights.ts'
import type { AddTimeOption } from './schema.ts'
import { type FoundTime, findTime, removeTime, removeTimesOf } from './store.ts'

/**
 * Whose times somebody asks for: those of a person, those of all for writers (undefined), else their own.
 * @throws Refusal 403 for another person's without write access, 404 for an unknown person
 */
export async function readerFilter(
  context: Context,
  { actor, repo, unit }: { actor: Actor; repo: RepositoryAccess; unit: Unit },
  name: string | undefined,
): Promise<number | undefined> {
  const isOwn = name?.toLowerCase() === actor.user.lowerName
  if (!seesAllTimes(repo, unit)) {
    if (name !== undefined && !isOwn) throw forbidden('query by user not allowed; not enough rights')
    return actor.user.id
  }
  if (name === undefined) return undefined
  const found = await findAccount(context.db, name, actor.user.id)
  if (found?.row.kind !== 'user' || !maySeeOwner(context.config, actor, found.row, found.isRelated))
    throw notFound('not found', [`user does not exist [name: ${name}]`])
  return found.row.id
}

/**
 * Books time on an issue.
 * @throws Refusal 400 where times are switched off, 403 for whoever may not book it, 404 when the issue is gone, 422 for an unknown person
 */
export async function addTime(context: Context, tracking: Tracking, option: AddTimeOption): Promise<FoundTime> {
  const { repo } = tracking
  await requireTracking(context.db, tracking)
  const worker = await readWorker(context.db, tracking, option.user_name)
  return context.db.transaction(async (tx) => {
    const issue = await lockIssue(tx, repo.repository.id, tracking.issue.number)
    if (!issue) throw notFound()
    const at = context.clock.now()
    const createdAt = givenTime(option.created) ?? at
    const work = { kind: 'add_time_manual', userId: worker.id, seconds: option.time, createdAt, at } as const
    const time = await book(tx, issue, work)
    const { id, name } = repo.repository
    const repository = { id, name, ownerName: repo.owner.name }
    return { time, userName: worker.name, issue: { ...issue, updatedAt: at }, version: '', repository }
  })
}

/** Administrators may book for those who can be asked to work on the issue. */
async function readWorker(db: Db, { actor, repo }: Tracking, name: string | undefined): Promise<UserRow> {
  if (!name || name.toLowerCase() === actor.user.lowerName) return actor.user
  if (repo.rights.overall < Level.admin) throw forbidden('only administrators may book time for others')
  const [worker] = await findAssignable(db, repo.repository, [name])
  if (!worker) throw invalid(`user does not exist [name: ${name}]`, 'user_name')
  return worker
}

/** @throws Refusal 400 and 403 as `addTime`, 403 for another person's entry, 404 for one of another issue */
export async function deleteTime(context: Context, tracking: Tracking, id: string): Promise<void> {
  const { actor, issue } = tracking
  await requireTracking(context.db, tracking)
  const number = parseId(id)
  const time = number === undefined ? undefined : await findTime(context.db, issue.id, number)
  if (!time) throw notFound('not found', [`tracked_time does not exist [id: ${id}]`])
  if (time.userId !== actor.user.id && !actor.user.isAdmin) throw forbidden('the time is of somebody else')
  await change(context, tracking, async (tx) => {
    if (!(await removeTime(tx, time.id))) throw notFound()
    return time.seconds
  })
}

/** Deletes the caller's own entries. @throws Refusal 400 and 403 as `addTime`, 404 without any */
export async function resetTimes(context: Context, tracking: Tracking): Promise<void> {
  const { actor, issue } = tracking
  await requireTracking(context.db, tracking)
  await change(context, tracking, async (tx) => {
    const seconds = await removeTimesOf(tx, issue.id, actor.user.id)
    if (seconds.length === 0) throw notFound('tracked_time does not exist')
    return seconds.reduce((sum, one) => sum + one, 0)
  })
}

/** Takes entries away, and notes how many seconds. */
async function change(
  context: Context,
  { actor, repo, issue }: Tracking,
  remove: (tx: Db) => Promise<number>,
): Promise<void> {
  await context.db.transaction(async (tx) => {
    if (!(await lockIssue(tx, repo.repository.id, issue.number))) throw notFound()
    const seconds = await remove(tx)
    const deed = { doerId: actor.user.id, at: context.clock.now() }
    await note(tx, issue.id, deed, { kind: 'delete_time_manual', body: String(seconds) })
  })
}
