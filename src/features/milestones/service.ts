import type { MilestoneRow } from '../../../db/schema/issues.ts'
import { requireOwnedQuota } from '../../access/quota.ts'
import type { Context } from '../../context.ts'
import { notFound } from '../../kernel/errors.ts'
import { givenTime } from '../../kernel/time.ts'
import type { CreateMilestoneOption, EditMilestoneOption } from './schema.ts'
import {
  countMilestones,
  findMilestone,
  insertMilestone,
  lockMilestone,
  removeMilestone,
  updateMilestone,
} from './store.ts'

export function createMilestone(
  { db, clock, config }: Context,
  repositoryId: number,
  option: CreateMilestoneOption,
): Promise<MilestoneRow> {
  const isClosed = option.state === 'closed'
  const values = {
    repositoryId,
    title: option.title,
    description: option.description,
    dueAt: givenTime(option.due_on),
    isClosed,
    closedAt: isClosed ? clock.now() : null,
  }
  return db.transaction(async (tx) => {
    const row = await insertMilestone(tx, values)
    await requireOwnedQuota(tx, config, {
      items: 'milestones',
      of: `repository ${repositoryId}`,
      count: () => countMilestones(tx, repositoryId),
    })
    return row
  })
}

/** @throws Refusal 404 for another repository's milestone */
export async function getMilestone({ db }: Context, repositoryId: number, idOrTitle: string): Promise<MilestoneRow> {
  const milestone = await findMilestone(db, repositoryId, idOrTitle)
  if (!milestone) throw notFound()
  return milestone
}

/** @throws Refusal 404 for another repository's milestone */
export async function editMilestone(
  context: Context,
  repositoryId: number,
  { idOrTitle, option }: { idOrTitle: string; option: EditMilestoneOption },
): Promise<MilestoneRow> {
  const { id } = await getMilestone(context, repositoryId, idOrTitle)
  return context.db.transaction(async (tx) => {
    // The time of closing is that of who closed it first.
    const before = await lockMilestone(tx, id)
    if (!before) throw notFound()
    const isClosed = option.state ? option.state === 'closed' : before.isClosed
    const edited = await updateMilestone(tx, repositoryId, {
      id,
      title: option.title || undefined,
      description: option.description,
      dueAt: givenTime(option.due_on),
      ...(isClosed === before.isClosed ? {} : { isClosed, closedAt: isClosed ? context.clock.now() : null }),
    })
    if (!edited) throw notFound()
    return edited
  })
}

/** @throws Refusal 404 for another repository's milestone */
export async function deleteMilestone(context: Context, repositoryId: number, idOrTitle: string): Promise<void> {
  const { id } = await getMilestone(context, repositoryId, idOrTitle)
  await context.db.transaction(async (tx) => {
    if (!(await removeMilestone(tx, repositoryId, id))) throw notFound()
  })
}
