import type { LabelRow } from '../../../db/schema/issues.ts'
import { requireOwnedQuota } from '../../access/quota.ts'
import type { Context } from '../../context.ts'
import { invalid, notFound } from '../../kernel/errors.ts'
import { parseId } from '../../kernel/ids.ts'
import type { CreateLabelOption, EditLabelOption } from './schema.ts'
import {
  countLabels,
  findLabel,
  findLabelByName,
  insertLabels,
  type LabelParent,
  removeLabel,
  updateLabel,
} from './store.ts'

/** @throws Refusal 422 for a color that is none */
export function createLabel(
  { db, config }: Context,
  parent: LabelParent,
  option: CreateLabelOption,
): Promise<LabelRow> {
  const values = {
    ...parent,
    name: option.name,
    color: requireColor(option.color),
    description: option.description,
    isExclusive: option.exclusive,
    isArchived: option.is_archived,
  }
  return db.transaction(async (tx) => {
    const [row] = await insertLabels(tx, [values])
    if (row === undefined) throw new Error('insert returned no row')
    await requireOwnedQuota(tx, config, {
      items: 'labels',
      of: JSON.stringify(parent),
      count: () => countLabels(tx, parent),
    })
    return row
  })
}

/**
 * By id, or else by name.
 * @throws Refusal 404 for another parent's label
 */
export async function getLabel({ db }: Context, parent: LabelParent, key: string): Promise<LabelRow> {
  const id = parseId(key)
  const label = await (id === undefined ? findLabelByName(db, parent, key) : findLabel(db, parent, id))
  if (!label) throw notFound()
  return label
}

/** @throws Refusal 404 for another parent's label, 422 for a color that is none */
export async function editLabel(
  { db }: Context,
  parent: LabelParent,
  { id, option }: { id: number | undefined; option: EditLabelOption },
): Promise<LabelRow> {
  if (id === undefined) throw notFound()
  const label = await updateLabel(db, parent, {
    id,
    name: option.name,
    color: option.color === undefined ? undefined : requireColor(option.color),
    description: option.description,
    isExclusive: option.exclusive,
    isArchived: option.is_archived,
  })
  if (!label) throw notFound()
  return label
}

/** Wire: one that is not there is gone already, be it another parent's. */
export async function deleteLabel({ db }: Context, parent: LabelParent, id: number | undefined): Promise<void> {
  if (id !== undefined) await removeLabel(db, parent, id)
}

function requireColor(text: string): string {
  const color = parseColor(text)
  if (color === undefined) throw invalid(`${JSON.stringify(text)} is no color: write it as #00aaff`, 'color')
  return color
}

/** "#0AF" and "00aaff" both mean 00aaff; anything else is no color. */
export function parseColor(text: string): string | undefined {
  const hex = text.trim().replace(/^#/, '').toLowerCase()
  if (/^[0-9a-f]{3}$/.test(hex)) return hex.replace(/./g, '$&$&')
  return /^[0-9a-f]{6}$/.test(hex) ? hex : undefined
}
