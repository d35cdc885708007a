import type { LabelRow } from '../../../db/schema/issues.ts'

/** At most this many labels are on an issue: its labels have no pages. */
export const MAX_LABELS_OF_ISSUE = 100

/**
 * What remains of labels that come onto an issue in this order, each once: of an exclusive label's scope the last one. Wire: only
 * exclusive labels push each other out; one that is not exclusive stays beside them.
 */
export function settleLabels(labels: readonly LabelRow[]): LabelRow[] {
  const byPlace = new Map<string, LabelRow>()
  for (const label of labels) byPlace.set(scopeOf(label) ?? String(label.id), label)
  return [...byPlace.values()]
}

/** With its last slash: `a/b` of `a/b/c`. Undefined for a label that pushes out no other. */
export function scopeOf({ name, isExclusive }: Pick<LabelRow, 'name' | 'isExclusive'>): string | undefined {
  const end = name.lastIndexOf('/')
  return isExclusive && end > 0 && end < name.length - 1 ? name.slice(0, end + 1) : undefined
}
