import { milestones } from '../../../../db/schema/issues.ts'
import { requireOwnedQuota } from '../../../access/quota.ts'
import { countMilestones } from '../../milestones/store.ts'
import { type Batch, distinctBy, type Part } from '../batch.ts'
import { type Fields, idOf, lineOf, pastTimeOf, textOf, timeOf } from '../read.ts'
import { findItems, insertItems } from '../store.ts'

export const milestonesPart: Part = {
  name: 'milestones',
  path: 'milestones',
  query: { state: 'all' },
  carry: carryMilestones,
}

/** @throws Refusal 422 past MAX_OWNED */
async function carryMilestones(batch: Batch, items: readonly Fields[]): Promise<number> {
  const { db, config } = batch.context
  const repositoryId = batch.repository.id
  const kind = { repositoryId, part: 'milestones' } as const
  const given = distinctBy(
    items.flatMap((item) => readMilestone(item, batch.now)),
    ({ idThere }) => idThere,
  )
  const known = await findItems(
    db,
    kind,
    given.map(({ idThere }) => idThere),
  )
  const fresh = given.filter(({ idThere }) => !known.has(idThere))
  if (fresh.length === 0) return 0
  const made = await db
    .insert(milestones)
    .values(fresh.map(({ idThere: _, ...milestone }) => ({ ...milestone, repositoryId })))
    .returning({ id: milestones.id })
  await insertItems(
    db,
    kind,
    made.flatMap(({ id }, place) => {
      const idThere = fresh[place]?.idThere
      return idThere === undefined ? [] : [{ idThere, idHere: id }]
    }),
  )
  await requireOwnedQuota(db, config, {
    items: 'milestones',
    of: `repository ${repositoryId}`,
    count: () => countMilestones(db, repositoryId),
  })
  return made.length
}

function readMilestone(item: Fields, now: Date) {
  const idThere = idOf(item.id)
  if (idThere === undefined) return []
  const createdAt = pastTimeOf(item.created_at, now) ?? now
  const updatedAt = pastTimeOf(item.updated_at, now) ?? createdAt
  const isClosed = item.state === 'closed'
  return [
    {
      idThere,
      title: lineOf(item.title, 255) || `milestone ${idThere}`,
      description: textOf(item.description, 65_535),
      dueAt: timeOf(item.due_on) ?? null,
      isClosed,
      closedAt: isClosed ? (pastTimeOf(item.closed_at, now) ?? updatedAt) : null,
      createdAt,
      updatedAt,
    },
  ]
}
