import { and, gte, lt, type SQL } from 'drizzle-orm'
import type { AnyPgColumn } from 'drizzle-orm/pg-core'

export interface TimeRange {
  since?: Date | undefined
  before?: Date | undefined
}

/** Both ends are included. To the second, as clients know the times: every moment of the last second belongs to it. */
export const within = (time: AnyPgColumn, { since, before }: TimeRange): SQL | undefined =>
  and(since && gte(time, startOfSecond(since)), before && lt(time, new Date(startOfSecond(before).getTime() + 1000)))

const startOfSecond = (at: Date): Date => new Date(Math.floor(at.getTime() / 1000) * 1000)
