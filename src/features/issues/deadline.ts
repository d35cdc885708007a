import { invalid } from '../../kernel/errors.ts'
import { givenTime, parseTime, wireTime } from '../../kernel/time.ts'
import type { HistoryEntry } from './history.ts'

/**
 * What a client gave for a deadline, as `givenTime` reads it. Wire: a deadline is the end of the day as it is written, in UTC; the time and
 * its zone are dropped.
 * @throws Refusal 422 for a day that does not exist
 */
export function givenDeadline(text: string | undefined): Date | null | undefined {
  const at = givenTime(text)
  if (text !== undefined && at === undefined) throw invalid('day out of range', 'due_date')
  return at && text !== undefined ? parseTime(`${text.slice(0, 10)}T23:59:59Z`) : at
}

/** What the history says of a deadline that came, went or moved; nothing of one that stays. */
export function deadlineHistory(before: Date | null, after: Date | null): HistoryEntry[] {
  if (before?.getTime() === after?.getTime()) return []
  const [old, young] = [before && dayOf(before), after && dayOf(after)]
  if (young === null) return [{ kind: 'removed_deadline', body: old ?? '' }]
  return [
    old === null ? { kind: 'added_deadline', body: young } : { kind: 'modified_deadline', body: `${young}|${old}` },
  ]
}

const dayOf = (at: Date): string => wireTime(at).slice(0, 10)
