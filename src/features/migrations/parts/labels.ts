import { requireOwnedQuota } from '../../../access/quota.ts'
import { parseColor } from '../../labels/service.ts'
import { countLabels, insertLabels } from '../../labels/store.ts'
import { type Batch, distinctBy, type Part } from '../batch.ts'
import { type Fields, idOf, lineOf, textOf } from '../read.ts'
import { findItems, insertItems } from '../store.ts'

export const labelsPart: Part = { name: 'labels', path: 'labels', query: {}, carry: carryLabels }

const NO_COLOR = 'ededed'

/** @throws Refusal 422 past MAX_OWNED */
export async function carryLabels(batch: Batch, items: readonly Fields[]): Promise<number> {
  const { db, config } = batch.context
  const repositoryId = batch.repository.id
  const kind = { repositoryId, part: 'labels' } as const
  const given = distinctBy(items.flatMap(readLabel), ({ idThere }) => idThere)
  const known = await findItems(
    db,
    kind,
    given.map(({ idThere }) => idThere),
  )
  const fresh = given.filter(({ idThere }) => !known.has(idThere))
  if (fresh.length === 0) return 0
  const made = await insertLabels(
    db,
    fresh.map(({ idThere: _, ...label }) => ({ ...label, repositoryId, createdAt: batch.now, updatedAt: batch.now })),
  )
  await insertItems(
    db,
    kind,
    made.flatMap(({ id }, place) => {
      const idThere = fresh[place]?.idThere
      return idThere === undefined ? [] : [{ idThere, idHere: id }]
    }),
  )
  await requireOwnedQuota(db, config, {
    items: 'labels',
    of: JSON.stringify({ repositoryId }),
    count: () => countLabels(db, { repositoryId }),
  })
  return made.length
}

function readLabel(item: Fields) {
  const idThere = idOf(item.id)
  const name = lineOf(item.name, 255)
  if (idThere === undefined || name === '') return []
  return [
    {
      idThere,
      name,
      color: parseColor(textOf(item.color, 20)) ?? NO_COLOR,
      description: textOf(item.description, 1000),
      isExclusive: item.exclusive === true,
      isArchived: item.is_archived === true,
    },
  ]
}
